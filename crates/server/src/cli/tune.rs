//! `shopkeeper tune`: which numbers of the ranking answer judged queries best?
//!
//! Every trial takes the way of a request through the real engine. Half of the queries of each set
//! choose the numbers; the other half, which had no say, tells what they are worth.

mod climb;
mod knobs;

use std::{
    collections::{HashMap, hash_map::Entry},
    io::{self, Write},
    num::NonZero,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use anyhow::{Context, ensure};
use catalog::{
    judging,
    tuning::{TUNING, Tuning},
};
use clap::{Args, ValueEnum};

use self::{
    climb::Climb,
    knobs::{KNOBS, Start},
};
use super::eval::{
    CatalogFile, Estimate, JudgedQueries, JudgedQuery, ScratchShop, Vectors, in_file,
};
use crate::config::{Config, Flags};

/// The grade that makes a product relevant.
const RELEVANT_FROM: f64 = 1.0;

#[derive(Args)]
pub(super) struct TuneCommand {
    /// Products to search among, as `shopkeeper eval` reads them; once for each file of judgments
    #[arg(long, value_name = "FILE", required = true)]
    catalog: Vec<PathBuf>,
    /// Judged queries, as `shopkeeper eval` reads them; graded ones count by NDCG@10, patterns by precision@5
    #[arg(long, value_name = "FILE", required = true)]
    judgments: Vec<PathBuf>,
    /// Which vectors products have while the numbers are chosen
    #[arg(long, value_enum, default_value_t = Vectors::Instant)]
    vectors: Vectors,
    /// How often every number is moved up and down at the most
    #[arg(long, value_name = "NUMBER", default_value_t = 8)]
    rounds: usize,
    /// Let all queries choose: nothing is then left to tell what the numbers are worth
    #[arg(long)]
    all: bool,
    /// Only move the numbers whose names contain one of these
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Start with another number than the one in force, such as ranking.k1=0.4
    #[arg(long, value_name = "NAME=NUMBER")]
    start: Vec<Start>,
    /// Folder for the scratch shops, kept: the next run on the same catalogs starts at once
    #[arg(long, value_name = "FOLDER")]
    scratch: Option<PathBuf>,
    #[command(flatten)]
    flags: Flags,
}

/// A catalog in a shop of its own.
struct Shop {
    catalog: CatalogFile,
    scratch: ScratchShop,
}

/// Judged queries, and the shop they are asked in.
struct Set {
    name: String,
    judged: JudgedQueries,
    shop: Arc<Shop>,
}

/// Which queries of a set have a say.
#[derive(Clone, Copy)]
enum Part {
    All,
    /// Every other query, from the first.
    Choosing,
    /// The queries in between.
    Telling,
}

impl Part {
    fn has(self, place: usize) -> bool {
        match self {
            Self::All => true,
            Self::Choosing => place.is_multiple_of(2),
            Self::Telling => !place.is_multiple_of(2),
        }
    }
}

impl TuneCommand {
    pub(super) fn flags(&self) -> &Flags {
        &self.flags
    }

    pub(super) fn run(&self, config: &Config) -> anyhow::Result<()> {
        ensure!(
            self.catalog.len() == self.judgments.len(),
            "every --judgments needs its --catalog"
        );
        let mut shops = HashMap::new();
        let mut sets = Vec::new();
        for (catalog, judgments) in self.catalog.iter().zip(&self.judgments) {
            let shop = match shops.entry(catalog) {
                Entry::Occupied(known) => Arc::clone(known.get()),
                Entry::Vacant(place) => {
                    Arc::clone(place.insert(Arc::new(self.shop(config, catalog)?)))
                }
            };
            sets.push(Self::set(shop, judgments)?);
        }
        let (choosing, telling) = match self.all {
            true => (Part::All, None),
            false => (Part::Choosing, Some(Part::Telling)),
        };
        let is_asked_for = |name: &str| {
            self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
        };
        let knobs: Vec<_> = KNOBS.iter().filter(|knob| is_asked_for(knob.name)).collect();
        ensure!(!knobs.is_empty(), "no number has such a name");

        let mut out = io::stdout().lock();
        let mut climb =
            Climb::from(self.started(), &knobs, |tuning| mean(&sets, choosing, tuning))?;
        writeln!(out, "{:.4}  at the start", climb.height())?;
        for _ in 0..self.rounds {
            let goes_on = climb.round(|name, value, height| {
                // Nobody may be reading; the numbers are found all the same.
                let _ = writeln!(out, "{height:.4}  {name} = {value}");
            })?;
            if !goes_on {
                break;
            }
        }
        let found = *climb.tuning();
        writeln!(out, "\n{found:#?}")?;
        for (title, part) in [("chose", Some(choosing)), ("had no say", telling)] {
            let Some(part) = part else { continue };
            writeln!(out, "\nQueries that {title}: before, after, difference (95%)")?;
            for set in &sets {
                let (before, after) = (set.measure(part, &TUNING)?, set.measure(part, &found)?);
                let gains: Vec<f64> =
                    after.iter().zip(&before).map(|(after, before)| after - before).collect();
                let Estimate { mean, interval } = Estimate::of(&gains);
                writeln!(
                    out,
                    "{:<28} {:>5} queries  {:.4}  {:.4}  {mean:+.4} ({:+.4} to {:+.4})",
                    set.name,
                    gains.len(),
                    judging::mean(&before),
                    judging::mean(&after),
                    interval.low,
                    interval.high,
                )?;
            }
        }
        Ok(())
    }

    /// The numbers to start with.
    fn started(&self) -> Tuning {
        let mut tuning = TUNING;
        for Start { knob, value } in &self.start {
            *(knob.place)(&mut tuning) = *value;
        }
        tuning
    }

    fn shop(&self, config: &Config, path: &Path) -> anyhow::Result<Shop> {
        let catalog = CatalogFile::read(path).with_context(|| in_file(path))?;
        let folder = self.scratch.as_ref().map(|scratch| {
            let name = name_of(path);
            let vectors = self.vectors.to_possible_value();
            let vectors = vectors.as_ref().map_or("", |value| value.get_name());
            scratch.join(format!("{name}-{vectors}"))
        });
        let scratch = ScratchShop::fill(config, &catalog, self.vectors, folder.as_deref())?;
        Ok(Shop { catalog, scratch })
    }

    fn set(shop: Arc<Shop>, judgments: &Path) -> anyhow::Result<Set> {
        let judged = JudgedQueries::read(judgments, &shop.catalog);
        let judged = judged.with_context(|| in_file(judgments))?;
        Ok(Set { name: name_of(judgments), judged, shop })
    }
}

impl Set {
    /// What these numbers make of each of the queries that have a say.
    fn measure(&self, part: Part, tuning: &Tuning) -> anyhow::Result<Vec<f64>> {
        let queries = self.judged.queries.iter().enumerate();
        let queries: Vec<_> =
            queries.filter(|(place, _)| part.has(*place)).map(|(_, query)| query).collect();
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

/// What a file is called, without its folders and endings.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// The mean over all sets, each counting the same.
fn mean(sets: &[Set], part: Part, tuning: &Tuning) -> anyhow::Result<f64> {
    let means = sets.iter().map(|set| Ok(judging::mean(&set.measure(part, tuning)?)));
    Ok(judging::mean(&means.collect::<anyhow::Result<Vec<_>>>()?))
}
