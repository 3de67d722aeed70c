//! How are the vectors of a segment's products held? In chunks, each shared by all snapshots
//! in which its vectors are the same.
//!
//! A better vector replaces one by copying its chunk, so readers go on undisturbed, nothing is
//! tokenised again, and a segment looks the same whenever its vectors came.

use std::sync::Arc;

use fearless_simd::{Level, dispatch};

use super::{
    bits::{BLOCK, ones},
    dense::{QueryVector, factor},
    sketch::{LEAST_DIMS, Sketch},
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
    /// For each block, which of its products have a vector.
    known: Box<[u64]>,
    /// For each block, for each word of a vector's signs, that word of each product.
    signs: Box<[[u64; BLOCK]]>,
    /// For each block, how far each vector stretches along its signs.
    stretches: Box<[[f32; BLOCK]]>,
    numbers: Box<[i8]>,
    /// The reciprocal of each vector's length.
    factors: Box<[f32]>,
}

/// How near the products of a block are to a query, as far as a look tells.
pub(super) struct Look {
    /// Those that have a vector to compare. Of the others, the rest says nothing.
    pub(super) known: u64,
    /// The cosines, about.
    pub(super) similarities: [f32; BLOCK],
    /// By how much each may be wrong; 0 for all after a close look.
    pub(super) doubts: [f32; BLOCK],
}

impl Look {
    /// At products of which nothing is known.
    pub(super) const NOTHING: Self =
        Self { known: 0, similarities: [0.0; BLOCK], doubts: [0.0; BLOCK] };
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
        chunk.has(doc % CHUNK).then(|| chunk.vector(doc % CHUNK, self.dims).0)
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

    /// Looks at the products of a block: closely, or at their sketches.
    #[inline]
    pub(super) fn look(&self, block: usize, query: &QueryVector, closely: bool, look: &mut Look) {
        let Some(chunk) = self.chunk(block, query) else {
            look.known = 0;
            return;
        };
        let at = block % CHUNK_BLOCKS;
        look.known = chunk.known[at];
        match query.sketch.as_ref().filter(|_| !closely) {
            Some(sketch) => {
                let signs = &chunk.signs[at * sketch.words()..(at + 1) * sketch.words()];
                let stretches = &chunk.stretches[at];
                dispatch!(Level::new(), simd => {
                    sketch.estimate(simd, signs, stretches, &mut look.similarities);
                    for (doubt, stretch) in look.doubts.iter_mut().zip(stretches) {
                        *doubt = sketch.doubt(*stretch);
                    }
                });
            }
            None => {
                look.doubts = [0.0; BLOCK];
                dispatch!(Level::new(), simd => {
                    for place in ones(look.known) {
                        let (numbers, factor) = chunk.vector(at * BLOCK + place, self.dims);
                        look.similarities[place] = query.cosine(simd, numbers, factor);
                    }
                });
            }
        }
    }

    /// Looks closely at products, each with a place for its cosine. One that has no vector to
    /// compare is left alone.
    pub(super) fn look_closely<'a>(
        &self,
        query: &QueryVector,
        products: impl Iterator<Item = (usize, &'a mut f32)>,
    ) {
        dispatch!(Level::new(), simd => {
            for (doc, cosine) in products {
                if let Some(chunk) = self.chunk(doc / BLOCK, query)
                    && chunk.has(doc % CHUNK)
                {
                    let (numbers, factor) = chunk.vector(doc % CHUNK, self.dims);
                    *cosine = query.cosine(simd, numbers, factor);
                }
            }
        });
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
                + size_of_val(&*chunk.known)
                + size_of_val(&*chunk.signs)
                + size_of_val(&*chunk.stretches)
                + size_of_val(&*chunk.numbers)
                + size_of_val(&*chunk.factors)
        });
        chunks.sum::<usize>() + size_of_val(&*self.chunks)
    }
}

impl Chunk {
    fn new(size: usize, dims: usize) -> Self {
        let blocks = size.div_ceil(BLOCK);
        let words = if dims < LEAST_DIMS { 0 } else { blocks * dims.div_ceil(BLOCK) };
        Self {
            known: vec![0; blocks].into(),
            signs: vec![[0; BLOCK]; words].into(),
            stretches: vec![[0.0; BLOCK]; blocks].into(),
            numbers: vec![0; size * dims].into(),
            factors: vec![0.0; size].into(),
        }
    }

    fn put(&mut self, at: usize, numbers: &[i8], factor: f32) {
        let (block, place) = (at / BLOCK, at % BLOCK);
        self.known[block] |= 1 << place;
        self.numbers[at * numbers.len()..(at + 1) * numbers.len()].copy_from_slice(numbers);
        self.factors[at] = factor;
        if !self.signs.is_empty() {
            let sketch = dispatch!(Level::new(), _ => Sketch::of(numbers));
            self.stretches[block][place] = sketch.stretch;
            let of_block = &mut self.signs[block * sketch.signs.len()..];
            for (of_all, word) in of_block.iter_mut().zip(&sketch.signs) {
                of_all[place] = *word;
            }
        }
    }

    /// Whether a product has a vector.
    #[inline]
    fn has(&self, at: usize) -> bool {
        self.known[at / BLOCK] >> (at % BLOCK) & 1 == 1
    }

    /// A product's vector, and the reciprocal of its length.
    #[inline(always)]
    fn vector(&self, at: usize, dims: usize) -> (&[i8], f32) {
        (&self.numbers[at * dims..(at + 1) * dims], self.factors[at])
    }
}

#[cfg(test)]
impl Vectors {
    /// What a look at the products of a block tells.
    pub(super) fn look_at(&self, block: usize, query: &QueryVector, closely: bool) -> Look {
        let mut look = Look::NOTHING;
        self.look(block, query, closely, &mut look);
        look
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::embed::Vector;

    /// How near two vectors are by definition.
    fn naive(query: &[i8], product: &[i8]) -> Option<f32> {
        let dot: i32 = query.iter().zip(product).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        let is_somewhere = product.iter().any(|x| *x != 0);
        is_somewhere.then(|| dot as f32 * (factor(product) * factor(query)))
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
            let expected: Vec<_> = products
                .iter()
                .map(|product| product.as_deref().and_then(|product| naive(&query, product)))
                .collect();
            for (at, expected) in expected.iter().enumerate() {
                let (block, place) = (at / BLOCK, at % BLOCK);
                let look = vectors.look_at(block, &wanted, true);
                let is_known = look.known >> place & 1 == 1;
                prop_assert_eq!(is_known.then_some(look.similarities[place]), *expected);
                prop_assert_eq!(look.doubts[place], 0.0);
                let rough = vectors.look_at(block, &wanted, false);
                prop_assert_eq!(look.known, rough.known);
                let off = (rough.similarities[place] - expected.unwrap_or(0.0)).abs();
                // One in a few hundred is further off, by chance; none is twice as far.
                prop_assert!(!is_known || off <= 2.0 * rough.doubts[place], "{off}");
            }
            let mut cosines = vec![f32::NAN; products.len()];
            vectors.look_closely(&wanted, cosines.iter_mut().enumerate());
            let known = |cosine: f32| (!cosine.is_nan()).then_some(cosine);
            prop_assert_eq!(cosines.into_iter().map(known).collect::<Vec<_>>(), expected);
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
        assert_eq!(vectors.look_at(0, &QueryVector::of(&other).unwrap(), true).known, 0);
        assert_eq!(QueryVector::of(&Vector::towards(vec![0.0; 3]).unwrap()), None);
    }
}
