//! Which products answer a query? The shop's index scores them, the store hands out their rows.

#[cfg(test)]
mod visibility_tests;

use std::{
    collections::HashMap,
    mem,
    time::{Duration, Instant},
};

use catalog::{
    access::ReadPass,
    change::Seq,
    explanation::Explanation,
    product::{Product, ProductId},
    query::QueryText,
    query_parser::{ParseOptions, ParsedQuery},
    tuning::Tuning,
};

use crate::{
    embed::Encoder,
    index::{DenseQuery, Plan, QueryKind, QueryVector, Snapshot},
    meaning::{Meaning, QueryReader},
    store::{SearchReads, StoreError},
};

/// A search as asked for.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The shopper's words.
    pub query: QueryText,
    /// How many products to return.
    pub limit: usize,
    /// How many of the best to skip first.
    pub offset: usize,
    /// What is read in the query besides words.
    pub parse_options: ParseOptions,
    /// Whether to say why each product stands where it stands.
    pub explain: bool,
    /// The numbers to rank by.
    pub tuning: Tuning,
    /// How long the search may take once it has begun; `None` for as long as it needs.
    pub time_limit: Option<Duration>,
}

/// What was found.
#[derive(Debug)]
pub struct SearchResults {
    /// The asked-for part, best first.
    pub products: Vec<Product>,
    /// Why each of them stands where it stands, where that was asked and there is anything to say.
    pub explanations: HashMap<ProductId, Explanation>,
    /// How many there are in all.
    pub total: usize,
    /// Whether there may not be more.
    pub is_total_exact: bool,
    /// How the query was read.
    pub parsed: ParsedQuery,
    /// Which encoder said what the query means; `None` where meaning took no part.
    pub encoder: Option<Encoder>,
    /// The change the search saw last.
    pub seq: Seq,
}

pub(crate) fn search(
    snapshot: &Snapshot,
    readers: &dyn SearchReads,
    queries: &QueryReader<'_>,
    pass: &ReadPass,
    request: &SearchRequest,
) -> Result<SearchResults, StoreError> {
    let mut stage = Stages::start(request.time_limit);
    // A reader without access to hidden products is answered as if there were none.
    let visibility = pass.visibility();
    let knows = |word: &str| snapshot.contains_term(word, visibility);
    let query = request.query.as_str();
    let mut parsed = request.parse_options.parse(query, &knows);
    if request.parse_options.corrections {
        snapshot.correct(query, visibility, &|word| queries.recognises(word), &mut parsed);
    }
    let mut plan = Plan::of(&parsed, visibility, request.offset, request.limit);
    (plan.explain, plan.threads) = (request.explain, queries.threads());
    plan.tuning = request.tuning;
    plan.deadline = stage.deadline;
    stage.ends("understand")?;
    // Without words there is nothing to mean: what is left is punctuation or pictures.
    let has_words = matches!(&plan.kind, QueryKind::Terms(words) if !words.is_empty());
    let meaning =
        if has_words { queries.meaning(&parsed, &knows, &plan.tuning.fusion) } else { None };
    plan.dense = meaning.as_ref().and_then(meant);
    let encoder = meaning.filter(|_| plan.dense.is_some()).map(|meaning| meaning.encoder);
    stage.ends("encode")?;
    let matches = snapshot.search(&plan, |in_doubt| {
        let allowed = |title: &str, description: &str| parsed.allows(title, description);
        readers.rejected_by_text(pass.shop(), in_doubt, &allowed)
    })?;
    if matches.timed_out {
        return Err(StoreError::out_of_time());
    }
    stage.ends("score")?;
    let ids: Vec<ProductId> = matches.hits.iter().map(|hit| hit.product).collect();
    let mut products = readers.hits(pass, &ids)?;
    // A write that commits between scoring and reading may take a product out of view, or
    // change it so that it breaks a condition: it is not shown, and not counted.
    products.retain(|product| {
        parsed.admits(&product.price)
            && parsed.allows(product.title.as_str(), product.description.as_str())
    });
    let gone = ids.len() - products.len();
    let total = matches.total - gone;
    let explanations = matches.explanations;
    stage.end_with("fetch");
    let (seq, is_total_exact) = (snapshot.seq(), matches.unverified == 0);
    Ok(SearchResults { products, explanations, total, is_total_exact, seq, encoder, parsed })
}

/// Tells how long each step of a search takes, and all of them.
pub(crate) struct Stages {
    began: Instant,
    since: Instant,
    /// When the search has to be done.
    pub(crate) deadline: Option<Instant>,
}

impl Stages {
    pub(crate) fn start(time_limit: Option<Duration>) -> Self {
        let now = Instant::now();
        let deadline = time_limit.and_then(|limit| now.checked_add(limit));
        Self { began: now, since: now, deadline }
    }

    /// A step ends; an error if there is no time for the next.
    pub(crate) fn ends(&mut self, stage: &'static str) -> Result<(), StoreError> {
        self.record(stage);
        match self.deadline.is_some_and(|deadline| deadline <= self.since) {
            true => Err(StoreError::out_of_time()),
            false => Ok(()),
        }
    }

    fn record(&mut self, stage: &'static str) {
        let now = Instant::now();
        let elapsed = (now - mem::replace(&mut self.since, now)).as_secs_f64();
        metrics::histogram!("shopkeeper_search_stage_seconds", "stage" => stage).record(elapsed);
    }

    /// The last step ends, and with it the search.
    pub(crate) fn end_with(mut self, stage: &'static str) {
        self.record(stage);
        let elapsed = (self.since - self.began).as_secs_f64();
        metrics::histogram!("shopkeeper_search_seconds").record(elapsed);
    }
}

/// A query's meaning as the index looks for it.
pub(crate) fn meant(meaning: &Meaning) -> Option<DenseQuery> {
    Some(DenseQuery { vector: QueryVector::of(&meaning.vector)?, profile: meaning.profile })
}
