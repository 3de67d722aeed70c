//! `bench-http`: the data and the load generator of `make bench-peers`, which compares the service with
//! other systems. One program drives all that speak HTTP.

use std::{
    fs,
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use bench::{
    catalog_file,
    client::{Connection, Target},
    load::closed_loop,
    queries,
};
use clap::Parser;
use embed::{BuiltIn, Embedder, ModelFiles, Priority, Text, Vector};
use hyper::{StatusCode, body::Bytes};
use serde_json::json;

/// Distinct queries that are derived where no file has any: more than any system caches.
const DERIVED: usize = 5_000;

/// Write the same products and queries for several systems, or search one of them.
#[derive(Parser)]
#[command(name = "bench-http")]
enum Command {
    /// Write `products.jsonl` and `queries.jsonl` with the vectors of our model: instant ones of the
    /// products, deep ones of the queries
    Data {
        /// Folder to write to
        #[arg(long, value_name = "FOLDER")]
        folder: PathBuf,
        /// Number of products
        #[arg(long, default_value_t = 100_000)]
        products: usize,
        /// Catalog files, recombined up to the number of products
        #[arg(
            long,
            value_name = "FILE",
            value_delimiter = ',',
            default_value = "judgments/market.jsonl"
        )]
        catalog: Vec<PathBuf>,
        /// Queries, one per line or in a column `query` [default: derived from the titles]
        #[arg(long, value_name = "FILE", value_delimiter = ',')]
        queries: Vec<PathBuf>,
    },
    /// Post the lines of a file, again and again, each connection one after the other; prints
    /// requests, seconds, p50 and p99 in milliseconds
    Drive(Drive),
}

#[derive(clap::Args)]
struct Drive {
    #[arg(long)]
    address: SocketAddr,
    /// Sent as `Authorization: Bearer`
    #[arg(long)]
    token: String,
    #[arg(long)]
    path: String,
    /// One request body per line
    #[arg(long, value_name = "FILE")]
    bodies: PathBuf,
    #[arg(long, default_value_t = 1)]
    connections: usize,
    #[arg(long, default_value_t = 5)]
    seconds: u64,
}

fn main() -> anyhow::Result<()> {
    match Command::parse() {
        Command::Data { folder, products, catalog, queries } => {
            write_data(&folder, products, &catalog, &queries)
        }
        Command::Drive(drive) => {
            // One thread: the client shares the cores with the system.
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(drive.run())
        }
    }
}

fn write_data(
    folder: &Path,
    count: usize,
    catalog: &[PathBuf],
    files: &[PathBuf],
) -> anyhow::Result<()> {
    let products = catalog_file::resize(catalog_file::read(catalog, 1)?, count, 1);
    let titles: Vec<String> = products.iter().map(|product| product.title.clone()).collect();
    let queries = match files.is_empty() {
        true => queries::derive(&titles, DERIVED, 2),
        false => queries::read(files)?,
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let model = BuiltIn::new(ModelFiles::embedded(), threads)?;
    let lines = products.iter().map(|product| {
        let text = Text::Product { title: &product.title, description: &product.description };
        let vector = model.instant(text).map(|made| made.vector);
        json!({ "product": product.body(), "vector": numbers(vector.as_ref()) }).to_string()
    });
    fs::write(folder.join("products.jsonl"), lines.collect::<Vec<_>>().join("\n"))?;
    let texts: Vec<_> = queries.iter().map(|text| Text::Query(text)).collect();
    let embedded = model.deep(&texts, Priority::Background)?;
    let lines = queries.iter().zip(embedded).map(|(query, made)| {
        json!({ "query": query, "vector": numbers(Some(&made.vector)) }).to_string()
    });
    fs::write(folder.join("queries.jsonl"), lines.collect::<Vec<_>>().join("\n"))?;
    Ok(())
}

/// As pgvector reads it; `None` for a text without a known word.
fn numbers(vector: Option<&Vector>) -> Option<String> {
    let numbers = vector?.as_slice().iter().map(|number| format!("{number:.5}"));
    Some(format!("[{}]", numbers.collect::<Vec<_>>().join(",")))
}

impl Drive {
    async fn run(&self) -> anyhow::Result<()> {
        let text = fs::read_to_string(&self.bodies)?;
        let bodies: Vec<Bytes> = text.lines().map(|line| line.to_owned().into()).collect();
        anyhow::ensure!(!bodies.is_empty(), "{} is empty", self.bodies.display());
        let target = Target { address: self.address, token: self.token.as_str().into() };
        let mut open = Vec::new();
        for _ in 0..self.connections {
            open.push(Connection::open(&target).await?);
        }
        let at = AtomicUsize::new(0);
        let next = || bodies.get(at.fetch_add(1, Ordering::Relaxed) % bodies.len()).cloned();
        let post = async |connection: &mut Connection, body| {
            connection.post(&self.path, body).await?.expect(StatusCode::OK)?;
            Ok(())
        };
        let measured = closed_loop(open, Duration::from_secs(self.seconds), next, post).await?;
        let milliseconds = |share| measured.percentile(share).as_secs_f64() * 1e3;
        let (requests, seconds) = (measured.requests, measured.elapsed.as_secs_f64());
        let (p50, p99) = (milliseconds(0.5), milliseconds(0.99));
        writeln!(io::stdout(), "{requests} {seconds:.3} {p50:.3} {p99:.3}")?;
        Ok(())
    }
}
