//! Judged queries to tune on, split into those that choose the parameters and those that measure
//! them.

use std::{
    collections::HashMap,
    num::NonZero,
    path::Path,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    thread,
};

use anyhow::Context;
use catalog::{
    reranking::RerankParams,
    tuning::{TUNING, Tuning},
};
use ring::digest;

use crate::{
    candidates::Candidates,
    catalog_file::CatalogFile,
    in_file,
    judgments::{JudgedQueries, JudgedQuery},
    metrics::CONTRADICTION,
    results::{NDCG_CUT, QueryResult, Shown},
    scratch_shop::ScratchShop,
};

/// A catalog file and the scratch shop that holds it.
pub(super) struct Shop {
    pub(super) catalog: CatalogFile,
    pub(super) scratch: ScratchShop,
}

/// Judged queries, and the shop they run against.
pub(super) struct QuerySet {
    pub(super) name: String,
    judged: JudgedQueries,
    metric: Metric,
    shop: Arc<Shop>,
    /// The metric of every query with the parameters tried so far, `None` where they were not
    /// tried: the climbs of a cross-validation start alike and share most of their queries.
    measured: Mutex<HashMap<String, Vec<Option<f64>>>>,
    /// The candidates of each query with the first stage in force.
    candidates: Vec<OnceLock<Candidates>>,
}

/// A split of the queries of a set.
#[derive(Clone, Copy, Debug)]
pub(super) enum Split {
    All,
    /// The queries at even positions, which choose the parameters.
    Training,
    /// The queries at odd positions.
    HeldOut,
    /// The queries outside a fold, which choose the parameters.
    Outside(Fold),
    /// The queries of a fold.
    Inside(Fold),
}

/// One of `count` parts of the queries. A query is always in the same one, whatever its set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    pub(super) number: u64,
    pub(super) count: u64,
}

/// What is measured for each query of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Metric {
    Ndcg,
    Precision,
    /// With the highest grade of the set as the lowest relevant one.
    Composition {
        relevant_from: f64,
    },
}

impl Fold {
    fn contains(self, query: &str) -> bool {
        let sum = digest::digest(&digest::SHA256, query.trim().to_lowercase().as_bytes());
        let number = sum.as_ref().iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        number % self.count == self.number
    }
}

impl Split {
    fn contains(self, position: usize, query: &str) -> bool {
        match self {
            Self::All => true,
            Self::Training => position.is_multiple_of(2),
            Self::HeldOut => !position.is_multiple_of(2),
            Self::Outside(fold) => !fold.contains(query),
            Self::Inside(fold) => fold.contains(query),
        }
    }
}

impl Metric {
    /// NDCG for graded judgments, precision for title patterns, and composition for judgments with
    /// contradictions, which are about queries that combine a category with an attribute.
    fn of(judged: &JudgedQueries) -> Self {
        let grades = || judged.queries.iter().flat_map(|query| query.grades.values().copied());
        if grades().any(|grade| grade == CONTRADICTION) {
            Self::Composition { relevant_from: grades().fold(f64::MIN_POSITIVE, f64::max) }
        } else if judged.are_graded {
            Self::Ndcg
        } else {
            Self::Precision
        }
    }

    fn relevant_from(self) -> f64 {
        match self {
            Self::Composition { relevant_from } => relevant_from,
            Self::Ndcg | Self::Precision => 1.0,
        }
    }

    fn value(self, result: &QueryResult) -> f64 {
        match self {
            Self::Ndcg => result.ndcg,
            Self::Precision => result.precision,
            Self::Composition { .. } => result.composition.unwrap_or_default(),
        }
    }
}

impl QuerySet {
    pub(super) fn read(shop: Arc<Shop>, judgments: &Path) -> anyhow::Result<Self> {
        let judged = JudgedQueries::read(judgments, &shop.catalog);
        let judged = judged.with_context(|| in_file(judgments))?;
        let metric = Metric::of(&judged);
        let (name, measured) = (super::name_of(judgments), Mutex::default());
        let candidates = judged.queries.iter().map(|_| OnceLock::new()).collect();
        Ok(Self { name, judged, metric, shop, measured, candidates })
    }

