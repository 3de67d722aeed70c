//! The results of an evaluation, query by query, and their means; saved to a file for comparison.

use std::{fs, path::Path};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::metrics::{self, Interval};

/// The rank cut-off of [`QueryResult::ndcg`].
pub(crate) const NDCG_CUT: usize = 10;
/// The rank cut-off of [`QueryResult::precision`], and of composition and contradictions.
pub(crate) const PRECISION_CUT: usize = 5;
/// The rank cut-off of [`QueryResult::precision_of_all`]: as far as the most patient shopper pages.
pub(crate) const ALL_SHOWN: usize = 500;

/// The results of all queries.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Results {
    /// The name of the judgments file.
    pub(crate) judgments: String,
    /// The name of the catalog file.
    pub(crate) catalog: String,
    /// The number of products in the catalog.
    pub(crate) products: usize,
    /// The number of judgments, over all queries.
    pub(crate) judged: usize,
    /// A description of the vectors that the products had.
    pub(crate) vectors: String,
    /// The lowest grade that counts as relevant.
    pub(crate) relevant_from: f64,
    pub(crate) queries: Vec<QueryResult>,
}

/// The metrics of one query.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct QueryResult {
    pub(crate) query: String,
    pub(crate) ndcg: f64,
    pub(crate) precision: f64,
    pub(crate) precision_of_shown: f64,
    /// The share of relevant products among all results, up to [`ALL_SHOWN`]; `None` if they were
    /// not requested.
    #[serde(default)]
    pub(crate) precision_of_all: Option<f64>,
    /// `None` where no judged product is relevant.
    pub(crate) recall: Option<f64>,
    /// `None` where no judged product is relevant.
    #[serde(default)]
    pub(crate) composition: Option<f64>,
    /// `None` where no judged product contradicts the query.
    #[serde(default)]
    pub(crate) contradictions: Option<f64>,
    /// The total that the search reports.
    pub(crate) total: usize,
    pub(crate) milliseconds: f64,
    /// The page of products, best first.
    pub(crate) first: Vec<Shown>,
}

/// A product of the page, and its grade; `None` if it was not judged.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Shown {
    pub(crate) title: String,
    pub(crate) grade: Option<f64>,
}

/// A mean and its 95% confidence interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    pub(crate) mean: f64,
    pub(crate) interval: Interval,
}

impl Estimate {
    pub(crate) fn of(values: &[f64]) -> Self {
        Self { mean: metrics::mean(values), interval: metrics::mean_interval(values) }
    }
}

impl QueryResult {
    /// Computes the metrics from the products shown, best first, and all grades of the query.
    pub(crate) fn measure(
        query: String,
        shown: Vec<Shown>,
        judged: &[f64],
        relevant_from: f64,
    ) -> Self {
        let ranked: Vec<f64> = shown.iter().map(|shown| shown.grade.unwrap_or(0.0)).collect();
        Self {
            query,
            ndcg: metrics::ndcg(&ranked, judged, NDCG_CUT),
            precision: metrics::precision(&ranked, relevant_from, PRECISION_CUT),
            precision_of_shown: metrics::precision_of_shown(&ranked, relevant_from, PRECISION_CUT),
            precision_of_all: None,
            recall: metrics::recall(&ranked, judged, relevant_from),
            composition: metrics::composition(&ranked, judged, relevant_from, PRECISION_CUT),
            contradictions: metrics::contradictions(&ranked, judged, PRECISION_CUT),
            total: 0,
            milliseconds: 0.0,
            first: shown,
        }
    }
}

impl Results {
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_slice(&bytes)
            .with_context(|| format!("{} was not kept by this command", path.display()))
    }

    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let json = serde_json::to_vec_pretty(self)?;
        fs::write(path, json).with_context(|| format!("cannot write {}", path.display()))
    }

    pub(crate) fn ndcg(&self) -> Estimate {
        self.estimate(|query| Some(query.ndcg))
    }

    pub(crate) fn precision(&self) -> Estimate {
        self.estimate(|query| Some(query.precision))
    }

    pub(crate) fn precision_of_shown(&self) -> Estimate {
        self.estimate(|query| Some(query.precision_of_shown))
    }

    /// `None` in results that were saved without it.
    pub(crate) fn precision_of_all(&self) -> Option<Estimate> {
        self.estimate_if_any(|query| query.precision_of_all)
    }

    pub(crate) fn recall(&self) -> Estimate {
        self.estimate(|query| query.recall)
    }

    /// `None` if no query has a relevant product.
    pub(crate) fn composition(&self) -> Option<Estimate> {
        self.estimate_if_any(|query| query.composition)
    }

    /// `None` if no judgment says that a product contradicts its query.
    pub(crate) fn contradictions(&self) -> Option<Estimate> {
        self.estimate_if_any(|query| query.contradictions)
    }

    /// The fraction of queries without any result.
    pub(crate) fn without_result(&self) -> Estimate {
        self.estimate(|query| Some(if query.total == 0 { 1.0 } else { 0.0 }))
    }

    pub(crate) fn mean_total(&self) -> Estimate {
        self.estimate(|query| Some(query.total as f64))
    }

    /// The latency quantile `share` (0 to 1), in milliseconds.
    pub(crate) fn milliseconds(&self, share: f64) -> f64 {
        let mut times: Vec<f64> = self.queries.iter().map(|query| query.milliseconds).collect();
        times.sort_by(f64::total_cmp);
        let at = (times.len().saturating_sub(1) as f64 * share).round() as usize;
        times.get(at).copied().unwrap_or_default()
    }

    fn estimate_if_any(&self, measure: impl Fn(&QueryResult) -> Option<f64>) -> Option<Estimate> {
        self.queries.iter().any(|query| measure(query).is_some()).then(|| self.estimate(measure))
    }

    fn estimate(&self, measure: impl Fn(&QueryResult) -> Option<f64>) -> Estimate {
        Estimate::of(&self.queries.iter().filter_map(measure).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_earlier_versions_are_readable() {
        let json = r#"{"judgments": "a", "catalog": "b", "products": 1, "judged": 1,
            "vectors": "none", "relevant_from": 1.0, "queries": [{"query": "q", "ndcg": 0.5,
            "precision": 0.2, "precision_of_shown": 0.2, "recall": null, "total": 1,
            "milliseconds": 1.0, "first": []}]}"#;
        let results: Results = serde_json::from_str(json).unwrap();
        assert!(results.composition().is_none() && results.precision_of_all().is_none());
        assert_eq!(results.ndcg().mean, 0.5);
    }
}
