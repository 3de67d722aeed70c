//! Spelling correction with the vocabulary of the shop.
//!
//! For each unknown word, candidates are terms within a weighted edit distance, terms that begin
//! with it, and terms with another ending. A candidate's score is the logarithm of its document
//! frequency, plus that of its co-occurrence with the other words of the query, minus the cost of
//! the edits. The best candidate replaces the word; the next ones become variants with less weight.
//!
//! - A dictionary word that the shop does not know is kept; similar terms are added as variants.
//! - Words with digits are sizes and part numbers, and are never corrected.
//! - A word that is valid in another language is left alone.
//! - A known but rare word is treated as a typo if a similar term is far more frequent.

mod distance;
#[cfg(test)]
pub(crate) mod tests;

use distance::{EDIT, distance};

use crate::text::{
    analysis::{singular, stop_words},
    correction::{Confidence, Corrected, Correction, SpellingVariant},
    lexer::{TokenKind, Tokens},
    vocabulary::Vocabulary,
};

/// Shorter words are similar to too many others.
const MIN_LETTERS: usize = 4;
/// Longer strings are not words.
const MAX_LETTERS: usize = 32;
/// The largest edit cost, by length from [`MIN_LETTERS`] on.
const BUDGETS: [f32; 5] = [1.0, 1.7, 2.0, 2.0, 2.4];
/// The most words of a query that are looked up.
const MAX_CORRECTED: usize = 8;
/// The cost of a missing or superfluous space.
const SPACE: f32 = 0.8;
/// The shortest part of a word that is split.
const MIN_PART: usize = 3;
/// The weight of an edit against the logarithm of a document frequency, for a word of
/// [`TYPICAL_LETTERS`].
const EDIT_AGAINST_FREQUENCY: f32 = 4.0;
/// An edit weighs less in longer words, up to [`MAX_WEIGHTED_LETTERS`].
const TYPICAL_LETTERS: f32 = 7.0;
const MAX_WEIGHTED_LETTERS: usize = 12;
/// Frequencies are scaled to a shop of this many products.
const REFERENCE_PRODUCTS: f32 = 20_000.0;
/// The number of candidates whose co-occurrence is looked up.
const MAX_CANDIDATES: usize = 16;
/// Candidates with a lower score are dropped.
const MIN_SCORE: f32 = -8.0;
/// The lead over the second candidate that makes the first one unambiguous.
const CLEAR_LEAD: f32 = 1.0;
/// The most variants of a word.
const MAX_VARIANTS: usize = 3;
/// A known word may be a typo of a term that is this many times as frequent…
const POSSIBLE_TYPO_RATIO: u64 = 30;
/// … and is corrected if the term is this many times as frequent.
const CERTAIN_TYPO_RATIO: u64 = 100;
/// A word in more products is never a typo.
const MAX_TYPO_DOC_FREQ: u64 = 50;
/// Shorter known words are never typos.
const MIN_KNOWN_LETTERS: usize = 6;
/// The weight of a variant.
const VARIANT_WEIGHT: f32 = 0.7;
/// The cost of another ending, and of completing a prefix: a constant and a cost per letter.
const ENDING: f32 = 0.6;
const COMPLETION: f32 = 0.7;
const PER_LETTER: f32 = 0.1;
const ENDINGS: [&str; 8] = ["e", "ed", "d", "ing", "er", "r", "able", "y"];

/// The largest edit cost between a word of this length and its correction.
pub fn budget(letters: usize) -> f32 {
    match letters.checked_sub(MIN_LETTERS) {
        None => 0.0,
        Some(more) => BUDGETS[more.min(BUDGETS.len() - 1)],
    }
}

