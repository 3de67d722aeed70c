//! What is asked of the index? A request as a value, before any of it runs.

use std::time::Instant;

use catalog::{
    access::Sight,
    fusion::Manner,
    price::Money,
    tuning::{TUNING, Tuning},
    understanding::{Exclusion, PriceRange, SortOrder, Understanding},
    words::{QueryWords, fingerprint},
};

use super::QueryVector;

/// A search that the index can run.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// What a product must be about.
    pub wanted: Wanted,
    /// What that means, if somebody knows.
    pub meant: Option<Meant>,
    /// The fingerprint of a title that is the query, word by word.
    pub title: u32,
    /// Conditions that its price satisfies, all of them.
    pub prices: Vec<PriceRange<'a>>,
    /// What its texts do not say.
    pub exclusions: &'a [Exclusion],
    /// The order of results; none is by relevance.
    pub order: Option<SortOrder>,
    /// Whether hidden products are among them.
    pub sight: Sight,
    /// How many of the first to skip.
    pub offset: usize,
    /// How many of the next to return.
    pub limit: usize,
    /// Whether to say why each product stands where it stands.
    pub explain: bool,
    /// How many threads may work on it; the answer is the same.
    pub threads: usize,
    /// The numbers to rank by.
    pub tuning: Tuning,
    /// When the search has to be done; beyond it, the answer says that it was cut short.
    pub deadline: Option<Instant>,
}

/// What a product must be about.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// These words, or what they mean. Without words, no product is.
    Words(QueryWords),
    /// Nothing in particular.
    Anything,
}

/// What a query means.
#[derive(Clone, Debug)]
pub struct Meant {
    /// Where it lies.
    pub vector: QueryVector,
    /// How it is put.
    pub manner: Manner,
}

impl<'a> Plan<'a> {
    /// The plan of a query as it was understood. One that only sets conditions wants anything
    /// that satisfies them, newest first.
    pub fn of(understood: &'a Understanding, sight: Sight, offset: usize, limit: usize) -> Self {
        let words = understood.words();
        let asked_for = understood.sort.as_ref().map(|hint| hint.order);
        let (wanted, order) = match words.is_empty() && understood.has_conditions() {
            true => (Wanted::Anything, asked_for.or(Some(SortOrder::Newest))),
            false => (Wanted::Words(words), asked_for),
        };
        Self {
            wanted,
            meant: None,
            title: fingerprint(&understood.sentence),
            prices: understood.constraints.iter().map(PriceRange::of).collect(),
            exclusions: &understood.exclusions,
            order,
            sight,
            offset,
            limit,
            explain: false,
            threads: 1,
            tuning: TUNING,
            deadline: None,
        }
    }

    /// Whether the search has to be done by now.
    pub(super) fn is_out_of_time(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= Instant::now())
    }

    /// Whether a product of this price satisfies every condition. A price that cannot be parsed
    /// (`None`) satisfies none.
    #[inline]
    pub(super) fn admits(&self, price: Option<Money>) -> bool {
        self.prices.iter().all(|range| price.is_some_and(|price| range.admits(price)))
    }
}
