//! `bench-peers`: Shopkeeper and what it competes with, one after the other on one machine, with the
//! same products, queries and load.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod measure;
mod ours;
mod peer;
mod postgres;
mod process;
mod sqlite;
mod system;
mod typesense;

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use bench::{
    catalog_file::{self, Product, resize},
    disk,
    judgments::JudgedQueries,
    machine::{self, Machine},
    queries,
    report::{Figure, Report},
};
use clap::Parser;

use crate::{
    measure::{Workload, load_and_search, quality},
    ours::Ours,
    peer::{Peer, System as Kind},
    postgres::Hybrid,
    sqlite::Sqlite,
    system::{Query, System},
    typesense::Typesense,
};

/// Distinct queries that are derived where no file has any: more than any system caches.
const DERIVED: usize = 5_000;

/// Measure Shopkeeper, Typesense, PostgreSQL with pgvector, and SQLite FTS5: ingest, the time from a
/// write to its visibility, searches, memory, disk and NDCG@10.
///
/// With 100,000 products each system takes 20 s to 3 minutes, most of it for PostgreSQL's vector index.
#[derive(Parser)]
#[command(name = "bench-peers")]
struct Arguments {
    /// The `shopkeeper` binary to measure
    #[arg(long, value_name = "FILE")]
    server: PathBuf,
    /// The `typesense-server` binary, as installed by scripts/typesense.sh
    #[arg(long, value_name = "FILE")]
    typesense: Option<PathBuf>,
    /// Folder on the disk to measure; what is written there is removed again
    #[arg(long, value_name = "FOLDER", default_value = "target/bench-peers")]
    data: PathBuf,
    /// Systems to measure, in this order
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "ours-instant,ours-deep,typesense,postgres,sqlite"
    )]
    systems: Vec<Kind>,
    /// Another system to measure: `shopkeeper+http://TOKEN@HOST:PORT` with an empty shop, or
    /// `typesense+http://KEY@HOST:PORT` without a collection `products`; NDCG is not measured
    #[arg(long, value_name = "URL")]
    peer: Vec<Peer>,
    /// Products of the catalog
    #[arg(long, default_value_t = 100_000)]
    products: usize,
    /// Read the products from these files, one JSON object per line (.gz or not); recombined up to the
    /// number of products
    #[arg(
        long,
        value_name = "FILE",
        value_delimiter = ',',
        default_value = "judgments/market.jsonl"
    )]
    catalog: Vec<PathBuf>,
    /// Search for the queries in these files, one per line or in a column `query`, instead of deriving
    /// them from the titles
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    queries: Vec<PathBuf>,
    /// Judged queries for NDCG@10, each with its catalog, as `CATALOG:FILE`
    #[arg(
        long,
        value_name = "CATALOG:FILE",
        value_delimiter = ',',
        default_value = "judgments/market.jsonl:judgments/market-held-out.tsv"
    )]
    judgments: Vec<String>,
    /// Seconds for each measurement of searches
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Seed of recombined products and derived queries
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the values to this file, as JSON; values of other systems that it has already are kept and
    /// printed beside the new ones
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A judged catalog with its sets of judgments, by name.
struct Judged {
    catalog: Vec<Product>,
    sets: Vec<(String, JudgedQueries)>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let load_before = machine::load_average();
    fs::create_dir_all(&arguments.data)?;
    let folder = tempfile::tempdir_in(&arguments.data)?;
    let machine = Machine::here(disk::file_system(folder.path())?);
    let products = catalog_file::read(&arguments.catalog, arguments.seed)?;
    let products = resize(products, arguments.products, arguments.seed);
    let texts = match arguments.queries.is_empty() {
        false => queries::read(&arguments.queries)?,
        true => {
            let titles: Vec<_> = products.iter().map(|product| product.title.clone()).collect();
            queries::derive(&titles, DERIVED, arguments.seed + 1)
        }
    };
    let judged = read_judgments(&arguments.judgments, arguments.seed)?;
    let bench = Bench { arguments: &arguments, folder: folder.path(), products, texts, judged };
    // One thread: the client shares the cores with the systems.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut report =
        Report { machine, load_average: (load_before, load_before), figures: Vec::new() };
    let file = arguments.json.as_deref();
    if let Some(file) = file.filter(|file| file.exists()) {
        let earlier: Report = serde_json::from_slice(&fs::read(file)?)
            .context("the earlier values cannot be read")?;
        report.figures = earlier.figures;
    }
    let systems = arguments.systems.iter().map(Measured::Started);
    for measured in systems.chain(arguments.peer.iter().map(Measured::Running)) {
        let figures = match measured {
            Measured::Started(kind) => runtime.block_on(bench.system(*kind))?,
            Measured::Running(peer) => runtime.block_on(bench.peer(peer))?,
        };
        report.replace(figures);
        report.load_average.1 = machine::load_average();
        // Written after each system: a failure of a later one loses nothing.
        if let Some(file) = file {
            fs::write(file, serde_json::to_string_pretty(&report)?)?;
        }
    }
    write!(io::stdout().lock(), "{}", report.comparison())?;
    Ok(())
}

