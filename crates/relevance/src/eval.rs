//! `shopkeeper eval`: measures search on judged queries.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;

use crate::{
    EngineUnderTest,
    catalog_file::CatalogFile,
    in_file,
    judgments::JudgedQueries,
    report,
    results::Results,
    scratch_shop::{ScratchShop, Vectors},
};

/// What to evaluate, and what to do with the results.
#[derive(Args)]
pub struct EvalOptions {
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
}

impl EvalOptions {
    /// Runs the queries and prints the report to standard output.
    pub fn run(&self, engine: EngineUnderTest) -> anyhow::Result<()> {
        let catalog = CatalogFile::read(&self.catalog).with_context(|| in_file(&self.catalog))?;
        let mut judged = JudgedQueries::read(&self.judgments, &catalog)
            .with_context(|| in_file(&self.judgments))?;
        if let Some(file) = &self.without {
            judged.leave_out(file).with_context(|| in_file(file))?;
        }
        // Before the work that may take minutes.
        let before = self.compare.as_deref().map(Results::read).transpose()?;

        let shop = ScratchShop::open(engine, &catalog, self.vectors, self.scratch.as_deref())?;
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

/// A file's name without its folders, which mean nothing on the next machine.
fn named(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
