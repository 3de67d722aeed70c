//! Which products of a large shop are ranked? All that satisfy the conditions where they are few;
//! otherwise the best by words, the nearest by meaning, and the first in the order asked for.

use std::collections::{BTreeSet, HashMap};

use catalog::{
    analysis::QueryTerms,
    product::ProductId,
    query_parser::{Exclusion, ParsedQuery, PriceInterval, SortOrder},
    ranking::{Bm25Params, CorpusStats},
};

use super::{Sizes, query};
use crate::{
    embed::ModelId,
    index::{Plan, QueryKind},
    store::{ABOVE_PRICES, Conditions, Glance, StoreError},
};

/// What one occurrence is worth to PostgreSQL's `ts_rank`: 6/π².
const TS_RANK_OF_ONE: f32 = 0.607_927_1;

/// Products to rank.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    pub(super) ids: BTreeSet<ProductId>,
    /// Whether no other product can be found.
    pub(super) are_all: bool,
    /// Products that are found although they are not among these.
    pub(super) others: usize,
}

/// Who looks for candidates of one search.
pub(super) struct Scout<'a, 'session> {
    pub(super) glance: &'a mut Glance<'session>,
    pub(super) sizes: &'a Sizes,
    pub(super) corpus: CorpusStats,
    pub(super) counts: &'a HashMap<Box<str>, u64>,
    pub(super) model: Option<&'a ModelId>,
    pub(super) parsed: &'a ParsedQuery,
}

impl Scout<'_, '_> {
    /// The candidates for a plan.
    pub(super) fn look(&mut self, plan: &Plan<'_>) -> Result<Candidates, StoreError> {
        match &plan.kind {
            QueryKind::MatchAll => self.anything(plan),
            QueryKind::Terms(words) => {
                let conditions = self.conditions(plan, query::perhaps_allowed);
                if let Some(all) = self.all(&conditions)? {
                    return Ok(all);
                }
                self.relevant(plan, words, &conditions)
            }
        }
    }

    /// All products that satisfy the conditions, if they are few.
    fn all(&mut self, conditions: &Conditions) -> Result<Option<Candidates>, StoreError> {
        let is_small = self.corpus.products <= self.sizes.exact as u64;
        if !is_small && self.parsed.constraints.is_empty() {
            return Ok(None);
        }
        let some = self.glance.some(conditions, bigint(self.sizes.exact + 1))?;
        let are_all = some.len() <= self.sizes.exact;
        let ids = some.into_iter().collect();
        Ok(are_all.then_some(Candidates { ids, are_all, others: 0 }))
    }

    /// The best by words and by meaning.
    fn relevant(
        &mut self,
        plan: &Plan<'_>,
        words: &QueryTerms,
        conditions: &Conditions,
    ) -> Result<Candidates, StoreError> {
        let sizes = self.sizes;
        let is_deep = plan.offset + plan.limit > sizes.candidates;
        let most = if is_deep { sizes.deep_candidates } else { sizes.candidates };
        let asked = query::Asked::of(words, self.counts, &self.corpus, &plan.tuning.ranking);
        let groups = asked.groups(sizes.looked_at as u64);
        let formula = formula(&self.corpus, &plan.tuning.ranking);
        let mut ids = BTreeSet::new();
        let mut are_all = groups.is_all && plan.dense.is_none();
        for query in &groups.queries {
            let found = self.glance.by_words(
                conditions,
                query,
                &asked.weighed,
                &formula,
                bigint(sizes.looked_at),
                bigint(most),
            )?;
            are_all &= found.len() < most;
            ids.extend(found);
            if ids.len() >= most {
                break;
            }
        }
        if let (Some(meant), Some(model)) = (&plan.dense, self.model) {
            let numbers = meant.vector.numbers();
            ids.extend(self.glance.nearest(conditions, model, numbers, bigint(most))?);
        }
        if let (Some(order), Some(everything), false) = (plan.order, asked.everything(), are_all) {
            let first = self.glance.first(conditions, order, Some(&everything), bigint(most))?;
            ids.extend(first);
        }
        Ok(Candidates { ids, are_all, others: 0 })
    }

    /// The first of all that satisfy the conditions, and how many there are.
    fn anything(&mut self, plan: &Plan<'_>) -> Result<Candidates, StoreError> {
        let order = plan.order.unwrap_or(SortOrder::Newest);
        let page = bigint(plan.offset + plan.limit);
        let surely = self.conditions(plan, query::surely_allowed);
        let first = self.glance.first(&surely, order, None, page)?;
        let count = self.glance.count(&surely)?;
        let mut found = Candidates {
            others: count - first.len().min(count),
            ids: first.into_iter().collect(),
            are_all: true,
        };
        if let Some(said) = &surely.said {
            let in_doubt = match query::perhaps_allowed(plan.exclusions) {
                Some(perhaps) => format!("{perhaps} & !({said})"),
                None => format!("!({said})"),
            };
            let perhaps = Conditions { said: Some(in_doubt), ..surely.clone() };
            let most = self.sizes.exact.max(self.sizes.deep_candidates);
            let in_doubt = self.glance.first(&perhaps, order, None, bigint(most + 1))?;
            found.are_all = in_doubt.len() <= most;
            found.ids.extend(in_doubt.into_iter().take(most));
        }
        Ok(found)
    }

    fn conditions(
        &self,
        plan: &Plan<'_>,
        said: impl FnOnce(&[Exclusion]) -> Option<String>,
    ) -> Conditions {
        let interval = PriceInterval::of(&self.parsed.constraints);
        let Conditions { amounts: (least, mut greatest), .. } = Conditions::seen(plan.visibility);
        if !self.parsed.constraints.is_empty() {
            // A price that cannot be parsed satisfies no condition.
            ABOVE_PRICES.clone_into(&mut greatest);
        }
        Conditions {
            visibility: plan.visibility,
            amounts: (
                interval.least.map_or(least, |amount| amount.to_string()),
                interval.greatest.map_or(greatest, |amount| amount.to_string()),
            ),
            currencies: interval
                .currencies
                .map(|all| all.iter().map(|currency| currency.code().to_owned()).collect()),
            said: said(plan.exclusions),
        }
    }
}

/// The constants of the ranking and the average lengths, as the database's statement has them.
fn formula(corpus: &CorpusStats, weights: &Bm25Params) -> [f32; 7] {
    let average = |words: u64| (words as f64 / corpus.products.max(1) as f64).max(1.0) as f32;
    let (title, description) = (weights.title, weights.description);
    [
        weights.k1,
        title.boost / TS_RANK_OF_ONE,
        title.b,
        average(corpus.title_words),
        description.boost / TS_RANK_OF_ONE,
        description.b,
        average(corpus.description_words),
    ]
}

pub(super) fn bigint(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
