//! How well does a product match, and which matches come first?
//!
//! BM25F: the occurrences of a word in title and description are weighted and set against the
//! fields' lengths, added, and only then saturated, so that a word said in both fields is not
//! counted as two discoveries. Every number here depends on the set of products alone, never
//! on the order in which they were written.

use std::{cmp::Ordering, collections::BinaryHeap};

use crate::{change::Seq, product::ProductId};

/// How much a field counts and how much its length matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldWeight {
    /// What one occurrence in a field of average length is worth.
    pub weight: f32,
    /// From 0 (length does not matter) to 1 (density is all that matters).
    pub length: f32,
}

/// The constants of the BM25F formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// How slowly repetition saturates.
    pub k1: f32,
    /// The title.
    pub title: FieldWeight,
    /// The description.
    pub description: FieldWeight,
    /// What it is worth that a title says everything asked for side by side, against all that
    /// its words can be worth.
    pub side_by_side: f32,
    /// What it is worth that a product says a word at all, besides what the word's rarity is
    /// worth: one that says all of three words is mostly nearer than one that says the rarest.
    pub any_word: f32,
    /// What a word counts that the shop does not know and that was taken for another.
    pub guessed: f32,
}

impl Weights {
    /// What a word is worth that so many products of a corpus say: always above 0.
    pub fn word(&self, corpus: &Corpus, products_with_word: u64) -> f32 {
        self.any_word + corpus.rarity(products_with_word)
    }
}

/// The constants in force, found by `make tune` on judged shopping queries. Product texts are
/// short: repetition says far less than the usual `k1` of 1.2 assumes.
pub const WEIGHTS: Weights = Weights {
    k1: 0.2,
    title: FieldWeight { weight: 1.0, length: 0.4 },
    description: FieldWeight { weight: 0.2, length: 0.4 },
    side_by_side: 0.13,
    any_word: 2.2,
    guessed: 0.4,
};

/// How relevant a product is; greater is more so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score(pub f32);

/// A product that matches, and how well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The product.
    pub product: ProductId,
    /// The version of it that was scored.
    pub version: Seq,
    /// How well it matches.
    pub score: Score,
}

impl Hit {
    /// The total order of results: best score first, then the smaller id.
    pub fn rank(&self, other: &Self) -> Ordering {
        other.score.0.total_cmp(&self.score.0).then_with(|| self.product.cmp(&other.product))
    }
}

/// How often one word occurs in one product, packed into a byte: more than
/// [`Self::MAX_TITLE`] or [`Self::MAX_DESCRIPTION`] occurrences are saturated anyway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occurrences(u8);

impl Occurrences {
    /// The largest count in a title.
    pub const MAX_TITLE: u32 = 7;
    /// The largest count in a description.
    pub const MAX_DESCRIPTION: u32 = 31;
    const DESCRIPTION_BITS: u32 = 5;

    /// So many times in the title and in the description.
    pub fn new(title: u32, description: u32) -> Self {
        let title = title.min(Self::MAX_TITLE);
        let description = description.min(Self::MAX_DESCRIPTION);
        Self((title << Self::DESCRIPTION_BITS | description) as u8)
    }

    /// Times in the title.
    pub fn title(self) -> u32 {
        u32::from(self.0) >> Self::DESCRIPTION_BITS
    }

    /// Times in the description.
    pub fn description(self) -> u32 {
        u32::from(self.0) & Self::MAX_DESCRIPTION
    }
}

/// The number of words of a field in one byte: exact up to 128, then within 1/16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldLength(u8);

impl FieldLength {
    const EXACT_BITS: u32 = 7;
    const STEP_BITS: u32 = 4;

    /// The class that a number of words falls into.
    pub fn of(words: usize) -> Self {
        let words = words.min((1 << 15) - 1) as u32;
        if words < 1 << Self::EXACT_BITS {
            return Self(words as u8);
        }
        let octave = words.ilog2() - Self::EXACT_BITS;
        let step =
            words >> (octave + Self::EXACT_BITS - Self::STEP_BITS) & ((1 << Self::STEP_BITS) - 1);
        Self((1 << Self::EXACT_BITS | octave << Self::STEP_BITS | step) as u8)
    }

