//! One shop's products in memory, searchable by terms, by vector, by price and by attributes.
//!
//! The index is a log-structured merge tree without the disk: each group of writes becomes a small
//! immutable segment, small segments are merged into larger ones, and a deletion is a tombstone
//! beside the segment. Readers take a [`Snapshot`] and never wait; the one writer publishes the
//! next.
//!
//! The stages, each of which uses only those above it:
//!
//! | folder | contains |
//! |---|---|
//! | `dense/` | vectors, their sketches, estimated and exact cosines |
//! | `segment/` | term dictionary, postings, columns, attributes, keys, tombstones; building and merging |
//! | `lexical/` | BM25F over the postings, bigrams, vocabulary for spelling correction |
//! | `filter/` | visibility, price, attribute and negation filters |
//! | `first_stage/` | candidate scan, pruning; which products fit the attributes of the query |
//! | `second_stage/` | words by meaning, names of things, kinds; rescoring of the best candidates |
//! | `scoring/` | both stages of a search, top hits, facets, similar products |
//! | `writer/` | applying changes, background merges, bulk building |
//!
//! Architecture invariants:
//! - an index holds one shop; nothing here filters by shop;
//! - totals, scores and order depend on the visible products alone, not on the order of writes:
//!   statistics are those of the live products that the reader may see, exactly. (The one
//!   statistical bound is described in `scoring/mod.rs`.)

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod arrays;
mod bits;
mod candidate_index;
mod dense;
mod effort;
mod entry;
pub mod file;
mod filter;
mod first_stage;
mod heap;
mod lexical;
#[cfg(test)]
mod model_tests;
mod near_numbers;
pub mod parallel;
mod plan;
#[cfg(test)]
mod reference;
mod rerank_query;
mod scoring;
mod second_stage;
mod segment;
mod snapshot;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod word_vectors;
mod writer;

pub use self::lexical::{function_words, language_by};
pub use self::{
    candidate_index::CandidateIndex,
    dense::QueryVector,
    entry::{DocVectors, Entry, EntryVectors, IndexChange},
    plan::{DenseQuery, Plan, QueryKind},
    rerank_query::{KindQuery, RerankQuery, head_term},
    scoring::Matches,
    segment::WordPlace,
    snapshot::{Snapshot, SnapshotId},
    word_vectors::{WordVectorCache, WordVectors},
    writer::{IndexBuilder, ShopIndex},
};
