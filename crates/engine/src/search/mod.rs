//! The search pipeline: parse the query, plan, encode, score candidates, fetch the rows of a page.
//!
//! [`pipeline`] runs these steps over a [`SearchSource`], one consistent state of a shop. There are
//! two sources: the index in memory ([`memory`]) and PostgreSQL ([`postgres`]). The conformance
//! suite runs the same cases on both.

#[cfg(test)]
mod conformance;
pub(crate) mod memory;
#[cfg(test)]
mod merchant_tests;
mod offline;
pub(crate) mod pipeline;
pub(crate) mod postgres;
#[cfg(test)]
mod postgres_tests;
pub(crate) mod query_cache;
pub(crate) mod query_encoder;
mod request;
mod similar;
mod source;
mod stages;
#[cfg(test)]
mod visibility_tests;

pub(crate) use self::{
    memory::MemorySource,
    pipeline::search,
    query_cache::{CacheKey, QueryCache},
    query_encoder::{QueryEncoder, SearchContext},
    similar::similar,
    source::{Scored, SearchSource},
    stages::StageTimer,
};
pub use self::{
    offline::OfflineSearcher,
    request::{SearchRequest, SearchResults, SimilarRequest},
};
