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
    floor::{self, Floor},
    in_file,
    judgments::JudgedQueries,
    parameters::{Override, tuning_with},
    report,
    results::Results,
    scratch_shop::{ScratchShop, Vectors},
};

/// What to evaluate, and what to do with the results.
#[derive(Args)]
pub struct EvalOptions {
    /// Products to search: one JSON object per line with `title` and optional `product` or `id`, `description`, `price`, `key`, `attributes`; .gz is decompressed
    #[arg(long, value_name = "FILE")]
    catalog: PathBuf,
    /// Judged queries: tab-separated columns `query`, `product`, `grade` (-1 if it contradicts the query), or `query`, `match`, `exclude` with patterns of relevant titles
    #[arg(long, value_name = "FILE")]
    judgments: PathBuf,
    /// Skip the queries in the column `query` or `text` of this tab-separated file
    #[arg(long, value_name = "FILE")]
    without: Option<PathBuf>,
    /// Put a typo into one word of every query; those without a word of five letters are skipped
    #[arg(long)]
    misspell: bool,
    /// Lowest grade that counts as relevant for precision, recall and composition
    #[arg(long, value_name = "GRADE", default_value_t = 1.0)]
    relevant_from: f64,
    /// Vectors of the products: instant, deep, or deep for every other product
    #[arg(long, value_enum, default_value_t)]
    vectors: Vectors,
    /// Rank with another value than the one in force, such as ranking.k1=0.4; several times for several parameters
    #[arg(long, value_name = "NAME=NUMBER")]
    set: Vec<Override>,
    /// Number of the worst queries to show
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    worst: usize,
    /// Save the results to this file, for --compare
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Compare with the results saved in this file
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Fail if the mean of a measure (ndcg, precision, composition) is below this figure, such as ndcg=0.83; may be repeated
    #[arg(long, value_name = "MEASURE=FIGURE")]
    at_least: Vec<Floor>,
    /// Print only one row of a Markdown table, with this name
    #[arg(long, value_name = "NAME")]
    row: Option<String>,
    /// Folder to keep the scratch shop in, so that the next run on the same catalog starts at once; `--data` is never used
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
        if self.misspell {
            judged.misspell()?;
        }
        // Read first: the evaluation may take minutes.
        let before = self.compare.as_deref().map(Results::read).transpose()?;

        let shop = ScratchShop::open(engine, &catalog, self.vectors, self.scratch.as_deref())?;
        let results = Results {
            judgments: named(&self.judgments),
            catalog: named(&self.catalog),
            products: catalog.products.len(),
            judged: judged.judgment_count(),
            vectors: self.description(&shop),
            relevant_from: self.relevant_from,
            queries: shop.answer(&catalog, &judged, self.relevant_from, tuning_with(&self.set))?,
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
        floor::check(&self.at_least, self.row.as_deref().unwrap_or(&results.judgments), &results)
    }

    /// What the products are found by: the vectors, and the parameters that are not those in force.
    fn description(&self, shop: &ScratchShop) -> String {
        let overrides = self.set.iter().map(|one| format!(", {one}"));
        shop.description() + &overrides.collect::<String>()
    }
}

/// A file's name without its folders, which mean nothing on the next machine.
fn named(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
