//! The classifier: a vector and a weight per word, and a softmax at every branch of the taxonomy.
//!
//! The file format, little-endian: `SKCATE01`; four 32-bit integers (dimensions *d*, words *w*,
//! categories *c*, categories of the first decision *t*); a 32-bit float per place of a word, the
//! factor of its weight, followed by one for the merchant's own category; `w` hashes, ascending, 32
//! bits each; `w` weights and `w` scales, the upper halves of 32-bit floats; `w` × `d` signed bytes;
//! the numbers of the `t` categories, 16 bits each; a scale and a bias, likewise upper halves, for
//! `c` + `t` rows; and those rows, `d` signed bytes each.

mod decisions;

use std::{borrow::Cow, ops::Range, sync::Arc};

use super::{
    file::{BrokenCategoryModel, File},
    linear::{self, Rows},
    names::CategoryNames,
    taxonomy::Taxonomy,
    vectors::CategoryVectors,
    words::{Feature, PLACES, Words},
};
use crate::product::inferred::CategoryIndex;

pub use self::decisions::Placement;

const MAGIC: &[u8; 8] = b"SKCATE01";
const HEADER_BYTES: usize = MAGIC.len() + 4 * 4;
/// An upper limit for the dimensions in a valid header.
const MAX_DIMS: usize = 1024;
/// The length of a text's vector whose words are all of one mind.
const SCALE: f32 = 4.0;
/// The weight of nothing in the mean of the words: few telling words make a short vector.
const PRIOR: f32 = 0.5;

/// The model, with the taxonomy that it was trained for.
pub struct CategoryModel {
    taxonomy: Arc<Taxonomy>,
    vectors: Option<CategoryVectors>,
    names: Option<CategoryNames>,
    bytes: Cow<'static, [u8]>,
    dims: usize,
    hashes: Vec<u32>,
    /// Where the hashes with each value of the upper sixteen bits begin.
    buckets: Vec<u32>,
    /// Weight, and weight times scale, of each word.
    words: Vec<(f32, f32)>,
    word_rows: usize,
    place_factors: [f32; PLACES],
    merchant_factor: f32,
    /// The categories of the first decision, ascending: those of level two, and roots without children.
    first: Vec<CategoryIndex>,
    /// Which root each of them is or is below.
    first_roots: Vec<usize>,
    first_rows: Rows,
    /// Scale and bias of the rows of categories, then of the first decision.
    outputs: Vec<(f32, f32)>,
    output_rows: usize,
}

/// Buffers that are allocated once per thread.
#[derive(Default)]
struct Buffers {
    words: Words,
    features: Vec<Feature>,
    /// What may name the thing, hashed, the best first.
    names: Vec<u32>,
    /// The known features, as rows with their factors.
    rows: Vec<(usize, f32)>,
    vector: Vec<f32>,
    first: Vec<f32>,
    /// The same by words alone, if any is known, and by the vector alone.
    by_words: Vec<f32>,
    by_vector: Vec<f32>,
    branches: Branches,
}

/// The probabilities of what is directly below categories, each computed once for a text.
#[derive(Default)]
struct Branches {
    /// The categories, and where their branches are.
    known: Vec<(CategoryIndex, Range<usize>)>,
    shares: Vec<(CategoryIndex, f32)>,
}

impl Buffers {
    /// Begins with the words of a title or of a query.
    fn read_title(&mut self, text: &str) {
        self.features.clear();
        self.words.title(text, &mut self.features);
        self.names.clear();
        self.words.names(&mut self.names);
    }
}

impl CategoryModel {
    /// Reads a model that was trained for this taxonomy.
    pub fn new(
        bytes: Cow<'static, [u8]>,
        taxonomy: Arc<Taxonomy>,
    ) -> Result<Self, BrokenCategoryModel> {
        if bytes.len() < HEADER_BYTES || !bytes.starts_with(MAGIC) {
            return Err(BrokenCategoryModel::Magic);
        }
        let mut file = File::new(&bytes, MAGIC.len());
        let [dims, words, categories, firsts] = std::array::from_fn(|_| file.u32() as usize);
        if categories != taxonomy.len() {
            return Err(BrokenCategoryModel::Taxonomy);
        }
        let rows = categories.saturating_add(firsts);
        let size = (HEADER_BYTES + (PLACES + 1) * 4)
            .saturating_add(words.saturating_mul(dims.saturating_add(8)))
            .saturating_add(rows.saturating_mul(dims.saturating_add(4)))
            .saturating_add(firsts.saturating_mul(2));
        if dims == 0 || dims > MAX_DIMS || firsts == 0 || size != bytes.len() {
            return Err(BrokenCategoryModel::Header);
        }
        let place_factors = std::array::from_fn(|_| file.f32());
        let merchant_factor = file.f32();
        let hashes: Vec<u32> = (0..words).map(|_| file.u32()).collect();
        let weights: Vec<f32> = (0..words).map(|_| file.half()).collect();
        let word_scales = weights.iter().map(|weight| (*weight, weight * file.half())).collect();
        let word_rows = file.skip(words * dims);
        let first: Vec<_> = (0..firsts).map(|_| CategoryIndex(file.u16())).collect();
        let outputs = (0..rows).map(|_| (file.half(), file.half())).collect();
        let output_rows = file.skip(rows * dims);
        let first_rows = &bytes[output_rows + categories * dims..][..firsts * dims];
        let first_rows = Rows::new(first_rows, dims);
        let root_of = |at: &CategoryIndex| {
            taxonomy.roots().iter().position(|root| taxonomy.below(*root).contains(&at.0))
        };
        let first_roots: Option<Vec<usize>> = first.iter().map(root_of).collect();
        let buckets = buckets(&hashes);
        let model = Self {
            taxonomy,
            vectors: None,
            names: None,
            dims,
            hashes,
            buckets,
            words: word_scales,
            word_rows,
            place_factors,
            merchant_factor,
            first,
            first_roots: first_roots.ok_or(BrokenCategoryModel::Numbers)?,
            first_rows,
            outputs,
            output_rows,
            bytes,
        };
        model.check()?;
        Ok(model)
    }

