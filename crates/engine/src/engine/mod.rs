//! The engine's public interface: every call that touches a shop takes the pass that allows it.
//!
//! | file | calls |
//! |---|---|
//! | [`open`] | opening a data folder or a database, and starting the background threads |
//! | [`writes`] | creating, updating and deleting products |
//! | [`reads`] | products, pages, changes and counts |
//! | [`search`] | searches and similar products |
//! | [`tokens`] | authenticating, issuing and revoking tokens |
//! | [`sequence`] | sequence numbers: what responses reflect, and waiting for a change |

mod open;
mod reads;
pub(crate) mod search;
mod sequence;
mod tokens;
mod writes;

use std::{path::PathBuf, sync::Arc, time::Duration};

use catalog::product::ShopId;
use embed::{Embedder, Encoder};
use jiff::Timestamp;
use store::{
    Availability, CatalogReads, Damage, DataFolder, FolderInUse, StoreError,
    background::BackgroundThread, postgres_search::PostgresSearch,
};
use thiserror::Error;

pub use self::sequence::WaitOutcome;
use crate::{
    read_pool::{Overloaded, ReadPool},
    replication::{ChangeFeed, IndexSaver, LoadError, Loader, ShopRegistry, WarmUp},
    search::{QueryCache, QueryEncoder},
    system::{Clock, RandomSource},
    writer::{WriteError, Writer, WriterSettings},
};

/// Settings of an engine.
#[derive(Clone)]
pub struct Settings {
    /// How writes are grouped and remembered.
    pub writer: WriterSettings,
    /// Change records of each shop that are kept; `None` for the default.
    pub kept_changes: Option<u64>,
    /// Searches that run at the same time, and as many reads of products and pages.
    pub reader_threads: usize,
    /// Searches that may wait for a thread, and as many reads.
    pub reader_queue: usize,
    /// Memory for the indexes of shops, in bytes.
    pub index_memory: usize,
    /// Shops with at least this many products have index files in the data folder; `None` for no
    /// such files.
    pub index_files_from: Option<usize>,
    /// Memory for the query cache, in bytes.
    pub cache_memory: usize,
    /// Encodes texts as vectors; without it, search is lexical only.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Whether products get deep vectors in the background or keep their instant ones.
    pub background: bool,
    /// With more searches that run or wait, queries are encoded by the instant encoder.
    pub query_budget: usize,
    /// Returns the current time.
    pub clock: Clock,
    /// Generates secrets.
    pub random: RandomSource,
}

/// Why an engine did not open.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The data folder is in use or unusable.
    #[error(transparent)]
    Folder(#[from] FolderInUse),
    /// The SQLite database is unusable.
    #[error("the database in the data folder {} cannot be opened", .folder.display())]
    Store {
        /// The data folder.
        folder: PathBuf,
        /// The error of the store.
        source: StoreError,
    },
    /// The PostgreSQL database is unusable.
    #[error("the database {address} cannot be used")]
    Database {
        /// The address, without the password.
        address: String,
        /// The error of the store.
        source: StoreError,
    },
    /// The operating system starts no more threads.
    #[error("a thread cannot be started")]
    Thread(#[from] std::io::Error),
}

/// Why a call failed.
#[derive(Clone, Debug, Error)]
pub enum EngineError {
    /// A queue is full; nothing was done.
    #[error(transparent)]
    Overloaded(#[from] Overloaded),
    /// A write failed.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A read failed.
    #[error("the store could not be read")]
    Read(#[from] StoreError),
    /// The shop is not in memory yet.
    #[error("the shop is being loaded into memory")]
    Loading,
}

impl From<LoadError> for EngineError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::StillLoading => Self::Loading,
            LoadError::Failed(error) => Self::Read(error),
        }
    }
}

/// Current sizes of an engine.
#[derive(Clone, Copy, Debug)]
pub struct EngineStats {
    /// Shops in memory.
    pub shops: usize,
    /// Products in the indexes in memory.
    pub products: usize,
    /// Memory of these indexes, in bytes.
    pub index_bytes: usize,
    /// Memory of the query cache, in bytes.
    pub cache_bytes: usize,
    /// Writes that wait for their commit or for their index.
    pub writes_waiting: usize,
}

