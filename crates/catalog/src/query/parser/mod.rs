//! Parses a query into price conditions, exclusions, a sort order and residual text.
//!
//! [`parse`] is a pure function from text to [`ParsedQuery`]. It consists of rules and tables, has
//! no settings, and does not guess the language: each rule matches its own phrases. Every finding
//! keeps the span of text it came from, and each kind can be switched off with [`ParseOptions`], so
//! that a caller can undo a wrong reading.
//!
//! Where a phrase may mean something else than a condition, the rules abstain: a missed condition
//! costs a few irrelevant results, an invented one hides what the shopper looks for.
//!
//! The text is tokenised by [`query_tokens`], the phrases of the rules are in the data files of
//! [`languages`], and rules run in a fixed order, each on the tokens that no earlier rule took: [`price`],
//! [`sort`], [`exclusion`], and the stop words of [`residual`].

mod exclusion;
mod languages;
mod lexicon;
mod negators;
mod price;
mod query_tokens;
mod residual;
mod segmentation;
mod sentence;
mod sort;
mod terms;
#[cfg(test)]
mod tests;

pub use exclusion::Exclusion;
pub use price::{Bound, PriceConstraint, PriceInterval, PriceKind, PriceRange};
pub use sort::{SortHint, SortOrder};

use self::query_tokens::QueryTokens;
pub use crate::text::lexer::Span;
use crate::{
    inference::attributes::{QueryAttributes, infer_query, is_foreign_attribute_word},
    product::price::Price,
    text::{
        analysis::singular,
        correction::{Corrected, Correction, SpellingVariant},
        language::Language,
        lexer::Tokens,
        spelling,
        vocabulary::{TermLookup, Vocabulary},
        word_forms::WordForms,
    },
};

/// A parsed query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParsedQuery {
    /// Price conditions, in the order of the text. All of them must hold.
    pub constraints: Vec<PriceConstraint>,
    /// Excluded words, in the order of the text.
    pub exclusions: Vec<Exclusion>,
    /// What no result may mention: the exclusions, and their words in English where they are of another
    /// language.
    excluded: Vec<Exclusion>,
    /// The requested sort order; by relevance if `None`.
    pub sort: Option<SortHint>,
    /// Where stop words and conversational phrases stand.
    pub stop_words: Vec<Span>,
    /// The query without its conditions but with its stop words, as the encoder gets it. Corrected
    /// by [`ParsedQuery::correct`].
    pub sentence: String,
    /// The spans of the query that make up `sentence`.
    sentence_spans: Vec<Span>,
    /// The attributes that `sentence` asks for, with their places in it.
    pub attributes: QueryAttributes,
    /// Whether attributes are read at all.
    reads_attributes: bool,
    /// The words to search for, as written or corrected. Empty if the query has only conditions.
    pub residual: String,
    /// The pieces of the query that make up `residual`, which joins them with single spaces.
    kept: Vec<Span>,
    /// Spelling corrections in the order of the text, with spans of the original query.
    pub corrections: Vec<Correction>,
    /// Other spellings of residual words, searched for with less weight.
    pub variants: Vec<SpellingVariant>,
    /// Other forms of residual words, by [`ParsedQuery::relate`].
    forms: WordForms,
    /// The language of the query, if its words, letters and conditions tell one apart from others.
    pub language: Option<Language>,
}

impl ParsedQuery {
    /// Whether the query has anything besides words to search for.
    pub fn has_conditions(&self) -> bool {
        !self.constraints.is_empty() || !self.exclusions.is_empty() || self.sort.is_some()
    }

    /// Whether attributes and the category are read in the query.
    pub fn reads_attributes(&self) -> bool {
        self.reads_attributes
    }

    /// Where the query says what stands at a place of [`Self::sentence`].
    pub fn span_in_query(&self, span: &Span) -> Option<Span> {
        sentence::span_in_query(&self.sentence_spans, &self.corrections, span)
    }

    /// Whether a price satisfies every condition. A stored price that cannot be parsed satisfies
    /// none.
    pub fn admits(&self, price: &Price) -> bool {
        let satisfies = |money| self.constraints.iter().all(|one| one.admits(money));
        price.money().map_or(self.constraints.is_empty(), satisfies)
    }

