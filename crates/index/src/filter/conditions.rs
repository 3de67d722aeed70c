//! The conditions of a request's filter, evaluated on the columns of each segment.

use catalog::{
    product::{inferred::Attribute, price::Money},
    query::{
        filter::{AttributeTest, Condition},
        parser::PriceRange,
    },
};

use crate::{
    bits::BitSet,
    plan::Plan,
    segment::{LiveSegment, Segment},
};

/// The filter of a plan. Every condition on attributes or category is evaluated once, whatever the number of runs
/// that leave out one field or another.
pub(crate) struct CompiledFilter<'a> {
    columns: Vec<ColumnCondition<'a>>,
    prices: Vec<PriceCondition<'a>>,
    /// Price conditions of the text: they are never left out.
    of_text: &'a [PriceRange<'a>],
}

/// A condition on an attribute or on the category.
struct ColumnCondition<'a> {
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
pub(crate) struct Conditions<'a> {
    /// For each segment, the products that satisfy all conditions on attributes and category; empty
    /// without any.
    pub(super) eligible: Vec<BitSet>,
    pub(super) prices: PriceFilter<'a>,
}

/// Price conditions.
#[derive(Default)]
pub(crate) struct PriceFilter<'a> {
    all: Vec<&'a PriceRange<'a>>,
    none: Vec<&'a PriceRange<'a>>,
}

impl<'a> CompiledFilter<'a> {
    pub(crate) fn of(segments: &[LiveSegment], plan: &'a Plan<'a>) -> Self {
        let mut compiled =
            Self { columns: Vec::new(), prices: Vec::new(), of_text: &plan.price_ranges };
        let all = plan.filter.all.iter().map(|condition| (condition, false));
        let none = plan.filter.none.iter().map(|condition| (condition, true));
        for (condition, is_negated) in all.chain(none) {
            let satisfied = match condition {
                Condition::Price(constraint) => {
                    let range = PriceRange::of(constraint);
                    compiled.prices.push(PriceCondition { is_negated, range });
                    continue;
                }
                Condition::Attribute(name, test) | Condition::Required(name, test) => {
                    let inferred = Attribute::by_name(name.as_str())
                        .map(|attribute| (attribute, test.inferred_values(attribute)));
                    let select =
                        |live: &LiveSegment| select(&live.segment, name.as_str(), test, inferred);
                    segments.iter().map(select).collect()
                }
                Condition::Category(ranges) => {
                    segments.iter().map(|live| live.segment.inferred.within(ranges)).collect()
                }
            };
            let field = condition.field();
            compiled.columns.push(ColumnCondition { field, is_negated, satisfied });
        }
        compiled
    }

    /// All conditions, or all but those on one field.
    pub(crate) fn without(
        &'a self,
        segments: &[LiveSegment],
        field: Option<&str>,
    ) -> Conditions<'a> {
        let kept = |one: &&ColumnCondition<'_>| Some(one.field) != field;
        let columns: Vec<_> = self.columns.iter().filter(kept).collect();
        let eligible = segments.iter().enumerate().map(|(at, live)| {
            let mut eligible = BitSet::full(live.segment.len());
            for condition in &columns {
                match condition.is_negated {
                    false => eligible.intersect(&condition.satisfied[at]),
                    true => eligible.subtract(&condition.satisfied[at]),
                }
            }
            eligible
        });
        let eligible = if columns.is_empty() { Vec::new() } else { eligible.collect() };
        let prices: &[PriceCondition<'_>] = if field == Some("price") { &[] } else { &self.prices };
        let ranges = |negated: bool| {
            let some = prices.iter().filter(move |one| one.is_negated == negated);
            some.map(|one| &one.range)
        };
        let all = self.of_text.iter().chain(ranges(false)).collect();
        Conditions { eligible, prices: PriceFilter { all, none: ranges(true).collect() } }
    }
}

/// The products of a segment that satisfy a test: those whose merchant states it, and those with one
/// of the inferred values whose merchant states nothing.
fn select(
    segment: &Segment,
    name: &str,
    test: &AttributeTest,
    inferred: Option<(Attribute, u64)>,
) -> BitSet {
    let column = segment.attributes.get(name);
    let stated = column.map(|column| column.select(test));
    let mut selected = stated.unwrap_or_else(|| BitSet::new(segment.len()));
    if let Some((attribute, values)) = inferred.filter(|(_, values)| *values != 0) {
        let mut unstated = segment.inferred.any_of(attribute, values);
        if let Some(column) = column {
            unstated.subtract(&column.members());
        }
        selected.union(&unstated);
    }
    selected
}

impl Conditions<'_> {
    /// Whether a product satisfies the conditions.
    pub(super) fn admit(&self, segment: usize, doc: usize, price: Option<Money>) -> bool {
        self.eligible.get(segment).is_none_or(|eligible| eligible.get(doc))
            && self.prices.admits(price)
    }

    /// Number of products of the segments that are live, visible and satisfy the attribute
    /// conditions.
    pub(crate) fn eligible_count(&self, segments: &[LiveSegment], plan: &Plan<'_>) -> usize {
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
