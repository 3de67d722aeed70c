//! The first products of a result, in the order of the plan.

use std::{cmp::Ordering, collections::BinaryHeap};

use catalog::{
    product::{ProductId, attributes::Number, currency::Currency, price::Money},
    query::sort::{Direction, Sort},
    ranking::hits::{Hit, Score, TopK},
};

use crate::{plan::Plan, segment::LiveSegment};

/// Collects the first products in the order of a plan.
pub(super) enum TopHits<'a> {
    ByScore(TopK),
    Sorted(TopSorted<'a>),
}

/// Collects the first products in an order other than by score.
pub(super) struct TopSorted<'a> {
    order: &'a Sort,
    k: usize,
    /// By currency where prices are sorted; otherwise one group.
    groups: Vec<Group>,
}

/// Products that come one after the other. Which group comes first is known at the end.
struct Group {
    /// `None` where the order is not by price, or the product has no price.
    currency: Option<Currency>,
    /// How many products were offered.
    count: usize,
    last_first: BinaryHeap<SortedHit>,
}

impl<'a> TopHits<'a> {
    /// Keeps as many as the page of the plan needs.
    pub(super) fn of(plan: &'a Plan<'_>) -> Self {
        let k = plan.offset + plan.limit;
        match &plan.order {
            Sort::Relevance => Self::ByScore(TopK::new(k)),
            order => Self::Sorted(TopSorted { order, k, groups: Vec::new() }),
        }
    }

    /// Keeps the product if it is among the first so far.
    #[inline]
    pub(super) fn offer(&mut self, live: &LiveSegment, doc: usize, score: f32) {
        let may_keep = match self {
            Self::ByScore(top) => top.may_keep(score),
            Self::Sorted(top) => top.k > 0,
        };
        if may_keep {
            self.keep(live, doc, score);
        }
    }

    /// The kept hits without the first `offset`, in order.
    pub(super) fn into_page(self, offset: usize) -> Vec<Hit> {
        match self {
            Self::ByScore(top) => top.into_page(offset),
            Self::Sorted(top) => top.into_page(offset),
        }
    }

    /// Not inlined into [`Self::offer`]: few products get here.
    #[inline(never)]
    fn keep(&mut self, live: &LiveSegment, doc: usize, score: f32) {
        let (product, version) = (live.segment.ids.get(doc), live.columns().version(doc));
        let hit = Hit { product, version, score: Score(score) };
        match self {
            Self::ByScore(top) => top.offer(hit),
            Self::Sorted(top) => top.offer(live, doc, hit),
        }
    }
}

impl TopSorted<'_> {
    fn offer(&mut self, live: &LiveSegment, doc: usize, hit: Hit) {
        let mut currency = None;
        let value = match self.order {
            Sort::Relevance => None,
            Sort::Newest | Sort::Oldest => Some(SortValue::Id(hit.product)),
            Sort::Price(_) => {
                let price = live.columns().price(doc);
                currency = price.map(|price| price.currency);
                price.map(SortValue::Price)
            }
            Sort::Attribute(name, _) => {
                let numbers = live.segment.attributes.get(name.as_str());
                let number = numbers.and_then(|column| column.numbers()?.of(doc));
                number.map(SortValue::Number)
            }
        };
        let is_descending = matches!(
            self.order,
            Sort::Newest
                | Sort::Price(Direction::Descending)
                | Sort::Attribute(_, Direction::Descending)
        );
        let at = self.groups.iter().position(|group| group.currency == currency);
        let at = at.unwrap_or_else(|| {
            self.groups.push(Group { currency, count: 0, last_first: BinaryHeap::new() });
            self.groups.len() - 1
        });
        self.groups[at].offer(SortedHit { value, is_descending, hit }, self.k);
    }

    /// The most frequent currency first; products without a price last.
    fn into_page(mut self, offset: usize) -> Vec<Hit> {
        self.groups.sort_by(|one, other| {
            let by_count = || other.count.cmp(&one.count);
            let code = |group: &Group| group.currency.map(|currency| currency.code().to_owned());
            let is_last = one.currency.is_none().cmp(&other.currency.is_none());
            is_last.then_with(by_count).then_with(|| code(one).cmp(&code(other)))
        });
        let hits = self.groups.into_iter().flat_map(|group| group.last_first.into_sorted_vec());
        hits.take(self.k).skip(offset).map(|sorted| sorted.hit).collect()
    }
}

impl Group {
    fn offer(&mut self, new: SortedHit, k: usize) {
        self.count += 1;
        if self.last_first.len() < k {
            self.last_first.push(new);
        } else if let Some(mut last) = self.last_first.peek_mut()
            && new < *last
        {
            *last = new;
        }
    }
}

/// What products are sorted by; of one kind within an order.
#[derive(Clone, Copy)]
enum SortValue {
    Id(ProductId),
    /// Within a currency.
    Price(Money),
    Number(Number),
}

impl SortValue {
    fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Id(one), Self::Id(another)) => one.cmp(&another),
            (Self::Price(one), Self::Price(another)) => one.amount.cmp(&another.amount),
            (Self::Number(one), Self::Number(another)) => one.cmp(&another),
            _ => Ordering::Equal,
        }
    }
}

/// A hit with its sort key. Greater means further down; ties are ordered by rank.
struct SortedHit {
    /// `None` comes last in either direction.
    value: Option<SortValue>,
    is_descending: bool,
    hit: Hit,
}

impl Ord for SortedHit {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_value = match (self.value, other.value) {
            (Some(one), Some(another)) if self.is_descending => another.compare(one),
            (Some(one), Some(another)) => one.compare(another),
            (one, another) => another.is_some().cmp(&one.is_some()),
        };
        by_value.then_with(|| self.hit.rank(&other.hit))
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
