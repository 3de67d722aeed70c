//! Selects the candidates of a search by terms inside PostgreSQL.
//!
//! All products that pass the filter are candidates if they are few. Otherwise candidates are the
//! best by lexical score, the nearest by vector, and the first in the requested order. One statement
//! decides which, and returns them with all that scoring needs. What a facet counts without its own
//! conditions is selected without them, by the same statement again: once for all facets if few
//! products pass without the conditions of any, and otherwise once for each.

use std::{
    collections::{BTreeMap, HashMap},
    time::Instant,
};

use catalog::{
    product::{ProductId, access::Visibility},
    query::{filter::ProductFilter, parser::ParsedQuery, sort::Sort},
    ranking::bm25f::{Bm25Params, CorpusStats, FieldParams},
    text::analysis::QueryTerms,
};
use embed::ModelId;
use index::Plan;

use super::{
    limits::CandidateLimits,
    order,
    row_filter::RowFilter,
    snapshot::{CandidateQuery, CandidateRow, SearchSnapshot, bigint},
    text_query::{TextQuery, maybe_allowed},
};
use crate::StoreError;

/// For similar products, this many times the requested number of candidates are compared…
const SIMILAR_CANDIDATES_FACTOR: usize = 4;
/// … and no fewer than this.
const MIN_SIMILAR_CANDIDATES: usize = 200;

/// The products to score.
#[derive(Debug)]
pub struct Candidates {
    /// By ascending id.
    pub rows: Vec<CandidateRow>,
    /// Whether every product that matches is among them.
    pub is_complete: bool,
}

/// Selects the candidates of one search.
pub struct CandidateSelection<'a, 'session> {
    /// The state of the shop.
    pub snapshot: &'a SearchSnapshot<'session>,
    /// How many candidates are selected.
    pub limits: &'a CandidateLimits,
    /// The statistics of the visible products.
    pub corpus: CorpusStats,
    /// Whether there are other products.
    pub has_unseen: bool,
    /// Document frequencies of the query's words.
    pub doc_freqs: &'a HashMap<Box<str>, u64>,
    /// The model whose vectors are compared.
    pub model: Option<&'a ModelId>,
    /// The query.
    pub parsed: &'a ParsedQuery,
    /// The product whose key is the query.
    pub with_key: Option<ProductId>,
}

impl CandidateSelection<'_, '_> {
    /// The candidates for a plan and its terms.
    pub fn select(&self, plan: &Plan<'_>, words: &QueryTerms) -> Result<Candidates, StoreError> {
        let facets = plan.facets.iter().map(|facet| facet.name());
        let facets: Vec<&str> = facets.filter(|name| plan.filter.has_conditions_on(name)).collect();
        if facets.len() > 1 {
            let relaxed =
                facets.iter().fold(plan.filter.clone(), |filter, facet| filter.without(facet));
            let found = self.passing(plan, words, &relaxed)?;
            if found.is_complete {
                return Ok(found);
            }
        }
        let mut all = self.passing(plan, words, plan.filter)?;
        let mut others: BTreeMap<ProductId, CandidateRow> = BTreeMap::new();
        for facet in facets {
            check_time(plan)?;
            let more = self.passing(plan, words, &plan.filter.without(facet))?;
            others.extend(more.rows.into_iter().map(|row| (row.id, row)));
            all.is_complete &= more.is_complete;
        }
        if !others.is_empty() {
            others.extend(all.rows.into_iter().map(|row| (row.id, row)));
            all.rows = others.into_values().collect();
        }
        Ok(all)
    }

