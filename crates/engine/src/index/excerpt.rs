//! How are a few products of a large shop ranked? Like all of them would be: by the same code, with
//! the statistics of the whole shop.

use std::collections::HashMap;

use catalog::{
    access::Visibility,
    product::ProductId,
    ranking::{CorpusStats, Hit},
};

use super::{
    Entry, Matches, Plan, QueryVector, lexical::Statistics, live::LiveSegment, search, segments_of,
    similar,
};

/// Some products of a shop, and what is known of all that a reader gets to see.
pub struct CandidateIndex {
    segments: Vec<LiveSegment>,
    corpus: CorpusStats,
    products_with: HashMap<Box<str>, u64>,
}

impl CandidateIndex {
    /// These products, in ascending order of id, of a shop with these sums over the products in
    /// visibility. The map says how many of those say each word that will be asked for.
    pub fn new(
        entries: &[Entry<'_>],
        corpus: CorpusStats,
        products_with: HashMap<Box<str>, u64>,
    ) -> Self {
        let segments = segments_of(entries.iter().map(|entry| (entry, entry.vector.known())));
        Self { segments, corpus, products_with }
    }

    /// The products of the excerpt that satisfy a plan, in its order, each with the score that it
    /// has among all products of the shop.
    pub fn search<E>(
        &self,
        plan: &Plan<'_>,
        judge: impl FnOnce(&[ProductId]) -> Result<Vec<ProductId>, E>,
    ) -> Result<Matches, E> {
        let (visibility, products_with) = (plan.visibility, Some(&self.products_with));
        let statistics = Statistics { visibility, corpus: &self.corpus, products_with };
        search::search(&self.segments, &statistics, plan, judge)
    }

    /// The visible products of the excerpt that are nearest to this one, which is among them.
    pub fn similar(&self, id: ProductId, visibility: Visibility, limit: usize) -> Vec<Hit> {
        similar::similar(&self.segments, id, visibility, limit)
    }
}

impl QueryVector {
    /// The numbers that products' numbers are compared with.
    pub(crate) fn numbers(&self) -> &[i8] {
        &self.numbers
    }
}

#[cfg(test)]
mod tests {
    use catalog::{
        analysis::{QueryTerms, for_each_word},
        change::Seq,
        price::Price,
    };

    use super::*;
    use crate::index::{EntryVector, IndexChange, ShopIndex, snapshot::plan_of};

    #[test]
    fn a_product_scores_in_an_excerpt_what_it_scores_in_the_shop() {
        let price = Price::parse("$5").unwrap().money();
        let titles = ["Red sofa", "Blue sofa bed", "Red lamp", "Desk lamp for a sofa", "Chair"];
        let entry = |(title, number): (&'static str, u64)| Entry {
            id: ProductId::new(number).unwrap(),
            version: Seq(number),
            hidden: false,
            price,
            title,
            description: "Soft and red, for every home",
            vector: EntryVector::Missing,
        };
        let all: Vec<Entry<'static>> = titles.into_iter().zip(1..).map(entry).collect();
        let index = ShopIndex::empty();
        let changes: Vec<_> = all.iter().copied().map(IndexChange::Upsert).collect();
        index.apply(&changes, Seq(9));
        let mut products_with: HashMap<Box<str>, u64> = HashMap::new();
        for entry in &all {
            let mut words = std::collections::BTreeSet::new();
            for text in [entry.title, entry.description] {
                for_each_word(text, |word| {
                    words.insert(Box::<str>::from(word));
                });
            }
            words.into_iter().for_each(|word| *products_with.entry(word).or_default() += 1);
        }
        let snapshot = index.snapshot();
        let words = QueryTerms::of("red sofa bed");
        let plan = plan_of(&words, Visibility::VisibleOnly, 0, 10);
        let judge = |_: &[ProductId]| Ok::<_, std::convert::Infallible>(Vec::new());
        let Ok(whole) = snapshot.search(&plan, judge);
        let some: Vec<_> = all.iter().copied().filter(|entry| entry.id.get() % 2 == 0).collect();
        let corpus = *snapshot.corpus(Visibility::VisibleOnly);
        let Ok(part) = CandidateIndex::new(&some, corpus, products_with).search(&plan, judge);
        let expected: Vec<_> =
            whole.hits.iter().filter(|hit| hit.product.get() % 2 == 0).copied().collect();
        assert_eq!(part.hits, expected);
        assert_eq!(part.hits.len(), 2);
    }
}
