//! Reads a text once: its words with what the lexicon knows of them, the phrases found, and the
//! zone of every word.

use super::lexicon::{self, Certainty, Info, Meaning, class};
use crate::{
    product::inferred::{Attribute, METALLIC},
    text::lexer::{TokenKind, Tokens},
};

/// What is between a word and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// The end of a sentence, or the beginning of the text.
    Sentence,
    /// A comma, dash, bracket or the like.
    Segment,
    /// A space, or a sign that means nothing here.
    Space,
    /// A hyphen inside a compound, or nothing, as in `3XL`.
    Glued,
    /// A slash.
    Slash,
}

/// What a word is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    /// The product.
    Product,
    /// After "in", "made of": what the product is like.
    In,
    /// After "with": a part of it.
    Part,
    /// After "for", "compatible with": another product, or who uses it.
    For,
    /// After another preposition: neither.
    Elsewhere,
    /// After a comma that ends one of the last three: unclear.
    After,
}

#[derive(Debug)]
pub(super) struct Word {
    pub(super) token: usize,
    info: Option<&'static Info>,
    is_inflected: bool,
    pub(super) is_number: bool,
    pub(super) gap: Gap,
    pub(super) zone: Zone,
}

impl Word {
    pub(super) fn is(&self, classes: u64) -> bool {
        self.classes() & classes != 0
    }

    pub(super) fn classes(&self) -> u64 {
        self.info.map_or(0, |info| info.classes)
    }

    /// Whether a sentence or segment begins with it.
    pub(super) fn is_after_break(&self) -> bool {
        matches!(self.gap, Gap::Sentence | Gap::Segment)
    }

    /// "Black/gold" are two, "black gold" is one.
    fn continues_phrase(&self) -> bool {
        matches!(self.gap, Gap::Space | Gap::Glued)
    }

    fn is_preposition(&self) -> bool {
        self.is(class::WITH | class::FOR | class::IN | class::ELSEWHERE)
    }
}

/// A phrase of the lexicon: the words `start..end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) meaning: &'static Meaning,
}

/// The meanings of a phrase, and the exclusive end of its words.
type Phrase = (&'static [Meaning], usize);

pub(super) struct Reading<'t> {
    pub(super) tokens: Tokens<'t>,
    pub(super) words: Vec<Word>,
    /// The longest phrase that begins at each word.
    phrases: Vec<Option<Phrase>>,
    /// The classes of all words.
    classes: u64,
}

