//! Lexical queries: how well the terms of a query match each product (BM25F plus bigrams).
//!
//! A query is evaluated term at a time: the postings of a segment are added up in a dense array of
//! scores. A term may have several variants (spellings, compounds, units); the best variant of a
//! product counts.

mod explain;
mod occurrences;
mod vocabulary;

use std::{cmp::Ordering, collections::HashMap, ops::Range};

use catalog::{
    product::access::Visibility,
    ranking::bm25f::{Bm25Params, Bm25Scorer, CorpusStats, TermFreqs},
    text::analysis::{Bigram, QueryTerms, Term},
};

use super::{
    bits::BitSet,
    segment::{DocId, LiveSegment, MAX_PRODUCTS, Postings},
};

pub use self::vocabulary::{function_words, language_by};
pub(super) use self::{
    occurrences::{Occurrence, Place},
    vocabulary::{is_known, language, languages, with_vocabulary},
};

/// One score per product of a segment.
pub(super) type Scores = [f32; MAX_PRODUCTS];

/// What scores are computed from: statistics of all products of the shop that are visible.
pub(super) struct Statistics<'a> {
    pub(super) visibility: Visibility,
    pub(super) corpus: &'a CorpusStats,
    /// Document frequencies by term; `None` where the segments hold all products of the shop and
    /// the frequencies are counted.
    pub(super) doc_freqs: Option<&'a HashMap<Box<str>, u64>>,
}

/// Some products of a segment.
#[derive(Clone, Copy)]
struct SegmentPart<'a> {
    segment: usize,
    docs: &'a Range<usize>,
}

/// A query with the postings of its terms in each segment.
pub(super) struct LexicalQuery<'a> {
    scorer: Bm25Scorer,
    segments: &'a [LiveSegment],
    /// By segment, then by word number (see [`distinct_words`]).
    postings: Vec<Vec<Option<Postings<'a>>>>,
    /// The terms that occur in the shop.
    terms: Vec<QueryTerm>,
    /// The sum of the weights of all terms, whether they occur in the shop or not.
    total_weight: f32,
    /// The weight of a term that no product contains.
    unknown_weight: f32,
    /// The factor that maps scores to `[0, 1]`.
    scale: f32,
    bigram_weight: f32,
    /// For every two adjacent terms, the bigrams that they may form in a title.
    bigrams: Vec<Vec<Bigram>>,
}

/// A term with the variants that occur in the shop.
struct QueryTerm {
    /// Its index among the terms of the query.
    index: usize,
    variants: Vec<TermVariant>,
}

struct TermVariant {
    /// Word numbers.
    words: Vec<usize>,
    /// The weight of the variant, from 0 to 1. The best variant that occurs in the shop has 1, or
    /// less if it is a correction.
    weight: f32,
    /// How likely the variant is what the query means, from 0 to 1.
    likelihood: f32,
    /// Whether a product must contain all words.
    all: bool,
    /// Whether it is another spelling of the first variant.
    respelled: bool,
    /// For each word, [`Bm25Params::term_weight`].
    term_weights: Vec<f32>,
}

impl<'a> LexicalQuery<'a> {
    /// Looks up the postings and document frequencies of a query's terms.
    pub(super) fn new(
        segments: &'a [LiveSegment],
        statistics: &Statistics<'_>,
        params: &Bm25Params,
        query: &QueryTerms,
    ) -> Self {
        let corpus = statistics.corpus;
        let words = distinct_words(query);
        let postings: Vec<Vec<Option<Postings<'_>>>> = segments
            .iter()
            .map(|live| words.iter().map(|word| live.segment.postings_of(word)).collect())
            .collect();
        let doc_freq = |word: usize| {
            if let Some(doc_freqs) = statistics.doc_freqs {
                return doc_freqs.get(words[word]).copied().unwrap_or(0);
            }
            let seen = segments.iter().zip(&postings).filter_map(|(live, postings)| {
                postings[word]
                    .map(|postings| live.count_visible(postings, statistics.visibility) as u64)
            });
            seen.sum::<u64>()
        };
        let doc_freqs: Vec<u64> = (0..words.len()).map(doc_freq).collect();
        let term_weights: Vec<f32> =
            doc_freqs.iter().map(|doc_freq| params.term_weight(corpus, *doc_freq)).collect();
        let number = |word: &str| words.binary_search(&word).ok().filter(|at| doc_freqs[*at] > 0);
        let known = |(at, term)| QueryTerm::of(at, term, &term_weights, params, &number);
        let terms: Vec<QueryTerm> = query.terms().iter().enumerate().filter_map(known).collect();
        // A term that no product contains weighs as much as the rarest one.
        let unknown = query.terms().len() - terms.len();
        let bigrams = query.bigrams();
        let mut query = Self {
            scorer: Bm25Scorer::new(params, corpus),
            segments,
            postings,
            terms,
            total_weight: unknown as f32 * params.term_weight(corpus, 0),
            unknown_weight: params.term_weight(corpus, 0),
            scale: 0.0,
            bigram_weight: params.bigram_weight,
            bigrams,
        };
        query.total_weight += query.known_weight();
        let most = query.max_score();
        query.scale = if most > 0.0 { (1.0 - query.max_bigram_bonus()) / most } else { 0.0 };
        query
    }