    /// The number of words the class stands for.
    pub fn words(self) -> u32 {
        let class = u32::from(self.0);
        if class < 1 << Self::EXACT_BITS {
            return class;
        }
        let octave = class >> Self::STEP_BITS & 7;
        let step = class & ((1 << Self::STEP_BITS) - 1);
        (1 << Self::STEP_BITS | step) << (octave + Self::EXACT_BITS - Self::STEP_BITS)
    }
}

/// The lengths of a product's fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    /// Of the title.
    pub title: FieldLength,
    /// Of the description.
    pub description: FieldLength,
}

/// What the scores of a shop rest on: sums over its products.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Corpus {
    /// The number of products.
    pub products: u64,
    /// The words of all titles.
    pub title_words: u64,
    /// The words of all descriptions.
    pub description_words: u64,
}

impl Corpus {
    /// Counts a product in.
    pub fn add(&mut self, lengths: Lengths) {
        self.products += 1;
        self.title_words += u64::from(lengths.title.words());
        self.description_words += u64::from(lengths.description.words());
    }

    /// Counts a product that was counted in out again.
    pub fn remove(&mut self, lengths: Lengths) {
        self.products -= 1;
        self.title_words -= u64::from(lengths.title.words());
        self.description_words -= u64::from(lengths.description.words());
    }

    /// The sums over both.
    pub fn plus(self, other: Self) -> Self {
        Self {
            products: self.products + other.products,
            title_words: self.title_words + other.title_words,
            description_words: self.description_words + other.description_words,
        }
    }

    /// The sums over the products of one that are not of the other, which is a part of it.
    pub fn minus(self, part: Self) -> Self {
        Self {
            products: self.products.saturating_sub(part.products),
            title_words: self.title_words.saturating_sub(part.title_words),
            description_words: self.description_words.saturating_sub(part.description_words),
        }
    }

    /// How much it says that a product has a word which so many products have: always above 0.
    pub fn rarity(&self, products_with_word: u64) -> f32 {
        let (all, with) = (self.products as f64, products_with_word as f64);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln() as f32
    }
}

/// Scores occurrences of words against one corpus, by table look-up.
pub struct Scorer {
    k1: f32,
    title: [f32; 256],
    description: [f32; 256],
}

impl Scorer {
    /// The scorer of a corpus.
    pub fn new(weights: &Weights, corpus: &Corpus) -> Self {
        let average = |words: u64| (words as f64 / corpus.products.max(1) as f64).max(1.0) as f32;
        Self {
            k1: weights.k1,
            title: worth_by_length(weights.title, average(corpus.title_words)),
            description: worth_by_length(weights.description, average(corpus.description_words)),
        }
    }

    /// What a word of this rarity, occurring so often in fields of these lengths, is worth:
    /// above 0 if it occurs at all.
    #[inline]
    pub fn score(&self, rarity: f32, occurrences: Occurrences, lengths: Lengths) -> f32 {
        let said = occurrences.title() as f32 * self.title[usize::from(lengths.title.0)]
            + occurrences.description() as f32
                * self.description[usize::from(lengths.description.0)];
        rarity * (self.k1 + 1.0) * said / (self.k1 + said)
    }

    /// What words of these rarities, added up, can be worth at most, however often they occur.
    pub fn most(&self, rarities: f32) -> f32 {
        rarities * (self.k1 + 1.0)
    }
}

/// What one occurrence is worth in a field of each length class.
fn worth_by_length(field: FieldWeight, average: f32) -> [f32; 256] {
    std::array::from_fn(|class| {
        let words = FieldLength(class as u8).words() as f32;
        field.weight / (1.0 - field.length + field.length * words / average)
    })
}

/// Keeps the best hits of many.
pub struct TopHits {
    keep: usize,
    worst_first: BinaryHeap<ByRank>,
    /// Scores below this one can no longer get in.
    floor: f32,
}

impl TopHits {
    /// Keeps the best `keep`.
    pub fn new(keep: usize) -> Self {
        let floor = if keep == 0 { f32::INFINITY } else { f32::NEG_INFINITY };
        Self { keep, worst_first: BinaryHeap::new(), floor }
    }

