//! The vectors of a segment's products, in copy-on-write chunks that snapshots share, and their
//! sketches, in one copy-on-write table.
//!
//! A new vector copies its chunk and the table: readers keep theirs, and no text is tokenised again.

use std::{io, sync::Arc};

use fearless_simd::{Level, dispatch};

use super::{cells::Cell, query_vector::QueryVector, sketch_table::SketchTable};
use crate::{
    arrays::{ArrayReader, ArrayWriter, Rejected, Stored},
    bits::BLOCK,
};

/// No model has more dimensions; bounds what a damaged file can ask for.
const MAX_DIMS: u64 = 1 << 16;
/// Products of a chunk: few enough to copy.
const CHUNK: usize = 256;

/// The vectors of a segment's products; products without one are allowed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vectors {
    /// Number of products.
    len: usize,
    /// Dimensions; 0 before the first vector.
    dims: usize,
    sketches: Arc<SketchTable>,
    /// The numbers of [`CHUNK`] vectors each, one vector after the other; `None` for a chunk without
    /// vectors.
    chunks: Vec<Option<Arc<[i8]>>>,
}

/// The cosines of the products of a block, estimated or exact.
pub(crate) struct BlockSimilarities {
    /// Products with a vector of the query's dimensions.
    pub(crate) known: u64,
    /// Undefined for products that are not known or were not asked for.
    pub(crate) cosines: [f32; BLOCK],
}

impl BlockSimilarities {
    /// No vectors.
    pub(crate) const UNKNOWN: Self = Self { known: 0, cosines: [0.0; BLOCK] };
    /// The upper bound of any cosine.
    pub(crate) const GREATEST: Self = Self { known: u64::MAX, cosines: [1.0; BLOCK] };
}

impl Vectors {
    /// `len` products without vectors.
    pub(crate) fn new(len: usize) -> Self {
        Self { len, ..Self::default() }
    }

