//! The settings of the connections to a database.

use std::{path::PathBuf, time::Duration};

use super::address::DatabaseAddress;

/// How to connect to a database.
#[derive(Clone, Debug, PartialEq)]
pub struct PostgresSettings {
    /// Host, database and credentials.
    pub address: DatabaseAddress,
    /// Connections for reading; the writer has one of its own.
    pub connections: usize,
    /// The limit for opening a connection, and for waiting for an idle one.
    pub connect_time: Duration,
    /// The limit for one statement.
    pub statement_time: Duration,
    /// The limit for waiting for another node that writes to the same shop.
    pub lock_time: Duration,
    /// The folder of the node's local replica of the shops in memory.
    pub scratch: PathBuf,
    /// Shops with more products than this are searched inside the database instead of in memory.
    pub search_above: usize,
}
