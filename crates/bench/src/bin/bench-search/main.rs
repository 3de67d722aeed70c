//! `bench-search`: latency and throughput of searches, and the memory of a catalog.

mod inside;
mod memory_limit;
mod phases;
mod turns;

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

use crate::phases::{Bench, Encoder};

/// Measure a release build of shopkeeper: searches alone, at saturation and beside writes, time
/// by stage, memory and restart.
///
/// Filling takes about 20 s for each 100,000 products and measuring about 1 minute for each size;
/// with `deep` products every product takes a few milliseconds more (7 minutes for 100,000).
#[derive(Parser)]
#[command(name = "bench-search")]
struct Arguments {
    /// The `shopkeeper` binary to measure
    #[arg(long, value_name = "FILE")]
    server: PathBuf,
    /// Folder on the disk to measure; what is written there is removed again
    #[arg(long, value_name = "FOLDER", default_value = "target/bench-search")]
    data: PathBuf,
    /// Sizes of catalogs to measure, one after the other
    #[arg(long, value_delimiter = ',', default_value = "10000,100000")]
    products: Vec<u32>,
    /// Encoder of the queries
    #[arg(long, value_enum, value_delimiter = ',', default_value = "instant,deep")]
    encoders: Vec<Encoder>,
    /// Seconds for each measurement
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Seed of the generated products
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Read the products from these files, one JSON object per line (.gz or not), instead of generating
    /// them; recombined up to the number of products
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    catalog: Vec<PathBuf>,
    /// Search for the queries in these files, one per line or in a column `query`, instead of deriving
    /// them from the titles
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    queries: Vec<PathBuf>,
    /// Compare with this binary instead: both search in turn, for `--seconds` each
    #[arg(long, value_name = "FILE")]
    other: Option<PathBuf>,
    /// Number of turns
    #[arg(long, default_value_t = 20, requires = "other")]
    turns: usize,
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
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut figures = Vec::new();
    for count in &arguments.products {
        let bench = Bench {
            binary: arguments.server.clone(),
            folder: folder.path().to_owned(),
            count: *count as usize,
            seed: arguments.seed,
            catalog: arguments.catalog.clone(),
            queries: arguments.queries.clone(),
            encoders: arguments.encoders.clone(),
            time: Duration::from_secs(arguments.seconds),
        };
        figures.extend(match &arguments.other {
            Some(other) => runtime.block_on(bench.run_in_turn(other, arguments.turns))?,
            None => runtime.block_on(bench.run())?,
        });
    }
    let load_average = (load_before, machine::load_average());
    let report = Report { machine, load_average, figures };
    write!(io::stdout().lock(), "{}", report.table(before.as_ref()))?;
    if let Some(file) = &arguments.json {
        fs::write(file, serde_json::to_string_pretty(&report)?)?;
    }
    Ok(())
}
