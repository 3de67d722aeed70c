//! A database: what creates its tables, its writing and its reading side, and what listens for
//! changes.

use std::sync::Arc;

use catalog::product::{ShopId, change::Seq};
use tokio::task::JoinHandle;

use super::{
    super::{CatalogStore, Cleanup, StoreError, StoreErrorKind, WriteTransaction},
    availability::Availability,
    bulk_load::{self, BulkLoad},
    cleanup,
    connector::Connector,
    reader::PostgresReaders,
    schema,
    search::{Backfill, SearchState},
    session::Session,
    settings::PostgresSettings,
    transaction,
};

/// A database, shared by all its users in this process.
#[derive(Clone)]
pub struct Postgres {
    pub(super) connector: Arc<Connector>,
    connections: usize,
    /// Where a new shop is searched.
    initial_search: SearchState,
}

impl Postgres {
    /// Prepares to connect; does not open a connection yet.
    pub fn new(settings: &PostgresSettings) -> Result<Self, StoreError> {
        let connector = Arc::new(Connector::new(settings)?);
        let initial_search = match settings.search_above {
            0 => SearchState::InDatabase,
            _ => SearchState::InMemory,
        };
        Ok(Self { connector, connections: settings.connections, initial_search })
    }

    /// Migrates the schema, one node at a time, or rejects a newer one. Returns the versions before
    /// and after.
    pub fn migrate(&self) -> Result<(usize, usize), StoreError> {
        schema::migrate(&mut self.connector.connect()?, schema::Change::Upgrade)
    }

    /// Creates the tables in an empty database. An older schema is rejected, because nodes that use
    /// it may be running.
    pub fn create_tables(&self) -> Result<(), StoreError> {
        schema::migrate(&mut self.connector.connect()?, schema::Change::CreateOnly).map(drop)
    }

    /// Rejects a schema of another version.
    pub fn check_schema(&self) -> Result<(), StoreError> {
        let mut session = self.connector.connect()?;
        schema::check(&mut session)?;
        match bulk_load::is_incomplete(&mut session)? {
            true => {
                Err(StoreError::unexpected("a store migration into it is incomplete; run it again"))
            }
            false => Ok(()),
        }
    }

    /// Calls `on_change` for every change of any shop by any node, until the listener is dropped,
    /// the connection is lost or the server becomes read-only.
    pub fn listen(
        &self,
        mut on_change: impl FnMut(ShopId, Seq) + Send + 'static,
        on_disconnect: impl FnOnce() + Send + 'static,
    ) -> Result<ChangeListener, StoreError> {
        let on_notification = Box::new(move |notification: tokio_postgres::Notification| {
            if let Some((shop, seq)) = read_notification(notification.payload()) {
                on_change(shop, seq);
            }
        });
        let channel = "shopkeeper_changes";
        let heartbeat =
            self.connector.connect_and_listen(channel, on_notification, on_disconnect)?;
        Ok(ChangeListener { heartbeat })
    }

    /// The availability of the database as this process sees it.
    pub fn availability(&self) -> Arc<Availability> {
        Arc::clone(self.connector.availability())
    }

    /// Begins or resumes a bulk load; `None` if the database is in use already.
    pub fn begin_bulk_load(&self) -> Result<Option<BulkLoad>, StoreError> {
        BulkLoad::begin(self.connector.connect()?)
    }

    /// A connection for creating search rows.
    pub fn backfill(&self) -> Result<Backfill, StoreError> {
        Backfill::on(self.connector.connect()?)
    }

    /// Removes expired rows.
    pub fn cleanup(&self) -> Box<dyn Cleanup> {
        Box::new(cleanup::PostgresCleanup::new(Arc::clone(&self.connector)))
    }

    /// The writing side.
    pub fn store(&self) -> PostgresStore {
        PostgresStore {
            connector: Arc::clone(&self.connector),
            session: None,
            initial_search: self.initial_search,
        }
    }

    /// The reading side, with all connections.
    pub fn readers(&self) -> PostgresReaders {
        self.readers_with(self.connections)
    }

    /// The reading side, with this many connections.
    pub fn readers_with(&self, connections: usize) -> PostgresReaders {
        PostgresReaders::new(Arc::clone(&self.connector), connections)
    }

    /// The number of connections for reading.
    pub fn connections(&self) -> usize {
        self.connections
    }
}

/// A connection that receives the changes of all shops.
pub struct ChangeListener {
    /// The task that keeps the connection open; it ends when the connection is lost.
    heartbeat: JoinHandle<()>,
}

impl ChangeListener {
    /// Whether changes are still received.
    pub fn is_connected(&self) -> bool {
        !self.heartbeat.is_finished()
    }
}

impl Drop for ChangeListener {
    fn drop(&mut self) {
        self.heartbeat.abort();
    }
}

/// The shop and sequence number of a notification.
fn read_notification(payload: &str) -> Option<(ShopId, Seq)> {
    let (shop, seq) = payload.split_once(':')?;
    Some((ShopId::new(shop.parse().ok()?)?, Seq(seq.parse().ok()?)))
}

/// The writing side. It reconnects when the connection was lost.
pub struct PostgresStore {
    connector: Arc<Connector>,
    session: Option<Session>,
    initial_search: SearchState,
}

impl CatalogStore for PostgresStore {
    fn begin(&mut self) -> Result<WriteTransaction<'_>, StoreError> {
        let kept = self.session.take().filter(Session::is_usable);
        // The connection may have been lost since the last transaction.
        let begun = kept.map(|mut session| session.begin().map(|()| session));
        let session = match begun {
            Some(Ok(session)) => session,
            Some(Err(error)) if error.kind() != StoreErrorKind::Unavailable => return Err(error),
            _ => {
                let mut session = self.connector.connect()?;
                session.begin()?;
                session
            }
        };
        let session = self.session.insert(session);
        Ok(WriteTransaction::new(Box::new(transaction::PostgresRows::new(
            session,
            self.initial_search,
        ))))
    }
}
