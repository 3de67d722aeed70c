//! The names of things: a title or a query that says one says what it is.
//!
//! The classifier weighs all words of a text. A name in head position needs no weighing: a *guernsey* is a
//! sweater, whatever else the title says. Where a name has several categories, the classifier chooses.
//!
//! The file format, little-endian: `SKCATN01`; a 32-bit integer, the number of names; the hash of each, 32
//! bits, ascending; and the category of each, 16 bits.

use super::{
    file::{BrokenCategoryModel, File},
    taxonomy::Taxonomy,
};
use crate::product::inferred::CategoryIndex;

const MAGIC: &[u8; 8] = b"SKCATN01";
const HEADER_BYTES: usize = MAGIC.len() + 4;

/// Names with their categories.
pub struct CategoryNames {
    hashes: Vec<u32>,
    categories: Vec<CategoryIndex>,
}

impl CategoryNames {
    /// Reads names of categories of this taxonomy.
    pub fn new(bytes: &[u8], taxonomy: &Taxonomy) -> Result<Self, BrokenCategoryModel> {
        if bytes.len() < HEADER_BYTES || !bytes.starts_with(MAGIC) {
            return Err(BrokenCategoryModel::Magic);
        }
        let mut file = File::new(bytes, MAGIC.len());
        let count = file.u32() as usize;
        if count.saturating_mul(4 + 2).saturating_add(HEADER_BYTES) != bytes.len() {
            return Err(BrokenCategoryModel::Header);
        }
        let hashes: Vec<u32> = (0..count).map(|_| file.u32()).collect();
        let categories: Vec<_> = (0..count).map(|_| CategoryIndex(file.u16())).collect();
        if categories.iter().any(|category| usize::from(category.0) >= taxonomy.len()) {
            return Err(BrokenCategoryModel::Taxonomy);
        }
        match hashes.is_sorted() {
            true => Ok(Self { hashes, categories }),
            false => Err(BrokenCategoryModel::Numbers),
        }
    }

    /// The categories of the things with this name.
    pub(super) fn find(&self, hash: u32) -> &[CategoryIndex] {
        let start = self.hashes.partition_point(|other| *other < hash);
        let count = self.hashes[start..].iter().take_while(|other| **other == hash).count();
        &self.categories[start..start + count]
    }
}
