//! Search inside PostgreSQL, for shops that are too large for the memory of a node.
//!
//! The database selects candidates ([`candidates`]), which are scored by the code that scores
//! products in memory, with the statistics of the whole shop. Searches without terms need no scores:
//! the database orders and counts their results ([`listing`]). `crate::search::postgres` runs the
//! search pipeline over this module. [`maintenance`] decides which shops are searched here and
//! creates their rows and indexes ([`backfill`]); every write maintains the rows ([`rows`]).
//!
//! Architecture invariants:
//! - conditions are exact: the database filters out what surely breaks them, and the texts decide
//!   about the rest;
//! - a total that may be too low is marked as inexact.

mod backfill;
mod candidates;
mod document;
mod facet_counts;
mod labels;
mod large_shops;
mod lexemes;
mod limits;
mod listing;
mod maintenance;
mod order;
mod row_filter;
pub mod rows;
mod snapshot;
pub(super) mod statements;
mod statistics;
mod text_query;
mod vocabulary;

pub(super) use self::rows::{VERSION as ROWS_VERSION, statements_for};
pub use self::{
    backfill::Backfill,
    candidates::{CandidateSelection, Candidates, similar_candidates},
    large_shops::PostgresSearch,
    limits::CandidateLimits,
    listing::{Listed, Listing},
    rows::SearchState,
    snapshot::{CandidateRow, SearchSnapshot, ShopStatistics},
    vocabulary::ShopVocabulary,
};