impl<'t> Reading<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let tokens = Tokens::of(text);
        let mut words: Vec<Word> = Vec::with_capacity(tokens.len());
        let mut gap = Gap::Sentence;
        for at in 0..tokens.len() {
            match gap_of_sign(&tokens, at) {
                Some(sign) => gap = wider(gap, sign),
                None => {
                    let glued = tokens.is_glued(at) && gap == Gap::Space;
                    let gap_before = if glued { Gap::Glued } else { gap };
                    let mut word = word_at(&tokens, at, gap_before);
                    // "Looking for": what follows is the product.
                    if word.is(class::FOR) && words.last().is_some_and(|w| w.is(class::SEARCH)) {
                        word.info = None;
                    }
                    words.push(word);
                    gap = Gap::Space;
                }
            }
        }
        let classes = words.iter().fold(0, |all, word| all | word.classes());
        let mut reading = Self { tokens, words, phrases: Vec::new(), classes };
        reading.phrases = (0..reading.words.len()).map(|at| reading.longest_phrase(at)).collect();
        reading.set_zones();
        reading
    }

    fn set_zones(&mut self) {
        let mut zone = Zone::Product;
        // "In" after "with" is about the product, unless an "in" before already was.
        let mut said_in = false;
        for at in 0..self.words.len() {
            let is_unit =
                at > 0 && (self.words[at - 1].is_number || self.words[at].gap == Gap::Glued);
            let word = &self.words[at];
            zone = match word.gap {
                Gap::Sentence => Zone::Product,
                Gap::Segment if matches!(zone, Zone::Product | Zone::In) => Zone::Product,
                Gap::Segment => Zone::After,
                _ => zone,
            };
            said_in &= word.gap != Gap::Sentence;
            let classes = word.classes();
            if classes & class::FOR != 0 {
                zone = Zone::For;
            } else if classes & class::WITH != 0 && zone != Zone::For {
                zone = Zone::Part;
            } else if self.is_made_of(at) {
                zone = Zone::In;
            } else if classes & class::IN != 0 && !is_unit {
                let is_description = !said_in && self.names_attribute(at + 1);
                let is_product = matches!(zone, Zone::Product | Zone::In);
                zone = if is_description || is_product { Zone::In } else { Zone::Elsewhere };
                said_in = true;
            } else if classes & class::ELSEWHERE != 0 {
                zone = Zone::Elsewhere;
            }
            self.words[at].zone = zone;
        }
    }

    /// "Made of", "crafted from".
    fn is_made_of(&self, at: usize) -> bool {
        matches!(self.word(at), "of" | "from") && self.follows(at, class::MADE)
    }

    fn names_attribute(&self, at: usize) -> bool {
        let names =
            |at: usize| self.match_at(at).is_some_and(|found| !found.meaning.values.is_empty());
        names(at) || names(at + 1)
    }

    /// The folded form of a word; empty outside the text.
    pub(super) fn word(&self, at: usize) -> &str {
        let Some(word) = self.words.get(at) else { return "" };
        match self.tokens.word(word.token) {
            "&" | "+" => "and",
            word => word,
        }
    }

    /// The phrases found, from left to right, each the longest at its place. One that may be
    /// several attributes is found for each.
    pub(super) fn matches(&self) -> impl Iterator<Item = Match> {
        self.matches_of(|_| true)
    }

    /// The same for meanings that fit.
    pub(super) fn matches_of(
        &self,
        fits: impl Fn(&Meaning) -> bool + Copy,
    ) -> impl Iterator<Item = Match> {
        let mut start = 0;
        let phrases = std::iter::from_fn(move || {
            while start < self.words.len() {
                let at = start;
                if let Some((meanings, end)) = self.phrase_at(at)
                    && meanings.iter().any(fits)
                {
                    start = end;
                    return Some((at, end, meanings));
                }
                start += 1;
            }
            None
        });
        phrases.flat_map(move |(start, end, meanings)| {
            let meanings = meanings.iter().filter(move |meaning| fits(meaning));
            meanings.map(move |meaning| Match { start, end, meaning })
        })
    }

    /// The first meaning of the longest phrase that begins at a word.
    pub(super) fn match_at(&self, start: usize) -> Option<Match> {
        let (meanings, end) = self.phrase_at(start)?;
        Some(Match { start, end, meaning: &meanings[0] })
    }

    /// Whether the phrase may be another attribute as well.
    pub(super) fn has_other_meaning(&self, found: &Match) -> bool {
        self.phrase_at(found.start).is_some_and(|(meanings, _)| meanings.len() > 1)
    }

    fn phrase_at(&self, start: usize) -> Option<Phrase> {
        *self.phrases.get(start)?
    }

    /// Whether any word has one of these classes.
    pub(super) fn mentions(&self, classes: u64) -> bool {
        self.classes & classes != 0
    }

    /// The longest phrase that begins at a word and contains neither break nor slash.
    fn longest_phrase(&self, start: usize) -> Option<Phrase> {
        let word = self.words.get(start)?;
        let (meanings, len) = word.info?.longest(word.is_inflected, |offset| {
            match self.words.get(start + 1..=start + offset) {
                Some(words) if words.iter().all(Word::continues_phrase) => {
                    self.word(start + offset)
                }
                _ => "",
            }
        })?;
        Some((meanings, start + len))
    }

    /// Whether a word of these classes is at this place.
    pub(super) fn is(&self, at: usize, classes: u64) -> bool {
        self.words.get(at).is_some_and(|word| word.is(classes))
    }

    /// The same, unless a break separates it from the word before.
    pub(super) fn continues_with(&self, at: usize, classes: u64) -> bool {
        self.words.get(at).is_some_and(|word| !word.is_after_break() && word.is(classes))
    }

    /// The same for the word before a place that no break separates.
    pub(super) fn follows(&self, at: usize, classes: u64) -> bool {
        at > 0
            && self.words.get(at).is_some_and(|word| !word.is_after_break())
            && self.words[at - 1].is(classes)
    }

    /// The exclusive end of the clause that a word belongs to: the next break or preposition.
    pub(super) fn clause_end(&self, at: usize) -> usize {
        let ends = |end: &usize| {
            let word = &self.words[*end];
            let is_unit =
                word.is(class::IN) && (self.words[end - 1].is_number || word.gap == Gap::Glued);
            word.is_after_break() || word.is_preposition() && !is_unit
        };
        (at + 1..self.words.len()).find(ends).unwrap_or(self.words.len())
    }

    /// The words between two breaks around a word.
    pub(super) fn segment(&self, at: usize) -> std::ops::Range<usize> {
        let breaks = |at: &usize| self.words[*at].is_after_break();
        let start = (0..=at).rev().find(breaks).unwrap_or_default();
        let end = (at + 1..self.words.len()).find(breaks).unwrap_or(self.words.len());
        start..end
    }

    /// "Emerald ring", "white topaz pendant": the color of a gem, not of the thing.
    pub(super) fn is_of_a_gem(&self, found: &Match) -> bool {
        let is_metal = found.meaning.values.get(Attribute::Color) & METALLIC != 0;
        let names_gem =
            || self.is(found.start, class::GEM) || self.continues_with(found.end, class::GEM);
        self.mentions(class::JEWELRY) && names_gem() || self.mentions(class::CARAT) && !is_metal
    }

    /// Whether a color only shades the one before or after it: "mint green", "black sapphire".
    pub(super) fn is_a_shade(&self, found: &Match) -> bool {
        let is_one_word = self
            .words
            .get(found.end)
            .is_some_and(|next| matches!(next.gap, Gap::Space | Gap::Glued));
        let shades_next = || {
            is_one_word
                && self.match_at(found.end).is_some_and(|next| next.meaning.is(Attribute::Color))
        };
        let shades_last = || {
            matches!(self.words[found.start].gap, Gap::Space | Gap::Glued)
                && self.match_ending_at(found.start).is_some_and(|last| {
                    last.meaning.is(Attribute::Color) && last.meaning.certainty == Certainty::Sure
                })
        };
        match found.meaning.certainty {
            Certainty::Sure => false,
            Certainty::Likely => shades_next(),
            _ => shades_next() || shades_last(),
        }
    }
}

