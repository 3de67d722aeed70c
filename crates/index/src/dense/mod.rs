//! Dense vectors: the cosine between a query and each product.
//!
//! Vectors are stored as signed bytes ([`vectors`]). Beside each vector lies a sketch of one bit
//! per dimension ([`sketch`], after a [`rotation`]), from which a cosine is estimated at a fraction
//! of the cost, with an error bound, and limited by what the product's [cell](cells) allows. Both depend
//! on product and query alone; [`super::scoring`] says which of them a search uses.

mod cells;
mod query_vector;
mod rotation;
mod sign_sums;
mod sketch;
mod sketch_table;
#[cfg(test)]
mod tests;
mod vectors;

pub use self::query_vector::QueryVector;
pub(super) use self::vectors::{BlockSimilarities, Vectors};
#[cfg(test)]
pub(super) use self::{query_vector::reciprocal_length, tests::phrases, vectors::estimated_cosine};
