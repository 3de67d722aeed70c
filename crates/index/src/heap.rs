//! What small heap allocations take, for the accounting of memory.

/// The header of a block.
const HEADER: usize = 8;
/// Sizes of blocks are multiples of this.
const STEP: usize = 16;
/// The smallest block.
const SMALLEST: usize = 32;

/// The bytes that the allocator of the C library takes for an allocation of `len` bytes. Attributes
/// are many small ones: for a name with one value, they take more than their content.
pub(crate) const fn allocated(len: usize) -> usize {
    if len == 0 {
        return 0;
    }
    let block = (len + HEADER).next_multiple_of(STEP);
    if block < SMALLEST { SMALLEST } else { block }
}

/// The bytes of a slice's allocation.
pub(crate) const fn allocated_slice<T>(slice: &[T]) -> usize {
    allocated(size_of_val(slice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_are_rounded_up_to_blocks() {
        let blocks = [(0, 0), (1, 32), (24, 32), (25, 48), (40, 48), (41, 64), (4096, 4112)];
        for (len, block) in blocks {
            assert_eq!(allocated(len), block, "{len}");
        }
    }
}