    /// The vectors of products in order of document number.
    pub(crate) fn of<'a>(vectors: impl ExactSizeIterator<Item = Option<&'a [i8]>>) -> Self {
        let mut made = Self::new(vectors.len());
        for (doc, numbers) in vectors.enumerate() {
            if let Some(numbers) = numbers {
                made.put(doc, numbers);
            }
        }
        made
    }

    /// The vectors of products of other segments, in order of document number. Their sketches are
    /// copied, because to make one is to rotate the vector.
    pub(crate) fn gathered<'a>(products: impl ExactSizeIterator<Item = (&'a Self, usize)>) -> Self {
        let mut made = Self::new(products.len());
        for (doc, (from, at)) in products.enumerate() {
            if let Some(numbers) = from.get(at)
                && let Some((sketches, place)) = made.parts_mut(doc, from.dims)
            {
                place.copy_from_slice(numbers);
                sketches.copy(doc, &from.sketches, at, from.dims);
            }
        }
        Arc::make_mut(&mut made.sketches).index_cells();
        made
    }

    /// Sets the vector of a product. A zero vector, or one of other dimensions, is ignored.
    pub(crate) fn put(&mut self, doc: usize, numbers: &[i8]) {
        if numbers.iter().any(|number| *number != 0)
            && let Some((sketches, place)) = self.parts_mut(doc, numbers.len())
        {
            place.copy_from_slice(numbers);
            sketches.put(doc, numbers);
        }
    }

    /// The sketches, and the place of the vector that a product gets; `None` if others have other
    /// dimensions.
    fn parts_mut(&mut self, doc: usize, dims: usize) -> Option<(&mut SketchTable, &mut [i8])> {
        if self.dims == 0 {
            self.dims = dims;
            self.sketches = Arc::new(SketchTable::new(self.len, dims));
            self.chunks = vec![None; self.len.div_ceil(CHUNK)];
        }
        if self.dims != dims {
            return None;
        }
        let size = CHUNK.min(self.len - doc / CHUNK * CHUNK);
        let chunk = self.chunks[doc / CHUNK].get_or_insert_with(|| vec![0; size * dims].into());
        let place = doc % CHUNK * dims..(doc % CHUNK + 1) * dims;
        Some((Arc::make_mut(&mut self.sketches), &mut Arc::make_mut(chunk)[place]))
    }

    /// The vector of a product.
    #[inline]
    pub(crate) fn get(&self, doc: usize) -> Option<&[i8]> {
        if !self.sketches.has(doc) {
            return None;
        }
        let chunk = self.chunks.get(doc / CHUNK)?.as_deref()?;
        Some(&chunk[doc % CHUNK * self.dims..(doc % CHUNK + 1) * self.dims])
    }

    /// A superset of the documents whose vectors changed since `before`, an earlier state.
    pub(crate) fn changed_since<'a>(
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

    /// Compares some products of a block with a query: by their sketches if they are `sketched`, which
    /// needs enough dimensions, and otherwise exactly.
    #[inline]
    pub(crate) fn compare(
        &self,
        block: usize,
        query: &QueryVector,
        products: u64,
        sketched: bool,
        similarities: &mut BlockSimilarities,
    ) {
        let is_comparable = self.dims == query.numbers.len();
        similarities.known = if is_comparable { self.sketches.known(block) } else { 0 };
        if similarities.known == 0 {
            return;
        }
        if let Some(sketch) = query.sketch.as_ref().filter(|_| sketched) {
            let cosines = &mut similarities.cosines;
            let limits = query.limits.as_ref();
            return self.sketches.estimate(block, products, sketch, limits, cosines);
        }
        let products = products & similarities.known;
        let each = similarities.cosines.iter_mut().enumerate();
        let each = each.filter(|(place, _)| products >> place & 1 == 1);
        self.cosines(query, each.map(|(place, cosine)| (block * BLOCK + place, cosine)));
    }

    /// Compares products one by one, as [`Self::compare`] does, and writes the similarity of each to
    /// its place. A product without a vector of the query's dimensions is skipped.
    pub(crate) fn compare_each<'a>(
        &self,
        query: &QueryVector,
        sketched: bool,
        products: impl Iterator<Item = (usize, &'a mut f32)>,
    ) {
        match &query.sketch {
            _ if self.dims != query.numbers.len() => {}
            Some(sketch) if sketched => {
                self.sketches.estimate_each(sketch, query.limits.as_ref(), products);
            }
            _ => self.cosines(query, products),
        }
    }

    /// An upper bound of what [`Self::compare`] finds in a block.
    #[inline]
    pub(crate) fn greatest_cosine(&self, block: usize, query: &QueryVector, sketched: bool) -> f32 {
        match &query.limits {
            Some(limits) if sketched => self.sketches.greatest_limit(block, limits),
            _ => 1.0,
        }
    }

    /// An upper bound of what [`Self::compare`] finds for each product of a block.
    #[inline]
    pub(crate) fn greatest_cosines(
        &self,
        block: usize,
        query: &QueryVector,
        sketched: bool,
    ) -> BlockSimilarities {
        let mut greatest = BlockSimilarities::GREATEST;
        if let Some(limits) = query.limits.as_ref().filter(|_| sketched)
            && self.dims != 0
        {
            self.sketches.limit(block, limits, &mut greatest.cosines);
        }
        greatest
    }

    /// The cell of a product's vector.
    pub(crate) fn cell(&self, doc: usize) -> Cell {
        self.sketches.cell(doc)
    }

    /// How many products are of a lower cell than the product before.
    pub(crate) fn disordered(&self) -> usize {
        self.sketches.disordered()
    }

    /// How far the cosine of a product may be from its estimate; 0 where it has no sketch.
    pub(crate) fn error_bound(&self, doc: usize, query: &QueryVector) -> f32 {
        let is_known = self.dims == query.numbers.len() && self.sketches.has(doc);
        let sketch = query.sketch.as_ref().filter(|_| is_known);
        sketch.map_or(0.0, |sketch| sketch.error_bound(self.sketches.norm_ratio(doc)))
    }

    /// Writes the exact cosine of each product to its place. A product without a vector of the
    /// query's dimensions is skipped.
    pub(crate) fn cosines<'a>(
        &self,
        query: &QueryVector,
        products: impl Iterator<Item = (usize, &'a mut f32)>,
    ) {
        if self.dims != query.numbers.len() {
            return;
        }
        dispatch!(Level::new(), simd => {
            for (doc, cosine) in products {
                if let Some(numbers) = self.get(doc) {
                    *cosine = query.cosine(simd, numbers);
                }
            }
        });
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let chunks = self.chunks.iter().flatten().map(|chunk| size_of_val(&**chunk));
        self.sketches.memory_bytes() + chunks.sum::<usize>() + size_of_val(&*self.chunks)
    }
}

