//! Which products of a segment have a property? One bit each.

/// A fixed number of bits.
#[derive(Clone, Debug)]
pub(super) struct Bits(Box<[u64]>);

impl Bits {
    /// So many bits, all off.
    pub(super) fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)].into_boxed_slice())
    }

    /// Bits from the places that are on.
    pub(super) fn with(len: usize, on: impl IntoIterator<Item = usize>) -> Self {
        let mut bits = Self::new(len);
        on.into_iter().for_each(|at| bits.set(at));
        bits
    }

    pub(super) fn set(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    /// The places that are on, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(block, &bits)| {
            std::iter::successors(Some(bits), |left| Some(left & left.wrapping_sub(1)))
                .take_while(|left| *left != 0)
                .map(move |left| block * 64 + left.trailing_zeros() as usize)
        })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
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
    }
}
