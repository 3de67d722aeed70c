//! `shopkeeper eval`: how good is search on queries that people have judged?
//!
//! The catalog goes into a scratch shop of a real engine by real writes, and every query takes
//! the way of a request over HTTP, from its body to the page of products. The measures are
//! `catalog::judging`'s.

mod judgments;
mod products;
mod report;
mod results;
mod scratch;

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;

use self::results::Results;
pub(super) use self::{
    judgments::{JudgedQueries, JudgedQuery},
    products::CatalogFile,
    results::Estimate,
    scratch::{ScratchShop, Vectors},
};
use crate::config::{Config, Flags};

#[derive(Args)]
pub(super) struct EvalCommand {
    /// Products to search among: a JSON object a line with `title` and, if you like, `product` or `id`, `description`, `price`; may end in .gz
    #[arg(long, value_name = "FILE")]
    catalog: PathBuf,
    /// Judged queries: tab-separated columns `query`, `product`, `grade`, or `query`, `match`, `exclude` with patterns of the right titles
    #[arg(long, value_name = "FILE")]
    judgments: PathBuf,
    /// Leave out the queries that the column `query` or `text` of this tab-separated file has
    #[arg(long, value_name = "FILE")]
    without: Option<PathBuf>,
    /// The grade from which a product counts as relevant for precision and recall
    #[arg(long, value_name = "GRADE", default_value_t = 1.0)]
    relevant_from: f64,
    /// Which vectors products have: those made at once, the deep ones, or the deep ones for every other product
    #[arg(long, value_enum, default_value_t)]
    vectors: Vectors,
    /// How many of the worst queries to show
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    worst: usize,
    /// Keep the results in this file, to compare with later
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Compare with the results kept in this file
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Print one row of a Markdown table under this name, and nothing else
    #[arg(long, value_name = "NAME")]
    row: Option<String>,
    /// Folder for the scratch shop, kept: the next run on the same catalog starts at once. The folder of `--data` is never touched
    #[arg(long, value_name = "FOLDER")]
    scratch: Option<PathBuf>,
    #[command(flatten)]
    flags: Flags,
}

impl EvalCommand {
    pub(super) fn flags(&self) -> &Flags {
        &self.flags
    }

    pub(super) fn run(&self, config: &Config) -> anyhow::Result<()> {
        let catalog = CatalogFile::read(&self.catalog).with_context(|| in_file(&self.catalog))?;
        let mut judged = JudgedQueries::read(&self.judgments, &catalog)
            .with_context(|| in_file(&self.judgments))?;
        if let Some(file) = &self.without {
            judged.leave_out(file).with_context(|| in_file(file))?;
        }
        // Before the work that may take minutes.
        let before = self.compare.as_deref().map(Results::read).transpose()?;

        let shop = ScratchShop::fill(config, &catalog, self.vectors, self.scratch.as_deref())?;
        let results = Results {
            judgments: named(&self.judgments),
            catalog: named(&self.catalog),
            products: catalog.products.len(),
            judged: judged.judgment_count(),
            vectors: shop.description(),
            relevant_from: self.relevant_from,
            queries: shop.answer(&catalog, &judged, self.relevant_from)?,
        };
        if let Some(file) = &self.save {
            results.write(file)?;
        }
        let mut out = io::stdout().lock();
        match &self.row {
            Some(name) => write!(out, "{}", report::Row { name, results: &results })?,
            None => write!(out, "{}", report::Report { results: &results, worst: self.worst })?,
        }
        if let Some(before) = &before {
            let comparison = report::Comparison { before, after: &results, moved: self.worst };
            write!(out, "{comparison}")?;
        }
        Ok(())
    }
}

pub(super) fn in_file(path: &Path) -> String {
    format!("in {}", path.display())
}

/// A file's name without its folders, which mean nothing on the next machine.
fn named(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The rows of a tab-separated file, each as the values of the named columns; those it lacks are
/// empty. Nothing is quoted in such a file.
fn read_columns<const N: usize>(
    path: &Path,
    names: [&str; N],
) -> anyhow::Result<(Vec<[String; N]>, [bool; N])> {
    let text = fs::read_to_string(path)?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let places = names.map(|name| header.iter().position(|column| *column == name));
    let rows = lines.filter(|line| !line.is_empty()).map(|line| {
        let values: Vec<&str> = line.split('\t').collect();
        places.map(|place| place.and_then(|at| values.get(at)).copied().unwrap_or_default().into())
    });
    Ok((rows.collect(), places.map(|place| place.is_some())))
}
