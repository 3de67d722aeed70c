//! Products of the right kind that have every attribute asked for: "navy armchair" prefers armchairs
//! in navy to other armchairs and to other navy things.
//!
//! The query without its attributes is its *kind*. A product is of that kind if its vector is about
//! as near as the nearest, if its title names the kind, best in head position, or, however it is named,
//! if it is near enough and its category is that of the kind: the title says the name of a category
//! below (*beret* for "hat"), or the category was inferred.

use catalog::ranking::reranking::KindEvidence;

use super::names::{NameMatcher, NameQuery};
use crate::{
    rerank_query::KindQuery,
    segment::{Segment, TitleWord},
};

/// How many of the nearest products define what is near.
const NEAREST: usize = 3;

/// How well a product fits a kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KindFit {
    /// The cosine with the kind's vector.
    pub(super) similarity: f32,
    /// Whether the title says a name of the kind, from 0 to 1.
    named: f32,
    /// Whether the title says the query's own words for it.
    own: f32,
    /// Whether the title says a name of a category below that of the kind.
    subcategory: f32,
}

/// The names of a kind, prepared for all segments.
pub(super) struct KindNames<'a> {
    named: NameQuery<'a>,
    own: NameQuery<'a>,
    subcategories: NameQuery<'a>,
}

impl<'a> KindNames<'a> {
    pub(super) fn new(kind: &'a KindQuery) -> Self {
        let own = NameQuery::new(std::slice::from_ref(&kind.own));
        let subcategories = NameQuery::new(&kind.categories);
        Self { named: NameQuery::new(&kind.things), own, subcategories }
    }
}

/// Compares the products of one segment with a kind.
pub(super) struct KindMatcher<'a> {
    named: NameMatcher<'a>,
    own: NameMatcher<'a>,
    subcategories: NameMatcher<'a>,
}

impl<'a> KindMatcher<'a> {
    /// The matcher for some titles of a segment.
    pub(super) fn new<'t>(
        names: &'a KindNames<'a>,
        segment: &Segment,
        titles: impl Iterator<Item = &'t [TitleWord]> + Clone,
    ) -> Self {
        let of = |query| NameMatcher::new(query, segment, titles.clone());
        let [named, own, subcategories] = [&names.named, &names.own, &names.subcategories].map(of);
        Self { named, own, subcategories }
    }

    /// The fit of a product with this title and this cosine with the kind's vector.
    pub(super) fn of(&self, title: &[TitleWord], similarity: f32) -> KindFit {
        let Self { named, own, subcategories } = self;
        let [named, own, subcategory] =
            [named, own, subcategories].map(|names| names.at_head(title));
        // A title may name several of the categories.
        KindFit { similarity, named, own, subcategory: subcategory.min(1.0) }
    }
}

/// The similarity of the nearest products, to which others are compared.
pub(super) fn nearest(mut similarities: Vec<f32>) -> f32 {
    similarities.sort_unstable_by(|one, other| other.total_cmp(one));
    similarities.truncate(NEAREST);
    similarities.iter().sum::<f32>() / similarities.len().max(1) as f32
}

impl KindFit {
    /// The fit relative to the nearest products.
    pub(super) fn evidence(
        &self,
        nearest: f32,
        agreement: f32,
        category: Option<f32>,
    ) -> KindEvidence {
        let nearness = if nearest > 0.0 { (self.similarity / nearest).max(0.0) } else { 0.0 };
        let Self { named, own: own_words, subcategory, .. } = *self;
        KindEvidence { nearness, named, own_words, subcategory, agreement, category }
    }
}
