//! What did the shopper mean to write? Words that the shop does not know are corrected to words
//! that it knows.
//!
//! A word that the language has is not corrected, although the shop does not know it: it is meant
//! as it stands. What the shop has that is like it may be meant, too.
//!
//! Words with digits in them are sizes and part numbers, and stay as they are. So do words that
//! the shop knows, but a rare one that looks like a slip for a common one means that one, too.

mod distance;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::{
    analysis::{singular, stop_words},
    query_parser::{Kind, Tokens},
};
use distance::{EDIT, distance};

/// Shorter words are too near to too many others.
const LEAST_LETTERS: usize = 4;
/// Longer ones are no words.
const MOST_LETTERS: usize = 32;
/// How far a word may be from what was written, by letters from [`LEAST_LETTERS`] on.
const BUDGETS: [f32; 5] = [1.0, 1.7, 2.0, 2.0, 2.4];
/// A few words of a query are corrected; a wall of letters is not.
const MOST_CORRECTED: usize = 8;
/// What a space too many or too few costs.
const SPACE: f32 = 0.8;
/// Shorter pieces are found in every wall of letters.
const LEAST_PIECE: usize = 3;
/// How much an edit counts against the logarithm of how often a word is said.
const EDIT_AGAINST_FREQUENCY: f32 = 4.0;
/// The letters of a word in which an edit counts just that, and those beyond which more do not matter.
const ORDINARY_LETTERS: f32 = 7.0;
const MOST_WEIGHED: usize = 12;
/// Frequencies are compared as if every shop had this many products.
const PRODUCTS: f32 = 20_000.0;
/// Of the candidates, so many are seen in their context.
const MOST_CANDIDATES: usize = 16;
/// Less likely candidates are not believed.
const LEAST_SCORE: f32 = -8.0;
/// By so much the likeliest candidate must be ahead to be the only one.
const CLEARLY: f32 = 1.0;
/// Further candidates that are kept.
const KEPT: usize = 3;
/// A known word may be a slip for a word of this many times as many products…
const TIMES_AS_MANY: u64 = 30;
/// … and of this many times as many, it surely is.
const SURELY: u64 = 100;
/// A word of more products is no slip.
const MOST_SLIPS: u64 = 50;
/// Shorter words that are known are no slips.
const LEAST_KNOWN: usize = 6;
/// What a word counts that was perhaps not meant.
const PERHAPS: f32 = 0.7;
/// What an ending too many or too few costs, and each letter of a word that breaks off.
const ENDING: f32 = 0.6;
const BROKEN_OFF: f32 = 0.7;
const PER_LETTER: f32 = 0.1;
const ENDINGS: [&str; 8] = ["e", "ed", "d", "ing", "er", "r", "able", "y"];

/// Takes a word of the shop.
pub type Found<'f> = &'f mut dyn FnMut(&str);

/// What the speller asks of a shop.
pub struct Vocabulary<'a> {
    /// How many products there are.
    pub num_docs: u64,
    /// Whether a word is one of the language, whoever says it.
    pub is_dictionary_word: &'a dyn Fn(&str) -> bool,
    /// Told which words will be asked for next, so that a shop far away can fetch them together.
    pub prefetch: &'a dyn Fn(&[String]),
    /// How many products say a word.
    pub doc_freq: &'a dyn Fn(&str) -> u64,
    /// Calls back with words near a word: at least all that are no further than this cost.
    pub near: &'a dyn Fn(&str, Found<'_>),
    /// Calls back with words that begin with a word.
    pub with_prefix: &'a dyn Fn(&str, Found<'_>),
    /// How many products say a word together with any of others.
    pub co_doc_freq: &'a dyn Fn(&str, &[&str]) -> u64,
}

/// A piece of a query that was corrected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// The piece as written.
    pub from: String,
    /// What it was taken for.
    pub to: String,
    /// Where it stands in the text that was corrected.
    pub span: Range<usize>,
}

/// A word that may be meant in place of another.
#[derive(Clone, Debug, PartialEq)]
pub struct SpellingVariant {
    /// The word in the corrected text, as the index has it.
    pub of: Box<str>,
    /// The word that may be meant.
    pub word: Box<str>,
    /// What it counts, below 1.
    pub weight: f32,
}

/// A text as it was probably meant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corrected {
    /// The text with the corrections made.
    pub text: String,
    /// What was corrected, in order.
    pub corrections: Vec<Correction>,
    /// What else may be meant.
    pub variants: Vec<SpellingVariant>,
}

