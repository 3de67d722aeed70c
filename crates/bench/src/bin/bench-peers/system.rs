//! What every measured system does: take products, show them, and search.

use std::time::Duration;

use bench::catalog_file::Product;
use hyper::body::Bytes;

/// Products per search.
pub(crate) const PAGE: usize = 10;
/// Connections that fill a catalog.
pub(crate) const FILLING_CONNECTIONS: usize = 4;

/// A query, prepared before anything is timed.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) text: String,
    /// Its deep vector by our model, as text; only for systems that cannot encode queries.
    pub(crate) vector: Option<String>,
}

/// A response, not parsed yet: that is no part of the measurement.
pub(crate) enum Answer {
    Json(Bytes),
    /// Positions in the catalog, best first.
    Ranking(Vec<usize>),
}

/// A running system with one catalog, empty at first. Stopped when dropped.
///
/// Products are known by their position in the catalog.
pub(crate) trait System {
    /// A connection.
    type Session;

    /// Its version, for the report.
    async fn version(&self) -> anyhow::Result<String>;

    /// Writes the catalog; returns the time until all products can be searched. What has to be
    /// computed for the system beforehand is not part of it.
    async fn load(&self, products: &[Product]) -> anyhow::Result<Duration>;

    /// Opens a connection.
    async fn connect(&self) -> anyhow::Result<Self::Session>;

    /// Writes one product; returns when the write is acknowledged.
    async fn insert(
        &self,
        session: &mut Self::Session,
        at: usize,
        product: &Product,
    ) -> anyhow::Result<()>;

    /// The first page of results.
    async fn search(&self, session: &mut Self::Session, query: &Query) -> anyhow::Result<Answer>;

    /// The products of an answer.
    fn ranking(&self, answer: Answer) -> anyhow::Result<Vec<usize>>;

    /// Processor time so far; `None` where the process is not ours.
    fn cpu(&self) -> anyhow::Result<Option<Duration>>;

    /// Resident memory in bytes, pages shared by its processes counted once.
    fn memory(&self) -> anyhow::Result<Option<u64>>;

    /// Bytes on disk.
    fn disk(&self) -> anyhow::Result<Option<u64>>;
}

/// The amount of a price, for systems that store numbers; 0 where there is none.
pub(crate) fn amount(price: &str) -> f64 {
    let digits: String =
        price.chars().filter(|letter| letter.is_ascii_digit() || *letter == '.').collect();
    digits.parse().unwrap_or(0.0)
}
