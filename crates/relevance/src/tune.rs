//! `shopkeeper tune`: searches for the ranking parameters that answer judged queries best.
//!
//! Every trial runs the queries through the engine's search. Half of the queries of each set choose
//! the parameters (training set); the other half (held-out set) measures the result.

mod hill_climbing;
mod parameters;

use std::{
    collections::{HashMap, hash_map::Entry},
    io::{self, Write},
    num::NonZero,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use anyhow::{Context, ensure};
use catalog::tuning::{TUNING, Tuning};
use clap::{Args, ValueEnum};

use self::{
    hill_climbing::HillClimbing,
    parameters::{PARAMETERS, Start},
};
use crate::{
    EngineUnderTest,
    catalog_file::CatalogFile,
    in_file,
    judgments::{JudgedQueries, JudgedQuery},
    metrics,
    results::Estimate,
    scratch_shop::{ScratchShop, Vectors},
};

/// The lowest grade that counts as relevant.
const RELEVANT_FROM: f64 = 1.0;

/// What to tune, and on which judged queries.
#[derive(Args)]
pub struct TuneOptions {
    /// Products to search, as for `shopkeeper eval`; once for each file of judgments
    #[arg(long, value_name = "FILE", required = true)]
    catalog: Vec<PathBuf>,
    /// Judged queries, as for `shopkeeper eval`; measured by NDCG@10 if graded, by precision@5 if given as patterns
    #[arg(long, value_name = "FILE", required = true)]
    judgments: Vec<PathBuf>,
    /// Vectors of the products
    #[arg(long, value_enum, default_value_t = Vectors::Instant)]
    vectors: Vectors,
    /// Maximum number of rounds over all parameters
    #[arg(long, value_name = "NUMBER", default_value_t = 8)]
    rounds: usize,
    /// Tune on all queries, without a held-out half
    #[arg(long)]
    all: bool,
    /// Only tune parameters whose names contain one of these
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Start from another value than the one in force, such as ranking.k1=0.4
    #[arg(long, value_name = "NAME=NUMBER")]
    start: Vec<Start>,
    /// Folder to keep the scratch shops in, so that the next run on the same catalogs starts at once
    #[arg(long, value_name = "FOLDER")]
    scratch: Option<PathBuf>,
}

/// A catalog file and the scratch shop that holds it.
struct Shop {
    catalog: CatalogFile,
    scratch: ScratchShop,
}

/// Judged queries, and the shop they run against.
struct QuerySet {
    name: String,
    judged: JudgedQueries,
    shop: Arc<Shop>,
}

/// A split of the queries of a set.
#[derive(Clone, Copy)]
enum Split {
    All,
    /// The queries at even positions, which choose the parameters.
    Training,
    /// The queries at odd positions.
    HeldOut,
}

impl Split {
    fn contains(self, position: usize) -> bool {
        match self {
            Self::All => true,
            Self::Training => position.is_multiple_of(2),
            Self::HeldOut => !position.is_multiple_of(2),
        }
    }
}

impl TuneOptions {
    /// Searches for better parameters and prints them to standard output. `engine` describes the
    /// engine to measure, once for each catalog.
    pub fn run(&self, engine: impl Fn() -> anyhow::Result<EngineUnderTest>) -> anyhow::Result<()> {
        ensure!(
            self.catalog.len() == self.judgments.len(),
            "every --judgments needs its --catalog"
        );
        let mut shops = HashMap::new();
        let mut sets = Vec::new();
        for (catalog, judgments) in self.catalog.iter().zip(&self.judgments) {
            let shop = match shops.entry(catalog) {
                Entry::Occupied(known) => Arc::clone(known.get()),
                Entry::Vacant(entry) => {
                    Arc::clone(entry.insert(Arc::new(self.shop(engine()?, catalog)?)))
                }
            };
            sets.push(QuerySet::read(shop, judgments)?);
        }
        let (training, held_out) = match self.all {
            true => (Split::All, None),
            false => (Split::Training, Some(Split::HeldOut)),
        };
        let mut out = io::stdout().lock();
        let found = self.climb(&sets, training, &mut out)?;
        writeln!(out, "\n{found:#?}")?;
        write_comparison(&mut out, "chose", &sets, training, &found)?;
        if let Some(held_out) = held_out {
            write_comparison(&mut out, "had no say", &sets, held_out, &found)?;
        }
        Ok(())
    }

    /// Climbs from the starting parameters and prints every gain.
    fn climb(
        &self,
        sets: &[QuerySet],
        split: Split,
        out: &mut impl Write,
    ) -> anyhow::Result<Tuning> {
        let is_selected = |name: &str| {
            self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
        };
        let parameters: Vec<_> =
            PARAMETERS.iter().filter(|parameter| is_selected(parameter.name)).collect();
        ensure!(!parameters.is_empty(), "no number has such a name");
        let objective = |tuning: &Tuning| mean(sets, split, tuning);
        let mut climb = HillClimbing::new(self.start(), &parameters, objective)?;
        writeln!(out, "{:.4}  at the start", climb.score())?;
        for _ in 0..self.rounds {
            let goes_on = climb.round(|name, value, score| {
                // A closed standard output does not end the search.
                let _ = writeln!(out, "{score:.4}  {name} = {value}");
            })?;
            if !goes_on {
                break;
            }
        }
        Ok(*climb.tuning())
    }

    /// The parameters in force, with those given by `--start` replaced.
    fn start(&self) -> Tuning {
        let mut tuning = TUNING;
        for Start { parameter, value } in &self.start {
            *(parameter.field)(&mut tuning) = *value;
        }
        tuning
    }

    fn shop(&self, engine: EngineUnderTest, path: &Path) -> anyhow::Result<Shop> {
        let catalog = CatalogFile::read(path).with_context(|| in_file(path))?;
        let folder = self.scratch.as_ref().map(|scratch| {
            let name = name_of(path);
            let vectors = self.vectors.to_possible_value();
            let vectors = vectors.as_ref().map_or("", |value| value.get_name());
            scratch.join(format!("{name}-{vectors}"))
        });
        let scratch = ScratchShop::open(engine, &catalog, self.vectors, folder.as_deref())?;
        Ok(Shop { catalog, scratch })
    }
}

impl QuerySet {
    fn read(shop: Arc<Shop>, judgments: &Path) -> anyhow::Result<Self> {
        let judged = JudgedQueries::read(judgments, &shop.catalog);
        let judged = judged.with_context(|| in_file(judgments))?;
        Ok(Self { name: name_of(judgments), judged, shop })
    }

    /// The metric of each query of the split, with these parameters: NDCG for graded judgments,
    /// precision for title patterns.
    fn measure(&self, split: Split, tuning: &Tuning) -> anyhow::Result<Vec<f64>> {
        let queries = self.judged.queries.iter().enumerate();
        let queries: Vec<_> =
            queries.filter(|(at, _)| split.contains(*at)).map(|(_, query)| query).collect();
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let share = queries.len().div_ceil(threads).max(1);
        let of_query = |query: &&JudgedQuery| {
            let Shop { catalog, scratch } = &*self.shop;
            let result = scratch.answer_one(catalog, query, RELEVANT_FROM, *tuning)?;
            Ok(if self.judged.are_graded { result.ndcg } else { result.precision })
        };
        thread::scope(|scope| {
            let workers: Vec<_> = queries
                .chunks(share)
                .map(|share| scope.spawn(|| share.iter().map(of_query).collect()))
                .collect();
            let mut measured = Vec::with_capacity(queries.len());
            for worker in workers {
                let part: anyhow::Result<Vec<f64>> =
                    worker.join().map_err(|_| anyhow::anyhow!("a search panicked"))?;
                measured.extend(part?);
            }
            Ok(measured)
        })
    }
}

/// The file's name up to the first dot, without its folders.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// Prints the metrics of each set before and after, and the confidence interval of the difference.
fn write_comparison(
    out: &mut impl Write,
    title: &str,
    sets: &[QuerySet],
    split: Split,
    found: &Tuning,
) -> anyhow::Result<()> {
    writeln!(out, "\nQueries that {title}: before, after, difference (95%)")?;
    for set in sets {
        let (before, after) = (set.measure(split, &TUNING)?, set.measure(split, found)?);
        let gains: Vec<f64> =
            after.iter().zip(&before).map(|(after, before)| after - before).collect();
        let Estimate { mean, interval } = Estimate::of(&gains);
        writeln!(
            out,
            "{:<28} {:>5} queries  {:.4}  {:.4}  {mean:+.4} ({:+.4} to {:+.4})",
            set.name,
            gains.len(),
            metrics::mean(&before),
            metrics::mean(&after),
            interval.low,
            interval.high,
        )?;
    }
    Ok(())
}

/// The mean over all sets, each with the same weight.
fn mean(sets: &[QuerySet], split: Split, tuning: &Tuning) -> anyhow::Result<f64> {
    let means = sets.iter().map(|set| Ok(metrics::mean(&set.measure(split, tuning)?)));
    Ok(metrics::mean(&means.collect::<anyhow::Result<Vec<_>>>()?))
}