/// Corrects the unknown words of a text.
pub fn correct(text: &str, vocabulary: &Vocabulary<'_>) -> Corrected {
    let tokens = Tokens::of(text);
    let words: Vec<&str> = (0..tokens.len()).map(|at| tokens.word(at)).collect();
    let is_stop_word = stop_words(&words);
    let speller =
        Speller { tokens: &tokens, words: &words, is_stop_word: &is_stop_word, vocabulary };
    let mut corrected = Corrected::default();
    let mut kept_from = 0;
    let mut at = 0;
    let mut looked_up = 0;
    while at < tokens.len() {
        let fix = match speller.is_plain(at) && looked_up < MAX_CORRECTED {
            true => speller.fix_at(at, &mut corrected.variants, &mut looked_up),
            false => None,
        };
        let Some(Fix { to, tokens: taken, confidence }) = fix else {
            at += 1;
            continue;
        };
        let span = tokens.span(at, at + taken);
        corrected.text.push_str(&text[kept_from..span.start]);
        corrected.text.push_str(&to);
        kept_from = span.end;
        let from = text[span.clone()].to_owned();
        corrected.corrections.push(Correction { from, to, span, confidence });
        at += taken;
    }
    corrected.text.push_str(&text[kept_from..]);
    corrected
}

/// The correction of a single word, if the word is unknown and one candidate clearly leads.
pub(crate) fn unambiguous_correction(word: &str, vocabulary: &Vocabulary<'_>) -> Option<String> {
    let tokens = Tokens::of(word);
    let speller = Speller { tokens: &tokens, words: &[word], is_stop_word: &[false], vocabulary };
    let is_unknown = tokens.len() == 1
        && speller.is_plain(0)
        && word.len() >= MIN_LETTERS
        && (vocabulary.doc_freq)(word) == 0
        && !(vocabulary.is_foreign_word)(word)
        && !(vocabulary.is_dictionary_word)(word);
    let candidates = if is_unknown { speller.candidates(0, word) } else { Vec::new() };
    let is_clear = confidence_in_first(&candidates) == Confidence::High;
    candidates.into_iter().next().filter(|_| is_clear).map(|best| best.word)
}

/// How sure the first of these candidates, which are ordered by score, is the right one.
fn confidence_in_first(candidates: &[Candidate]) -> Confidence {
    match candidates {
        [first, second, ..] if first.score - second.score < CLEAR_LEAD => Confidence::Low,
        _ => Confidence::High,
    }
}

/// A correction of one or more tokens.
struct Fix {
    to: String,
    /// How many tokens it replaces.
    tokens: usize,
    confidence: Confidence,
}

struct Candidate {
    word: String,
    score: f32,
}

struct Speller<'a> {
    tokens: &'a Tokens<'a>,
    words: &'a [&'a str],
    is_stop_word: &'a [bool],
    vocabulary: &'a Vocabulary<'a>,
}