    /// An upper bound of all scores without bigrams: the limit for a product with every term, as term
    /// frequencies grow.
    fn max_score(&self) -> f32 {
        self.scorer.max_score(self.total_weight)
    }

    /// The factor that maps scores to `[0, 1]`.
    pub(super) fn scale(&self) -> f32 {
        self.scale
    }

    /// The bonus of a title that contains all bigrams of the query.
    fn max_bigram_bonus(&self) -> f32 {
        let weight = self.bigram_weight;
        if self.bigrams.is_empty() { 0.0 } else { weight / (1.0 + weight) }
    }

    /// The bonus of a product for the bigrams that its title shares with the query.
    pub(super) fn bigram_bonus(&self, segment: usize, doc: DocId) -> f32 {
        let bigrams = &self.segments[segment].segment.bigrams;
        let has = |pair: &Bigram| bigrams.docs(*pair).binary_search(&doc).is_ok();
        let shared = self.bigrams.iter().filter(|forms| forms.iter().any(has)).count();
        self.max_bigram_bonus() * shared as f32 / self.bigrams.len().max(1) as f32
    }

    fn known_weight(&self) -> f32 {
        let best = |term: &QueryTerm| {
            let weight = |one: &TermVariant| one.weight * one.term_weights.iter().sum::<f32>();
            term.variants.iter().map(weight).fold(0.0, f32::max)
        };
        self.terms.iter().map(best).sum()
    }

    /// Adds the scores of some products of a segment to `scores`, and returns the number of postings
    /// read. Products that are not among `few` may be left out.
    pub(super) fn accumulate(
        &self,
        segment: usize,
        docs: &Range<usize>,
        few: Option<&BitSet>,
        scores: &mut Scores,
    ) -> usize {
        let part = SegmentPart { segment, docs };
        let mut postings_read = 0;
        for term in &self.terms {
            postings_read += match (&*term.variants, few) {
                ([TermVariant { words, term_weights, weight, .. }], None) if words.len() == 1 => {
                    let weight = weight * term_weights[0];
                    self.add_word(part, words[0], weight, scores, |_| true)
                }
                ([TermVariant { words, term_weights, weight, .. }], Some(few))
                    if words.len() == 1 =>
                {
                    let weight = weight * term_weights[0];
                    self.add_word(part, words[0], weight, scores, |doc| few.get(doc))
                }
                (variants, _) => self.add_best(part, variants, scores),
            };
        }
        self.add_bigrams(part, scores);
        postings_read
    }

    /// Adds the bonus of each bigram to the products that have a score.
    fn add_bigrams(&self, part: SegmentPart<'_>, scores: &mut Scores) {
        let in_titles = &self.segments[part.segment].segment.bigrams;
        let bonus = self.max_bigram_bonus() / self.bigrams.len() as f32 / self.scale;
        for forms in &self.bigrams {
            let docs = forms.iter().flat_map(|pair| in_titles.docs(*pair)).copied();
            let mut docs: Vec<DocId> =
                docs.filter(|doc| part.docs.contains(&usize::from(*doc))).collect();
            docs.sort_unstable();
            docs.dedup();
            for doc in docs {
                let score = &mut scores[usize::from(doc)];
                if *score > 0.0 {
                    *score += bonus;
                }
            }
        }
    }

    /// Adds the scores of one word to the products that are wanted.
    #[inline]
    fn add_word(
        &self,
        part: SegmentPart<'_>,
        word: usize,
        weight: f32,
        scores: &mut Scores,
        is_wanted: impl Fn(usize) -> bool,
    ) -> usize {
        let Some(postings) = self.postings_in(part, word) else { return 0 };
        let lengths = &self.segments[part.segment].segment.lengths;
        for (doc, freqs) in postings.docs.iter().zip(postings.freqs) {
            let doc = usize::from(*doc);
            if is_wanted(doc) {
                scores[doc] += self.scorer.score(weight, *freqs, lengths[doc]);
            }
        }
        postings.docs.len()
    }

    /// Adds, for each product, the score of its best variant.
    fn add_best(
        &self,
        part: SegmentPart<'_>,
        variants: &[TermVariant],
        scores: &mut Scores,
    ) -> usize {
        let mut postings_read = 0;
        let mut best = ScoredDocs::new();
        for variant in variants {
            let mut sum: Option<ScoredDocs> = None;
            for (word, weight) in variant.words.iter().zip(&variant.term_weights) {
                let scored = self.scored(part, *word, variant.weight * weight);
                postings_read += scored.len();
                sum = Some(match sum {
                    None => scored,
                    Some(sum) => merge(&sum, &scored, variant.all, |one, other| one + other),
                });
            }
            best = merge(&best, &sum.unwrap_or_default(), false, f32::max);
        }
        for (doc, score) in best {
            scores[usize::from(doc)] += score;
        }
        postings_read
    }

