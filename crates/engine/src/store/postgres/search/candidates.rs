//! Selects the candidates of a search inside PostgreSQL.
//!
//! All products that pass the filter are candidates if they are few. Otherwise candidates are the
//! best by lexical score, the nearest by vector, and the first in the requested order.

use std::collections::{BTreeSet, HashMap};

use catalog::{
    access::Visibility,
    analysis::QueryTerms,
    product::ProductId,
    query_parser::{Exclusion, ParsedQuery, PriceInterval, SortOrder},
    ranking::{Bm25Params, CorpusStats},
    sort::{Direction, Sort},
};

use super::{
    CandidateLimits,
    rows::ABOVE_PRICES,
    snapshot::{LexicalTopK, RowFilter, SearchSnapshot},
    text_query::{TextQuery, maybe_allowed, surely_allowed},
};
use crate::{
    embed::ModelId,
    index::{Plan, QueryKind},
    store::StoreError,
};

/// PostgreSQL's `ts_rank` of a single occurrence with weight 1: 6/π².
const TS_RANK_OF_ONE: f32 = 0.607_927_1;

/// For similar products, this many times the requested number of candidates are compared…
const SIMILAR_CANDIDATES_FACTOR: usize = 4;
/// … and no fewer than this.
const MIN_SIMILAR_CANDIDATES: usize = 200;

/// The products to score.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    pub(crate) ids: BTreeSet<ProductId>,
    /// Whether every product that matches is among them or in `unscored`.
    pub(crate) is_complete: bool,
    /// Further products that match and come after these.
    pub(crate) unscored: usize,
}

/// Selects the candidates of one search.
pub(crate) struct CandidateSelection<'a, 'session> {
    pub(crate) snapshot: &'a SearchSnapshot<'session>,
    pub(crate) limits: &'a CandidateLimits,
    /// The statistics of the visible products.
    pub(crate) corpus: CorpusStats,
    /// Document frequencies of the query's words.
    pub(crate) doc_freqs: &'a HashMap<Box<str>, u64>,
    /// The model whose vectors are compared.
    pub(crate) model: Option<&'a ModelId>,
    pub(crate) parsed: &'a ParsedQuery,
}

impl CandidateSelection<'_, '_> {
    /// The candidates for a plan.
    pub(crate) fn select(&self, plan: &Plan<'_>) -> Result<Candidates, StoreError> {
        match &plan.kind {
            QueryKind::MatchAll => self.first_in_order(plan),
            QueryKind::Terms(words) => {
                let filter = self.filter(plan, maybe_allowed);
                if let Some(all) = self.all_filtered(&filter)? {
                    return Ok(all);
                }
                self.most_relevant(plan, words, &filter)
            }
        }
    }

    /// All products that pass the filter; `None` if there are too many.
    fn all_filtered(&self, filter: &RowFilter) -> Result<Option<Candidates>, StoreError> {
        let max = self.limits.rank_all_up_to;
        if self.corpus.products > max as u64 && self.parsed.constraints.is_empty() {
            return Ok(None);
        }
        let found = self.snapshot.filtered(filter, bigint(max + 1))?;
        let is_complete = found.len() <= max;
        let ids = found.into_iter().collect();
        Ok(is_complete.then_some(Candidates { ids, is_complete, unscored: 0 }))
    }

    /// The best by lexical score, by vector and in the requested order.
    fn most_relevant(
        &self,
        plan: &Plan<'_>,
        words: &QueryTerms,
        filter: &RowFilter,
    ) -> Result<Candidates, StoreError> {
        let limits = self.limits;
        let is_deep = plan.offset + plan.limit > limits.candidates;
        let most = if is_deep { limits.deep_candidates } else { limits.candidates };
        let query = TextQuery::new(words, self.doc_freqs, &self.corpus, &plan.tuning.ranking);
        let queries = query.candidate_queries(limits.max_scored as u64);
        let formula = formula(&self.corpus, &plan.tuning.ranking);
        let mut ids = BTreeSet::new();
        let mut is_complete = queries.is_complete && plan.dense.is_none();
        for text in &queries.tsqueries {
            let top = LexicalTopK {
                text,
                words: &query.words,
                formula: &formula,
                max_scored: bigint(limits.max_scored),
                limit: bigint(most),
            };
            let found = self.snapshot.top_by_text(filter, &top)?;
            is_complete &= found.len() < most;
            ids.extend(found);
            if ids.len() >= most {
                break;
            }
        }
        if let (Some(dense), Some(model)) = (&plan.dense, self.model) {
            let vector = dense.vector.numbers();
            ids.extend(self.snapshot.nearest(filter, model, vector, bigint(most))?);
        }
        if let (Some(order), Some(text), false) =
            (sort_order(&plan.order), query.all_terms(), is_complete)
        {
            ids.extend(self.snapshot.first(filter, order, Some(&text), bigint(most))?);
        }
        Ok(Candidates { ids, is_complete, unscored: 0 })
    }

