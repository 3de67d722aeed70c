//! The categories that a query may mean.

use std::ops::Range;

use super::taxonomy::Taxonomy;
use crate::product::inferred::CategoryIndex;

/// What a query may mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryCategories {
    likely: Vec<(CategoryIndex, f32)>,
    /// Of the levels two and three, ascending by category.
    shares: Vec<Share>,
    /// The categories of what the query names, one for most names, with their probabilities relative to the
    /// likeliest.
    named: Vec<(CategoryIndex, f32)>,
}

/// How likely a query means a category.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    category: CategoryIndex,
    share: f32,
    /// Whether a few of the categories below it are likely, and not all of them a little.
    is_decided: bool,
}

impl Share {
    /// `below` are the likely ones of the categories directly below it.
    pub(super) fn new(category: CategoryIndex, share: f32, below: &[(CategoryIndex, f32)]) -> Self {
        let likely: f32 = below.iter().map(|(_, share)| share).sum();
        Self { category, share, is_decided: likely >= share / 2.0 }
    }
}

impl QueryCategories {
    pub(super) fn new(
        likely: Vec<(CategoryIndex, f32)>,
        mut shares: Vec<Share>,
        named: Vec<(CategoryIndex, f32)>,
    ) -> Self {
        shares.sort_by_key(|share| share.category);
        Self { likely, shares, named: relative_to_likeliest(named) }
    }

    /// Keeps a category and those below it: what the query asks for is one of them.
    pub fn restrict_to(&mut self, taxonomy: &Taxonomy, above: CategoryIndex) {
        let below = taxonomy.below(above);
        self.likely.retain(|(category, _)| below.contains(&category.0));
        self.shares.retain(|share| below.contains(&share.category.0));
        self.named.retain(|(category, _)| below.contains(&category.0));
        self.named = relative_to_likeliest(std::mem::take(&mut self.named));
    }

    /// The category that the query means: the likeliest of those that it names, or what is above all of
    /// them; if it names none, the likeliest, if it is as likely as all others together.
    pub fn category(&self, taxonomy: &Taxonomy) -> Option<CategoryIndex> {
        if self.named.is_empty() {
            let likely = self.likely.first().filter(|(_, share)| *share >= 0.5);
            return likely.map(|(category, _)| *category);
        }
        let likeliest = self.named.iter().filter(|(_, share)| *share >= 1.0);
        let likeliest: Vec<CategoryIndex> = likeliest.map(|(category, _)| *category).collect();
        let first = *likeliest.iter().min_by_key(|category| taxonomy.depth(**category))?;
        let name = |category| taxonomy.path(category).pop();
        // A category for children or for pets has the name of the one for all.
        if likeliest.iter().all(|category| name(*category) == name(first)) {
            return Some(first);
        }
        let is_above_all = |above: &CategoryIndex| {
            likeliest.iter().all(|category| taxonomy.below(*above).contains(&category.0))
        };
        taxonomy.ancestors(first).filter(is_above_all).max_by_key(|above| taxonomy.depth(*above))
    }

    /// How likely a product of this category is what the query names, relative to the likeliest category;
    /// `None` if the query says no name that is known.
    pub fn names(&self, taxonomy: &Taxonomy, product: Option<CategoryIndex>) -> Option<f32> {
        let contains = |one: CategoryIndex| {
            product.is_some_and(|product| taxonomy.below(one).contains(&product.0))
        };
        let named = self.named.iter().filter(|(one, _)| contains(*one));
        (!self.named.is_empty()).then(|| named.map(|(_, share)| *share).fold(0.0, f32::max))
    }

    /// The categories of what the query names, with their probabilities relative to the likeliest.
    pub fn named(&self) -> &[(CategoryIndex, f32)] {
        &self.named
    }

    /// Likely categories with their probabilities, the most likely first, none of them below
    /// another.
    pub fn likely(&self) -> &[(CategoryIndex, f32)] {
        &self.likely
    }

    /// How likely the query means the category of a product, from 0 to 1: the mean of the levels two
    /// and three. Deeper levels tell too little: "pants" may be trousers of any cut.
    pub fn agreement(&self, taxonomy: &Taxonomy, product: CategoryIndex) -> f32 {
        let above = taxonomy.level_two(product);
        let Some(two) = self.find(above) else { return 0.0 };
        let mut ancestors = taxonomy.ancestors(product);
        match ancestors.find(|one| taxonomy.parent(*one) == Some(above)) {
            Some(three) if two.is_decided => {
                (two.share + self.find(three).map_or(0.0, |three| three.share)) / 2.0
            }
            _ => two.share,
        }
    }

    /// Whether the query says a name that is known.
    pub fn is_named(&self) -> bool {
        !self.named.is_empty()
    }

    /// The numbers of all categories that the query names with at least this probability, which is more than
    /// 0, or, if it says no name that is known, of those with at least this agreement, ascending.
    pub fn close(&self, taxonomy: &Taxonomy, at_least: f32) -> Vec<Range<u16>> {
        let mut close = match self.is_named() {
            true => self.named_ranges(taxonomy, at_least),
            false => self.agreeing_ranges(taxonomy, at_least),
        };
        close.sort_unstable_by_key(|range: &Range<u16>| range.start);
        close.dedup_by(|next, before| {
            let is_adjacent = before.end >= next.start;
            before.end = if is_adjacent { before.end.max(next.end) } else { before.end };
            is_adjacent
        });
        close
    }

    fn named_ranges(&self, taxonomy: &Taxonomy, at_least: f32) -> Vec<Range<u16>> {
        let named = self.named.iter().map(|(category, _)| *category);
        let is_close = |one: &CategoryIndex| self.names(taxonomy, Some(*one)) >= Some(at_least);
        named.filter(is_close).map(|category| taxonomy.below(category)).collect()
    }

    fn agreeing_ranges(&self, taxonomy: &Taxonomy, at_least: f32) -> Vec<Range<u16>> {
        let mut close = Vec::new();
        for Share { category, share, is_decided } in self.shares.iter().copied() {
            let depth = taxonomy.depth(category);
            let is_close = share >= at_least;
            if depth == 2 && !is_decided {
                close.extend(is_close.then(|| taxonomy.below(category)));
            } else if depth <= 2 {
                close.extend(is_close.then_some(category.0..category.0 + 1));
            }
            if depth == 2 && is_decided {
                let below = taxonomy.children(category);
                let below = below.filter(|one| self.agreement(taxonomy, *one) >= at_least);
                close.extend(below.map(|three| taxonomy.below(three)));
            }
        }
        close
    }

    fn find(&self, category: CategoryIndex) -> Option<Share> {
        let at = self.shares.binary_search_by_key(&category, |share| share.category).ok()?;
        Some(self.shares[at])
    }
}

/// Probabilities relative to the greatest.
fn relative_to_likeliest(mut named: Vec<(CategoryIndex, f32)>) -> Vec<(CategoryIndex, f32)> {
    let greatest = named.iter().map(|(_, share)| *share).fold(f32::MIN_POSITIVE, f32::max);
    named.iter_mut().for_each(|(_, share)| *share /= greatest);
    named
}
