//! How are the vectors of a segment's products held? In chunks, each shared by all snapshots
//! in which its vectors are the same.
//!
//! A better vector replaces one by copying its chunk, so readers go on undisturbed, nothing is
//! tokenised again, and a segment looks the same whenever its vectors came.

use std::sync::Arc;

use rten_simd::SimdOp;

use super::{
    bits::BLOCK,
    dense::{Cosines, NearSigns, QueryVector, factor, signs},
};

/// Blocks of a chunk: so many that a scan seldom jumps, so few that a copy costs little.
const CHUNK_BLOCKS: usize = 4;
/// Products of a chunk.
const CHUNK: usize = CHUNK_BLOCKS * BLOCK;

/// The vectors of a segment's products, where they are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Vectors {
    /// Products of the segment.
    len: usize,
    /// Numbers of a vector; 0 until there is one.
    dims: usize,
    /// Those without a vector are not there.
    chunks: Vec<Option<Arc<Chunk>>>,
}

#[derive(Clone, Debug)]
struct Chunk {
    /// For each block, for each word of a vector's signs, that word of each product.
    signs: Box<[[u64; BLOCK]]>,
    numbers: Box<[i8]>,
    /// The reciprocal of each vector's length; 0 where there is no vector.
    factors: Box<[f32]>,
}

impl Vectors {
    /// The vectors of so many products, none of them known.
    pub(super) fn new(len: usize) -> Self {
        Self { len, dims: 0, chunks: Vec::new() }
    }

    /// The vectors of products in order.
    pub(super) fn of<'a>(vectors: impl ExactSizeIterator<Item = Option<&'a [i8]>>) -> Self {
        let mut made = Self::new(vectors.len());
        for (doc, numbers) in vectors.enumerate() {
            if let Some(numbers) = numbers {
                made.put(doc, numbers);
            }
        }
        made
    }

    /// Gives a product a vector. One that is nowhere, or of another space, is none.
    pub(super) fn put(&mut self, doc: usize, numbers: &[i8]) {
        let factor = factor(numbers);
        if factor == 0.0 || (self.dims != 0 && self.dims != numbers.len()) {
            return;
        }
        if self.dims == 0 {
            self.dims = numbers.len();
            self.chunks = vec![None; self.len.div_ceil(CHUNK)];
        }
        let size = CHUNK.min(self.len - doc / CHUNK * CHUNK);
        let chunk =
            self.chunks[doc / CHUNK].get_or_insert_with(|| Arc::new(Chunk::new(size, self.dims)));
        Arc::make_mut(chunk).put(doc % CHUNK, numbers, factor);
    }

    /// The vector of a product.
    pub(super) fn get(&self, doc: usize) -> Option<&[i8]> {
        let chunk = self.chunks.get(doc / CHUNK)?.as_ref()?;
        let at = doc % CHUNK;
        (chunk.factors[at] > 0.0).then(|| &chunk.numbers[at * self.dims..(at + 1) * self.dims])
    }

    /// The products whose vectors may not be those of `before`, an earlier state of the same.
    pub(super) fn changed_since<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = usize> + 'a {
        let chunks = self.chunks.iter().enumerate().filter(|(at, chunk)| {
            match (chunk, before.chunks.get(*at).and_then(Option::as_ref)) {
                (Some(now), Some(before)) => !Arc::ptr_eq(now, before),
                (now, before) => now.is_some() != before.is_some(),
            }
        });
        chunks.flat_map(|(at, _)| at * CHUNK..((at + 1) * CHUNK).min(self.len))
    }

    /// Those of a block's products that are near the query, as far as their signs tell.
    #[inline]
    pub(super) fn near(&self, block: usize, query: &QueryVector) -> u64 {
        let Some(chunk) = self.chunk(block, query) else { return 0 };
        let words = query.numbers.len().div_ceil(BLOCK);
        let at = block % CHUNK_BLOCKS * words;
        let near = NearSigns { query, signs: &chunk.signs[at..at + words] }.dispatch();
        near & chunk.known(block % CHUNK_BLOCKS, near)
    }

    /// The cosines of those of a block's products that are asked for; each has a vector.
    pub(super) fn cosines(
        &self,
        block: usize,
        query: &QueryVector,
        wanted: u64,
        cosines: &mut [f32; BLOCK],
    ) {
        let Some(chunk) = self.chunk(block, query) else { return };
        let start = block % CHUNK_BLOCKS * BLOCK;
        let numbers = &chunk.numbers[start * self.dims..];
        let factors = &chunk.factors[start..];
        Cosines { query, numbers, factors, wanted, cosines }.dispatch();
    }

    /// The chunk of a block, if its vectors can be compared with the query.
    #[inline]
    fn chunk(&self, block: usize, query: &QueryVector) -> Option<&Chunk> {
        let chunk = self.chunks.get(block / CHUNK_BLOCKS)?.as_deref()?;
        (self.dims == query.numbers.len()).then_some(chunk)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let chunks = self.chunks.iter().flatten().map(|chunk| {
            size_of::<Chunk>()
                + size_of_val(&*chunk.signs)
                + size_of_val(&*chunk.numbers)
                + size_of_val(&*chunk.factors)
        });
        chunks.sum::<usize>() + size_of_val(&*self.chunks)
    }
}

