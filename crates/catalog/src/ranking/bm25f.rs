//! The lexical score: BM25F.
//!
//! BM25F adds the weighted, length-normalised frequencies of a term in title and description, and
//! saturates the sum. A term in both fields therefore counts less than two terms. Every value
//! depends on the set of products alone, never on the order in which they were written.

use crate::text::correction::Confidence;

/// The BM25F parameters of one field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldParams {
    /// The weight of one occurrence in a field of average length.
    pub boost: f32,
    /// Length normalisation, from 0 (none) to 1 (full).
    pub b: f32,
}

/// The weights of terms that spelling correction produced, by its [`Confidence`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectionWeights {
    /// With high confidence.
    pub high: f32,
    /// With low confidence.
    pub low: f32,
}

/// The parameters of the BM25F formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25Params {
    /// How slowly term frequency saturates.
    pub k1: f32,
    /// Title.
    pub title: FieldParams,
    /// Description.
    pub description: FieldParams,
    /// The weight of a term in the key or in an attribute. They are short: neither length nor
    /// repetition counts.
    pub attribute_boost: f32,
    /// The weight of bigrams: what a title gains that contains all terms side by side, relative to
    /// the highest sum of term scores.
    pub bigram_weight: f32,
    /// Added to the idf of every term: a product with all of three terms is usually more relevant
    /// than one with the rarest alone.
    pub idf_offset: f32,
    /// The weight of a term that spelling correction produced, from 0 to 1.
    pub correction: CorrectionWeights,
}

impl Bm25Params {
    /// The weight of a term that spelling correction produced.
    pub fn correction_weight(&self, confidence: Confidence) -> f32 {
        match confidence {
            Confidence::High => self.correction.high,
            Confidence::Low => self.correction.low,
        }
    }

    /// The weight of a term that occurs in `doc_freq` products of a corpus: always above 0.
    pub fn term_weight(&self, corpus: &CorpusStats, doc_freq: u64) -> f32 {
        self.idf_offset + corpus.idf(doc_freq)
    }
}

/// The parameters in force, chosen on judged shopping queries. Product texts are
/// short: repetition says far less than the usual `k1` of 1.2 assumes.
pub const BM25_PARAMS: Bm25Params = Bm25Params {
    k1: 0.2,
    title: FieldParams { boost: 1.0, b: 0.4 },
    description: FieldParams { boost: 0.2, b: 0.4 },
    // More than one occurrence in the shortest title: 1 / (1 - 0.4). No judged catalog has
    // attributes.
    attribute_boost: 2.0,
    bigram_weight: 0.13,
    idf_offset: 2.2,
    correction: CorrectionWeights { high: 0.7, low: 0.4 },
};

/// The frequencies of one term in the fields of one product, packed into a byte. At
/// [`Self::MAX_TITLE`] and [`Self::MAX_DESCRIPTION`], scores are nearly saturated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TermFreqs(u8);

impl TermFreqs {
    /// The largest frequency in a title.
    pub const MAX_TITLE: u32 = 3;
    /// The largest frequency in a description.
    pub const MAX_DESCRIPTION: u32 = 31;
    const DESCRIPTION_BITS: u32 = 5;
    const ATTRIBUTE_BIT: u32 = 7;

    /// Greater frequencies become the largest. `attribute`: whether the key or an attribute has the
    /// term.
    pub fn new(title: u32, description: u32, attribute: bool) -> Self {
        let title = title.min(Self::MAX_TITLE);
        let description = description.min(Self::MAX_DESCRIPTION);
        let attribute = u32::from(attribute) << Self::ATTRIBUTE_BIT;
        Self((attribute | title << Self::DESCRIPTION_BITS | description) as u8)
    }

    /// The packed frequencies.
    pub fn to_byte(self) -> u8 {
        self.0
    }

    /// The frequencies that [`Self::to_byte`] packs into a byte. Every byte is valid.
    pub fn from_byte(byte: u8) -> Self {
        Self(byte)
    }

    /// Frequency in the title.
    pub fn title(self) -> u32 {
        u32::from(self.0) >> Self::DESCRIPTION_BITS & Self::MAX_TITLE
    }

    /// Whether the key or an attribute has the term.
    pub fn attribute(self) -> bool {
        self.0 >> Self::ATTRIBUTE_BIT == 1
    }

    /// Frequency in the description.
    pub fn description(self) -> u32 {
        u32::from(self.0) & Self::MAX_DESCRIPTION
    }
}

/// The number of words of a field, quantised to one byte: exact below 128, then within 1/16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldLength(u8);

impl FieldLength {
    const EXACT_BITS: u32 = 7;
    const STEP_BITS: u32 = 4;

    /// Quantises a number of words, rounding down.
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

    /// The quantised length.
    pub fn to_byte(self) -> u8 {
        self.0
    }

