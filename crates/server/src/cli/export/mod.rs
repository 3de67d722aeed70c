//! `shopkeeper export`: writes all products of a shop, hidden ones included, to a file that import
//! reads back exactly.

mod format;
mod packing;
pub(super) mod pages;
mod product;

use std::{
    io::{self, IsTerminal, Write},
    ops::ControlFlow,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

use anyhow::{Context, bail};
use catalog::product::access::{Caller, Role};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

pub(super) use self::product::Exported;
use self::{
    format::{Format, Products},
    packing::{Output, Packing},
};
use super::target::{self, Environment, Target};
use crate::config::{Config, Flags};

#[derive(Args, Debug)]
pub(super) struct ExportCommand {
    /// File to write, or - for standard output; its name determines the format, such as shop.csv.gz
    #[arg(default_value = "-")]
    file: PathBuf,
    /// Format, if not determined by the name [default: JSON Lines]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Compression, if not determined by the name
    #[arg(long, value_enum)]
    pack: Option<Packing>,
    #[command(flatten)]
    target: Target,
}

impl ExportCommand {
    pub(super) fn run(
        &self,
        load: impl FnOnce(&Flags) -> anyhow::Result<Config>,
        environment: &Environment,
    ) -> anyhow::Result<ExitCode> {
        let (named, packed) = format::by_name(&self.file);
        let format = self.format.or(named);
        if format.is_none() && self.file != Path::new("-") {
            bail!(
                "{} does not say its format; say it with --format, or end the name in .jsonl, \
                 .json, .csv or .tsv",
                self.file.display()
            );
        }
        let began = Instant::now();
        let remote = self.target.remote(environment)?;
        let mut tally = Tally::new();
        let open = || {
            let output = Output::open(&self.file, self.pack.unwrap_or(packed))?;
            Products::begin(output, format.unwrap_or(Format::Jsonl))
        };
        let products = match remote {
            Some(remote) => {
                pages::check_visibility(&remote)?;
                let mut products = open()?;
                pages::read(&remote, |product, total| {
                    tally.count(total);
                    products.add(product)
                })?;
                products
            }
            None => self.read_folder(&load(&self.target.flags)?, open, &mut tally)?,
        };
        products.finish()?;
        let count = tally.finish();
        let seconds = began.elapsed().as_secs_f64();
        // Standard output may be the export itself.
        let _ = writeln!(io::stderr(), "{count} products exported in {seconds:.1} s");
        Ok(ExitCode::SUCCESS)
    }

    /// Reads one state of the store, whether or not a server runs on it.
    fn read_folder(
        &self,
        config: &Config,
        open: impl FnOnce() -> anyhow::Result<Products>,
        tally: &mut Tally,
    ) -> anyhow::Result<Products> {
        let shop = self.target.shop()?;
        let in_folder = || target::name_of_store(config);
        let readers = target::readers(config)?;
        let total = readers.counts(shop).with_context(in_folder)?.products as u64;
        let mut products = open()?;
        let pass = Caller::new(shop, Role::Viewer).may_read();
        let mut written = Ok(());
        readers
            .for_each_product(&pass, &mut |product| {
                tally.count(total);
                written = products.add(&Exported::from(&product));
                if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
            .with_context(in_folder)?;
        written?;
        Ok(products)
    }
}

/// Counts products, and shows the count on a terminal.
struct Tally {
    count: u64,
    bar: Option<ProgressBar>,
}

impl Tally {
    fn new() -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template(
                "[{bar:30}] {percent:>3}%  {pos} products, {per_sec}, {eta} left",
            );
            ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self { count: 0, bar }
    }

    fn count(&mut self, total: u64) {
        self.count += 1;
        if let Some(bar) = &self.bar {
            bar.set_length(total.max(self.count));
            bar.set_position(self.count);
        }
    }

    fn finish(self) -> u64 {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        self.count
    }
}