/// A system to measure.
enum Measured<'a> {
    /// It is started for the measurement.
    Started(&'a Kind),
    /// It is running elsewhere.
    Running(&'a Peer),
}

/// Reads judgments, each catalog once.
fn read_judgments(pairs: &[String], seed: u64) -> anyhow::Result<Vec<Judged>> {
    let mut read: Vec<(&str, Judged)> = Vec::new();
    for pair in pairs.iter().filter(|pair| !pair.is_empty()) {
        let (catalog, file) = pair.split_once(':').context("judgments are CATALOG:FILE")?;
        let at = match read.iter().position(|(known, _)| *known == catalog) {
            Some(at) => at,
            None => {
                let products = catalog_file::read(&[catalog.into()], seed)?;
                read.push((catalog, Judged { catalog: products, sets: Vec::new() }));
                read.len() - 1
            }
        };
        let Judged { catalog, sets } = &mut read[at].1;
        let name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        sets.push((name, JudgedQueries::read(Path::new(file), catalog)?));
    }
    Ok(read.into_iter().map(|(_, judged)| judged).collect())
}

struct Bench<'a> {
    arguments: &'a Arguments,
    folder: &'a Path,
    products: Vec<Product>,
    texts: Vec<String>,
    judged: Vec<Judged>,
}

impl Bench<'_> {
    async fn system(&self, kind: Kind) -> anyhow::Result<Vec<Figure>> {
        let (server, folder) = (&self.arguments.server, self.folder);
        match kind {
            Kind::OursInstant | Kind::OursDeep => {
                let encoder = kind.encoder();
                let start = async |name: &str| Ours::start(server, folder, name, encoder);
                self.measure(kind.name(), without_vectors, start).await
            }
            Kind::Typesense => {
                let binary = self.arguments.typesense.as_ref();
                let binary = binary.context("--typesense names no server: scripts/typesense.sh")?;
                let start = async |name: &str| Typesense::start(binary, folder, name).await;
                self.measure(kind.name(), without_vectors, start).await
            }
            Kind::Postgres => {
                let start = async |_: &str| Hybrid::start();
                self.measure(kind.name(), postgres::with_vectors, start).await
            }
            Kind::Sqlite => {
                let start = async |name: &str| Sqlite::start(folder, name);
                self.measure(kind.name(), without_vectors, start).await
            }
        }
    }

    async fn peer(&self, peer: &Peer) -> anyhow::Result<Vec<Figure>> {
        let workload = self.workload(without_vectors)?;
        let name = |what: &str| named(&peer.name(), what);
        let target = peer.target()?;
        match peer.speaks_typesense() {
            true => load_and_search(&Typesense::at(target), &workload, name).await,
            false => load_and_search(&Ours::at(target), &workload, name).await,
        }
    }

    /// Measures a system with the catalog, and then its results on each judged one.
    async fn measure<S: System>(
        &self,
        system: &str,
        prepare: impl Fn(&[String]) -> anyhow::Result<Vec<Query>>,
        start: impl AsyncFn(&str) -> anyhow::Result<S>,
    ) -> anyhow::Result<Vec<Figure>> {
        let workload = self.workload(&prepare)?;
        let running = start(&format!("{system}-catalog")).await?;
        writeln!(io::stderr(), "measuring {system}, version {}", running.version().await?)?;
        let mut figures = load_and_search(&running, &workload, |what| named(system, what)).await?;
        drop(running);
        for (at, Judged { catalog, sets }) in self.judged.iter().enumerate() {
            let running = start(&format!("{system}-judged-{at}")).await?;
            running.load(catalog).await?;
            for (set, judged) in sets {
                let texts: Vec<_> =
                    judged.queries.iter().map(|judged| judged.query.clone()).collect();
                let ndcg = quality(&running, judged, &prepare(&texts)?).await?;
                let what = format!("NDCG@10, {set}");
                let how = format!("{} queries, {} products", texts.len(), catalog.len());
                figures.push(Figure::new(named(system, &what), ndcg, "", how));
            }
        }
        Ok(figures)
    }

    fn workload(
        &self,
        prepare: impl Fn(&[String]) -> anyhow::Result<Vec<Query>>,
    ) -> anyhow::Result<Workload> {
        Ok(Workload {
            products: self.products.clone(),
            queries: prepare(&self.texts)?,
            writes: Workload::writes(&self.products, self.arguments.seed, prepare)?,
            time: Duration::from_secs(self.arguments.seconds),
        })
    }
}

/// The name of a value: the system is the column of the comparison.
fn named(system: &str, what: &str) -> String {
    format!("{system}: {what}")
}

fn without_vectors(texts: &[String]) -> anyhow::Result<Vec<Query>> {
    Ok(texts.iter().map(|text| Query { text: text.clone(), vector: None }).collect())
}
