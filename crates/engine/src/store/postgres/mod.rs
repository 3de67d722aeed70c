//! How is a catalog kept for many nodes? In a PostgreSQL database that all of them share.
//!
//! Every table that grows is keyed by the shop first, and every statement names the shop, so the
//! tables can be spread over machines by shop ([`statements`] lists them all). Who writes to a
//! shop holds the lock of its row in `shops` until the commit: changes of a shop are numbered
//! without gaps and become visible in the order of their numbers, whichever node made them.

#[macro_use]
mod statements;

mod address;
mod arrival;
mod claims;
mod cleanup;
mod connector;
mod flush;
mod known;
mod nearby;
mod outlook;
mod pool;
mod pulse;
mod reader;
mod rows;
mod schema;
pub(crate) mod search;
mod session;
mod state;
mod steady;
mod tls;
mod transaction;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use catalog::{change::Seq, product::ShopId};

pub use address::{BadAddress, DatabaseAddress};
pub use arrival::Arrival;
pub(crate) use outlook::Outlook;
pub use reader::PostgresReaders;
#[cfg(test)]
pub(crate) use schema::step_from;
use search::{Backfill, SearchState};
pub use steady::{SteadyReaders, TOKEN_LEASE};
use tokio::task::JoinHandle;

use self::{connector::Connector, session::Session};
use super::{CatalogStore, Cleanup, StoreError, Trouble, WriteTransaction};

/// How a database is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct PostgresSettings {
    /// Where it is, and who asks.
    pub address: DatabaseAddress,
    /// Connections that read at the same time; the writer has one of its own.
    pub connections: usize,
    /// Longest time to wait for a new connection, and for a free one.
    pub connect_time: Duration,
    /// Longest time that one statement may take.
    pub statement_time: Duration,
    /// Longest time to wait for another node that writes to the same shop.
    pub lock_time: Duration,
    /// Where a node keeps a copy of the products of the shops in memory.
    pub scratch: PathBuf,
    /// Products beyond which a shop is searched here instead of in the memory of a node.
    pub search_above: usize,
}

/// The way into one database, shared by all who use it.
#[derive(Clone)]
pub struct Postgres {
    connector: Arc<Connector>,
    connections: usize,
    /// How a new shop is searched.
    born: SearchState,
}

impl Postgres {
    /// Gets ready to connect; nothing is asked of the database yet.
    pub fn new(settings: &PostgresSettings) -> Result<Self, StoreError> {
        let connector = Arc::new(Connector::new(settings)?);
        let born = match settings.search_above {
            0 => SearchState::InDatabase,
            _ => SearchState::InMemory,
        };
        Ok(Self { connector, connections: settings.connections, born })
    }

    /// Brings the tables up to date, one node at a time, or refuses newer ones. Says from which
    /// version to which.
    pub fn migrate(&self) -> Result<(usize, usize), StoreError> {
        schema::migrate(&mut self.connector.connect()?, schema::Change::Upgrade)
    }

    /// Makes the tables in an empty database. Older ones are refused and left alone: nodes that
    /// use them may be running.
    pub fn create_tables(&self) -> Result<(), StoreError> {
        schema::migrate(&mut self.connector.connect()?, schema::Change::CreateOnly).map(drop)
    }

    /// Refuses tables that this program does not know, or not any more.
    pub fn check_schema(&self) -> Result<(), StoreError> {
        let mut session = self.connector.connect()?;
        schema::check(&mut session)?;
        match arrival::is_under_way(&mut session)? {
            true => Err(StoreError::damaged("a move into it is not finished; run it again")),
            false => Ok(()),
        }
    }

    /// Hears of every change of any shop, from any node, until the returned ear is dropped, the
    /// database falls silent or its server is demoted.
    pub fn listen(
        &self,
        mut hear: impl FnMut(ShopId, Seq) + Send + 'static,
        on_silence: impl FnOnce() + Send + 'static,
    ) -> Result<Ear, StoreError> {
        let hear = Box::new(move |notification: tokio_postgres::Notification| {
            if let Some((shop, seq)) = read_notification(notification.payload()) {
                hear(shop, seq);
            }
        });
        let asking = self.connector.connect_and_hear("shopkeeper_changes", hear, on_silence)?;
        Ok(Ear { asking })
    }

    /// What this process believes of the database.
    pub(crate) fn outlook(&self) -> Arc<Outlook> {
        Arc::clone(self.connector.outlook())
    }

    /// Begins to move a catalog in, or goes on; `None` if the database is in use already.
    pub fn begin_move(&self) -> Result<Option<Arrival>, StoreError> {
        Arrival::begin(self.connector.connect()?)
    }

    /// A connection for creating search rows.
    pub(crate) fn backfill(&self) -> Result<Backfill, StoreError> {
        Backfill::on(self.connector.connect()?)
    }

    /// Removes what the database no longer needs.
    pub fn cleanup(&self) -> Box<dyn Cleanup> {
        Box::new(cleanup::PostgresCleanup::new(Arc::clone(&self.connector)))
    }

    /// The side that writes.
    pub fn store(&self) -> PostgresStore {
        PostgresStore { connector: Arc::clone(&self.connector), session: None, born: self.born }
    }

    /// The side that reads.
    pub fn readers(&self) -> PostgresReaders {
        PostgresReaders::new(Arc::clone(&self.connector), self.connections)
    }

    /// The side that reads and goes on while the database is away, with what it keeps in `scratch`.
    pub fn steady_readers(&self, scratch: &Path) -> SteadyReaders {
        let pool = |connections| PostgresReaders::new(Arc::clone(&self.connector), connections);
        // Searches and loads, which may keep connections for long, leave half of them to others.
        let points = (self.connections / 2).max(1);
        let database = pool((self.connections - points).max(1));
        let (points, desk) = (pool(points), pool(1));
        SteadyReaders::new(database, points, desk, self.outlook(), scratch, self.connections)
    }
}

/// A connection that listens.
pub struct Ear {
    asking: JoinHandle<()>,
}

impl Ear {
    /// Whether it still hears.
    pub fn hears(&self) -> bool {
        !self.asking.is_finished()
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.asking.abort();
    }
}

/// The shop and change that a notification names.
fn read_notification(payload: &str) -> Option<(ShopId, Seq)> {
    let (shop, seq) = payload.split_once(':')?;
    Some((ShopId::new(shop.parse().ok()?)?, Seq(seq.parse().ok()?)))
}

/// The connection that writes. It is made anew when it was lost.
pub struct PostgresStore {
    connector: Arc<Connector>,
    session: Option<Session>,
    born: SearchState,
}

impl CatalogStore for PostgresStore {
    fn begin(&mut self) -> Result<WriteTransaction<'_>, StoreError> {
        let kept = self.session.take().filter(Session::is_usable);
        // The database may have gone away and come back since the last transaction.
        let begun = kept.map(|mut session| session.begin().map(|()| session));
        let session = match begun {
            Some(Ok(session)) => session,
            Some(Err(error)) if error.trouble() != Trouble::Away => return Err(error),
            _ => {
                let mut session = self.connector.connect()?;
                session.begin()?;
                session
            }
        };
        let session = self.session.insert(session);
        Ok(WriteTransaction::of(Box::new(transaction::PostgresRows::new(session, self.born))))
    }
}