    /// The length that [`Self::to_byte`] returns. Every byte is valid.
    pub fn from_byte(byte: u8) -> Self {
        Self(byte)
    }

    /// The quantised number of words.
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
pub struct FieldLengths {
    /// Of the title.
    pub title: FieldLength,
    /// Of the description.
    pub description: FieldLength,
}

/// The collection statistics of a shop: sums over its products.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusStats {
    /// Number of products.
    pub products: u64,
    /// Words of all titles.
    pub title_words: u64,
    /// Words of all descriptions.
    pub description_words: u64,
}

impl CorpusStats {
    /// Adds a product.
    pub fn add(&mut self, lengths: FieldLengths) {
        self.products += 1;
        self.title_words += u64::from(lengths.title.words());
        self.description_words += u64::from(lengths.description.words());
    }

    /// Removes a product that was added before.
    pub fn remove(&mut self, lengths: FieldLengths) {
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

    /// The sums without `part`, which is contained in them.
    pub fn minus(self, part: Self) -> Self {
        Self {
            products: self.products.saturating_sub(part.products),
            title_words: self.title_words.saturating_sub(part.title_words),
            description_words: self.description_words.saturating_sub(part.description_words),
        }
    }

    /// The inverse document frequency of a term that occurs in `doc_freq` products: always above
    /// 0.
    pub fn idf(&self, doc_freq: u64) -> f32 {
        let (all, with) = (self.products as f64, doc_freq as f64);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln() as f32
    }
}

/// Computes term scores against one corpus, with tables by field length.
pub struct Bm25Scorer {
    k1: f32,
    title: [f32; 256],
    description: [f32; 256],
    attribute: f32,
}

impl Bm25Scorer {
    /// Computes the tables.
    pub fn new(params: &Bm25Params, corpus: &CorpusStats) -> Self {
        let average = |words: u64| (words as f64 / corpus.products.max(1) as f64).max(1.0) as f32;
        Self {
            k1: params.k1,
            title: boost_by_length(params.title, average(corpus.title_words)),
            description: boost_by_length(params.description, average(corpus.description_words)),
            attribute: params.attribute_boost,
        }
    }

    /// The score of a term of this weight in a product: above 0 if it occurs at all.
    #[inline]
    pub fn score(&self, term_weight: f32, freqs: TermFreqs, lengths: FieldLengths) -> f32 {
        let freq = freqs.title() as f32 * self.title[usize::from(lengths.title.0)]
            + freqs.description() as f32 * self.description[usize::from(lengths.description.0)]
            + f32::from(u8::from(freqs.attribute())) * self.attribute;
        term_weight * (self.k1 + 1.0) * freq / (self.k1 + freq)
    }

    /// An upper bound of the score of terms whose weights add up to this, in whatever fields and
    /// however often they occur.
    pub fn max_score(&self, term_weights: f32) -> f32 {
        term_weights * (self.k1 + 1.0)
    }
}

/// The weight of one occurrence for each quantised length of a field.
fn boost_by_length(field: FieldParams, average: f32) -> [f32; 256] {
    std::array::from_fn(|class| {
        let words = FieldLength(class as u8).words() as f32;
        field.boost / (1.0 - field.b + field.b * words / average)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scorer() -> Bm25Scorer {
        let corpus = CorpusStats { products: 10, title_words: 80, description_words: 1000 };
        Bm25Scorer::new(&BM25_PARAMS, &corpus)
    }

    fn score(title: u32, description: u32, title_words: usize) -> f32 {
        let lengths =
            FieldLengths { title: FieldLength::of(title_words), description: FieldLength::of(100) };
        scorer().score(1.0, TermFreqs::new(title, description, false), lengths)
    }

    #[test]
    fn a_title_match_beats_a_description_match() {
        assert!(score(1, 0, 8) > score(0, 1, 8));
        assert!(score(1, 1, 8) > score(1, 0, 8));
        assert!(score(0, 1, 8) > 0.0);
    }

    #[test]
    fn a_match_in_a_short_title_beats_one_in_a_long_title() {
        assert!(score(1, 0, 2) > score(1, 0, 30));
    }

    #[test]
    fn repetition_saturates() {
        assert!(score(2, 0, 8) - score(1, 0, 8) > score(3, 0, 8) - score(2, 0, 8));
        assert_eq!(score(7, 0, 8), score(500, 0, 8));
    }

    #[test]
    fn idf_is_positive_even_for_a_term_of_every_product() {
        let corpus = CorpusStats { products: 2_000_000, ..CorpusStats::default() };
        assert!(corpus.idf(2_000_000) > 0.0);
        assert!(corpus.idf(1) > corpus.idf(2));
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
        let scorer = Bm25Scorer::new(&BM25_PARAMS, &CorpusStats::default());
        let score = scorer.score(1.0, TermFreqs::new(1, 0, false), FieldLengths::default());
        assert!(score.is_finite() && score > 0.0);
    }
}
