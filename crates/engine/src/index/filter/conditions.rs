//! The conditions of a request's filter, evaluated on the columns of each segment.

use catalog::{filter::Condition, price::Money, query_parser::PriceRange};

use crate::index::{bits::BitSet, plan::Plan, segment::LiveSegment};

/// The filter of a plan. Every attribute condition is evaluated once, whatever the number of runs
/// that leave out one field or another.
pub(in crate::index) struct CompiledFilter<'a> {
    attributes: Vec<AttributeCondition<'a>>,
    prices: Vec<PriceCondition<'a>>,
    /// Price conditions of the text: they are never left out.
    of_text: &'a [PriceRange<'a>],
}

struct AttributeCondition<'a> {
    field: &'a str,
    /// Whether it must not hold.
    is_negated: bool,
    /// For each segment, the products that satisfy it.
    satisfied: Vec<BitSet>,
}

struct PriceCondition<'a> {
    is_negated: bool,
    range: PriceRange<'a>,
}

/// The conditions that one run applies.
pub(in crate::index) struct Conditions<'a> {
    /// For each segment, the products that satisfy all attribute conditions; empty without any.
    pub(super) eligible: Vec<BitSet>,
    pub(super) prices: PriceFilter<'a>,
}

/// Price conditions.
#[derive(Default)]
pub(in crate::index) struct PriceFilter<'a> {
    all: Vec<&'a PriceRange<'a>>,
    none: Vec<&'a PriceRange<'a>>,
}

impl<'a> CompiledFilter<'a> {
    pub(in crate::index) fn of(segments: &[LiveSegment], plan: &'a Plan<'a>) -> Self {
        let mut compiled =
            Self { attributes: Vec::new(), prices: Vec::new(), of_text: &plan.price_ranges };
        let all = plan.filter.all.iter().map(|condition| (condition, false));
        let none = plan.filter.none.iter().map(|condition| (condition, true));
        for (condition, is_negated) in all.chain(none) {
            match condition {
                Condition::Price(constraint) => {
                    let range = PriceRange::of(constraint);
                    compiled.prices.push(PriceCondition { is_negated, range });
                }
                Condition::Attribute(name, test) => {
                    let satisfied = segments.iter().map(|live| {
                        let column = live.segment.attributes.get(name.as_str());
                        column
                            .map_or_else(|| BitSet::new(live.segment.len()), |one| one.select(test))
                    });
                    let (field, satisfied) = (name.as_str(), satisfied.collect());
                    compiled.attributes.push(AttributeCondition { field, is_negated, satisfied });
                }
            }
        }
        compiled
    }

    /// All conditions, or all but those on one field.
    pub(in crate::index) fn without(
        &'a self,
        segments: &[LiveSegment],
        field: Option<&str>,
    ) -> Conditions<'a> {
        let kept = |one: &&AttributeCondition<'_>| Some(one.field) != field;
        let attributes: Vec<_> = self.attributes.iter().filter(kept).collect();
        let eligible = segments.iter().enumerate().map(|(at, live)| {
            let mut eligible = BitSet::full(live.segment.len());
            for condition in &attributes {
                match condition.is_negated {
                    false => eligible.intersect(&condition.satisfied[at]),
                    true => eligible.subtract(&condition.satisfied[at]),
                }
            }
            eligible
        });
        let eligible = if attributes.is_empty() { Vec::new() } else { eligible.collect() };
        let prices: &[PriceCondition<'_>] = if field == Some("price") { &[] } else { &self.prices };
        let ranges = |negated: bool| {
            let some = prices.iter().filter(move |one| one.is_negated == negated);
            some.map(|one| &one.range)
        };
        let all = self.of_text.iter().chain(ranges(false)).collect();
        Conditions { eligible, prices: PriceFilter { all, none: ranges(true).collect() } }
    }
}

impl Conditions<'_> {
    /// Whether a product satisfies the conditions.
    pub(super) fn admit(&self, segment: usize, doc: usize, price: Option<Money>) -> bool {
        self.eligible.get(segment).is_none_or(|eligible| eligible.get(doc))
            && self.prices.admits(price)
    }

    /// Number of products of the segments that are live, visible and satisfy the attribute
    /// conditions.
    pub(in crate::index) fn eligible_count(
        &self,
        segments: &[LiveSegment],
        plan: &Plan<'_>,
    ) -> usize {
        if self.eligible.is_empty() {
            return segments.iter().map(|live| live.visible_count(plan.visibility)).sum();
        }
        let count = |(live, eligible): (&LiveSegment, &BitSet)| {
            let blocks = eligible.blocks().enumerate();
            let seen = blocks.map(|(at, block)| block & live.visible_block(at, plan.visibility));
            seen.map(|block| block.count_ones() as usize).sum::<usize>()
        };
        segments.iter().zip(&self.eligible).map(count).sum()
    }
}

impl PriceFilter<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty() && self.none.is_empty()
    }

    /// Whether a price satisfies every condition. `None`, an unparsable price, is within no range.
    #[inline]
    pub(super) fn admits(&self, price: Option<Money>) -> bool {
        let is_within = |range: &&PriceRange<'_>| price.is_some_and(|price| range.admits(price));
        self.all.iter().all(is_within) && !self.none.iter().any(is_within)
    }
}
