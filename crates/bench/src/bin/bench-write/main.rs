//! `bench-write`: latency and throughput of writes, and the memory and disk space of 100,000
//! products.

mod phases;

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
    slice,
    time::Duration,
};

use anyhow::Context;
use bench::{
    disk,
    machine::{self, Machine},
    products::Products,
    report::Report,
};
use clap::Parser;

use crate::phases::{Bench, Phase};

/// Measure a release build of shopkeeper: durable writes, memory, restart and search.
#[derive(Parser)]
#[command(name = "bench-write")]
struct Arguments {
    /// The `shopkeeper` binary to measure
    #[arg(long, value_name = "FILE")]
    server: PathBuf,
    /// Folder on the disk to measure; what is written there is removed again
    #[arg(long, value_name = "FOLDER", default_value = "target/bench-write")]
    data: PathBuf,
    /// Products to fill the catalog with
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1000..))]
    products: u32,
    /// Seconds for each of the measurements of a fixed time
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Seed of the generated products
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Read the products from this file, one JSON object per line, instead of generating them
    #[arg(long, value_name = "FILE")]
    catalog: Option<PathBuf>,
    /// Measure single creates again with flushes of at least this time, as on a disk without a volatile
    /// cache; `0` skips it
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 2000)]
    slow_flush_us: u64,
    /// Measure these phases only
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Phase>,
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
    let count = arguments.products as usize;
    let products = match &arguments.catalog {
        None => Products::make(count, arguments.seed),
        Some(file) => Products::read(slice::from_ref(file), count, arguments.seed)?,
    };
    fs::create_dir_all(&arguments.data)?;
    let folder = tempfile::tempdir_in(&arguments.data)?;
    let machine = Machine::here(disk::file_system(folder.path())?);
    if machine.file_system == "tmpfs" {
        anyhow::bail!("the data would be in memory: choose a folder on a disk with --data");
    }

    let bench = Bench::new(
        arguments.server.clone(),
        folder.path().to_owned(),
        products,
        Duration::from_secs(arguments.seconds),
        Duration::from_micros(arguments.slow_flush_us),
    );
    // One thread: the client shares the cores with the service.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let figures = runtime.block_on(bench.run(&arguments.only))?;

    let load_average = (load_before, machine::load_average());
    let report = Report { machine, load_average, figures };
    write!(io::stdout().lock(), "{}", report.table(before.as_ref()))?;
    if let Some(file) = &arguments.json {
        fs::write(file, serde_json::to_string_pretty(&report)?)?;
    }
    Ok(())
}
