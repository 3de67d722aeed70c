//! Filters: which products can be results at all, whatever their score. They are exact.
//!
//! A product must be live, visible to the caller, satisfy the conditions of text and request
//! ([`Conditions`]), and must not say what the query excludes ([`NegationMatches`]). Conditions
//! on attributes and category are evaluated before anything is scored, prices for each product that
//! may be a result.

mod conditions;
mod negation;
#[cfg(test)]
mod tests;

use catalog::product::access::Visibility;

pub(super) use self::{
    conditions::{CompiledFilter, Conditions},
    negation::NegationMatches,
};
use super::{
    bits::{BitSet, ones},
    plan::Plan,
    segment::LiveSegment,
};

/// A segment with the products that its columns or an exclusion decide about.
#[derive(Clone, Copy)]
pub(super) struct FilteredSegment<'a> {
    pub(super) live: &'a LiveSegment,
    eligible: Option<&'a BitSet>,
    excluded: Option<&'a BitSet>,
}

impl<'a> FilteredSegment<'a> {
    /// The segments with what decides about their products. `negations` is empty for a plan without
    /// exclusions.
    pub(super) fn zip(
        segments: &'a [LiveSegment],
        conditions: &'a Conditions<'_>,
        negations: &'a [NegationMatches],
    ) -> impl DoubleEndedIterator<Item = Self> {
        let excluded = |at| negations.get(at).map(|negation: &NegationMatches| &negation.matches);
        (0..segments.len()).map(move |at| Self {
            live: &segments[at],
            eligible: conditions.eligible.get(at),
            excluded: excluded(at),
        })
    }
}

impl<'a> FilteredSegment<'a> {
    /// The products that satisfy the attribute conditions, if they are so few that testing each
    /// posting is cheaper than scoring it. Measured with `bench-micro index`.
    pub(super) fn few(&self) -> Option<&'a BitSet> {
        const FEW: usize = 4;
        self.eligible.filter(|eligible| eligible.count() * FEW <= self.live.segment.len())
    }
}

/// The filters of a run.
pub(super) struct Filter<'a> {
    plan: &'a Plan<'a>,
    conditions: &'a Conditions<'a>,
    /// A copy, since it is read for every block.
    visibility: Visibility,
    has_prices: bool,
}

impl<'a> Filter<'a> {
    pub(super) fn of(plan: &'a Plan<'a>, conditions: &'a Conditions<'a>) -> Self {
        let has_prices = !conditions.prices.is_empty();
        Self { plan, conditions, visibility: plan.visibility, has_prices }
    }

    /// Whether the deadline of the plan has passed.
    pub(super) fn is_timed_out(&self) -> bool {
        self.plan.is_timed_out()
    }

    /// The products of a block that may pass: all that do, and those that only their price keeps
    /// out.
    #[inline]
    pub(super) fn open(&self, segment: FilteredSegment<'_>, block: usize) -> u64 {
        let mut open = segment.live.visible_block(block, self.visibility);
        if let Some(eligible) = segment.eligible {
            open &= eligible.block(block);
        }
        if let Some(excluded) = segment.excluded {
            open &= !excluded.block(block);
        }
        open
    }

    /// Those of the products `matched` of a block that pass all filters.
    #[inline]
    pub(super) fn passing(&self, segment: FilteredSegment<'_>, block: usize, matched: u64) -> u64 {
        if matched == 0 {
            return 0;
        }
        let matched = matched & self.open(segment, block);
        if !self.has_prices {
            return matched;
        }
        let prices = segment.live.columns().prices(block);
        ones(matched)
            .filter(|at| self.conditions.prices.admits(prices[*at].get()))
            .fold(0, |passing, at| passing | 1 << at)
    }
}
