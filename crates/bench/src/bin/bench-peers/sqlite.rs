//! SQLite FTS5 in the benchmark's own process: the baseline without network and protocol. Each
//! session is a thread with a connection of its own.

use std::{
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use bench::{catalog_file::Product, cpu};
use rusqlite::{Connection, params};
use tokio::sync::oneshot;

use crate::{
    process,
    system::{Answer, PAGE, Query, System, amount},
};

/// Durable like the other systems: every commit is flushed.
const SETTINGS: &str =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA mmap_size = 1073741824;";
const SCHEMA: &str = "CREATE VIRTUAL TABLE products USING fts5(
     title, description, price UNINDEXED, tokenize = 'porter unicode61')";
const INSERT: &str =
    "INSERT INTO products (rowid, title, description, price) VALUES (?1, ?2, ?3, ?4)";
/// A title counts more than a description, as in the other systems.
const SEARCH: &str = "SELECT rowid, title, description, price FROM products
     WHERE products MATCH ?1 AND rank MATCH 'bm25(1.0, 0.3)' ORDER BY rank LIMIT ?2";
/// Products in one transaction.
const BATCH: usize = 1_000;

/// A database file.
pub(crate) struct Sqlite {
    file: PathBuf,
    /// The resident memory of this process before.
    memory_before: u64,
}

/// A connection on a thread of its own.
pub(crate) struct Session {
    jobs: mpsc::Sender<Job>,
}

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

impl Session {
    async fn run<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let (done, result) = oneshot::channel();
        let job = move |connection: &mut Connection| {
            // The receiver exists until the result is there.
            let _ = done.send(act(connection));
        };
        self.jobs.send(Box::new(job)).ok().context("the thread of the connection ended")?;
        Ok(result.await.context("the thread of the connection ended")??)
    }
}

impl Sqlite {
    pub(crate) fn start(folder: &Path, name: &str) -> anyhow::Result<Self> {
        let file = folder.join(name).with_extension("db");
        let memory_before = process::memory(std::process::id())?;
        let sqlite = Self { file, memory_before };
        sqlite.open()?.execute_batch(SCHEMA)?;
        Ok(sqlite)
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let connection = Connection::open(&self.file)?;
        connection.busy_timeout(Duration::from_secs(30))?;
        connection.execute_batch(SETTINGS)?;
        Ok(connection)
    }
}

impl System for Sqlite {
    type Session = Session;

    async fn version(&self) -> anyhow::Result<String> {
        Ok(rusqlite::version().to_owned())
    }

    async fn load(&self, products: &[Product]) -> anyhow::Result<Duration> {
        let mut connection = self.open()?;
        let started = Instant::now();
        for (batch, products) in products.chunks(BATCH).enumerate() {
            let transaction = connection.transaction()?;
            {
                let mut insert = transaction.prepare_cached(INSERT)?;
                for (at, product) in products.iter().enumerate() {
                    let Product { title, description, price, .. } = product;
                    insert.execute(params![
                        rowid(batch * BATCH + at),
                        title,
                        description,
                        amount(price)
                    ])?;
                }
            }
            transaction.commit()?;
        }
        Ok(started.elapsed())
    }

    async fn connect(&self) -> anyhow::Result<Session> {
        let mut connection = self.open()?;
        let (jobs, next) = mpsc::channel::<Job>();
        thread::spawn(move || next.into_iter().for_each(|job| job(&mut connection)));
        Ok(Session { jobs })
    }

    async fn insert(
        &self,
        session: &mut Session,
        at: usize,
        product: &Product,
    ) -> anyhow::Result<()> {
        let Product { title, description, price, .. } = product.clone();
        session
            .run(move |connection| {
                let mut insert = connection.prepare_cached(INSERT)?;
                insert.execute(params![rowid(at), title, description, amount(&price)])
            })
            .await?;
        Ok(())
    }

    async fn search(&self, session: &mut Session, query: &Query) -> anyhow::Result<Answer> {
        let expression = any_word(&query.text);
        let ranking = session
            .run(move |connection| {
                let mut search = connection.prepare_cached(SEARCH)?;
                let mut rows = search.query(params![expression, PAGE as i64])?;
                let mut ranking = Vec::new();
                while let Some(row) = rows.next()? {
                    // A shop shows the texts, so they are read as well.
                    let _: (String, String) = (row.get(1)?, row.get(2)?);
                    ranking.push(row.get::<_, i64>(0)?.unsigned_abs() as usize - 1);
                }
                Ok(ranking)
            })
            .await?;
        Ok(Answer::Ranking(ranking))
    }

    fn ranking(&self, answer: Answer) -> anyhow::Result<Vec<usize>> {
        let Answer::Ranking(ranking) = answer else { bail!("SQLite answers without JSON") };
        Ok(ranking)
    }

    /// That of the load generator is included.
    fn cpu(&self) -> anyhow::Result<Option<Duration>> {
        Ok(Some(cpu::of_process(std::process::id())?))
    }

    /// What this process has grown by.
    fn memory(&self) -> anyhow::Result<Option<u64>> {
        Ok(Some(process::memory(std::process::id())?.saturating_sub(self.memory_before)))
    }

    fn disk(&self) -> anyhow::Result<Option<u64>> {
        let mut bytes = 0;
        for suffix in ["db", "db-wal"] {
            let file = self.file.with_extension(suffix);
            bytes += file.metadata().map_or(0, |metadata| metadata.len());
        }
        Ok(Some(bytes))
    }
}

/// Row ids start at 1.
fn rowid(at: usize) -> i64 {
    at as i64 + 1
}

/// Matches products with any word of a query; BM25 ranks those with more of them first.
fn any_word(query: &str) -> String {
    let words = query.split(|letter: char| !letter.is_alphanumeric());
    let quoted: Vec<_> =
        words.filter(|word| !word.is_empty()).map(|word| format!("\"{word}\"")).collect();
    quoted.join(" OR ")
}