    /// Whether no text of a product mentions an excluded word. `attributes` are the lines of
    /// [`crate::product::attributes::Attributes::text`], each of them a text of its own.
    pub fn allows(&self, title: &str, description: &str, attributes: &str) -> bool {
        let mut texts = [title, description].into_iter().chain(attributes.lines());
        !texts.any(|text| Exclusion::any_matches(&self.excluded, text))
    }

    /// What no result may mention.
    pub fn excluded(&self) -> &[Exclusion] {
        &self.excluded
    }

    fn translate_exclusions(&mut self) {
        let in_english = self.exclusions.iter().flat_map(Exclusion::in_english);
        self.excluded = self.exclusions.iter().cloned().chain(in_english).collect();
    }

    /// Finds other forms of the residual words in the shop's vocabulary.
    pub fn relate(&mut self, vocabulary: &Vocabulary<'_>) {
        self.forms = WordForms::of(&self.residual, self.language, vocabulary);
    }

    /// Whether the shop has other forms of a term, by [`Self::relate`].
    pub fn has_forms(&self, term: &str) -> bool {
        self.forms.has(term)
    }

    /// Corrects the residual and the excluded words with the shop's vocabulary. `query` is the
    /// text that was parsed.
    pub fn correct(&mut self, query: &str, vocabulary: &Vocabulary<'_>) {
        let forms = std::mem::take(&mut self.forms);
        let language = self.language;
        let is_foreign = |written: &str| is_foreign(written, language, &forms, vocabulary);
        let vocabulary = &Vocabulary { is_foreign_word: &is_foreign, ..*vocabulary };
        self.correct_words(query, vocabulary);
        match self.corrections.is_empty() {
            true => self.forms = forms,
            false => self.relate(vocabulary),
        }
    }

    fn correct_words(&mut self, query: &str, vocabulary: &Vocabulary<'_>) {
        let Corrected { text, corrections, variants } =
            spelling::correct(&self.residual, vocabulary);
        for mut correction in corrections {
            if let Some(span) = residual::span_in_query(&self.kept, &correction.span) {
                correction.span = span;
                self.corrections.push(correction);
            }
        }
        self.residual = text;
        self.variants = variants;
        self.correct_sentence(query);
        for exclusion in &mut self.exclusions {
            if exclusion.is_claim {
                // The words of a claim are part of the residual, and were corrected with it.
                exclusion.apply_corrections(&self.corrections);
            } else {
                self.corrections.extend(exclusion.correct(query, vocabulary));
            }
        }
        self.translate_exclusions();
        self.corrections.sort_by_key(|correction| correction.span.start);
    }

    fn correct_sentence(&mut self, query: &str) {
        if self.corrections.is_empty() {
            return;
        }
        self.sentence = sentence::text(query, &self.sentence_spans, &self.corrections);
        self.read_attributes();
    }

    fn read_attributes(&mut self) {
        if self.reads_attributes {
            self.attributes = infer_query(&self.sentence);
        }
    }
}

/// Whether a word that the shop does not have is one of another language than English: it has other
/// forms in the shop, it is known to be, or the shop has nothing in the language of its letters or
/// of the query.
fn is_foreign(
    written: &str,
    language: Option<Language>,
    forms: &WordForms,
    vocabulary: &Vocabulary<'_>,
) -> bool {
    let tokens = Tokens::of(written);
    let word = tokens.word(0);
    let other = language.filter(|language| *language != Language::English);
    forms.has(&singular(word))
        || (vocabulary.is_foreign_word)(word)
        || languages::is_foreign_word(word)
        || is_foreign_attribute_word(word)
        || !written.is_ascii() && (vocabulary.languages)().is_empty()
        || other.is_some_and(|language| !(vocabulary.languages)().contains(language))
}