impl Corrected {
    /// A text that is taken as written.
    pub fn unchanged(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}

/// How far a word may be from what was written.
pub fn budget(letters: usize) -> f32 {
    match letters.checked_sub(LEAST_LETTERS) {
        None => 0.0,
        Some(more) => BUDGETS[more.min(BUDGETS.len() - 1)],
    }
}

/// Corrects a text.
pub fn correct(text: &str, vocabulary: &Vocabulary<'_>) -> Corrected {
    let tokens = Tokens::of(text);
    let words: Vec<&str> = (0..tokens.len()).map(|at| tokens.word(at)).collect();
    let aside = stop_words(&words);
    let speller = Speller { tokens: &tokens, words: &words, aside: &aside, vocabulary };
    let mut corrected = Corrected::default();
    let mut kept_from = 0;
    let mut at = 0;
    let mut looked_at = 0;
    while at < tokens.len() {
        let fix = match speller.is_plain(at) && looked_at < MOST_CORRECTED {
            true => speller.look_at(at, &mut corrected.variants, &mut looked_at),
            false => None,
        };
        let Some(Fix { to, tokens: taken }) = fix else {
            at += 1;
            continue;
        };
        let span = tokens.span(at, at + taken);
        corrected.text.push_str(&text[kept_from..span.start]);
        corrected.text.push_str(&to);
        kept_from = span.end;
        corrected.corrections.push(Correction { from: text[span.clone()].to_owned(), to, span });
        at += taken;
    }
    corrected.text.push_str(&text[kept_from..]);
    corrected
}

/// The one known word that a word may be meant for; none if it is known, or there are several.
pub(crate) fn surely_meant(word: &str, vocabulary: &Vocabulary<'_>) -> Option<String> {
    let tokens = Tokens::of(word);
    let speller = Speller { tokens: &tokens, words: &[word], aside: &[false], vocabulary };
    let is_unknown = tokens.len() == 1
        && speller.is_plain(0)
        && word.len() >= LEAST_LETTERS
        && (vocabulary.doc_freq)(word) == 0
        && !(vocabulary.is_dictionary_word)(word);
    let mut candidates = if is_unknown { speller.candidates(0, word) } else { Vec::new() };
    let runner_up = candidates.get(1).map(|second| second.score);
    let best = (!candidates.is_empty()).then(|| candidates.remove(0))?;
    runner_up.is_none_or(|score| best.score - score >= CLEARLY).then_some(best.word)
}

/// What tokens were taken for.
struct Fix {
    to: String,
    tokens: usize,
}

struct Candidate {
    word: String,
    score: f32,
}

struct Speller<'a> {
    tokens: &'a Tokens<'a>,
    words: &'a [&'a str],
    aside: &'a [bool],
    vocabulary: &'a Vocabulary<'a>,
}

