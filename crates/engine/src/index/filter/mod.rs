//! Filters: which products can be results at all, whatever their score. They are exact.
//!
//! A product must be live, visible to the caller and within the price ranges ([`Filter`]), and
//! must not say what the query excludes ([`NegationMatches`]).

mod negation;
#[cfg(test)]
mod tests;

use catalog::access::Visibility;

pub(super) use self::negation::NegationMatches;
use super::{
    bits::{BitSet, ones},
    plan::Plan,
    segment::LiveSegment,
};

/// A segment with the products that match an exclusion.
#[derive(Clone, Copy)]
pub(super) struct FilteredSegment<'a> {
    pub(super) live: &'a LiveSegment,
    excluded: Option<&'a BitSet>,
}

impl<'a> FilteredSegment<'a> {
    /// The segments with their exclusions. `negations` is empty for a plan without exclusions.
    pub(super) fn zip(
        segments: &'a [LiveSegment],
        negations: &'a [NegationMatches],
    ) -> impl DoubleEndedIterator<Item = Self> {
        let excluded = |at| negations.get(at).map(|negation: &NegationMatches| &negation.matches);
        (0..segments.len()).map(move |at| Self { live: &segments[at], excluded: excluded(at) })
    }
}

/// The filters of a plan.
pub(super) struct Filter<'a> {
    plan: &'a Plan<'a>,
    /// A copy, since it is read for every block.
    visibility: Visibility,
    /// Whether there are price or negation filters; most queries have none.
    is_conditional: bool,
}

impl<'a> Filter<'a> {
    pub(super) fn of(plan: &'a Plan<'a>) -> Self {
        let is_conditional = !plan.price_ranges.is_empty() || !plan.exclusions.is_empty();
        Self { plan, visibility: plan.visibility, is_conditional }
    }

    /// Whether the deadline of the plan has passed.
    pub(super) fn is_timed_out(&self) -> bool {
        self.plan.is_timed_out()
    }

    /// Those of the products `matched` of a block that pass all filters.
    #[inline]
    pub(super) fn passing(&self, segment: FilteredSegment<'_>, block: usize, matched: u64) -> u64 {
        if matched == 0 {
            return 0;
        }
        let mut matched = matched & segment.live.visible_block(block, self.visibility);
        if !self.is_conditional {
            return matched;
        }
        if let Some(excluded) = segment.excluded {
            matched &= !excluded.block(block);
        }
        if self.plan.price_ranges.is_empty() {
            return matched;
        }
        let prices = segment.live.columns().prices(block);
        ones(matched)
            .filter(|at| self.plan.admits(prices[*at]))
            .fold(0, |passing, at| passing | 1 << at)
    }
}
