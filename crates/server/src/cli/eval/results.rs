//! What came of each query, and what does that make together? Kept in a file between runs.

use std::{fs, path::Path};

use anyhow::Context;
use catalog::judging::{self, Interval};
use serde::{Deserialize, Serialize};

/// How many places count for [`QueryResult::ndcg`].
pub(super) const NDCG_CUT: usize = 10;
/// How many places count for [`QueryResult::precision`].
pub(super) const PRECISION_CUT: usize = 5;

/// The results of all queries.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Results {
    /// The file of judgments.
    pub(super) judgments: String,
    /// The file of products.
    pub(super) catalog: String,
    /// How many products it has.
    pub(super) products: usize,
    /// How many products were judged, for all queries together.
    pub(super) judged: usize,
    /// Which vectors the products had.
    pub(super) vectors: String,
    /// The grade that makes a product relevant.
    pub(super) relevant_from: f64,
    pub(super) queries: Vec<QueryResult>,
}

/// What one query found, measured.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::cli) struct QueryResult {
    pub(super) query: String,
    pub(in crate::cli) ndcg: f64,
    pub(in crate::cli) precision: f64,
    pub(super) precision_of_shown: f64,
    /// Nothing where nothing is relevant.
    pub(super) recall: Option<f64>,
    /// How many products the answer counts.
    pub(super) total: usize,
    pub(super) milliseconds: f64,
    /// The first products.
    pub(super) first: Vec<Shown>,
}

/// A product as found, and its grade if it was judged.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Shown {
    pub(super) title: String,
    pub(super) grade: Option<f64>,
}

/// A mean and where it would lie for other queries of the kind.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Estimate {
    pub(in crate::cli) mean: f64,
    pub(in crate::cli) interval: Interval,
}

impl Estimate {
    pub(in crate::cli) fn of(values: &[f64]) -> Self {
        Self { mean: judging::mean(values), interval: judging::mean_interval(values) }
    }
}

impl QueryResult {
    /// Measures what was found: the grades of the products shown, in their order, and those of
    /// all that was judged.
    pub(super) fn measure(
        query: String,
        shown: Vec<Shown>,
        judged: &[f64],
        relevant_from: f64,
    ) -> Self {
        let ranked: Vec<f64> = shown.iter().map(|shown| shown.grade.unwrap_or(0.0)).collect();
        Self {
            query,
            ndcg: judging::ndcg(&ranked, judged, NDCG_CUT),
            precision: judging::precision(&ranked, relevant_from, PRECISION_CUT),
            precision_of_shown: judging::precision_of_shown(&ranked, relevant_from, PRECISION_CUT),
            recall: judging::recall(&ranked, judged, relevant_from),
            total: 0,
            milliseconds: 0.0,
            first: shown,
        }
    }
}

impl Results {
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_slice(&bytes)
            .with_context(|| format!("{} was not kept by this command", path.display()))
    }

    pub(super) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let json = serde_json::to_vec_pretty(self)?;
        fs::write(path, json).with_context(|| format!("cannot write {}", path.display()))
    }

    pub(super) fn ndcg(&self) -> Estimate {
        self.estimate(|query| Some(query.ndcg))
    }

    pub(super) fn precision(&self) -> Estimate {
        self.estimate(|query| Some(query.precision))
    }

    pub(super) fn precision_of_shown(&self) -> Estimate {
        self.estimate(|query| Some(query.precision_of_shown))
    }

    pub(super) fn recall(&self) -> Estimate {
        self.estimate(|query| query.recall)
    }

    /// The share of queries that found nothing at all.
    pub(super) fn without_result(&self) -> Estimate {
        self.estimate(|query| Some(if query.total == 0 { 1.0 } else { 0.0 }))
    }

    pub(super) fn mean_total(&self) -> Estimate {
        self.estimate(|query| Some(query.total as f64))
    }

    /// The time that such a share of the queries did not exceed.
    pub(super) fn milliseconds(&self, share: f64) -> f64 {
        let mut times: Vec<f64> = self.queries.iter().map(|query| query.milliseconds).collect();
        times.sort_by(f64::total_cmp);
        let at = (times.len().saturating_sub(1) as f64 * share).round() as usize;
        times.get(at).copied().unwrap_or_default()
    }

    fn estimate(&self, measure: impl Fn(&QueryResult) -> Option<f64>) -> Estimate {
        Estimate::of(&self.queries.iter().filter_map(measure).collect::<Vec<_>>())
    }
}
