//! Which of the matching products are found, and which of them come first?

use std::{cmp::Ordering, collections::BinaryHeap};

use catalog::{
    access::Visibility,
    price::Money,
    query_parser::SortOrder,
    ranking::{Hit, Score, TopK},
};

use super::{
    bits::{Bits, ones},
    live::LiveSegment,
    plan::Plan,
};

/// A segment and which of its products break an exclusion.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) live: &'a LiveSegment,
    pub(super) barred: Option<&'a Bits>,
}

/// What a product must satisfy to be found at all, whatever its score.
pub(super) struct Conditions<'a> {
    plan: &'a Plan<'a>,
    /// Copied out of the plan: it is asked for every product.
    visibility: Visibility,
    /// Whether there are any besides being seen; most queries have none.
    conditional: bool,
}

impl<'a> Conditions<'a> {
    pub(super) fn of(plan: &'a Plan<'a>) -> Self {
        let conditional = !plan.price_ranges.is_empty() || !plan.exclusions.is_empty();
        Self { plan, visibility: plan.visibility, conditional }
    }

    /// Whether the search has to be done by now.
    pub(super) fn is_timed_out(&self) -> bool {
        self.plan.is_timed_out()
    }

    /// Those of a block's products that may be seen and satisfy the plan's conditions.
    #[inline]
    pub(super) fn passing(&self, source: Source<'_>, block: usize, matched: u64) -> u64 {
        if matched == 0 {
            return 0;
        }
        let mut matched = matched & source.live.seen(block, self.visibility);
        if !self.conditional {
            return matched;
        }
        if let Some(barred) = source.barred {
            matched &= !barred.block(block);
        }
        if self.plan.price_ranges.is_empty() {
            return matched;
        }
        let prices = source.live.columns().prices(block);
        ones(matched)
            .filter(|at| self.plan.admits(prices[*at]))
            .fold(0, |passing, at| passing | 1 << at)
    }
}

/// The first products in the order that was asked for.
pub(super) enum First {
    /// By score.
    Best(TopK),
    /// By something else.
    Ordered(Ordered),
}

/// The first products in an order other than by score.
pub(super) struct Ordered {
    order: SortOrder,
    keep: usize,
    last_first: BinaryHeap<Placed>,
}

impl First {
    /// Keeps as many as the plan's page reaches to.
    pub(super) fn of(plan: &Plan<'_>) -> Self {
        let keep = plan.offset + plan.limit;
        match plan.order {
            None => Self::Best(TopK::new(keep)),
            Some(order) => Self::Ordered(Ordered { order, keep, last_first: BinaryHeap::new() }),
        }
    }

    /// Takes a product into account.
    #[inline]
    pub(super) fn offer(&mut self, live: &LiveSegment, doc: usize, score: f32) {
        if self.may_keep(score) {
            self.keep(live, doc, score);
        }
    }

    /// The kept products after the first `offset`, in order.
    pub(super) fn into_page(self, offset: usize) -> Vec<Hit> {
        match self {
            Self::Best(top) => top.into_page(offset),
            Self::Ordered(ordered) => {
                let in_order = ordered.last_first.into_sorted_vec().into_iter();
                in_order.skip(offset).map(|placed| placed.hit).collect()
            }
        }
    }

    /// Apart from [`Self::offer`], which most products do not get past.
    #[inline(never)]
    fn keep(&mut self, live: &LiveSegment, doc: usize, score: f32) {
        let (product, version) = (live.segment.ids[doc], live.columns().version(doc));
        let hit = Hit { product, version, score: Score(score) };
        match self {
            Self::Best(top) => top.offer(hit),
            Self::Ordered(Ordered { order, keep, last_first }) => {
                let placed = Placed { order: *order, price: live.columns().price(doc), hit };
                if last_first.len() < *keep {
                    last_first.push(placed);
                } else if let Some(mut last) = last_first.peek_mut()
                    && placed < *last
                {
                    *last = placed;
                }
            }
        }
    }

    /// Whether a product of this score might be kept.
    #[inline]
    fn may_keep(&self, score: f32) -> bool {
        match self {
            Self::Best(top) => top.may_keep(score),
            Self::Ordered(ordered) => ordered.keep > 0,
        }
    }
}

/// A product with its place in an order other than by relevance. Greater means further down.
struct Placed {
    order: SortOrder,
    /// `None` comes last, whichever way prices are sorted.
    price: Option<Money>,
    hit: Hit,
}

impl Ord for Placed {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_amount = |dearer: fn(Ordering) -> Ordering| match (self.price, other.price) {
            (Some(one), Some(another)) => dearer(one.amount.cmp(&another.amount)),
            (one, another) => another.is_some().cmp(&one.is_some()),
        };
        match self.order {
            SortOrder::PriceAscending => by_amount(|dearer| dearer),
            SortOrder::PriceDescending => by_amount(Ordering::reverse),
            SortOrder::Newest => other.hit.product.cmp(&self.hit.product),
        }
        .then_with(|| self.hit.rank(&other.hit))
    }
}

impl PartialOrd for Placed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Placed {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Placed {}
