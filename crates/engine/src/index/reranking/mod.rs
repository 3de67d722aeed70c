//! The second stage of ranking: gathers the evidence about the best candidates of the first stage,
//! from which [`catalog::reranking`] computes their scores.
//!
//! Everything here depends on the query and on the products alone: neither on the page nor on the
//! number of segments.

mod attributes;
mod fitting;
mod names;
mod preference;
mod word_matches;

use std::sync::Arc;

use catalog::{
    analysis::{QueryTerms, for_each_title_word},
    fusion::QueryProfile,
    inference::{attributes::QueryAttributes, category::QueryCategories},
    reranking::{Evidence, QueryEvidence, none_agrees},
    tuning::Tuning,
};

pub(super) use self::fitting::{FitMatcher, FitQuery};
pub use self::preference::KindQuery;
use self::{
    attributes::AttributeMatcher,
    names::{NameMatcher, NameQuery},
    preference::{KindFit, KindMatcher, KindNames, nearest},
    word_matches::WordMatcher,
};
use super::{
    QueryVector,
    lexical::LexicalQuery,
    segment::{DocId, LiveSegment, WordPlace},
};
use crate::{
    embed::{StoredVector, Thing},
    inference::taxonomy,
    parallel::map_parts,
};

/// A thread for fewer candidates takes longer to start than it saves.
const MIN_PER_THREAD: usize = 50;

/// What the second stage compares products with.
#[derive(Clone)]
pub struct RerankQuery {
    /// The query's own vector, without interpolation; `None` without a model.
    pub vector: Option<QueryVector>,
    /// What the phrases nearest to the query stand for.
    pub things: Vec<Thing>,
    /// The query's terms by meaning.
    pub term_vectors: Vec<Option<StoredVector>>,
    /// The index of the term that names what the query asks for.
    pub head: Option<usize>,
    /// The attributes that the query asks for.
    pub attributes: QueryAttributes,
    /// The categories that the query may mean.
    pub categories: QueryCategories,
    /// What the query asks for without its attributes; `None` if it is not that simple.
    pub kind: Option<KindQuery>,
    /// The vectors of words.
    pub word_vectors: Option<Arc<dyn WordVectors>>,
}

/// The vectors of single words.
pub trait WordVectors: Send + Sync {
    /// Whether a place is in this table. Otherwise the word has to be looked up.
    fn contains(&self, place: WordPlace) -> bool;

    /// The place of an indexed word from now on.
    fn look_up(&self, word: &str) -> WordPlace;

    /// Compares words with the terms of a query: for each word its cosine with each term, 0 where it is not
    /// needed or the model knows nothing about the word.
    fn compare(&self, words: &[ComparedWord], terms: &[Option<StoredVector>]) -> Vec<f32>;
}

/// A word that is compared with terms of a query.
#[derive(Clone, Copy, Debug)]
pub struct ComparedWord {
    /// Where its vector is.
    pub place: WordPlace,
    /// The terms.
    pub terms: TermSet,
}

/// A set of terms of a query, a bit each. The last bit stands for all further terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TermSet(u64);

impl TermSet {
    fn bit(term: usize) -> u64 {
        1 << term.min(u64::BITS as usize - 1)
    }

    /// Adds a term by its index.
    pub fn insert(&mut self, term: usize) {
        self.0 |= Self::bit(term);
    }

    /// Whether a term is in the set. For the 64th term and later ones, whether any of them is.
    #[inline]
    pub fn contains(self, term: usize) -> bool {
        self.0 & Self::bit(term) != 0
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn extend(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl std::fmt::Debug for RerankQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RerankQuery").field("things", &self.things).finish_non_exhaustive()
    }
}

/// The index of the term that names what a query asks for: the first in head position.
pub fn head_term(text: &str, terms: &QueryTerms) -> Option<usize> {
    let mut head = None;
    for_each_title_word(text, |word, is_head| {
        if is_head && head.is_none() {
            let says = |words: &[Box<str>]| words.iter().any(|other| **other == *word);
            head = terms.terms().iter().position(|term| says(&term.alternatives[0].words));
        }
    });
    head
}

/// A candidate with what the first stage found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Considered {
    pub(super) segment: usize,
    pub(super) doc: DocId,
    pub(super) lexical: f32,
    /// The cosine with the interpolated vector; `None` for a product without a vector.
    pub(super) similarity: Option<f32>,
}

/// What was found about one candidate.
struct Found {
    evidence: Evidence,
    kind: Option<KindFit>,
    /// The least agreement with an attribute asked for.
    agreement: f32,
    /// How likely its category is what the query names; `None` if that is no known name.
    named_category: Option<f32>,
}

/// Gathers the evidence of a search.
pub(super) struct EvidenceReader<'a> {
    pub(super) segments: &'a [LiveSegment],
    pub(super) query: &'a RerankQuery,
    pub(super) lexical: &'a LexicalQuery<'a>,
    pub(super) terms: &'a QueryTerms,
}

