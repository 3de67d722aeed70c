//! A fixed-size bit set: one bit for each product of a segment, in blocks of 64.

use std::io;

use super::arrays::{ArrayReader, ArrayWriter, Rejected, Stored};

/// Bits of a block, one machine word.
pub(crate) const BLOCK: usize = u64::BITS as usize;

/// A fixed-size bit set.
#[derive(Clone, Debug)]
pub(crate) struct BitSet(Box<[u64]>);

impl BitSet {
    /// `len` bits, all off.
    pub(crate) fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(BLOCK)].into_boxed_slice())
    }

    /// `len` bits, on at these indexes.
    pub(crate) fn with(len: usize, on: impl IntoIterator<Item = usize>) -> Self {
        let mut bits = Self::new(len);
        on.into_iter().for_each(|at| bits.set(at));
        bits
    }

    /// These blocks, in order.
    pub(crate) fn from_blocks(blocks: impl Iterator<Item = u64>) -> Self {
        Self(blocks.collect())
    }

    /// `len` bits, all on.
    pub(crate) fn full(len: usize) -> Self {
        Self::from_flags(std::iter::repeat_n(true, len))
    }

    /// The bits for which the flags of an iterator from index 0 on say so.
    #[inline]
    pub(crate) fn from_flags(mut flags: impl ExactSizeIterator<Item = bool>) -> Self {
        let mut bits = Self::new(flags.len());
        for block in &mut bits.0 {
            let mut bytes = [0; BLOCK];
            bytes.iter_mut().zip(&mut flags).for_each(|(byte, flag)| *byte = u8::from(flag));
            *block = packed(&bytes);
        }
        bits
    }

    pub(crate) fn set(&mut self, at: usize) {
        self.0[at / BLOCK] |= 1 << (at % BLOCK);
    }

    /// Turns a bit on or off.
    pub(crate) fn assign(&mut self, at: usize, on: bool) {
        let bit = 1 << (at % BLOCK);
        match on {
            true => self.0[at / BLOCK] |= bit,
            false => self.0[at / BLOCK] &= !bit,
        }
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> bool {
        self.0[at / BLOCK] >> (at % BLOCK) & 1 == 1
    }

    /// The bits from index `block * BLOCK`, the first as the lowest.
    #[inline]
    pub(crate) fn block(&self, block: usize) -> u64 {
        self.0[block]
    }

    /// All blocks, in order.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = u64> {
        self.0.iter().copied()
    }

    /// Keeps the bits that are on in both.
    pub(crate) fn intersect(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(block, other)| *block &= other);
    }

    /// Turns off the bits that are on in the other.
    pub(crate) fn subtract(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(block, other)| *block &= !other);
    }

    /// Turns on the bits that are on in the other.
    pub(crate) fn union(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(block, other)| *block |= other);
    }

    /// Turns all bits from index `len` on off.
    pub(crate) fn truncate(&mut self, len: usize) {
        for (block, bits) in self.0.iter_mut().enumerate().skip(len / BLOCK) {
            *bits &= if block == len / BLOCK { (1 << (len % BLOCK)) - 1 } else { 0 };
        }
    }

    /// The first index from `start` on that is on.
    #[inline]
    pub(crate) fn first_from(&self, start: usize) -> Option<usize> {
        let mut bits = self.0.get(start / BLOCK)? & u64::MAX << (start % BLOCK);
        let mut block = start / BLOCK;
        while bits == 0 {
            block += 1;
            bits = *self.0.get(block)?;
        }
        Some(block * BLOCK + bits.trailing_zeros() as usize)
    }

    /// Number of bits that are on.
    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|block| block.count_ones() as usize).sum()
    }

    /// Whether no bit is on.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|block| *block == 0)
    }

    /// The indexes that are on, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        let blocks = self.0.iter().enumerate();
        blocks.flat_map(|(block, &bits)| ones(bits).map(move |at| block * BLOCK + at))
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}

/// The lowest bits of bytes that are 0 or 1, the first as the lowest. Eight bytes at a time: the
/// multiplication moves the bit of byte `k` to bit `56 + k`, and no two products meet.
#[inline]
fn packed(bytes: &[u8; BLOCK]) -> u64 {
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (eights, _) = bytes.as_chunks::<8>();
    eights
        .iter()
        .rev()
        .fold(0, |bits, eight| bits << 8 | u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56)
}

/// The indexes within a block that are on, ascending.
pub(crate) fn ones(block: u64) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(block), |left| Some(left & left.wrapping_sub(1)))
        .take_while(|left| *left != 0)
        .map(|left| left.trailing_zeros() as usize)
}

impl Stored for BitSet {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        to.slice(&self.0)
    }

    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        let bits = Self(from.array_of_len(len.div_ceil(BLOCK))?);
        let behind = if len.is_multiple_of(BLOCK) { 0 } else { u64::MAX << (len % BLOCK) };
        let last = bits.0.last().copied().unwrap_or(0);
        Rejected::unless(last & behind == 0, "a bit set is longer than its segment")?;
        Ok(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_bits_are_on_and_no_others() {
        let on = [0, 63, 64, 130];
        let bits = BitSet::with(131, on);
        assert_eq!(bits.iter().collect::<Vec<_>>(), on);
        assert!((0..131).all(|at| bits.get(at) == on.contains(&at)));
        assert_eq!(BitSet::new(0).iter().count(), 0);
        let mut fewer = bits;
        fewer.assign(64, false);
        assert_eq!(fewer.iter().collect::<Vec<_>>(), [0, 63, 130]);
    }

    #[test]
    fn sets_intersect_subtract_and_unite() {
        let (left, right) = (BitSet::with(131, [0, 64, 130]), BitSet::with(131, [64, 100]));
        let after = |change: fn(&mut BitSet, &BitSet)| {
            let mut bits = left.clone();
            change(&mut bits, &right);
            bits.iter().collect::<Vec<_>>()
        };
        assert_eq!(after(BitSet::intersect), [64]);
        assert_eq!(after(BitSet::subtract), [0, 130]);
        assert_eq!(after(BitSet::union), [0, 64, 100, 130]);
    }

    #[test]
    fn the_next_bit_is_found_and_bits_behind_the_end_are_not() {
        let on = [0, 63, 64, 130];
        let mut bits = BitSet::with(192, on);
        for start in 0..200 {
            let expected = on.into_iter().find(|at| *at >= start);
            assert_eq!(bits.first_from(start), expected, "{start}");
        }
        for (len, left) in [(192, 4), (131, 4), (130, 3), (65, 3), (64, 2), (1, 1), (0, 0)] {
            bits.truncate(len);
            assert_eq!(bits.iter().count(), left, "{len}");
        }
    }

    #[test]
    fn a_full_set_has_no_bits_behind_its_end() {
        assert_eq!(BitSet::full(131).iter().collect::<Vec<_>>(), (0..131).collect::<Vec<_>>());
        let bits = BitSet::from_flags((0..70_usize).map(|at| at % 3 == 0));
        assert_eq!(bits.iter().collect::<Vec<_>>(), (0..70).step_by(3).collect::<Vec<_>>());
    }
}
