//! Selects the candidates of a search by terms inside PostgreSQL.
//!
//! All products that pass the filter are candidates if they are few. Otherwise candidates are the
//! best by lexical score, the nearest by vector, and the first in the requested order. What a facet
//! counts without its own conditions is selected without them.

use std::{
    collections::{BTreeSet, HashMap},
    time::Instant,
};

use catalog::{
    access::Visibility,
    analysis::QueryTerms,
    filter::ProductFilter,
    product::ProductId,
    query_parser::ParsedQuery,
    ranking::{Bm25Params, CorpusStats},
    sort::Sort,
};

use super::{
    CandidateLimits, order,
    row_filter::RowFilter,
    snapshot::{LexicalTopK, SearchSnapshot},
    text_query::{TextQuery, maybe_allowed},
};
use crate::{embed::ModelId, index::Plan, store::StoreError};

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
    /// Whether every product that matches is among them.
    pub(crate) is_complete: bool,
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
    /// The product whose key is the query.
    pub(crate) with_key: Option<ProductId>,
}

impl CandidateSelection<'_, '_> {
    /// The candidates for a plan and its terms.
    pub(crate) fn select(
        &self,
        plan: &Plan<'_>,
        words: &QueryTerms,
    ) -> Result<Candidates, StoreError> {
        let mut all = self.passing(plan, words, plan.filter)?;
        all.ids.extend(self.with_key);
        for facet in plan.facets.iter().map(|facet| facet.name()) {
            if plan.filter.has_conditions_on(facet) {
                check_time(plan)?;
                let more = self.passing(plan, words, &plan.filter.without(facet))?;
                all.ids.extend(more.ids);
                all.is_complete &= more.is_complete;
            }
        }
        Ok(all)
    }

    /// The candidates among the products that pass the filter.
    fn passing(
        &self,
        plan: &Plan<'_>,
        words: &QueryTerms,
        filter: &ProductFilter,
    ) -> Result<Candidates, StoreError> {
        let mut filter = RowFilter::of(plan.visibility, &self.parsed.constraints, filter);
        filter.allowed = maybe_allowed(plan.exclusions);
        match self.all_filtered(&filter)? {
            Some(all) => Ok(all),
            None => self.most_relevant(plan, words, &filter),
        }
    }

    /// All products that pass the filter; `None` if there are too many.
    fn all_filtered(&self, filter: &RowFilter) -> Result<Option<Candidates>, StoreError> {
        let max = self.limits.rank_all_up_to;
        if self.corpus.products > max as u64 && filter.has_no_conditions() {
            return Ok(None);
        }
        let found = self.snapshot.filtered(filter, bigint(max + 1))?;
        let is_complete = found.len() <= max;
        let ids = found.into_iter().collect();
        Ok(is_complete.then_some(Candidates { ids, is_complete }))
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
        for text in queries.tsqueries {
            let top = LexicalTopK {
                words: &query.words,
                formula: &formula,
                max_scored: bigint(limits.max_scored),
                limit: bigint(most),
            };
            let found = self.snapshot.top_by_text(&filter.matching(text), &top)?;
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
        if plan.order != Sort::Relevance
            && !is_complete
            && let Some(text) = query.all_terms()
        {
            let filter = filter.matching(text);
            ids.extend(order::page(self.snapshot, &filter, &plan.order, 0, most)?);
        }
        Ok(Candidates { ids, is_complete })
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
fn formula(corpus: &CorpusStats, params: &Bm25Params) -> [f32; 8] {
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
        params.attribute_boost,
    ]
}

/// An error if the time of a search is over.
pub(super) fn check_time(plan: &Plan<'_>) -> Result<(), StoreError> {
    match plan.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
        true => Err(StoreError::search_timeout()),
        false => Ok(()),
    }
}

pub(super) fn bigint(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