    fn check(&self) -> Result<(), BrokenCategoryModel> {
        let pairs = self.words.iter().chain(&self.outputs);
        let factors = self.place_factors.iter().chain([&self.merchant_factor]);
        let finite = pairs.flat_map(|(a, b)| [a, b]).chain(factors).all(|x| x.is_finite());
        let ascending = self.hashes.is_sorted_by(|one, next| one < next) && self.first.is_sorted();
        if finite && ascending { Ok(()) } else { Err(BrokenCategoryModel::Numbers) }
    }

    /// This model with vectors to compare those of texts with.
    pub fn with_vectors(self, vectors: CategoryVectors) -> Self {
        Self { vectors: Some(vectors), ..self }
    }

    /// This model with the names of things.
    pub fn with_names(self, names: CategoryNames) -> Self {
        Self { names: Some(names), ..self }
    }

    /// Typical vectors of categories, if it has any.
    pub fn vectors(&self) -> Option<&CategoryVectors> {
        self.vectors.as_ref()
    }

    /// The taxonomy.
    pub fn taxonomy(&self) -> &Taxonomy {
        &self.taxonomy
    }

    /// Adds up the vectors of the features; those in `stated` are the merchant's category.
    fn sum(&self, buffers: &mut Buffers, stated: Range<usize>) {
        let Buffers { features, rows, vector, branches, .. } = buffers;
        branches.known.clear();
        branches.shares.clear();
        rows.clear();
        let mut total = PRIOR;
        for (at, feature) in features.iter().enumerate() {
            let Some(row) = self.row(feature.hash) else { continue };
            let mut factor = self.place_factors[feature.place as usize];
            if stated.contains(&at) {
                factor *= self.merchant_factor;
            }
            let (weight, scale) = self.words[row];
            total += factor * weight;
            rows.push((row, factor * scale));
        }
        vector.clear();
        vector.resize(self.dims, 0.0);
        linear::add_rows(vector, &self.bytes[self.word_rows..], rows);
        vector.iter_mut().for_each(|x| *x *= SCALE / total);
    }

    fn row(&self, hash: u32) -> Option<usize> {
        let bucket = (hash >> 16) as usize;
        let (start, end) = (self.buckets[bucket] as usize, self.buckets[bucket + 1] as usize);
        self.hashes[start..end].binary_search(&hash).ok().map(|at| start + at)
    }

    /// The place in the first decision that leads to a category.
    fn first_above(&self, category: CategoryIndex) -> Option<usize> {
        self.first.binary_search(&self.taxonomy.level_two(category)).ok()
    }

    /// The probabilities of the categories of level two.
    fn first_decision(&self, buffers: &mut Buffers) {
        let Buffers { vector, first, .. } = buffers;
        self.first_rows.dots(vector, first);
        first.truncate(self.first.len());
        let outputs = &self.outputs[self.taxonomy.len()..];
        for (score, (scale, bias)) in first.iter_mut().zip(outputs) {
            *score = bias + scale * *score;
        }
        linear::softmax(first);
    }

    /// The probabilities of the categories directly below one, if there are several.
    fn branch<'b>(
        &self,
        category: CategoryIndex,
        vector: &[f32],
        branches: &'b mut Branches,
    ) -> &'b [(CategoryIndex, f32)] {
        let Branches { known, shares } = branches;
        if let Some((_, range)) = known.iter().find(|(one, _)| *one == category) {
            return &shares[range.clone()];
        }
        let start = shares.len();
        let row_of = |child: CategoryIndex| {
            let start = self.output_rows + usize::from(child.0) * self.dims;
            (child, &self.bytes[start..][..self.dims])
        };
        let rows = self.taxonomy.children(category).map(row_of);
        linear::for_each_dot(vector, rows, |child, dot| {
            let (scale, bias) = self.outputs[usize::from(child.0)];
            shares.push((child, bias + scale * dot));
        });
        if shares.len() == start + 1 {
            // There is nothing to decide, but not everything in the category is of that kind.
            shares.pop();
        }
        softmax(&mut shares[start..]);
        known.push((category, start..shares.len()));
        &shares[start..]
    }
}

impl std::fmt::Debug for CategoryModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CategoryModel").field("words", &self.words.len()).finish_non_exhaustive()
    }
}

/// Turns the scores of categories, of which there are few, into probabilities.
fn softmax(categories: &mut [(CategoryIndex, f32)]) {
    let scores = categories.iter().map(|(_, score)| *score);
    let highest = scores.fold(f32::NEG_INFINITY, f32::max);
    categories.iter_mut().for_each(|(_, score)| *score = linear::exp(*score - highest));
    let total: f32 = categories.iter().map(|(_, score)| *score).sum();
    categories.iter_mut().for_each(|(_, score)| *score /= total);
}

fn buckets(hashes: &[u32]) -> Vec<u32> {
    let mut starts = vec![0; (1 << 16) + 1];
    for hash in hashes {
        starts[(hash >> 16) as usize + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    starts
}