    /// The candidates among the products that pass the filter, and the one with the key.
    fn passing(
        &self,
        plan: &Plan<'_>,
        words: &QueryTerms,
        filter: &ProductFilter,
    ) -> Result<Candidates, StoreError> {
        let limits = self.limits;
        let mut filter = RowFilter::of(plan.visibility, &self.parsed.constraints, filter);
        filter.allowed = maybe_allowed(plan.exclusions);
        let is_deep = plan.offset + plan.limit > limits.candidates;
        let most = if is_deep { limits.deep_candidates } else { limits.candidates };
        let query = TextQuery::new(words, self.doc_freqs, &self.corpus, &plan.tuning.ranking);
        let queries = query.candidate_queries(limits.max_scored as u64);
        // All visible products are too many if none is filtered out.
        let may_be_few =
            self.corpus.products <= limits.rank_all_up_to as u64 || !filter.has_no_conditions();
        let mut others: Vec<ProductId> = self.with_key.into_iter().collect();
        if plan.order != Sort::Relevance
            && let Some(text) = query.all_terms()
        {
            let matching = filter.matching(text);
            others.extend(order::page(self.snapshot, &matching, &plan.order, 0, most)?);
        }
        let others: Vec<i64> = others.iter().map(|id| id.get().cast_signed()).collect();
        let formula = formula(&self.corpus, &plan.tuning.ranking);
        let dense = plan.dense.as_ref().filter(|_| self.model.is_some());
        let found = self.snapshot.select_candidates(&CandidateQuery {
            filter: &filter,
            all_pass: filter.admits_all() && !self.has_unseen,
            rank_all_up_to: may_be_few.then(|| bigint(limits.rank_all_up_to)),
            tsqueries: &queries.tsqueries,
            words: &query.words,
            formula: &formula,
            max_scored: bigint(limits.max_scored),
            vector: dense.map(|dense| dense.vector.numbers()),
            model: self.model,
            limit: bigint(most),
            others,
            threads: plan.threads,
        })?;
        let has_all_matching =
            queries.is_complete && plan.dense.is_none() && found.rows.len() < most;
        Ok(Candidates { is_complete: found.are_all || has_all_matching, rows: found.rows })
    }
}

/// A product and the candidates for the products most similar to it.
pub fn similar_candidates(
    snapshot: &SearchSnapshot<'_>,
    model: Option<&ModelId>,
    product: ProductId,
    visibility: Visibility,
    limit: usize,
) -> Result<Vec<ProductId>, StoreError> {
    let Some(model) = model else { return Ok(vec![product]) };
    let Some(vectors) = snapshot.vectors(product, model)? else { return Ok(vec![product]) };
    // One more, because the product itself is the nearest.
    let most = (SIMILAR_CANDIDATES_FACTOR * limit).max(MIN_SIMILAR_CANDIDATES) + 1;
    let filter = RowFilter::visible(visibility);
    let mut ids = snapshot.nearest(&filter, model, vectors.vector.numbers(), bigint(most))?;
    if !ids.contains(&product) {
        ids.push(product);
    }
    Ok(ids)
}

/// The constants of the lexical score, in the order of `SELECT_CANDIDATES`: the score of a word in an
/// attribute; and for description and title, the boost and the two parts of `k1` times the length
/// normalisation, of which the second is for each word of the field.
fn formula(corpus: &CorpusStats, params: &Bm25Params) -> [f32; 7] {
    let average = |words: u64| (words as f64 / corpus.products.max(1) as f64).max(1.0) as f32;
    let field = |field: FieldParams, words: u64| {
        let per_word = params.k1 * field.b / average(words);
        [field.boost, (params.k1 * (1.0 - field.b)).max(f32::EPSILON), per_word]
    };
    let attribute = params.attribute_boost / (params.attribute_boost + params.k1);
    let description = field(params.description, corpus.description_words);
    let title = field(params.title, corpus.title_words);
    let [boost, constant, per_word] = description;
    let [title_boost, title_constant, per_title_word] = title;
    [attribute, boost, constant, per_word, title_boost, title_constant, per_title_word]
}

/// An error if the time of a search is over.
pub(super) fn check_time(plan: &Plan<'_>) -> Result<(), StoreError> {
    match plan.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
        true => Err(StoreError::search_timeout()),
        false => Ok(()),
    }
}
