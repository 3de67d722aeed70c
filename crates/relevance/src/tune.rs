//! `shopkeeper tune`: searches for the ranking parameters that answer judged queries best.
//!
//! Every trial runs the queries through the engine's search; where only the second stage differs,
//! it rescores the candidates of an earlier one. Half of the queries of each set choose
//! the parameters (training set); the other half (held-out set) measures the result. With folds,
//! every query is held out once: it measures the parameters that the queries of the other folds
//! chose (cross-validation).

mod hill_climbing;
mod parameters;
mod query_set;

use std::{
    collections::{HashMap, hash_map::Entry},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, ensure};
use catalog::tuning::{TUNING, Tuning};
use clap::{Args, ValueEnum};

use self::{
    hill_climbing::HillClimbing,
    parameters::{PARAMETERS, Start},
    query_set::{Fold, QuerySet, Shop, Split},
};
use crate::{
    EngineUnderTest,
    catalog_file::CatalogFile,
    in_file, metrics,
    results::Estimate,
    scratch_shop::{ScratchShop, Vectors},
};

/// What to tune, and on which judged queries.
#[derive(Args)]
pub struct TuneOptions {
    /// Products to search, as for `shopkeeper eval`; once for each file of judgments
    #[arg(long, value_name = "FILE", required = true)]
    catalog: Vec<PathBuf>,
    /// Judged queries, as for `shopkeeper eval`; measured by NDCG@10 if graded, by precision@5 if given as patterns, by the composition of the highest grade if a grade is -1
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
    /// Cross-validate: tune once for each of so many folds of the queries, on the queries of the other folds
    #[arg(long, value_name = "NUMBER", conflicts_with = "all", value_parser = clap::value_parser!(u64).range(2..=100))]
    folds: Option<u64>,
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
        let mut out = io::stdout().lock();
        if let Some(folds) = self.folds {
            return self.cross_validate(&sets, folds, &mut out);
        }
        let (training, held_out) = match self.all {
            true => (Split::All, None),
            false => (Split::Training, Some(Split::HeldOut)),
        };
        let found = self.climb(&sets, training, &mut out)?;
        writeln!(out, "\n{found:#?}")?;
        write_comparison(&mut out, "chose", &sets, training, &found)?;
        if let Some(held_out) = held_out {
            write_comparison(&mut out, "had no say", &sets, held_out, &found)?;
        }
        Ok(())
    }

    /// Climbs once for each fold and prints what the queries measure that had no say.
    fn cross_validate(
        &self,
        sets: &[QuerySet],
        count: u64,
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        let mut compared: Vec<Compared> = sets.iter().map(|_| Compared::default()).collect();
        for number in 0..count {
            let fold = Fold { number, count };
            writeln!(out, "\nFold {} of {count}", number + 1)?;
            let found = self.climb(sets, Split::Outside(fold), out)?;
            Self::write_moved(&found, out)?;
            for (set, compared) in sets.iter().zip(&mut compared) {
                compared.measure(set, Split::Inside(fold), &found)?;
            }
        }
        write_heading(out, &format!("had no say, {count} folds"))?;
        for (set, compared) in sets.iter().zip(&compared) {
            compared.write(out, set)?;
        }
        Ok(())
    }

    /// Prints the parameters that differ from those in force.
    fn write_moved(found: &Tuning, out: &mut impl Write) -> anyhow::Result<()> {
        let (mut found, mut in_force) = (*found, TUNING);
        for parameter in PARAMETERS {
            let (value, before) =
                (*(parameter.field)(&mut found), *(parameter.field)(&mut in_force));
            if value != before {
                writeln!(out, "  {} = {value} (in force: {before})", parameter.name)?;
            }
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

/// The file's name up to the first dot, without its folders.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// The metric of each query with the parameters in force and with those found.
#[derive(Default)]
struct Compared {
    before: Vec<f64>,
    after: Vec<f64>,
}

impl Compared {
    /// Adds the queries of a split.
    fn measure(&mut self, set: &QuerySet, split: Split, found: &Tuning) -> anyhow::Result<()> {
        self.before.extend(set.measure(split, &TUNING)?);
        self.after.extend(set.measure(split, found)?);
        Ok(())
    }

    /// Prints both means, and the confidence interval of the difference.
    fn write(&self, out: &mut impl Write, set: &QuerySet) -> io::Result<()> {
        let Self { before, after } = self;
        let gains: Vec<f64> =
            after.iter().zip(before).map(|(after, before)| after - before).collect();
        let Estimate { mean, interval } = Estimate::of(&gains);
        writeln!(
            out,
            "{:<28} {:>5} queries  {:<11}  {:.4}  {:.4}  {mean:+.4} ({:+.4} to {:+.4})",
            set.name,
            gains.len(),
            set.metric(),
            metrics::mean(before),
            metrics::mean(after),
            interval.low,
            interval.high,
        )
    }
}

fn write_heading(out: &mut impl Write, title: &str) -> io::Result<()> {
    writeln!(out, "\nQueries that {title}: before, after, difference (95%)")
}

/// Prints the metrics of each set before and after.
fn write_comparison(
    out: &mut impl Write,
    title: &str,
    sets: &[QuerySet],
    split: Split,
    found: &Tuning,
) -> anyhow::Result<()> {
    write_heading(out, title)?;
    for set in sets {
        let mut compared = Compared::default();
        compared.measure(set, split, found)?;
        compared.write(out, set)?;
    }
    Ok(())
}

/// The mean over all sets, each with the same weight.
fn mean(sets: &[QuerySet], split: Split, tuning: &Tuning) -> anyhow::Result<f64> {
    let means = sets.iter().map(|set| Ok(metrics::mean(&set.measure(split, tuning)?)));
    Ok(metrics::mean(&means.collect::<anyhow::Result<Vec<_>>>()?))
}