impl Stored for Vectors {
    fn write(&self, to: &mut ArrayWriter<'_>) -> io::Result<()> {
        to.number(self.dims as u64)?;
        if self.dims == 0 {
            return Ok(());
        }
        self.sketches.write(to)?;
        for chunk in &self.chunks {
            to.number(u8::from(chunk.is_some()))?;
            let Some(chunk) = chunk else { continue };
            to.slice(chunk)?;
        }
        Ok(())
    }

    fn read(from: &mut ArrayReader<'_>, len: usize) -> Result<Self, Rejected> {
        let dims: u64 = from.number()?;
        Rejected::unless(dims <= MAX_DIMS, "a vector has too many dimensions")?;
        let dims = dims as usize;
        if dims == 0 {
            return Ok(Self::new(len));
        }
        let sketches = Arc::new(SketchTable::read(from, len, dims)?);
        let chunks = (0..len).step_by(CHUNK).map(|first| match from.number()? {
            0_u8 => Ok(None),
            _ => Ok(Some(from.array_of_len(CHUNK.min(len - first) * dims)?.into())),
        });
        let vectors =
            Self { len, dims, sketches, chunks: chunks.collect::<Result<_, Rejected>>()? };
        let are_there = (0..len).all(|doc| vectors.sketches.has(doc) == vectors.get(doc).is_some());
        Rejected::unless(are_there, "a sketch is of no vector")?;
        Ok(vectors)
    }
}

#[cfg(test)]
impl Vectors {
    /// The cosines of all products of a block.
    pub(crate) fn similarities(
        &self,
        block: usize,
        query: &QueryVector,
        sketched: bool,
    ) -> BlockSimilarities {
        let mut similarities = BlockSimilarities::UNKNOWN;
        self.compare(block, query, u64::MAX, sketched, &mut similarities);
        similarities
    }
}

/// The cosine of a query and a product, estimated if they have enough dimensions; `None` without a vector.
#[cfg(test)]
pub(crate) fn estimated_cosine(query: &QueryVector, product: &[i8]) -> Option<f32> {
    let alone = Vectors::of([Some(product)].into_iter()).similarities(0, query, true);
    (alone.known & 1 == 1).then_some(alone.cosines[0])
}

#[cfg(test)]
mod tests {
    use embed::Vector;
    use proptest::prelude::*;

    use super::{super::query_vector::reciprocal_length, *};

    /// The cosine by definition.
    fn naive(query: &[i8], product: &[i8]) -> Option<f32> {
        let dot: i32 = query.iter().zip(product).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        let is_nonzero = product.iter().any(|x| *x != 0);
        is_nonzero.then(|| dot as f32 * (reciprocal_length(product) * reciprocal_length(query)))
    }

    /// The estimate of a product is the lesser of what it is without cells and the limit of its cell,
    /// whether it is compared alone or with others.
    fn check_limit(
        vectors: &Vectors,
        doc: usize,
        unlimited: &QueryVector,
    ) -> Result<(), TestCaseError> {
        let (block, place) = (doc / BLOCK, doc % BLOCK);
        let query = unlimited.clone().limited();
        let found = vectors.similarities(block, &query, true);
        if found.known >> place & 1 == 0 {
            return Ok(());
        }
        let limit = query.limits.as_ref().map_or(1.0, |limits| limits.get(vectors.cell(doc)));
        let expected = vectors.similarities(block, unlimited, true).cosines[place];
        let is_sketched = query.sketch.is_some() && query.limits.is_some();
        let expected = if is_sketched { expected.min(limit) } else { expected };
        prop_assert_eq!(found.cosines[place], expected);
        let mut alone = f32::NAN;
        vectors.compare_each(&query, true, std::iter::once((doc, &mut alone)));
        prop_assert_eq!(alone, expected);
        if is_sketched {
            let greatest = vectors.greatest_cosines(block, &query, true).cosines[place];
            prop_assert!(greatest >= expected.min(1.0) && greatest >= limit.min(1.0));
            prop_assert!(vectors.greatest_cosine(block, &query, true) >= limit);
        }
        Ok(())
    }

