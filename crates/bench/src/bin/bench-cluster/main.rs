//! `bench-cluster`: throughput of one, two and four nodes on one database, and the load of the
//! database.

mod database;
mod fleet;
mod phases;
mod visibility;

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

use anyhow::Context;
use bench::{
    disk,
    machine::{self, Machine},
    report::Report,
};
use clap::Parser;

use crate::phases::Bench;

/// Measure nodes on a PostgreSQL of their own: searches, writes, both together, how soon a write is
/// found on the other nodes, and the database's work.
///
/// Nodes, database and client share the cores of this machine, so more nodes are not faster here.
/// What can be read off is the processor time of each for one request.
#[derive(Parser)]
#[command(name = "bench-cluster")]
struct Arguments {
    /// The `shopkeeper` binary to measure
    #[arg(long, value_name = "FILE")]
    server: PathBuf,
    /// Folder for the nodes' logs and copies; what is written there is removed again
    #[arg(long, value_name = "FOLDER", default_value = "target/bench-cluster")]
    data: PathBuf,
    /// Numbers of nodes to measure, each on the same products
    #[arg(long, value_delimiter = ',', default_value = "1,2,4")]
    nodes: Vec<usize>,
    /// Shops that are searched and written to
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..))]
    shops: u64,
    /// Products of each shop at the beginning
    #[arg(long, default_value_t = 20_000)]
    products: usize,
    /// Read the products from these files, one JSON object per line (.gz or not), instead of generating
    /// them; recombined up to the number of products
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    catalog: Vec<PathBuf>,
    /// Search for the queries in these files, one per line or in a column `query`, instead of taking
    /// words from titles
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    queries: Vec<PathBuf>,
    /// Seconds for each measurement
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Seed of the generated products
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Search shops of more products than this inside the database
    #[arg(long, value_name = "PRODUCTS")]
    search_above: Option<usize>,
    /// Write the values to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Compare with the values in this file, written by `--json` before
    #[arg(long, value_name = "FILE")]
    before: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let before: Option<Report> = arguments
        .before
        .as_ref()
        .map(|file| anyhow::Ok(serde_json::from_slice(&fs::read(file)?)?))
        .transpose()
        .context("the earlier numbers cannot be read")?;
    let load_before = machine::load_average();
    fs::create_dir_all(&arguments.data)?;
    let folder = tempfile::tempdir_in(&arguments.data)?;
    let machine = Machine::here(disk::file_system(folder.path())?);
    let bench = Bench {
        binary: arguments.server,
        folder: folder.path().to_owned(),
        nodes: arguments.nodes,
        shops: arguments.shops,
        products: arguments.products,
        catalog: arguments.catalog,
        queries: arguments.queries,
        seed: arguments.seed,
        time: Duration::from_secs(arguments.seconds),
        search_above: arguments.search_above,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let figures = runtime.block_on(bench.run())?;
    let load_average = (load_before, machine::load_average());
    let report = Report { machine, load_average, figures };
    write!(io::stdout().lock(), "{}", report.table(before.as_ref()))?;
    if let Some(file) = &arguments.json {
        fs::write(file, serde_json::to_string_pretty(&report)?)?;
    }
    Ok(())
}