impl EvidenceReader<'_> {
    /// The evidence about each candidate, in their order, which is by segment. The candidates are
    /// divided among at most `threads` threads.
    pub(super) fn read(&self, candidates: &[Considered], threads: usize) -> Vec<Evidence> {
        let names = NameQuery::new(&self.query.things);
        let kind = self.query.kind.as_ref().map(|kind| (&kind.vector, KindNames::new(kind)));
        let read_part = |part: &[Considered]| {
            let mut found: Vec<Found> = Vec::with_capacity(part.len());
            for group in part.chunk_by(|one, other| one.segment == other.segment) {
                self.read_segment(group, &names, kind.as_ref(), &mut found);
            }
            found
        };
        let found = map_parts(candidates, threads, MIN_PER_THREAD, read_part);
        let found: Vec<Found> = found.into_iter().flatten().collect();
        let similarities = found.iter().filter_map(|one| Some(one.kind?.similarity));
        let nearest = nearest(similarities.collect());
        let complete = |Found { evidence, kind, agreement, named_category }: Found| {
            let kind = kind.map(|kind| kind.evidence(nearest, agreement, named_category));
            Evidence { kind, ..evidence }
        };
        found.into_iter().map(complete).collect()
    }

    /// Reads the evidence about candidates of one segment.
    fn read_segment(
        &self,
        group: &[Considered],
        names: &NameQuery<'_>,
        kind: Option<&(&QueryVector, KindNames<'_>)>,
        found: &mut Vec<Found>,
    ) {
        let live = &self.segments[group[0].segment];
        let cosines = |vector: Option<&QueryVector>, unknown: f32| {
            let mut cosines = vec![unknown; group.len()];
            if let Some(vector) = vector {
                let docs = group.iter().map(|one| usize::from(one.doc)).zip(&mut cosines);
                live.vectors().cosines(vector, docs);
            }
            cosines
        };
        let own = cosines(self.query.vector.as_ref(), f32::NAN);
        let of_kind = cosines(kind.map(|(vector, _)| *vector), 0.0);
        let title = |one: &Considered| live.segment.title_words.of(usize::from(one.doc));
        let products: Vec<_> = group.iter().map(|one| (one.doc, title(one))).collect();
        let coverages = WordMatcher::new(self, group[0].segment).coverages(&products);
        let titles = products.iter().map(|(_, title)| *title);
        let named = NameMatcher::new(names, &live.segment, titles.clone()).matched(titles.clone());
        let attributes = AttributeMatcher::new(&self.query.attributes, &live.segment);
        let kinds = kind.map(|(_, names)| KindMatcher::new(names, &live.segment, titles));
        for (at, (one, (_, title))) in group.iter().zip(products).enumerate() {
            let coverage = coverages[at];
            // A product without a vector is ranked by its words.
            let phrase_similarity = one.similarity.unwrap_or(one.lexical);
            let agreement = attributes.of(one.doc);
            let (category, named_category) = self.categories(live, one.doc);
            let evidence = Evidence {
                lexical: one.lexical,
                similarity: if own[at].is_nan() { phrase_similarity } else { own[at] },
                phrase_similarity,
                soft_coverage: coverage.soft,
                attribute_coverage: coverage.in_attributes,
                names: named[at],
                head: coverage.head,
                attributes: agreement.evidence,
                category,
                kind: None,
            };
            let kind = kinds.as_ref().map(|kinds| kinds.of(title, of_kind[at]));
            found.push(Found { evidence, kind, agreement: agreement.least, named_category });
        }
    }

    /// How likely the query means the category of a product, 0 if either is unknown, and how likely it names
    /// that category, if it says a known name.
    fn categories(&self, live: &LiveSegment, doc: DocId) -> (f32, Option<f32>) {
        let (asked, taxonomy) = (&self.query.categories, taxonomy());
        let [likely, named] = live.segment.inferred.possible_categories(usize::from(doc));
        let agreement = likely.map_or(0.0, |category| asked.agreement(taxonomy, category));
        let names = |category| asked.names(taxonomy, category);
        let named = names(likely).zip(names(named));
        (agreement, named.map(|(likely, named)| likely.max(named)))
    }

    /// What the candidates, with the evidence about them, tell about the query as a whole.
    pub(super) fn query_evidence(
        &self,
        candidates: &[Considered],
        evidence: &[Evidence],
        profile: QueryProfile,
        tuning: &Tuning,
    ) -> QueryEvidence {
        const FEW: usize = 5;
        let similarity = |one: &Considered| one.similarity.unwrap_or(one.lexical);
        let mean = |mut best: Vec<(f32, f32)>| {
            // By similarity where matches are equal: not by position, which depends on segments.
            best.sort_unstable_by(|one, other| {
                other.0.total_cmp(&one.0).then_with(|| other.1.total_cmp(&one.1))
            });
            best.truncate(FEW);
            best.iter().map(|(_, similarity)| similarity).sum::<f32>() / best.len().max(1) as f32
        };
        let by_words = candidates.iter().filter(|one| one.lexical > 0.0);
        let by_words = mean(by_words.map(|one| (one.lexical, similarity(one))).collect());
        let by_meaning =
            mean(candidates.iter().map(|one| (similarity(one), similarity(one))).collect());
        let id =
            |one: &Considered| self.segments[one.segment].segment.ids.get(usize::from(one.doc));
        let best = candidates.iter().max_by(|one, other| {
            one.lexical.total_cmp(&other.lexical).then_with(|| id(other).cmp(&id(one)))
        });
        let title_coverage = best.filter(|best| best.lexical > 0.0).map_or(0.0, |best| {
            WordMatcher::new(self, best.segment).literal_coverage(best.doc).in_title
        });
        QueryEvidence {
            function_word_ratio: profile.function_word_ratio,
            phrase_similarity: tuning.fusion.lexical_weight.phrase_similarity_of(profile),
            agreement: if by_meaning > 0.0 { (by_words / by_meaning).max(0.0) } else { 1.0 },
            title_coverage,
            is_foreign: profile.is_foreign,
            none_agrees: none_agrees(evidence, &tuning.rerank.preference),
        }
    }
}