impl Speller<'_> {
    /// Whether a token is a lower-case ASCII word, neither a stop word nor part of a code.
    fn is_plain(&self, at: usize) -> bool {
        let word = self.words[at];
        let is_glued = |at: usize| self.tokens.is_glued(at) && !self.tokens.is(at, TokenKind::Sign);
        self.tokens.is(at, TokenKind::Word)
            && !self.is_stop_word[at]
            && !is_glued(at)
            && !is_glued(at + 1)
            && !word.is_empty()
            && word.len() <= MAX_LETTERS
            && word.bytes().all(|byte| byte.is_ascii_lowercase())
    }

    /// The correction of the token at `at`. Adds the variants of the word, and counts the words that
    /// were looked up in `looked_up`.
    fn fix_at(
        &self,
        at: usize,
        variants: &mut Vec<SpellingVariant>,
        looked_up: &mut usize,
    ) -> Option<Fix> {
        let word = singular(self.words[at]);
        let products = (self.vocabulary.doc_freq)(&word);
        if let Some(fix) = self.joined(at, products) {
            return Some(fix);
        }
        let least = if products > 0 { MIN_KNOWN_LETTERS } else { MIN_LETTERS };
        if products > MAX_TYPO_DOC_FREQ || word.len() < least {
            return None;
        }
        if products == 0 && (self.vocabulary.is_foreign_word)(self.tokens.raw(at, at + 1)) {
            return None;
        }
        *looked_up += 1;
        let candidates = self.candidates(at, &word);
        match products {
            0 => self.fix_unknown(at, &word, candidates, variants),
            _ => self.fix_rare(&word, products, candidates, variants),
        }
    }

    /// Corrects a known but rare word if a similar term is far more frequent. The word itself stays
    /// a variant; where the ratio is not conclusive, the term becomes a variant instead.
    fn fix_rare(
        &self,
        word: &str,
        products: u64,
        mut candidates: Vec<Candidate>,
        variants: &mut Vec<SpellingVariant>,
    ) -> Option<Fix> {
        let doc_freq = |candidate: &Candidate| (self.vocabulary.doc_freq)(&candidate.word);
        candidates.retain(|candidate| {
            let is_typo = distance(word, &candidate.word, EDIT).is_some();
            is_typo && doc_freq(candidate) >= products * POSSIBLE_TYPO_RATIO
        });
        let best = candidates.into_iter().next()?;
        if doc_freq(&best) < products * CERTAIN_TYPO_RATIO {
            let (of, other) = (word.into(), best.word.into());
            variants.push(SpellingVariant { of, word: other, weight: VARIANT_WEIGHT });
            return None;
        }
        let of = (&*best.word).into();
        variants.push(SpellingVariant { of, word: word.into(), weight: 1.0 });
        Some(Fix { to: best.word, tokens: 1, confidence: Confidence::Low })
    }

    /// Corrects an unknown word: keeps it if it is in the dictionary, splits it, or replaces it by the
    /// best candidate. Further candidates become variants.
    fn fix_unknown(
        &self,
        at: usize,
        word: &str,
        candidates: Vec<Candidate>,
        variants: &mut Vec<SpellingVariant>,
    ) -> Option<Fix> {
        let best = candidates.first().map(|candidate| candidate.score);
        let is_dictionary_word = (self.vocabulary.is_dictionary_word)(self.words[at])
            || (self.vocabulary.is_dictionary_word)(word);
        if !is_dictionary_word
            && let Some((to, score)) = self.split(word)
            && best.is_none_or(|best| score > best)
        {
            return Some(Fix { to, tokens: 1, confidence: Confidence::High });
        }
        let best = best?;
        let confidence = confidence_in_first(&candidates);
        let mut candidates = candidates.into_iter();
        let replacement = match is_dictionary_word {
            true => None,
            false => candidates.next().map(|best| best.word),
        };
        let of: Box<str> = replacement.as_deref().unwrap_or(word).into();
        variants.extend(candidates.take(MAX_VARIANTS).map(|other| SpellingVariant {
            of: of.clone(),
            word: other.word.into(),
            weight: VARIANT_WEIGHT * (other.score - best).exp(),
        }));
        replacement.map(|to| Fix { to, tokens: 1, confidence })
    }

    /// Terms that the word may be a typo of, best first.
    fn candidates(&self, at: usize, word: &str) -> Vec<Candidate> {
        let most = budget(word.len());
        let mut near: Vec<(String, f32)> = Vec::new();
        (self.vocabulary.near)(word, &mut |other| {
            if let Some(cost) = distance(word, other, most).filter(|_| other != word) {
                near.push((other.to_owned(), cost));
            }
        });
        (self.vocabulary.with_prefix)(word, &mut |other| {
            let more = other.len() - word.len();
            near.push((other.to_owned(), COMPLETION + PER_LETTER * more as f32));
        });
        near.extend(self.with_other_endings(word).map(|other| (other, ENDING)));
        near.sort_by(|(one, cost), (other, other_cost)| {
            one.cmp(other).then(cost.total_cmp(other_cost))
        });
        near.dedup_by(|(one, _), (other, _)| one == other);
        near.retain(|(other, _)| other != word);
        let edit_weight = |word: &str| {
            let letters = word.len().clamp(MIN_LETTERS, MAX_WEIGHTED_LETTERS) as f32;
            EDIT_AGAINST_FREQUENCY * TYPICAL_LETTERS / letters
        };
        let mut candidates: Vec<Candidate> = near
            .into_iter()
            .map(|(word, cost)| {
                let score = self.log_frequency((self.vocabulary.doc_freq)(&word))
                    - edit_weight(&word) * cost;
                Candidate { word, score }
            })
            .collect();
        let best_first = |one: &Candidate, other: &Candidate| {
            other.score.total_cmp(&one.score).then_with(|| one.word.cmp(&other.word))
        };
        candidates.sort_by(best_first);
        candidates.truncate(MAX_CANDIDATES);
        let others: Vec<String> = (0..self.words.len())
            .filter(|other| *other != at && self.is_plain(*other))
            .map(|other| singular(self.words[other]).into_owned())
            .collect();
        let others: Vec<&str> = others.iter().map(|other| &**other).collect();
        for candidate in &mut candidates {
            let both = (self.vocabulary.co_doc_freq)(&candidate.word, &others);
            candidate.score += self.log_frequency(both);
        }
        candidates.retain(|candidate| candidate.score >= MIN_SCORE);
        candidates.sort_by(best_first);
        candidates
    }

    /// Known terms with another ending: `charge` for `charged`.
    fn with_other_endings(&self, word: &str) -> impl Iterator<Item = String> {
        let without = ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending));
        let stems: Vec<&str> =
            without.filter(|stem| stem.len() >= MIN_LETTERS).chain([word]).collect();
        let with = stems.into_iter().flat_map(|stem| {
            ENDINGS.iter().chain(&[""]).map(move |ending| format!("{stem}{ending}"))
        });
        let with: Vec<String> = with.collect();
        (self.vocabulary.prefetch)(&with);
        with.into_iter().filter(|word| (self.vocabulary.doc_freq)(word) > 0)
    }

    /// The logarithm of a scaled document frequency.
    fn log_frequency(&self, products: u64) -> f32 {
        (products as f32 * REFERENCE_PRODUCTS / self.vocabulary.num_docs.max(1) as f32).ln_1p()
    }

    /// Joins a word with the next one, if one of them is unknown and the joined word is known.
    fn joined(&self, at: usize, products: u64) -> Option<Fix> {
        let next = at + 1;
        if next >= self.words.len() || !self.is_plain(next) {
            return None;
        }
        let next_products = (self.vocabulary.doc_freq)(&singular(self.words[next]));
        let joined = format!("{}{}", self.words[at], self.words[next]);
        let joined = singular(&joined);
        let is_meant = (products == 0 || next_products == 0)
            && joined.len() >= MIN_LETTERS
            && (self.vocabulary.doc_freq)(&joined) > 0;
        let confidence = Confidence::High;
        is_meant.then(|| Fix { to: joined.into_owned(), tokens: 2, confidence })
    }

    /// Splits a word into two known ones that occur together, with the score of the best split.
    fn split(&self, word: &str) -> Option<(String, f32)> {
        let mut best: Option<(String, f32)> = None;
        let places = MIN_PART..word.len().saturating_sub(MIN_PART - 1);
        let pieces: Vec<String> = places.clone().map(|at| word[..at].to_owned()).collect();
        (self.vocabulary.prefetch)(&pieces);
        for at in places {
            let (first, second) = word.split_at(at);
            let second = singular(second);
            if (self.vocabulary.doc_freq)(first) == 0 {
                continue;
            }
            let both = (self.vocabulary.co_doc_freq)(first, &[&second]);
            let score = 2.0 * self.log_frequency(both) - EDIT_AGAINST_FREQUENCY * SPACE;
            if both > 0 && best.as_ref().is_none_or(|(_, so_far)| score > *so_far) {
                best = Some((format!("{first} {second}"), score));
            }
        }
        best
    }
}