impl Chunk {
    fn new(size: usize, dims: usize) -> Self {
        let words = size.div_ceil(BLOCK) * dims.div_ceil(BLOCK);
        Self {
            signs: vec![[0; BLOCK]; words].into(),
            numbers: vec![0; size * dims].into(),
            factors: vec![0.0; size].into(),
        }
    }

    fn put(&mut self, at: usize, numbers: &[i8], factor: f32) {
        let words = numbers.len().div_ceil(BLOCK);
        let signs_of_block = &mut self.signs[at / BLOCK * words..];
        for (of_all, word) in signs_of_block.iter_mut().zip(signs(numbers)) {
            of_all[at % BLOCK] = word;
        }
        self.numbers[at * numbers.len()..(at + 1) * numbers.len()].copy_from_slice(numbers);
        self.factors[at] = factor;
    }

    /// Those of some products of a block that have a vector.
    #[inline]
    fn known(&self, block: usize, asked: u64) -> u64 {
        let factors = &self.factors[block * BLOCK..];
        let known = factors.iter().take(BLOCK).enumerate();
        let there = known.fold(0, |there, (at, factor)| there | u64::from(*factor > 0.0) << at);
        if asked == 0 { 0 } else { there }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::dense::RADIUS, *};
    use crate::embed::Vector;

    /// How near two vectors are by definition.
    fn naive(query: &[i8], product: &[i8]) -> Option<f32> {
        let signs = query.iter().zip(product).filter(|(a, b)| (**a < 0) != (**b < 0)).count();
        let dot: i32 = query.iter().zip(product).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        let near =
            signs <= (query.len() as f32 * RADIUS) as usize && product.iter().any(|x| *x != 0);
        near.then(|| dot as f32 * (factor(product) * factor(query)))
    }

    fn vector(dims: usize) -> impl Strategy<Value = Vec<i8>> {
        prop::collection::vec(-127_i8..=127, dims)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn nearness_is_what_the_definition_says(
            (query, products) in prop::sample::select(vec![3_usize, 64, 100, 256]).prop_flat_map(|dims| (
                vector(dims),
                prop::collection::vec(prop::option::of(vector(dims)), 0..300),
            )),
        ) {
            let Some(wanted) = QueryVector::of_numbers(query.clone().into()) else { return Ok(()) };
            let vectors = Vectors::of(products.iter().map(Option::as_deref));
            for block in 0..products.len().div_ceil(BLOCK) {
                let near = vectors.near(block, &wanted);
                let mut cosines = [f32::NAN; BLOCK];
                vectors.cosines(block, &wanted, near, &mut cosines);
                for (at, cosine) in cosines.into_iter().enumerate() {
                    let product = products.get(block * BLOCK + at).and_then(Option::as_deref);
                    let expected = product.and_then(|product| naive(&query, product));
                    let found = (near >> at & 1 == 1).then_some(cosine);
                    prop_assert_eq!(found, expected);
                }
            }
        }

        #[test]
        fn a_replaced_vector_leaves_others_and_earlier_states_alone(
            products in prop::collection::vec(prop::option::of(vector(5)), 1..600),
            changes in prop::collection::vec((any::<prop::sample::Index>(), vector(5)), 0..9),
        ) {
            let before = Vectors::of(products.iter().map(Option::as_deref));
            let mut after = before.clone();
            let mut expected = products.clone();
            for (at, vector) in &changes {
                let at = at.index(products.len());
                after.put(at, vector);
                if vector.iter().any(|x| *x != 0) {
                    expected[at] = Some(vector.clone());
                }
            }
            let real = |vector: &Option<Vec<i8>>| vector.clone().filter(|v| v.iter().any(|x| *x != 0));
            let changed: Vec<_> = after.changed_since(&before).collect();
            for doc in 0..products.len() {
                prop_assert_eq!(before.get(doc).map(<[i8]>::to_vec), real(&products[doc]));
                prop_assert_eq!(after.get(doc).map(<[i8]>::to_vec), real(&expected[doc]));
                prop_assert!(before.get(doc) == after.get(doc) || changed.contains(&doc));
            }
            if !changes.is_empty() && before.dims != 0 {
                prop_assert!(changed.len() <= changes.len() * CHUNK);
            }
        }
    }

    #[test]
    fn vectors_of_another_space_are_none() {
        let mut vectors = Vectors::new(2);
        vectors.put(0, &[1, 2, 3]);
        vectors.put(1, &[1, 2]);
        assert_eq!((vectors.get(0), vectors.get(1)), (Some(&[1, 2, 3][..]), None));
        let other = Vector::towards(vec![1.0, 2.0]).unwrap();
        assert_eq!(vectors.near(0, &QueryVector::of(&other).unwrap()), 0);
        assert_eq!(QueryVector::of(&Vector::towards(vec![0.0; 3]).unwrap()), None);
    }
}
