//! The first products of a result, in the order of the plan.

use std::{cmp::Ordering, collections::BinaryHeap};

use catalog::{
    price::Money,
    query_parser::SortOrder,
    ranking::{Hit, Score, TopK},
};

use crate::index::{plan::Plan, segment::LiveSegment};

/// Collects the first products in the order of a plan.
pub(super) enum TopHits {
    ByScore(TopK),
    Sorted(TopSorted),
}

/// Collects the first products in an order other than by score.
pub(super) struct TopSorted {
    order: SortOrder,
    k: usize,
    last_first: BinaryHeap<SortedHit>,
}

impl TopHits {
    /// Keeps as many as the page of the plan needs.
    pub(super) fn of(plan: &Plan<'_>) -> Self {
        let k = plan.offset + plan.limit;
        match plan.order {
            None => Self::ByScore(TopK::new(k)),
            Some(order) => Self::Sorted(TopSorted { order, k, last_first: BinaryHeap::new() }),
        }
    }

    /// Keeps the product if it is among the first so far.
    #[inline]
    pub(super) fn offer(&mut self, live: &LiveSegment, doc: usize, score: f32) {
        if self.may_keep(score) {
            self.keep(live, doc, score);
        }
    }

    /// The kept hits without the first `offset`, in order.
    pub(super) fn into_page(self, offset: usize) -> Vec<Hit> {
        match self {
            Self::ByScore(top) => top.into_page(offset),
            Self::Sorted(top) => {
                let sorted = top.last_first.into_sorted_vec().into_iter();
                sorted.skip(offset).map(|sorted| sorted.hit).collect()
            }
        }
    }

    /// Not inlined into [`Self::offer`]: few products get here.
    #[inline(never)]
    fn keep(&mut self, live: &LiveSegment, doc: usize, score: f32) {
        let (product, version) = (live.segment.ids[doc], live.columns().version(doc));
        let hit = Hit { product, version, score: Score(score) };
        match self {
            Self::ByScore(top) => top.offer(hit),
            Self::Sorted(TopSorted { order, k, last_first }) => {
                let new = SortedHit { order: *order, price: live.columns().price(doc), hit };
                if last_first.len() < *k {
                    last_first.push(new);
                } else if let Some(mut last) = last_first.peek_mut()
                    && new < *last
                {
                    *last = new;
                }
            }
        }
    }

    #[inline]
    fn may_keep(&self, score: f32) -> bool {
        match self {
            Self::ByScore(top) => top.may_keep(score),
            Self::Sorted(top) => top.k > 0,
        }
    }
}

/// A hit with its sort key. Greater means further down; ties are ordered by rank.
struct SortedHit {
    order: SortOrder,
    /// `None` comes last in either direction.
    price: Option<Money>,
    hit: Hit,
}

impl Ord for SortedHit {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_amount = |direction: fn(Ordering) -> Ordering| match (self.price, other.price) {
            (Some(one), Some(another)) => direction(one.amount.cmp(&another.amount)),
            (one, another) => another.is_some().cmp(&one.is_some()),
        };
        match self.order {
            SortOrder::PriceAscending => by_amount(|ascending| ascending),
            SortOrder::PriceDescending => by_amount(Ordering::reverse),
            SortOrder::Newest => other.hit.product.cmp(&self.hit.product),
        }
        .then_with(|| self.hit.rank(&other.hit))
    }
}

impl PartialOrd for SortedHit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SortedHit {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SortedHit {}
