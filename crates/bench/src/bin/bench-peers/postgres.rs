//! PostgreSQL as people build hybrid search themselves: full-text search and pgvector, fused by
//! reciprocal rank in one statement, with vectors of our model.
//!
//! The statement is the one that pgvector documents for hybrid search, with a stored `tsvector` and a
//! page of rows. Vectors of products and queries are computed before anything is timed, which
//! flatters it: a shop would need a service of its own for that.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use bench::{catalog_file::Product, cpu, load::closed_loop};
use engine::embed::{BuiltIn, Embedder, ModelFiles, Priority, Text, Vector};
use testkit::Postgres;
use tokio_postgres::{Client, NoTls, Statement};

use crate::{
    process,
    system::{Answer, FILLING_CONNECTIONS, Query, System, amount},
};

/// Durable, with memory for the whole index; settings that make these searches faster than the
/// defaults.
const SETTINGS: [&str; 9] = [
    "fsync=on",
    "full_page_writes=on",
    "shared_buffers=1GB",
    "maintenance_work_mem=1GB",
    "max_wal_size=4GB",
    "work_mem=32MB",
    "random_page_cost=1.1",
    "jit=off",
    "max_parallel_maintenance_workers=2",
];
const DATABASE: &str = "peers";
/// Products in one statement.
const BATCH: usize = 500;
const INSERT: &str = "INSERT INTO products (id, title, description, price, embedding)
     SELECT id, title, description, price, embedding::halfvec
     FROM unnest($1::int8[], $2::text[], $3::text[], $4::float8[], $5::text[])
         AS rows (id, title, description, price, embedding)";
const INDEXES: &str = "CREATE INDEX ON products USING gin (words);
     CREATE INDEX ON products USING hnsw (embedding halfvec_cosine_ops);
     ANALYZE products";
const SEARCH: &str = "WITH meaning AS (
         SELECT id, rank() OVER (ORDER BY distance) AS rank FROM (
             SELECT id, embedding <=> $2::text::halfvec AS distance FROM products
             ORDER BY embedding <=> $2::text::halfvec LIMIT 20) AS nearest
     ), words AS (
         SELECT id, rank() OVER (ORDER BY ts_rank_cd(words, query) DESC) AS rank
         FROM products, plainto_tsquery('english', $1) AS query WHERE words @@ query
         ORDER BY ts_rank_cd(words, query) DESC LIMIT 20
     ), best AS (
         SELECT id, coalesce(1.0 / (60 + meaning.rank), 0) + coalesce(1.0 / (60 + words.rank), 0)
             AS score
         FROM meaning FULL OUTER JOIN words USING (id) ORDER BY score DESC, id LIMIT 10
     )
     SELECT id, title, description, price FROM best JOIN products USING (id)
     ORDER BY score DESC, id";

/// A server with one database.
pub(crate) struct Hybrid {
    server: Postgres,
    url: String,
    model: BuiltIn,
}

/// A connection with its statements.
pub(crate) struct Session {
    client: Client,
    insert: Statement,
    search: Statement,
}

impl Hybrid {
    pub(crate) fn start() -> anyhow::Result<Self> {
        let server = Postgres::start_with(&SETTINGS);
        server.psql("postgres", &format!("CREATE DATABASE {DATABASE}"));
        let model = model()?;
        server.psql(DATABASE, "CREATE EXTENSION vector");
        server.psql(
            DATABASE,
            &format!(
                "CREATE TABLE products (
                     id int8 PRIMARY KEY, title text NOT NULL, description text NOT NULL,
                     price float8 NOT NULL, embedding halfvec({}) NOT NULL,
                     words tsvector GENERATED ALWAYS AS (
                         setweight(to_tsvector('english', title), 'A')
                         || setweight(to_tsvector('english', description), 'C')) STORED)",
                model.dims()
            ),
        );
        let url = server.url(DATABASE);
        Ok(Self { server, url, model })
    }

    /// The instant vector of a product, like those of our own index.
    fn vector(&self, product: &Product) -> anyhow::Result<String> {
        let Product { title, description, .. } = product;
        let embedding = self.model.instant(Text::Product { title, description });
        match embedding {
            Some(embedding) => Ok(written(&embedding.vector)),
            // No known word: a vector that is similar to nothing in particular.
            None => Ok(format!("[{}1]", "0,".repeat(self.model.dims() - 1))),
        }
    }

    fn process_id(&self) -> anyhow::Result<u32> {
        self.server.process_id().context("PostgreSQL is not running")
    }
}

