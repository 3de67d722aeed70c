//! Which products of a segment have a property? One bit each.

/// The bits of one machine word.
pub(super) const BLOCK: usize = u64::BITS as usize;

/// A fixed number of bits.
#[derive(Clone, Debug)]
pub(super) struct Bits(Box<[u64]>);

impl Bits {
    /// So many bits, all off.
    pub(super) fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(BLOCK)].into_boxed_slice())
    }

    /// Bits from the places that are on.
    pub(super) fn with(len: usize, on: impl IntoIterator<Item = usize>) -> Self {
        let mut bits = Self::new(len);
        on.into_iter().for_each(|at| bits.set(at));
        bits
    }

    pub(super) fn set(&mut self, at: usize) {
        self.0[at / BLOCK] |= 1 << (at % BLOCK);
    }

    /// Turns a bit on or off.
    pub(super) fn put(&mut self, at: usize, on: bool) {
        let bit = 1 << (at % BLOCK);
        match on {
            true => self.0[at / BLOCK] |= bit,
            false => self.0[at / BLOCK] &= !bit,
        }
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> bool {
        self.0[at / BLOCK] >> (at % BLOCK) & 1 == 1
    }

    /// The bits from place `block * BLOCK` on, the first as the lowest.
    #[inline]
    pub(super) fn block(&self, block: usize) -> u64 {
        self.0[block]
    }

    /// Leaves on what is on in both.
    pub(super) fn keep(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(block, other)| *block &= other);
    }

    /// Turns off what is on in the other.
    pub(super) fn remove(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(block, other)| *block &= !other);
    }

    /// Turns on what is on in the other.
    pub(super) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(block, other)| *block |= other);
    }

    /// Whether none is on.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|block| *block == 0)
    }

    /// The places that are on, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        let blocks = self.0.iter().enumerate();
        blocks.flat_map(|(block, &bits)| ones(bits).map(move |at| block * BLOCK + at))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}

/// The places of a block that are on, ascending.
pub(super) fn ones(block: u64) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(block), |left| Some(left & left.wrapping_sub(1)))
        .take_while(|left| *left != 0)
        .map(|left| left.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_on_and_nothing_else() {
        let on = [0, 63, 64, 130];
        let bits = Bits::with(131, on);
        assert_eq!(bits.iter().collect::<Vec<_>>(), on);
        assert!((0..131).all(|at| bits.get(at) == on.contains(&at)));
        assert_eq!(Bits::new(0).iter().count(), 0);
        let mut fewer = bits;
        fewer.put(64, false);
        assert_eq!(fewer.iter().collect::<Vec<_>>(), [0, 63, 130]);
    }

    #[test]
    fn sets_meet_part_and_join() {
        let (left, right) = (Bits::with(131, [0, 64, 130]), Bits::with(131, [64, 100]));
        let after = |change: fn(&mut Bits, &Bits)| {
            let mut bits = left.clone();
            change(&mut bits, &right);
            bits.iter().collect::<Vec<_>>()
        };
        assert_eq!(after(Bits::keep), [64]);
        assert_eq!(after(Bits::remove), [0, 130]);
        assert_eq!(after(Bits::add), [0, 64, 100, 130]);
    }
}
