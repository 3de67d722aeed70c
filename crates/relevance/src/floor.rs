//! Floors: the least figures that an evaluation must reach, so that a change cannot lower them
//! unseen.

use std::str::FromStr;

use anyhow::{Context, ensure};
use clap::ValueEnum;

use crate::results::{NDCG_CUT, PRECISION_CUT, Results};

/// A measure and the least mean that it must have, written as `ndcg=0.83`.
#[derive(Clone, Debug)]
pub(crate) struct Floor {
    measure: Measure,
    least: f64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Measure {
    Ndcg,
    Precision,
    Composition,
}

impl FromStr for Floor {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let (measure, least) = text.split_once('=').context("write MEASURE=FIGURE")?;
        let measure = Measure::from_str(measure, false).ok();
        let measure = measure.context("the measures are ndcg, precision and composition")?;
        let least: f64 = least.parse().context("the figure is no number")?;
        ensure!((0.0..=1.0).contains(&least), "the figure is not between 0 and 1");
        Ok(Self { measure, least })
    }
}

/// Fails with one line for each floor that the results of `set` do not reach.
pub(crate) fn check(floors: &[Floor], set: &str, results: &Results) -> anyhow::Result<()> {
    let broken = floors.iter().filter_map(|Floor { measure, least }| {
        let (name, estimate) = match measure {
            Measure::Ndcg => (format!("NDCG@{NDCG_CUT}"), Some(results.ndcg())),
            Measure::Precision => (format!("precision@{PRECISION_CUT}"), Some(results.precision())),
            Measure::Composition => ("composition".to_owned(), results.composition()),
        };
        match estimate.map(|estimate| estimate.mean) {
            Some(mean) if mean >= *least => None,
            Some(mean) => Some(format!("{set}: {name} is {mean:.4}, below its floor {least}")),
            None => Some(format!("{set}: there is no {name} to compare with its floor {least}")),
        }
    });
    let broken: Vec<String> = broken.collect();
    ensure!(broken.is_empty(), broken.join("\n"));
    Ok(())
}
