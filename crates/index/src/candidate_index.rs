//! A temporary index over a few candidates of a shop that is searched inside the database. It ranks
//! them with the code of the in-memory index and the statistics of the whole shop.

use std::collections::HashMap;

use catalog::{
    product::{ProductId, access::Visibility},
    ranking::{bm25f::CorpusStats, hits::Hit},
};

use super::{
    entry::{DocVectors, Entry},
    lexical::Statistics,
    plan::Plan,
    scoring::{self, Matches},
    segment::{LiveSegment, build_segments},
};
use crate::parallel::map_parts;

/// Candidates that are worth another thread to be indexed.
const MIN_PER_THREAD: usize = 50;

/// Some products of a shop, with statistics of all its visible products.
pub struct CandidateIndex {
    segments: Vec<LiveSegment>,
    corpus: CorpusStats,
    doc_freqs: HashMap<Box<str>, u64>,
}

impl CandidateIndex {
    /// Indexes products, in ascending order of id, on up to `threads` threads. `corpus` and
    /// `doc_freqs` are those of all products of the shop visible; `doc_freqs` contains every term of
    /// the query that occurs in them.
    pub fn new(
        entries: &[Entry<'_>],
        threads: usize,
        corpus: CorpusStats,
        doc_freqs: HashMap<Box<str>, u64>,
    ) -> Self {
        let build = |part: &[Entry<'_>]| {
            build_segments(part.iter().map(|entry| {
                (entry, entry.vectors.known().map_or_else(DocVectors::default, Into::into))
            }))
        };
        let segments = map_parts(entries, threads, MIN_PER_THREAD, build);
        Self { segments: segments.into_iter().flatten().collect(), corpus, doc_freqs }
    }

    /// The candidates that satisfy a plan, in its order, each with the score that it has among all
    /// products of the shop. `verify` is that of [`super::Snapshot::search`].
    pub fn search<E>(
        &self,
        plan: &Plan<'_>,
        verify: impl FnMut(&[ProductId]) -> Result<Vec<ProductId>, E>,
    ) -> Result<Matches, E> {
        let (visibility, doc_freqs) = (plan.visibility, Some(&self.doc_freqs));
        let statistics = Statistics { visibility, corpus: &self.corpus, doc_freqs };
        scoring::search(&self.segments, &statistics, plan, verify)
    }

    /// The candidates visible that are most similar to one of them.
    pub fn similar(&self, id: ProductId, visibility: Visibility, limit: usize) -> Vec<Hit> {
        scoring::similar(&self.segments, id, visibility, limit)
    }
}

#[cfg(test)]
mod tests {
    use catalog::{
        product::{change::Seq, price::Price},
        text::analysis::{QueryTerms, for_each_word},
    };

    use super::*;
    use crate::{EntryVectors, IndexChange, ShopIndex, snapshot::plan_of};

    #[test]
    fn a_candidate_has_the_score_that_it_has_in_the_whole_shop() {
        let price = Price::parse("$5").unwrap().money();
        let titles = ["Red sofa", "Blue sofa bed", "Red lamp", "Desk lamp for a sofa", "Chair"];
        let entry = |(title, number): (&'static str, u64)| Entry {
            id: ProductId::new(number).unwrap(),
            version: Seq(number),
            hidden: false,
            price,
            title,
            description: "Soft and red, for every home",
            key: None,
            attributes: catalog::product::attributes::Attributes::none(),
            inferred: catalog::product::inferred::Inferred::default(),
            vectors: EntryVectors::Missing,
        };
        let all: Vec<Entry<'static>> = titles.into_iter().zip(1..).map(entry).collect();
        let index = ShopIndex::empty();
        let changes: Vec<_> = all.iter().copied().map(IndexChange::Upsert).collect();
        index.apply(&changes, Seq(9));
        let mut doc_freqs: HashMap<Box<str>, u64> = HashMap::new();
        for entry in &all {
            let mut words = std::collections::BTreeSet::new();
            for text in [entry.title, entry.description] {
                for_each_word(text, |word| {
                    words.insert(Box::<str>::from(word));
                });
            }
            words.into_iter().for_each(|word| *doc_freqs.entry(word).or_default() += 1);
        }
        let snapshot = index.snapshot();
        let words = QueryTerms::of("red sofa bed");
        let plan = plan_of(&words, Visibility::VisibleOnly, 0, 10);
        let verify = |_: &[ProductId]| Ok::<_, std::convert::Infallible>(Vec::new());
        let Ok(whole) = snapshot.search(&plan, verify);
        let some: Vec<_> = all.iter().copied().filter(|entry| entry.id.get() % 2 == 0).collect();
        let corpus = *snapshot.corpus(Visibility::VisibleOnly);
        let Ok(part) = CandidateIndex::new(&some, 1, corpus, doc_freqs).search(&plan, verify);
        let expected: Vec<_> =
            whole.hits.iter().filter(|hit| hit.product.get() % 2 == 0).copied().collect();
        assert_eq!(part.hits, expected);
        assert_eq!(part.hits.len(), 2);
    }
}