    fn vector(dims: usize) -> impl Strategy<Value = Vec<i8>> {
        prop::collection::vec(-127_i8..=127, dims)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn cosines_are_those_of_the_definition_and_estimates_are_close(
            (query, products) in prop::sample::select(vec![3_usize, 64, 100, 256]).prop_flat_map(|dims| (
                vector(dims),
                prop::collection::vec(prop::option::of(vector(dims)), 0..300),
            )),
        ) {
            let Some(prepared) = QueryVector::of_quantised(query.clone().into()) else { return Ok(()) };
            let vectors = Vectors::of(products.iter().map(Option::as_deref));
            let expected: Vec<_> = products
                .iter()
                .map(|product| product.as_deref().and_then(|product| naive(&query, product)))
                .collect();
            for (at, expected) in expected.iter().enumerate() {
                let (block, place) = (at / BLOCK, at % BLOCK);
                let exact = vectors.similarities(block, &prepared, false);
                let is_known = exact.known >> place & 1 == 1;
                prop_assert_eq!(is_known.then_some(exact.cosines[place]), *expected);
                let rough = vectors.similarities(block, &prepared, true);
                prop_assert_eq!(exact.known, rough.known);
                let mut alone = f32::NAN;
                vectors.compare_each(&prepared, true, std::iter::once((at, &mut alone)));
                let expected_alone = if is_known { rough.cosines[place] } else { f32::NAN };
                prop_assert_eq!(alone.to_bits(), expected_alone.to_bits());
                let error = (rough.cosines[place] - expected.unwrap_or(0.0)).abs();
                // Three standard deviations are exceeded by one in 370, six by practically none.
                let bound = vectors.error_bound(at, &prepared);
                prop_assert!(!is_known || error <= 2.0 * bound, "{error}");
                check_limit(&vectors, at, &prepared)?;
            }
            let mut cosines = vec![f32::NAN; products.len()];
            vectors.cosines(&prepared, cosines.iter_mut().enumerate());
            let known = |cosine: f32| (!cosine.is_nan()).then_some(cosine);
            prop_assert_eq!(cosines.into_iter().map(known).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn gathered_vectors_are_those_made_anew(
            (products, others) in prop::sample::select(vec![3_usize, 64, 100]).prop_flat_map(|dims| (
                prop::collection::vec(prop::option::of(vector(dims)), 1..300),
                prop::collection::vec(prop::option::of(vector(dims)), 1..300),
            )),
            order in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 0..300),
        ) {
            let sources = [&products, &others];
            let made = sources.map(|of| Vectors::of(of.iter().map(Option::as_deref)));
            let place = |(second, at): &(bool, prop::sample::Index)| {
                (usize::from(*second), at.index(sources[usize::from(*second)].len()))
            };
            let order: Vec<_> = order.iter().map(place).collect();
            let gathered = Vectors::gathered(order.iter().map(|(of, at)| (&made[*of], *at)));
            let anew = order.iter().map(|(of, at)| sources[*of][*at].as_deref());
            let anew = Vectors::of(anew);
            prop_assert_eq!(format!("{gathered:?}"), format!("{anew:?}"));
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
    fn products_without_vectors_have_no_limits() {
        let vectors = Vectors::new(3 * BLOCK);
        let query = QueryVector::of_quantised(vec![1; 256].into()).unwrap().limited();
        assert!(query.limits.is_some());
        for block in 0..3 {
            assert_eq!(vectors.greatest_cosine(block, &query, true), 1.0);
            assert_eq!(vectors.greatest_cosines(block, &query, true).cosines, [1.0; BLOCK]);
            assert_eq!(vectors.similarities(block, &query, true).known, 0);
        }
    }

    #[test]
    fn vectors_of_other_dimensions_are_ignored() {
        let mut vectors = Vectors::new(2);
        vectors.put(0, &[1, 2, 3]);
        vectors.put(1, &[1, 2]);
        assert_eq!((vectors.get(0), vectors.get(1)), (Some(&[1, 2, 3][..]), None));
        let other = Vector::normalized(vec![1.0, 2.0]).unwrap();
        assert_eq!(vectors.similarities(0, &QueryVector::of(&other).unwrap(), false).known, 0);
        assert_eq!(QueryVector::of(&Vector::normalized(vec![0.0; 3]).unwrap()), None);
    }
}
