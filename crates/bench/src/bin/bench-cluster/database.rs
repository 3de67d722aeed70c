//! The load of the database: processor time, statements, commits and WAL, as counted by the kernel
//! and by PostgreSQL.

use std::time::Duration;

use anyhow::Context;
use bench::cpu;
use testkit::Postgres;

/// Production settings: commits are flushed, full page writes are on, and statements are counted.
const SETTINGS: [&str; 6] = [
    "fsync=on",
    "full_page_writes=on",
    "shared_buffers=1GB",
    "maintenance_work_mem=512MB",
    "max_wal_size=4GB",
    "shared_preload_libraries=pg_stat_statements",
];

/// Excludes the queries of the benchmark itself.
const COUNTS: &str = "SELECT sum(calls), coalesce(sum(calls) FILTER (WHERE query = 'COMMIT'), 0)
     FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
     WHERE datname = current_database() AND query NOT LIKE '%pg_stat_statements%'";
const WRITTEN: &str = "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn";
const CONNECTIONS: &str = "SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()";

/// Counts the shops that are still searched in memory.
const IN_MEMORY: &str = "SELECT count(*) FROM shops WHERE search_state < 2";
const IN_MEMORY_LOOK: Duration = Duration::from_millis(100);

/// A server with one database for each measurement.
pub(crate) struct Database {
    server: Postgres,
}

/// The counters of the database.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    pub(crate) cpu: Duration,
    pub(crate) statements: u64,
    pub(crate) commits: u64,
    pub(crate) log_bytes: u64,
}

impl Work {
    /// The difference since an earlier reading.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(before.cpu),
            statements: self.statements.saturating_sub(before.statements),
            commits: self.commits.saturating_sub(before.commits),
            log_bytes: self.log_bytes.saturating_sub(before.log_bytes),
        }
    }
}

impl Database {
    pub(crate) fn start() -> Self {
        Self { server: Postgres::start_with(&SETTINGS) }
    }

    /// Makes a new, empty database.
    pub(crate) fn make(&self, name: &str) {
        self.server.psql("postgres", &format!("CREATE DATABASE {name}"));
    }

    /// A copy of an unused database, with its own counters.
    pub(crate) fn copy(&self, from: &str, name: &str) {
        let copy = format!("CREATE DATABASE {name} TEMPLATE {from} STRATEGY file_copy");
        self.server.psql("postgres", &copy);
        self.server.psql(name, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
        self.server.psql(name, "VACUUM ANALYZE");
        self.server.psql("postgres", "CHECKPOINT");
    }

    pub(crate) fn drop(&self, name: &str) {
        self.server.psql("postgres", &format!("DROP DATABASE {name} WITH (FORCE)"));
    }

    pub(crate) fn url(&self, name: &str) -> String {
        self.server.url(name)
    }

    /// Reads the counters.
    pub(crate) fn work(&self, name: &str) -> anyhow::Result<Work> {
        let counts = self.server.psql(name, COUNTS);
        let (statements, commits) = counts.split_once('|').context("two counts")?;
        let process = self.server.process_id().context("the database is not running")?;
        Ok(Work {
            statements: statements.parse().unwrap_or(0),
            commits: commits.parse().unwrap_or(0),
            log_bytes: self.server.psql(name, WRITTEN).parse()?,
            // Read last, so that the queries above are not counted.
            cpu: cpu::of_family(process)?,
        })
    }

    /// Waits until every shop is searched here.
    pub(crate) async fn until_all_are_searched_here(&self, name: &str) {
        while self.server.psql(name, IN_MEMORY) != "0" {
            tokio::time::sleep(IN_MEMORY_LOOK).await;
        }
    }

    /// Bytes of a database: rows, indexes and all.
    pub(crate) fn size(&self, name: &str) -> anyhow::Result<f64> {
        Ok(self.server.psql(name, "SELECT pg_database_size(current_database())").parse()?)
    }

    /// The number of connections.
    pub(crate) fn connections(&self, name: &str) -> anyhow::Result<f64> {
        Ok(self.server.psql(name, CONNECTIONS).parse()?)
    }
}
