//! Opens stores and starts the engine on them.

use std::{path::Path, sync::Arc};

use embed::Embedder;
use store::{
    CatalogReads, CatalogStore, Cleanup, Damage, DataFolder, Postgres, PostgresSettings,
    SqliteReaders, SqliteStore,
    postgres_search::{CandidateLimits, PostgresSearch},
};

use super::{Engine, OpenError, Settings};
use crate::{
    embedding,
    housekeeping::{self, Retention},
    read_pool::ReadPool,
    replication::{
        Applier, ChangeFeed, EvictionReason, FailoverReaders, IndexFiles, IndexSaver, Loader,
        LocalReplica, ShopRegistry,
    },
    search::{QueryCache, QueryEncoder},
    writer::Writer,
};

/// Change records kept of each shop of a data folder by default.
const KEPT_CHANGES: u64 = 1_000_000;
/// Change records kept of each shop of a database by default; a node that is further behind reloads
/// the shop.
const KEPT_CHANGES_OF_A_SHOP: u64 = 10_000;

/// What differs between a data folder and a database.
struct Backend {
    store: Box<dyn CatalogStore>,
    readers: Arc<dyn CatalogReads>,
    /// A replica of the rows of the shops in memory; `None` with a data folder.
    replica: Option<Arc<LocalReplica>>,
    /// The index files of a data folder.
    index_files: Option<IndexFiles>,
    cleanup: Box<dyn Cleanup>,
    /// How many change records of each shop are kept by default.
    kept_changes: u64,
    /// Shops with more products are not loaded ahead of the first search.
    prefetch_limit: usize,
}

impl Engine {
    /// Opens a data folder; creates or migrates its database if needed.
    pub fn open(folder: &Path, settings: Settings) -> Result<Self, OpenError> {
        let folder = DataFolder::lock(folder)?;
        let was_left_open = SqliteStore::was_left_open(folder.path());
        let store = SqliteStore::open(folder.path())
            .map_err(|source| OpenError::Store { folder: folder.path().to_owned(), source })?;
        let readers = Arc::new(SqliteReaders::new(folder.path().to_owned()));
        let damage = readers.damage();
        let index_files = settings.index_files_from.map(|products| {
            let sources = (Arc::clone(&settings.clock), Arc::clone(&settings.random));
            IndexFiles::open(folder.path(), Arc::clone(&readers), products, sources)
        });
        let backend = Backend {
            store: Box::new(store.noting(damage.clone())),
            readers,
            replica: None,
            index_files,
            cleanup: SqliteStore::cleanup_noting(folder.path().to_owned(), damage.clone()),
            kept_changes: KEPT_CHANGES,
            prefetch_limit: usize::MAX,
        };
        let mut engine = Self::start(backend, settings)?;
        if was_left_open {
            engine._damage_search = Some(damage.search(folder.path())?);
        }
        engine.damage = damage;
        engine._folder = Some(folder);
        Ok(engine)
    }

    /// Opens a database as one of its nodes. Its schema must be up to date.
    pub fn open_database(
        database: &PostgresSettings,
        settings: Settings,
    ) -> Result<Self, OpenError> {
        let postgres = Postgres::new(database).and_then(|postgres| {
            postgres.check_schema()?;
            Ok(postgres)
        });
        let postgres = postgres.map_err(|source| OpenError::Database {
            address: database.address.to_string(),
            source,
        })?;
        let replica = LocalReplica::create(&database.scratch, database.connections);
        let readers = Arc::new(FailoverReaders::start(&postgres, replica.clone())?);
        let search_readers = readers.database();
        let backend = Backend {
            store: Box::new(postgres.store()),
            readers,
            replica,
            index_files: None,
            cleanup: postgres.cleanup(),
            kept_changes: KEPT_CHANGES_OF_A_SHOP,
            // Shops near the limit may be searched in the database.
            prefetch_limit: database.search_above - database.search_above / 5,
        };
        let mut engine = Self::start(backend, settings)?;
        engine.availability = Some(postgres.availability());
        let shops = Arc::clone(&engine.shops);
        let large = PostgresSearch::start(
            postgres.clone(),
            search_readers,
            engine.embedder.as_deref(),
            CandidateLimits::new(database.search_above),
            move |shop| shops.evict(shop, EvictionReason::SearchedInDatabase),
        )?;
        engine.postgres_search = Some(Arc::new(large));
        engine._change_feed = Some(ChangeFeed::start(postgres, Arc::clone(&engine.shops))?);
        Ok(engine)
    }

    /// Starts the threads that every engine has.
    fn start(backend: Backend, settings: Settings) -> Result<Self, OpenError> {
        let Backend { store, readers, replica, index_files, cleanup, kept_changes, prefetch_limit } =
            backend;
        let retention = Retention {
            responses: settings.writer.response_retention,
            changes: settings.kept_changes.unwrap_or(kept_changes),
        };
        let housekeeping = housekeeping::start(cleanup, Arc::clone(&settings.clock), retention)?;
        let model = settings.embedder.as_ref().map(|embedder| embedder.model().clone());
        let shops = ShopRegistry::new(readers.clone(), model, settings.index_memory)
            .with_prefetch_limit(prefetch_limit)
            .with_replica(replica);
        let has_index_files = index_files.is_some();
        let shops = Arc::new(shops.with_index_files(index_files));
        let index_saver = has_index_files.then(|| IndexSaver::start(Arc::clone(&shops)));
        let index_saver = index_saver.transpose()?;
        let loader = Arc::new(Loader::start(Arc::clone(&shops))?);
        let writer = Writer::start(
            store,
            Applier::start(Arc::clone(&shops), Some(Arc::clone(&loader)))?,
            settings.embedder.clone(),
            Arc::clone(&settings.clock),
            settings.writer,
        )?;
        let start_embedding = |embedder: &Arc<dyn Embedder>| {
            let (readers, embedder) = (Arc::clone(&readers), Arc::clone(embedder));
            let (deep, writer, wakeup) = (settings.background, writer.downgrade(), writer.wakeup());
            embedding::start(embedder, deep, readers, writer, wakeup)
        };
        let embedding = settings.embedder.as_ref().map(start_embedding).transpose()?;
        let encoder = |embedder: &Arc<dyn Embedder>| {
            Arc::new(QueryEncoder::new(Arc::clone(embedder), settings.query_budget))
        };
        Ok(Self {
            readers,
            shops,
            loader,
            cache: Arc::new(QueryCache::new(settings.cache_memory)),
            queries: settings.embedder.as_ref().map(encoder),
            embedder: settings.embedder,
            _embedding: embedding,
            _housekeeping: housekeeping,
            _damage_search: None,
            damage: Damage::default(),
            writer,
            searches: ReadPool::new("search", settings.reader_threads, settings.reader_queue),
            reads: ReadPool::new("read", settings.reader_threads, settings.reader_queue),
            clock: settings.clock,
            random: settings.random,
            _change_feed: None,
            availability: None,
            postgres_search: None,
            _index_saver: index_saver,
            _folder: None,
        })
    }
}
