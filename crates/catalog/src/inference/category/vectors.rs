//! Typical vectors of the categories of level two, with which the instant vector of a text is compared.
//!
//! The words of the classifier are those of its examples. The instant encoder knows more of them, also of
//! other languages, but not which of them name the thing. Where both agree, the category is nearly
//! always right.
//!
//! The file format, little-endian: `SKCATV01`; two 32-bit integers (dimensions *d*, vectors *n*); the
//! category of each vector, 16 bits, ascending; and `n` × `d` signed bytes. Only directions count.

use std::borrow::Cow;

use super::{
    file::{BrokenCategoryModel, File},
    linear,
    taxonomy::Taxonomy,
};
use crate::product::inferred::CategoryIndex;

const MAGIC: &[u8; 8] = b"SKCATV01";
const HEADER_BYTES: usize = MAGIC.len() + 2 * 4;
/// A vector whose cosine is less by this much counts a third.
const DECAY: f32 = 0.05;
/// What a vector counts at least, however far it is.
const NEXT_TO_NOTHING: f32 = 4.5e-5;

/// The vectors, with their categories.
pub struct CategoryVectors {
    bytes: Cow<'static, [u8]>,
    dims: usize,
    /// Where the vectors begin.
    start: usize,
    rows: Vec<Row>,
}

/// A vector without its numbers.
struct Row {
    category: CategoryIndex,
    /// The reciprocal of its length.
    factor: f32,
    /// The reciprocal of the number of vectors of its category.
    share: f32,
}

impl CategoryVectors {
    /// Reads vectors of categories of this taxonomy.
    pub fn new(
        bytes: Cow<'static, [u8]>,
        taxonomy: &Taxonomy,
    ) -> Result<Self, BrokenCategoryModel> {
        if bytes.len() < HEADER_BYTES || !bytes.starts_with(MAGIC) {
            return Err(BrokenCategoryModel::Magic);
        }
        let mut file = File::new(&bytes, MAGIC.len());
        let [dims, count] = std::array::from_fn(|_| file.u32() as usize);
        let size = count.saturating_mul(dims.saturating_add(2)).saturating_add(HEADER_BYTES);
        if dims == 0 || size != bytes.len() {
            return Err(BrokenCategoryModel::Header);
        }
        let categories: Vec<_> = (0..count).map(|_| CategoryIndex(file.u16())).collect();
        if categories.iter().any(|category| usize::from(category.0) >= taxonomy.len()) {
            return Err(BrokenCategoryModel::Taxonomy);
        }
        if !categories.is_sorted() {
            return Err(BrokenCategoryModel::Numbers);
        }
        let start = file.skip(count * dims);
        let mut factors = bytes[start..].chunks_exact(dims).map(|row| length(row).recip());
        let mut rows = Vec::with_capacity(count);
        for same in categories.chunk_by(|one, other| one == other) {
            let share = (same.len() as f32).recip();
            let factors = factors.by_ref().take(same.len());
            rows.extend(factors.map(|factor| Row { category: same[0], factor, share }));
        }
        match rows.iter().all(|row| row.factor.is_finite()) {
            true => Ok(Self { bytes, dims, start, rows }),
            false => Err(BrokenCategoryModel::Numbers),
        }
    }

    /// The dimension of the vectors.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// The vectors, signed bytes, one after the other.
    pub fn numbers(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// The reciprocal of the length of each vector.
    pub fn reciprocal_lengths(&self) -> impl Iterator<Item = f32> {
        self.rows.iter().map(|row| row.factor)
    }

    /// Replaces `shares` by how likely a text belongs to each of some categories, which ascend; `false`
    /// if nothing can be told. `dots` are the dot products of its unit vector with each of these
    /// vectors. A category without a vector is as likely as any.
    pub(super) fn compare(
        &self,
        dots: &[f32],
        categories: &[CategoryIndex],
        shares: &mut Vec<f32>,
    ) -> bool {
        if dots.len() != self.rows.len() {
            return false;
        }
        shares.clear();
        shares.resize(categories.len(), 0.0);
        let cosines = self.rows.iter().zip(dots).map(|(row, dot)| dot * row.factor);
        let mut counts: Vec<f32> = cosines.collect();
        linear::decay(&mut counts, DECAY, NEXT_TO_NOTHING);
        let mut at = 0;
        for (row, count) in self.rows.iter().zip(counts) {
            while categories.get(at).is_some_and(|category| *category < row.category) {
                at += 1;
            }
            if categories.get(at) == Some(&row.category) {
                shares[at] += row.share * count;
            }
        }
        let total: f32 = shares.iter().sum();
        let any = (categories.len() as f32).recip();
        for share in shares {
            *share = if *share > 0.0 { *share / total } else { any };
        }
        total > 0.0
    }
}

fn length(numbers: &[u8]) -> f32 {
    numbers.iter().map(|x| f32::from(x.cast_signed()).powi(2)).sum::<f32>().sqrt()
}

impl std::fmt::Debug for CategoryVectors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CategoryVectors").field("len", &self.rows.len()).finish_non_exhaustive()
    }
}