fn word_at(tokens: &Tokens, at: usize, gap: Gap) -> Word {
    let is_number = tokens.is(at, TokenKind::Digits);
    let word = match tokens.word(at) {
        "&" | "+" => "and",
        "w" if tokens.word(at + 1) == "/" => "with",
        word => word,
    };
    let (info, is_inflected) = match lexicon::info(word) {
        Some((info, is_inflected)) => (Some(info), is_inflected),
        None => (None, false),
    };
    Word { token: at, info, is_inflected, is_number, gap, zone: Zone::Product }
}

/// What a sign puts between two words; `None` for a word, a number and a sign that is read as one.
fn gap_of_sign(tokens: &Tokens, at: usize) -> Option<Gap> {
    if !tokens.is(at, TokenKind::Sign) {
        return None;
    }
    let is_inside = tokens.is_glued(at) && tokens.is_glued(at + 1);
    Some(match tokens.word(at) {
        "&" | "+" | "%" => return None,
        "-" | "\u{2010}" | "\u{2011}" if is_inside => Gap::Glued,
        "," | "(" | ")" | "[" | "]" | ":" | "|" | "-" | "\u{2013}" | "\u{2014}" => Gap::Segment,
        "." if is_inside || is_abbreviation(tokens, at) => Gap::Space,
        "." | ";" | "!" | "?" | "\u{2022}" => Gap::Sentence,
        "/" => Gap::Slash,
        _ => Gap::Space,
    })
}

/// Whether a full stop follows a unit, which titles abbreviate: "12 in. Black".
fn is_abbreviation(tokens: &Tokens, at: usize) -> bool {
    const LONGEST: usize = 4;
    at > 1 && tokens.is(at - 2, TokenKind::Digits) && tokens.word_before(at).len() <= LONGEST
}

/// A break outweighs what else is between two words.
fn wider(one: Gap, other: Gap) -> Gap {
    let width = |gap| match gap {
        Gap::Space => 0,
        Gap::Glued => 1,
        Gap::Slash => 2,
        Gap::Segment => 3,
        Gap::Sentence => 4,
    };
    if width(other) > width(one) { other } else { one }
}