/// Which kinds of phrases are parsed. The words of the others are searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ParseOptions {
    /// Price conditions.
    pub price: bool,
    /// Exclusions.
    pub exclusions: bool,
    /// Sort orders.
    pub sort: bool,
    /// Whether stop words and conversational phrases are removed.
    pub stop_words: bool,
    /// Whether unknown words are corrected.
    pub corrections: bool,
    /// Attributes, and the category. Their words are searched for in any case.
    pub attributes: bool,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self {
            price: true,
            exclusions: true,
            sort: true,
            stop_words: true,
            corrections: true,
            attributes: true,
        }
    }
}

impl ParseOptions {
    /// Parses nothing: every word is searched for as written.
    pub const NOTHING: Self = Self {
        price: false,
        exclusions: false,
        sort: false,
        stop_words: false,
        corrections: false,
        attributes: false,
    };

    /// Parses a query. Corrections need more than a term lookup; see [`ParsedQuery::correct`].
    pub fn parse(&self, text: &str, knows: TermLookup) -> ParsedQuery {
        if *self == Self::NOTHING {
            let kept = Vec::from_iter(Some(0..text.len()));
            let (sentence, residual) = (text.to_owned(), text.to_owned());
            let sentence_spans = kept.clone();
            let parsed =
                ParsedQuery { sentence, sentence_spans, residual, kept, ..Default::default() };
            return parsed;
        }
        let tokens = QueryTokens::of(text);
        let (mut parsed, Marks { mut taken, refused, .. }) = self.conditions(&tokens, knows);
        parsed.language = tokens.language(&taken);
        parsed.sentence_spans = residual::kept(&tokens, &taken);
        parsed.sentence = residual::text(text, &parsed.sentence_spans);
        parsed.reads_attributes = self.attributes;
        parsed.read_attributes();
        if self.stop_words {
            let stop_words = residual::stop_words(&tokens, &taken, &refused);
            parsed.stop_words = residual::spans(&tokens, &stop_words);
            for (taken, is_stop_word) in taken.iter_mut().zip(stop_words) {
                *taken |= is_stop_word;
            }
        }
        parsed.kept = residual::kept(&tokens, &taken);
        parsed.residual = residual::text(text, &parsed.kept);
        parsed
    }

    /// Runs the rules for conditions, and marks the tokens that each rule took.
    fn conditions(&self, tokens: &QueryTokens, knows: TermLookup) -> (ParsedQuery, Marks) {
        let mut parsed = ParsedQuery::default();
        let mut marks = Marks::none(tokens.len());
        if self.price {
            let prices = price::parse(tokens, knows);
            prices.unclear.into_iter().for_each(|span| marks.unclear[span].fill(true));
            for (constraint, span) in prices.conditions {
                marks.taken[span].fill(true);
                parsed.constraints.push(constraint);
            }
        }
        if self.sort {
            let orders = sort::parse(tokens, &marks.taken);
            orders.refused.into_iter().for_each(|span| marks.refused[span].fill(true));
            if let Some((hint, span)) = orders.requested {
                marks.taken[span].fill(true);
                parsed.sort = Some(hint);
            }
        }
        if self.exclusions {
            for (exclusion, span) in exclusion::parse(tokens, &marks.any(), knows) {
                // The words of a claim stay: products that make the claim are ranked first.
                if !exclusion.is_claim {
                    marks.taken[span].fill(true);
                }
                parsed.exclusions.push(exclusion);
            }
            parsed.translate_exclusions();
        }
        (parsed, marks)
    }
}

/// For each token, whether a rule took it.
struct Marks {
    /// Part of a condition or a sort order.
    taken: Vec<bool>,
    /// Part of a negated comparison without a definite opposite.
    unclear: Vec<bool>,
    /// Part of a negated sort order.
    refused: Vec<bool>,
}

impl Marks {
    fn none(tokens: usize) -> Self {
        let none = vec![false; tokens];
        Self { taken: none.clone(), unclear: none.clone(), refused: none }
    }

    fn any(&self) -> Vec<bool> {
        let marks = self.taken.iter().zip(&self.unclear).zip(&self.refused);
        marks.map(|((taken, unclear), refused)| *taken || *unclear || *refused).collect()
    }
}

/// Parses a query with all options on, for a shop whose vocabulary is unknown.
pub fn parse(text: &str) -> ParsedQuery {
    ParseOptions::default().parse(text, &|_| false)
}