    /// The name of the metric.
    pub(super) fn metric(&self) -> &'static str {
        match self.metric {
            Metric::Ndcg => "NDCG",
            Metric::Precision => "precision",
            Metric::Composition { .. } => "composition",
        }
    }

    /// The metric of each query of the split, with these parameters.
    pub(super) fn measure(&self, split: Split, tuning: &Tuning) -> anyhow::Result<Vec<f64>> {
        let queries = self.judged.queries.iter().enumerate();
        let positions: Vec<usize> = queries
            .filter(|(at, judged)| split.contains(*at, &judged.query))
            .map(|(at, _)| at)
            .collect();
        let key = format!("{tuning:?}");
        let known = self.measured.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        let mut known = known.unwrap_or_else(|| vec![None; self.judged.queries.len()]);
        let missing: Vec<usize> =
            positions.iter().copied().filter(|at| known[*at].is_none()).collect();
        for (at, value) in missing.iter().zip(self.search(&missing, tuning)?) {
            known[*at] = Some(value);
        }
        let values = positions.iter().filter_map(|at| known[*at]).collect();
        self.measured.lock().unwrap_or_else(PoisonError::into_inner).insert(key, known);
        Ok(values)
    }

    /// The metric of a query with other parameters of the second stage.
    fn rescore(&self, at: usize, params: &RerankParams) -> anyhow::Result<f64> {
        let judged = &self.judged.queries[at];
        let candidates = match self.candidates[at].get() {
            Some(known) => known,
            None => {
                let found = self.shop.scratch.candidates(judged)?;
                self.candidates[at].get_or_init(|| found)
            }
        };
        let shown = candidates.ranked(params).into_iter().take(NDCG_CUT);
        let shown = shown.map(|grade| Shown { title: String::new(), grade: Some(grade) });
        let all: Vec<f64> = judged.grades.values().copied().collect();
        let relevant_from = self.metric.relevant_from();
        let result = QueryResult::measure(String::new(), shown.collect(), &all, relevant_from);
        Ok(self.metric.value(&result))
    }

    /// Runs the queries at these positions, on all cores.
    fn search(&self, positions: &[usize], tuning: &Tuning) -> anyhow::Result<Vec<f64>> {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let share = positions.len().div_ceil(threads).max(1);
        let is_in_force = tuning.ranking == TUNING.ranking && tuning.fusion == TUNING.fusion;
        let of_query = |at: &usize| match is_in_force {
            true => self.rescore(*at, &tuning.rerank),
            false => {
                let Shop { catalog, scratch } = &*self.shop;
                let query: &JudgedQuery = &self.judged.queries[*at];
                let result =
                    scratch.answer_one(catalog, query, self.metric.relevant_from(), *tuning)?;
                Ok(self.metric.value(&result))
            }
        };
        thread::scope(|scope| {
            let workers: Vec<_> = positions
                .chunks(share)
                .map(|share| scope.spawn(|| share.iter().map(of_query).collect()))
                .collect();
            let mut measured = Vec::with_capacity(positions.len());
            for worker in workers {
                let part: anyhow::Result<Vec<f64>> =
                    worker.join().map_err(|_| anyhow::anyhow!("a search panicked"))?;
                measured.extend(part?);
            }
            Ok(measured)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_is_in_exactly_one_fold() {
        let queries: Vec<String> = (0..300).map(|number| format!("sofa {number}")).collect();
        let mut sizes = [0; 5];
        for query in &queries {
            let inside: Vec<u64> = (0..5)
                .filter(|number| {
                    let fold = Fold { number: *number, count: 5 };
                    let [inside, outside] = [Split::Inside(fold), Split::Outside(fold)];
                    assert_ne!(inside.contains(0, query), outside.contains(0, query));
                    inside.contains(0, query)
                })
                .collect();
            assert_eq!(inside.len(), 1, "{query}");
            sizes[inside[0] as usize] += 1;
        }
        assert!(sizes.iter().all(|size| (35..=85).contains(size)), "{sizes:?}");
        let fold = |query| (0..5).find(|number| Fold { number: *number, count: 5 }.contains(query));
        assert_eq!(fold("Red sofa"), fold("red sofa "));
    }

    #[test]
    fn the_judgments_decide_the_metric() {
        let metric = |grades: &[f64], are_graded| {
            let grades = grades.iter().copied().enumerate().collect();
            let queries = vec![JudgedQuery { query: "sofa".into(), grades }];
            Metric::of(&JudgedQueries { queries, are_graded })
        };
        assert_eq!(metric(&[0.0, 3.0], true), Metric::Ndcg);
        assert_eq!(metric(&[1.0], false), Metric::Precision);
        assert_eq!(metric(&[1.0, -1.0, 2.0], true), Metric::Composition { relevant_from: 2.0 });
    }
}