    /// The scores of one word.
    fn scored(&self, part: SegmentPart<'_>, word: usize, weight: f32) -> ScoredDocs {
        let Some(postings) = self.postings_in(part, word) else { return ScoredDocs::new() };
        let lengths = &self.segments[part.segment].segment.lengths;
        let score = |(doc, freqs): (&DocId, &TermFreqs)| {
            (*doc, self.scorer.score(weight, *freqs, lengths[usize::from(*doc)]))
        };
        postings.docs.iter().zip(postings.freqs).map(score).collect()
    }

    fn postings_in(&self, part: SegmentPart<'_>, word: usize) -> Option<Postings<'a>> {
        Some(self.postings[part.segment][word]?.within(part.docs))
    }

    /// Those of some products of a segment that have at least one of the words; may contain
    /// duplicates.
    pub(super) fn docs(&self, segment: usize, docs: &Range<usize>) -> impl Iterator<Item = usize> {
        let found = self.postings[segment].iter().flatten();
        found.flat_map(|postings| postings.within(docs).docs).map(|doc| usize::from(*doc))
    }
}

impl QueryTerm {
    /// Keeps the variants that can match: all words known, or one where one is enough. Their
    /// weights are scaled so that the best is 1, or less for a corrected term. `None` without any.
    fn of(
        index: usize,
        term: &Term,
        term_weights: &[f32],
        params: &Bm25Params,
        number: &impl Fn(&str) -> Option<usize>,
    ) -> Option<Self> {
        let mut variants: Vec<TermVariant> = term
            .alternatives
            .iter()
            .filter_map(|form| {
                let words: Vec<usize> = form.words.iter().filter_map(|word| number(word)).collect();
                let can_match = match form.all {
                    true => words.len() == form.words.len(),
                    false => !words.is_empty(),
                };
                let term_weights = words.iter().map(|word| term_weights[*word]).collect();
                let (weight, all, respelled) = (form.weight, form.all, form.respelled);
                let likelihood = weight;
                can_match.then_some(TermVariant {
                    words,
                    weight,
                    likelihood,
                    all,
                    respelled,
                    term_weights,
                })
            })
            .collect();
        let best = variants.iter().map(|variant| variant.weight).fold(0.0, f32::max);
        let whole = term.corrected.map_or(1.0, |confidence| params.correction_weight(confidence));
        variants.iter_mut().for_each(|variant| variant.weight *= whole / best);
        equalise_spellings(&mut variants);
        (!variants.is_empty()).then_some(Self { index, variants })
    }
}

/// Gives all spellings of a term the weight of the commonest: a rare spelling says no more.
fn equalise_spellings(variants: &mut [TermVariant]) {
    if !variants.iter().skip(1).any(|variant| variant.respelled) {
        return;
    }
    let is_spelling = |at: usize, variant: &TermVariant| at == 0 || variant.respelled;
    let least =
        |variant: &TermVariant| variant.term_weights.iter().copied().fold(f32::INFINITY, f32::min);
    let spellings = variants.iter().enumerate().filter(|(at, variant)| is_spelling(*at, variant));
    let least = spellings.map(|(_, variant)| least(variant)).fold(f32::INFINITY, f32::min);
    for (at, variant) in variants.iter_mut().enumerate() {
        if is_spelling(at, variant) {
            variant.term_weights.fill(least);
        }
    }
}

/// The words of a query, sorted and without duplicates: a word's number is its index.
fn distinct_words(query: &QueryTerms) -> Vec<&str> {
    let mut words: Vec<&str> = query.iter().collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Products with scores, in ascending order.
type ScoredDocs = Vec<(DocId, f32)>;

/// The union of both lists, or their intersection if `in_both`. Scores of the same product are
/// combined.
fn merge(
    ones: &[(DocId, f32)],
    others: &[(DocId, f32)],
    in_both: bool,
    combine: impl Fn(f32, f32) -> f32,
) -> ScoredDocs {
    let mut merged = ScoredDocs::with_capacity(if in_both { 0 } else { ones.len() + others.len() });
    let (mut ones, mut others) = (ones.iter().peekable(), others.iter().peekable());
    while let (Some(one), Some(other)) = (ones.peek(), others.peek()) {
        match one.0.cmp(&other.0) {
            Ordering::Less => merged.extend(ones.next().filter(|_| !in_both)),
            Ordering::Greater => merged.extend(others.next().filter(|_| !in_both)),
            Ordering::Equal => {
                merged.push((one.0, combine(one.1, other.1)));
                ones.next();
                others.next();
            }
        }
    }
    if !in_both {
        merged.extend(ones.chain(others));
    }
    merged
}