/// The queries with their deep vectors.
pub(crate) fn with_vectors(texts: &[String]) -> anyhow::Result<Vec<Query>> {
    let model = model()?;
    let asked: Vec<_> = texts.iter().map(|text| Text::Query(text)).collect();
    let embeddings = model.deep(&asked, Priority::Background)?;
    let prepared = texts.iter().zip(embeddings).map(|(text, embedding)| Query {
        text: text.clone(),
        vector: Some(written(&embedding.vector)),
    });
    Ok(prepared.collect())
}

fn model() -> anyhow::Result<BuiltIn> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    Ok(BuiltIn::new(ModelFiles::embedded(), threads)?)
}

/// A vector as pgvector reads it.
fn written(vector: &Vector) -> String {
    let numbers: Vec<_> = vector.as_slice().iter().map(|number| format!("{number:.5}")).collect();
    format!("[{}]", numbers.join(","))
}

/// The columns of some rows.
#[derive(Clone, Default)]
struct Rows {
    ids: Vec<i64>,
    titles: Vec<String>,
    descriptions: Vec<String>,
    prices: Vec<f64>,
    vectors: Vec<String>,
}

impl Rows {
    fn push(&mut self, at: usize, product: &Product, vector: String) {
        self.ids.push(at as i64);
        self.titles.push(product.title.clone());
        self.descriptions.push(product.description.clone());
        self.prices.push(amount(&product.price));
        self.vectors.push(vector);
    }
}

impl Session {
    async fn insert(&self, rows: &Rows) -> anyhow::Result<()> {
        let Rows { ids, titles, descriptions, prices, vectors } = rows;
        self.client.execute(&self.insert, &[ids, titles, descriptions, prices, vectors]).await?;
        Ok(())
    }
}

impl System for Hybrid {
    type Session = Session;

    async fn version(&self) -> anyhow::Result<String> {
        let versions = "SELECT split_part(version(), ' ', 2) || ', pgvector ' || extversion
             FROM pg_extension WHERE extname = 'vector'";
        Ok(self.server.psql(DATABASE, versions))
    }

    async fn load(&self, products: &[Product]) -> anyhow::Result<Duration> {
        let mut batches = Vec::new();
        for (batch, products) in products.chunks(BATCH).enumerate() {
            let mut rows = Rows::default();
            for (at, product) in products.iter().enumerate() {
                rows.push(batch * BATCH + at, product, self.vector(product)?);
            }
            batches.push(rows);
        }
        let mut sessions = Vec::new();
        for _ in 0..FILLING_CONNECTIONS {
            sessions.push(self.connect().await?);
        }
        let next = AtomicUsize::new(0);
        let batch = || batches.get(next.fetch_add(1, Ordering::Relaxed));
        let started = Instant::now();
        let insert = async |session: &mut Session, rows| session.insert(rows).await;
        closed_loop(sessions, Duration::MAX / 4, batch, insert).await?;
        // Indexes are built faster once the rows are there.
        self.connect().await?.client.batch_execute(INDEXES).await?;
        Ok(started.elapsed())
    }

    async fn connect(&self) -> anyhow::Result<Session> {
        let (client, driver) = tokio_postgres::connect(&self.url, NoTls).await?;
        // Ends with the connection; the pending statement gets its error.
        tokio::spawn(driver);
        let insert = client.prepare(INSERT).await?;
        let search = client.prepare(SEARCH).await?;
        Ok(Session { client, insert, search })
    }

    async fn insert(
        &self,
        session: &mut Session,
        at: usize,
        product: &Product,
    ) -> anyhow::Result<()> {
        let mut rows = Rows::default();
        rows.push(at, product, self.vector(product)?);
        session.insert(&rows).await
    }

    async fn search(&self, session: &mut Session, query: &Query) -> anyhow::Result<Answer> {
        let vector = query.vector.as_ref().context("a query without a vector")?;
        let rows = session.client.query(&session.search, &[&query.text, vector]).await?;
        let positions = rows.iter().map(|row| row.get::<_, i64>(0).unsigned_abs() as usize);
        Ok(Answer::Ranking(positions.collect()))
    }

    fn ranking(&self, answer: Answer) -> anyhow::Result<Vec<usize>> {
        let Answer::Ranking(ranking) = answer else { bail!("PostgreSQL answers without JSON") };
        Ok(ranking)
    }

    fn cpu(&self) -> anyhow::Result<Option<Duration>> {
        Ok(Some(cpu::of_family(self.process_id()?)?))
    }

    fn memory(&self) -> anyhow::Result<Option<u64>> {
        Ok(Some(process::memory(self.process_id()?)?))
    }

    fn disk(&self) -> anyhow::Result<Option<u64>> {
        let size = self.server.psql(DATABASE, "SELECT pg_database_size(current_database())");
        Ok(Some(size.parse()?))
    }
}
