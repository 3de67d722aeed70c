//! The category of a product, inferred from its texts: a place in Shopify's product taxonomy.
//!
//! [`words`] finds the words of a title and where they stand: the word before a comma or a
//! preposition names the thing, "for a watch" does not. [`model`] looks up a vector and a weight for
//! each of them, adds the vectors up, and descends the [`taxonomy`] from branch to branch as long
//! as one of them is likely enough. [`vectors`] says where the text as a whole belongs: for the first
//! decision, both have the same say. [`names`] knows what things are called: a name in head position
//! decides, unless that is unlikely.

mod file;
mod linear;
mod model;
mod names;
mod query;
mod taxonomy;
mod vectors;
mod words;

pub use file::BrokenCategoryModel;
pub use model::{CategoryModel, Placement};
pub use names::CategoryNames;
pub use query::QueryCategories;
pub use taxonomy::{BrokenTaxonomy, Taxonomy};
pub use vectors::CategoryVectors;

#[cfg(test)]
mod tests;