    /// Whether a hit of this score might be kept. Cheap: ask before making the hit.
    #[inline]
    pub fn may_keep(&self, score: f32) -> bool {
        score >= self.floor
    }

    /// Takes a hit into account.
    pub fn offer(&mut self, hit: Hit) {
        if self.worst_first.len() < self.keep {
            self.worst_first.push(ByRank(hit));
        } else if let Some(mut worst) = self.worst_first.peek_mut()
            && hit.rank(&worst.0) == Ordering::Less
        {
            worst.0 = hit;
        }
        if self.worst_first.len() == self.keep
            && let Some(worst) = self.worst_first.peek()
        {
            self.floor = worst.0.score.0;
        }
    }

    /// The kept hits after the first `offset`, best first.
    pub fn into_page(self, offset: usize) -> Vec<Hit> {
        let best_first = self.worst_first.into_sorted_vec();
        best_first.into_iter().skip(offset).map(|ByRank(hit)| hit).collect()
    }
}

/// Greater means further down the results.
struct ByRank(Hit);

impl Ord for ByRank {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.rank(&other.0)
    }
}

impl PartialOrd for ByRank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByRank {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ByRank {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hit(product: u64, score: f32) -> Hit {
        Hit { product: ProductId::new(product).unwrap(), version: Seq(1), score: Score(score) }
    }

    fn scorer() -> Scorer {
        let corpus = Corpus { products: 10, title_words: 80, description_words: 1000 };
        Scorer::new(&WEIGHTS, &corpus)
    }

    fn score(title: u32, description: u32, title_words: usize) -> f32 {
        let lengths =
            Lengths { title: FieldLength::of(title_words), description: FieldLength::of(100) };
        scorer().score(1.0, Occurrences::new(title, description), lengths)
    }

    #[test]
    fn a_word_in_the_title_beats_one_in_the_description() {
        assert!(score(1, 0, 8) > score(0, 1, 8));
        assert!(score(1, 1, 8) > score(1, 0, 8));
        assert!(score(0, 1, 8) > 0.0);
    }

    #[test]
    fn a_short_title_says_more_than_a_long_one() {
        assert!(score(1, 0, 2) > score(1, 0, 30));
    }

    #[test]
    fn repetition_saturates() {
        assert!(score(2, 0, 8) - score(1, 0, 8) > score(3, 0, 8) - score(2, 0, 8));
        assert_eq!(score(7, 0, 8), score(500, 0, 8));
    }

    #[test]
    fn rarity_is_positive_even_for_a_word_of_every_product() {
        let corpus = Corpus { products: 2_000_000, ..Corpus::default() };
        assert!(corpus.rarity(2_000_000) > 0.0);
        assert!(corpus.rarity(1) > corpus.rarity(2));
    }

    #[test]
    fn lengths_are_exact_when_short_and_close_when_long() {
        for words in 0..FieldLength::of(usize::MAX).words() as usize {
            let kept = FieldLength::of(words).words() as usize;
            assert!(kept <= words && words - kept <= words / 16, "{words} kept as {kept}");
            assert!(words >= 128 || kept == words);
        }
    }

    #[test]
    fn an_empty_corpus_scores_without_dividing_by_zero() {
        let scorer = Scorer::new(&WEIGHTS, &Corpus::default());
        let score = scorer.score(1.0, Occurrences::new(1, 0), Lengths::default());
        assert!(score.is_finite() && score > 0.0);
    }

    proptest! {
        #[test]
        fn a_page_is_a_slice_of_the_sorted_hits(
            scores in prop::collection::vec(0_u8..6, 0..60),
            offset in 0_usize..20,
            limit in 0_usize..20,
        ) {
            let hits: Vec<_> = (1..).zip(&scores).map(|(id, s)| hit(id, f32::from(*s))).collect();
            let mut top = TopHits::new(offset + limit);
            for hit in hits.iter().rev() {
                if top.may_keep(hit.score.0) {
                    top.offer(*hit);
                }
            }
            let mut sorted = hits;
            sorted.sort_by(Hit::rank);
            let page: Vec<_> = sorted.into_iter().skip(offset).take(limit).collect();
            prop_assert_eq!(top.into_page(offset), page);
        }
    }
}