impl Speller<'_> {
    /// Whether a token is a word of letters that says something, and no part of a code.
    fn is_plain(&self, at: usize) -> bool {
        let word = self.words[at];
        let is_glued = |at: usize| self.tokens.is_glued(at) && !self.tokens.is(at, Kind::Sign);
        self.tokens.is(at, Kind::Word)
            && !self.aside[at]
            && !is_glued(at)
            && !is_glued(at + 1)
            && !word.is_empty()
            && word.len() <= MOST_LETTERS
            && word.bytes().all(|byte| byte.is_ascii_lowercase())
    }

    fn look_at(
        &self,
        at: usize,
        variants: &mut Vec<SpellingVariant>,
        looked_at: &mut usize,
    ) -> Option<Fix> {
        let word = singular(self.words[at]);
        let products = (self.vocabulary.doc_freq)(&word);
        if let Some(fix) = self.joined(at, products) {
            return Some(fix);
        }
        let least = if products > 0 { LEAST_KNOWN } else { LEAST_LETTERS };
        if products > MOST_SLIPS || word.len() < least {
            return None;
        }
        *looked_at += 1;
        let mut candidates = self.candidates(at, &word);
        if products > 0 {
            let more = |candidate: &Candidate| (self.vocabulary.doc_freq)(&candidate.word);
            candidates.retain(|candidate| {
                let is_slip = distance(&word, &candidate.word, EDIT).is_some();
                is_slip && more(candidate) >= products * TIMES_AS_MANY
            });
            let best = candidates.into_iter().next()?;
            if more(&best) < products * SURELY {
                variants.push(SpellingVariant {
                    of: (&*word).into(),
                    word: best.word.into(),
                    weight: PERHAPS,
                });
                return None;
            }
            let of = (&*best.word).into();
            variants.push(SpellingVariant { of, word: (&*word).into(), weight: 1.0 });
            return Some(Fix { to: best.word, tokens: 1 });
        }
        let split = self.split(&word);
        let best = candidates.first().map(|candidate| candidate.score);
        if let Some((to, score)) = split
            && best.is_none_or(|best| score > best)
        {
            return Some(Fix { to, tokens: 1 });
        }
        let best = candidates.first()?.score;
        if (self.vocabulary.is_dictionary_word)(self.words[at])
            || (self.vocabulary.is_dictionary_word)(&word)
        {
            variants.extend(candidates.into_iter().take(KEPT).map(|other| SpellingVariant {
                of: (&*word).into(),
                word: other.word.into(),
                weight: PERHAPS * (other.score - best).exp(),
            }));
            return None;
        }
        let mut candidates = candidates.into_iter();
        let best = candidates.next()?;
        variants.extend(candidates.take(KEPT).map(|other| SpellingVariant {
            of: (&*best.word).into(),
            word: other.word.into(),
            weight: PERHAPS * (other.score - best.score).exp(),
        }));
        Some(Fix { to: best.word, tokens: 1 })
    }

    /// Known words that may be meant, the likeliest first.
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
            near.push((other.to_owned(), BROKEN_OFF + PER_LETTER * more as f32));
        });
        near.extend(self.with_other_endings(word).map(|other| (other, ENDING)));
        near.sort_by(|(one, cost), (other, other_cost)| {
            one.cmp(other).then(cost.total_cmp(other_cost))
        });
        near.dedup_by(|(one, _), (other, _)| one == other);
        near.retain(|(other, _)| other != word);
        // One edit is much of a short word and little of a long one.
        let edit = |word: &str| {
            let letters = word.len().clamp(LEAST_LETTERS, MOST_WEIGHED) as f32;
            EDIT_AGAINST_FREQUENCY * ORDINARY_LETTERS / letters
        };
        let mut candidates: Vec<Candidate> = near
            .into_iter()
            .map(|(word, cost)| {
                let score = self.frequency((self.vocabulary.doc_freq)(&word)) - edit(&word) * cost;
                Candidate { word, score }
            })
            .collect();
        let likeliest_first = |one: &Candidate, other: &Candidate| {
            other.score.total_cmp(&one.score).then_with(|| one.word.cmp(&other.word))
        };
        candidates.sort_by(likeliest_first);
        candidates.truncate(MOST_CANDIDATES);
        let others: Vec<String> = (0..self.words.len())
            .filter(|other| *other != at && self.is_plain(*other))
            .map(|other| singular(self.words[other]).into_owned())
            .collect();
        let others: Vec<&str> = others.iter().map(|other| &**other).collect();
        for candidate in &mut candidates {
            let together = (self.vocabulary.co_doc_freq)(&candidate.word, &others);
            candidate.score += self.frequency(together);
        }
        candidates.retain(|candidate| candidate.score >= LEAST_SCORE);
        candidates.sort_by(likeliest_first);
        candidates
    }

    /// Known words that differ in the ending: `charge` for `charged`.
    fn with_other_endings(&self, word: &str) -> impl Iterator<Item = String> {
        let without = ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending));
        let stems: Vec<&str> =
            without.filter(|stem| stem.len() >= LEAST_LETTERS).chain([word]).collect();
        let with = stems.into_iter().flat_map(|stem| {
            ENDINGS.iter().chain(&[""]).map(move |ending| format!("{stem}{ending}"))
        });
        let with: Vec<String> = with.collect();
        (self.vocabulary.prefetch)(&with);
        with.into_iter().filter(|word| (self.vocabulary.doc_freq)(word) > 0)
    }

    /// How often a word is said, as a logarithm.
    fn frequency(&self, products: u64) -> f32 {
        (products as f32 * PRODUCTS / self.vocabulary.num_docs.max(1) as f32).ln_1p()
    }

    /// A word and the next one, if one of them is unknown and both together are known.
    fn joined(&self, at: usize, products: u64) -> Option<Fix> {
        let next = at + 1;
        if next >= self.words.len() || !self.is_plain(next) {
            return None;
        }
        let next_products = (self.vocabulary.doc_freq)(&singular(self.words[next]));
        let joined = format!("{}{}", self.words[at], self.words[next]);
        let joined = singular(&joined);
        let is_meant = (products == 0 || next_products == 0)
            && joined.len() >= LEAST_LETTERS
            && (self.vocabulary.doc_freq)(&joined) > 0;
        is_meant.then(|| Fix { to: joined.into_owned(), tokens: 2 })
    }

    /// Two known words that make one, and how likely they are meant.
    fn split(&self, word: &str) -> Option<(String, f32)> {
        let mut best: Option<(String, f32)> = None;
        let places = LEAST_PIECE..word.len().saturating_sub(LEAST_PIECE - 1);
        let pieces: Vec<String> = places.clone().map(|at| word[..at].to_owned()).collect();
        (self.vocabulary.prefetch)(&pieces);
        for at in places {
            let (first, second) = word.split_at(at);
            let second = singular(second);
            if (self.vocabulary.doc_freq)(first) == 0 {
                continue;
            }
            let together = (self.vocabulary.co_doc_freq)(first, &[&second]);
            let score = 2.0 * self.frequency(together) - EDIT_AGAINST_FREQUENCY * SPACE;
            if together > 0 && best.as_ref().is_none_or(|(_, so_far)| score > *so_far) {
                best = Some((format!("{first} {second}"), score));
            }
        }
        best
    }
}
