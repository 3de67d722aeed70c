//! Which of the scored products are found, how many are they, and which come first?

use std::{cmp::Ordering, collections::BinaryHeap, mem};

use catalog::{
    access::Sight,
    price::Money,
    ranking::{Bm25, Hit, TopHits},
    understanding::SortOrder,
};

use super::{
    bits::{BLOCK, Bits, ones},
    lexical::Scores,
    live::LiveSegment,
    plan::Plan,
    search::Matches,
    segment::Segment,
};

/// Takes scores, where there are any, and leaves zeroes in their place. Every word found is
/// worth more than 0, so 0 is a product without any. What breaks a condition is not counted.
pub(super) struct Collector<'a> {
    plan: &'a Plan<'a>,
    /// Copied out of the plan: it is asked for every product.
    sight: Sight,
    /// Whether there are conditions at all; most queries have none.
    conditional: bool,
    total: usize,
    first: First,
}

/// A segment and which of its products break an exclusion.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) live: &'a LiveSegment,
    pub(super) barred: Option<&'a Bits>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(plan: &'a Plan<'a>) -> Self {
        let keep = plan.offset + plan.limit;
        let first = match plan.order {
            None => First::Best(TopHits::new(keep)),
            Some(order) => First::Ordered { order, keep, last_first: BinaryHeap::new() },
        };
        let conditional = !plan.prices.is_empty() || !plan.exclusions.is_empty();
        Self { plan, sight: plan.sight, conditional, total: 0, first }
    }

    /// The score of one product.
    #[inline]
    pub(super) fn collect(&mut self, source: Source<'_>, doc: usize, scores: &mut Scores) {
        let score = mem::take(&mut scores[doc]);
        if score > 0.0 && source.live.is_seen(doc, self.sight) && self.passes(source, doc) {
            self.total += 1;
            self.offer(&source.live.segment, doc, score);
        }
    }

    /// The scores of neighbouring products, without a branch for each.
    #[inline]
    pub(super) fn collect_block(
        &mut self,
        source: Source<'_>,
        block: usize,
        scores: &mut [f32; BLOCK],
    ) {
        let mut matched = 0;
        let mut best = 0_f32;
        for (at, score) in scores.iter().enumerate() {
            matched |= u64::from(*score > 0.0) << at;
            best = if *score > best { *score } else { best };
        }
        matched &= source.live.seen(block, self.sight);
        matched = self.passing(source, block, matched);
        self.total += matched.count_ones() as usize;
        if self.first.may_keep(best) {
            let segment = &source.live.segment;
            ones(matched).for_each(|at| self.offer(segment, block * BLOCK + at, scores[at]));
        }
        scores.fill(0.0);
    }

    /// All products of a segment, without a score. Newest first, as most want them: what comes
    /// later then rarely displaces anything.
    pub(super) fn collect_all(&mut self, source: Source<'_>) {
        let len = source.live.segment.len();
        for block in (0..len.div_ceil(BLOCK)).rev() {
            let there = u64::MAX >> (BLOCK - BLOCK.min(len - block * BLOCK));
            let seen = there & source.live.seen(block, self.sight);
            let matched = self.passing(source, block, seen);
            self.total += matched.count_ones() as usize;
            let segment = &source.live.segment;
            ones(matched).for_each(|at| self.offer(segment, block * BLOCK + at, 0.0));
        }
    }

    pub(super) fn into_matches(self) -> Matches {
        let hits = match self.first {
            First::Best(top) => top.into_page(self.plan.offset),
            First::Ordered { last_first, .. } => {
                let in_order = last_first.into_sorted_vec().into_iter();
                in_order.skip(self.plan.offset).map(|placed| placed.hit).collect()
            }
        };
        Matches { total: self.total, hits }
    }

    /// Those of a block's products that satisfy the plan's conditions.
    #[inline]
    fn passing(&self, source: Source<'_>, block: usize, mut matched: u64) -> u64 {
        if !self.conditional {
            return matched;
        }
        if let Some(barred) = source.barred {
            matched &= !barred.block(block);
        }
        if self.plan.prices.is_empty() {
            return matched;
        }
        let prices = &source.live.segment.prices[block * BLOCK..];
        ones(matched)
            .filter(|at| self.plan.admits(prices[*at]))
            .fold(0, |passing, at| passing | 1 << at)
    }

    /// Whether one product satisfies the plan's conditions.
    #[inline]
    fn passes(&self, source: Source<'_>, doc: usize) -> bool {
        !self.conditional
            || (source.barred.is_none_or(|barred| !barred.get(doc))
                && self.plan.admits(source.live.segment.prices[doc]))
    }

    #[inline]
    fn offer(&mut self, segment: &Segment, doc: usize, score: f32) {
        if self.first.may_keep(score) {
            self.keep(segment, doc, score);
        }
    }

    /// Apart from [`Self::offer`], which most products do not get past.
    #[inline(never)]
    fn keep(&mut self, segment: &Segment, doc: usize, score: f32) {
        let hit =
            Hit { product: segment.ids[doc], version: segment.versions[doc], score: Bm25(score) };
        match &mut self.first {
            First::Best(top) => top.offer(hit),
            First::Ordered { order, keep, last_first } => {
                let placed = Placed { order: *order, price: segment.prices[doc], hit };
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
}

/// The first products in the order that was asked for.
enum First {
    Best(TopHits),
    Ordered { order: SortOrder, keep: usize, last_first: BinaryHeap<Placed> },
}

impl First {
    /// Whether a product of this score might be kept.
    #[inline]
    fn may_keep(&self, score: f32) -> bool {
        match self {
            Self::Best(top) => top.may_keep(score),
            Self::Ordered { keep, .. } => *keep > 0,
        }
    }
}

/// A product with its place in an order other than by relevance. Greater means further down.
struct Placed {
    order: SortOrder,
    price: Money,
    hit: Hit,
}

impl Ord for Placed {
    fn cmp(&self, other: &Self) -> Ordering {
        let dearer = self.price.amount.cmp(&other.price.amount);
        match self.order {
            SortOrder::PriceAscending => dearer,
            SortOrder::PriceDescending => dearer.reverse(),
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