    /// The first of all products that satisfy the conditions, and the number of the others.
    ///
    /// The exclusions of most products can be decided by their words alone; those in doubt are
    /// candidates so that their texts are read.
    fn first_in_order(&self, plan: &Plan<'_>) -> Result<Candidates, StoreError> {
        let order = sort_order(&plan.order).unwrap_or(SortOrder::Newest);
        let page_end = bigint(plan.offset + plan.limit);
        let surely = self.filter(plan, surely_allowed);
        let first = self.snapshot.first(&surely, order, None, page_end)?;
        let count = self.snapshot.count_filtered(&surely)?;
        let mut candidates = Candidates {
            unscored: count - first.len().min(count),
            ids: first.into_iter().collect(),
            is_complete: true,
        };
        if let Some(allowed) = &surely.text {
            let in_doubt = match maybe_allowed(plan.exclusions) {
                Some(maybe) => format!("{maybe} & !({allowed})"),
                None => format!("!({allowed})"),
            };
            let in_doubt = RowFilter { text: Some(in_doubt), ..surely.clone() };
            let most = self.limits.rank_all_up_to.max(self.limits.deep_candidates);
            let found = self.snapshot.first(&in_doubt, order, None, bigint(most + 1))?;
            candidates.is_complete = found.len() <= most;
            candidates.ids.extend(found.into_iter().take(most));
        }
        Ok(candidates)
    }

    fn filter(
        &self,
        plan: &Plan<'_>,
        text: impl FnOnce(&[Exclusion]) -> Option<String>,
    ) -> RowFilter {
        let interval = PriceInterval::of(&self.parsed.constraints);
        let RowFilter { amounts: (lowest, mut highest), .. } = RowFilter::visible(plan.visibility);
        if !self.parsed.constraints.is_empty() {
            // A price that cannot be parsed satisfies no condition.
            ABOVE_PRICES.clone_into(&mut highest);
        }
        RowFilter {
            visibility: plan.visibility,
            amounts: (
                interval.least.map_or(lowest, |amount| amount.to_string()),
                interval.greatest.map_or(highest, |amount| amount.to_string()),
            ),
            currencies: interval
                .currencies
                .map(|all| all.iter().map(|currency| currency.code().to_owned()).collect()),
            text: text(plan.exclusions),
        }
    }
}

/// A product and the candidates for the products most similar to it.
pub(crate) fn similar_candidates(
    snapshot: &SearchSnapshot<'_>,
    model: Option<&ModelId>,
    product: ProductId,
    visibility: Visibility,
    limit: usize,
) -> Result<Vec<ProductId>, StoreError> {
    let Some(model) = model else { return Ok(vec![product]) };
    let Some(vector) = snapshot.vector(product, model)? else { return Ok(vec![product]) };
    // One more, because the product itself is the nearest.
    let most = (SIMILAR_CANDIDATES_FACTOR * limit).max(MIN_SIMILAR_CANDIDATES) + 1;
    let filter = RowFilter::visible(visibility);
    let mut ids = snapshot.nearest(&filter, model, vector.numbers(), bigint(most))?;
    if !ids.contains(&product) {
        ids.push(product);
    }
    Ok(ids)
}

/// The constants of the lexical score and the average field lengths, in the order of
/// `TOP_BY_TEXT`.
fn formula(corpus: &CorpusStats, params: &Bm25Params) -> [f32; 7] {
    let average = |words: u64| (words as f64 / corpus.products.max(1) as f64).max(1.0) as f32;
    let (title, description) = (params.title, params.description);
    [
        params.k1,
        title.boost / TS_RANK_OF_ONE,
        title.b,
        average(corpus.title_words),
        description.boost / TS_RANK_OF_ONE,
        description.b,
        average(corpus.description_words),
    ]
}

/// The order of candidates; `None` where they are selected by relevance.
fn sort_order(sort: &Sort) -> Option<SortOrder> {
    match sort {
        Sort::Relevance | Sort::Oldest | Sort::Attribute(..) => None,
        Sort::Price(Direction::Ascending) => Some(SortOrder::PriceAscending),
        Sort::Price(Direction::Descending) => Some(SortOrder::PriceDescending),
        Sort::Newest => Some(SortOrder::Newest),
    }
}

fn bigint(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