/// A running engine on one data folder, or one node of a database.
pub struct Engine {
    readers: Arc<dyn CatalogReads>,
    shops: Arc<ShopRegistry>,
    loader: Arc<Loader>,
    cache: Arc<QueryCache>,
    embedder: Option<Arc<dyn Embedder>>,
    queries: Option<Arc<QueryEncoder>>,
    // Dropped before the writer, so that it does not wait for the writer.
    _embedding: Option<BackgroundThread>,
    _housekeeping: BackgroundThread,
    /// Searches a data folder that was not closed for damage.
    _damage_search: Option<BackgroundThread>,
    /// Whether the database of the data folder was found damaged.
    damage: Damage,
    writer: Writer,
    /// Runs searches.
    searches: ReadPool,
    /// Runs reads of products, pages and counts, which never wait for searches.
    reads: ReadPool,
    clock: Clock,
    random: RandomSource,
    /// Follows the changes of other nodes; `None` with a data folder.
    _change_feed: Option<ChangeFeed>,
    /// Availability of the database; `None` with a data folder.
    availability: Option<Arc<Availability>>,
    /// Searches large shops in the database; `None` with a data folder.
    postgres_search: Option<Arc<PostgresSearch>>,
    /// Dropped after the writer, so that index files contain the last writes.
    _index_saver: Option<IndexSaver>,
    // Dropped last, so that the folder stays locked until the writer has finished.
    _folder: Option<DataFolder>,
}

impl Engine {
    /// Whether the database does not respond; `false` with a data folder.
    pub fn is_database_unavailable(&self) -> bool {
        self.availability.as_ref().is_some_and(|availability| availability.is_down())
    }

    /// Whether the database file of the data folder was found damaged.
    pub fn is_damaged(&self) -> bool {
        self.damage.is_found()
    }

    /// How old responses may be; `None` while the database confirms that they are up to date.
    pub fn staleness(&self) -> Option<Duration> {
        self.availability.as_ref()?.staleness()
    }

    /// Checks that the store can be read and the writer runs.
    pub async fn check(&self) -> Result<(), EngineError> {
        self.check_writer()?;
        Ok(self.look_up(|readers| readers.check()).await?)
    }

    /// Checks that the writer runs. If it does not, only a restart helps.
    pub fn check_writer(&self) -> Result<(), EngineError> {
        Ok(self.writer.check()?)
    }

    /// Current sizes.
    pub fn stats(&self) -> EngineStats {
        let held = self.shops.memory_usage();
        EngineStats {
            shops: held.shops,
            products: held.products,
            index_bytes: held.bytes,
            cache_bytes: self.cache.bytes(),
            writes_waiting: self.writer.waiting(),
        }
    }

    /// Whether the engine has a model and compares vectors.
    pub fn has_model(&self) -> bool {
        self.embedder.is_some()
    }

    /// How many products have no deep vector of the model yet; 0 without a model.
    pub fn pending_vectors(&self) -> Result<usize, StoreError> {
        let Some(embedder) = &self.embedder else { return Ok(0) };
        self.readers.unembedded_count(embedder.model().as_str(), Encoder::Deep)
    }

    /// Whether a shop has reached its final place: a large one is searched in memory until its
    /// search rows and indexes in the database are complete.
    pub fn has_settled(&self, shop: ShopId) -> Result<bool, StoreError> {
        let Some(large) = &self.postgres_search else { return Ok(true) };
        Ok(large.has_settled(shop, self.readers.counts(shop)?.products))
    }

    /// The current time by the clock of the engine.
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Loads shops before they are searched, as far as memory allows. Blocks. Shops that could not
    /// be loaded remain for the next call.
    pub fn warm_up(&self, before: WarmUp) -> WarmUp {
        before.run(&self.shops, |counts| match &self.postgres_search {
            Some(large) => large.holds(counts.shop, counts.products),
            None => Ok(false),
        })
    }
}
