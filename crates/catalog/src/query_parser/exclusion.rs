//! What does a shopper not want: "without leather", "not black", "-red"?
//!
//! Negation is often part of what *is* wanted ("no show socks", "non stick", "without waking
//! the baby"): then nothing is excluded and the words are searched for.
//!
//! A claim ("nickel-free", "free of nickel") excludes as well, and its words stay in what is
//! searched for.

mod claimed;
mod names;

use std::sync::LazyLock;

use crate::analysis::{for_each_form, for_each_word_or_break, is_function_word, singular};
use crate::spelling::{Correction, Vocabulary, surely_meant};

use super::claims::claims;
use super::cues::CUE_WORDS;
use super::lexicon::{Lexicon, WordSet};
use super::tokens::{Kind, Tokens};
use super::{Span, TermLookup};

/// Shorter ones are parts of names: `usb -c`.
const LEAST_AFTER_MINUS: usize = 3;
/// A product may say one other word between two excluded ones.
const MAX_GAP: usize = 1;
/// Shorter words in -ing are things: king, ring, wing.
const LEAST_GERUND: usize = 5;

/// What follows one of these is denied: `no leather`.
const DENIED_AFTER: [&str; 10] =
    ["no", "non", "without", "zero", "ohne", "sans", "sin", "sem", "senza", "без"];
/// What stands before one of these is denied: `leather-free`. The index has `freie` and `freies` as
/// `frey`.
const DENIED_BEFORE: [&str; 5] = ["free", "frei", "frey", "freier", "freien"];
/// What follows one of these and its preposition is denied: `free of nickel`.
const FREE_OF: [(&str, &[&str]); 7] = [
    ("free", &["of", "from"]),
    ("frei", &["von"]),
    ("libre", &["de"]),
    ("livre", &["de"]),
    ("exempt", &["de"]),
    ("privo", &["di"]),
    ("priva", &["di"]),
];
/// What follows one of these and a verb of containing is denied: `does not contain lactose`.
const NOT: [&str; 3] = ["not", "doesnt", "dont"];
const CONTAINING: [&str; 4] = ["contain", "include", "have", "use"];
/// Most words of the other items of a list: `free of lead and nickel`.
const MAX_LISTED_WORDS: usize = 2;

/// Words that no product found may say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exclusion {
    /// The words as the index has them. A product is excluded if it says all of them, in this
    /// order.
    pub words: Vec<Box<str>>,
    /// The bytes of the query that say so. Words excluded together ("leather or suede") share
    /// what was said before the first.
    pub span: Span,
    /// Whether it was asked for as a claim of products ("nickel-free"). Then its words are among
    /// those searched for, and products that make the claim come before others.
    pub is_claim: bool,
}

impl Exclusion {
    /// Whether a product's text says what is excluded.
    ///
    /// To deny it is not to say it: `leather-free`, `no leather` and `non-leather` are fine for
    /// someone who wants no leather.
    pub fn matches(&self, text: &str) -> bool {
        with_words(text, |said| self.matches_words(said))
    }

    fn matches_words(&self, said: &[&str]) -> bool {
        let Some(first) = self.words.first() else { return false };
        (0..said.len()).any(|at| {
            *said[at] == **first
                && !is_denied(said, at)
                && self.last_said_from(said, at).is_some_and(|last| !is_free(said, last))
        })
    }

    /// Whether a text breaks any of some exclusions. Reads the text once, however many there are.
    pub(super) fn any_matches(exclusions: &[Self], text: &str) -> bool {
        !exclusions.is_empty()
            && with_words(text, |said| exclusions.iter().any(|one| one.matches_words(said)))
    }

    /// How many words before one it takes at the most to deny it; behind it, the next one can.
    pub const NEGATION_WINDOW: usize = 8;

    /// What stands among the words of a text between two sentences: `Made of cotton. Free shipping`
    /// does not deny that it is cotton.
    pub const SENTENCE_BREAK: &str = ".";

    /// Whether one of the words of a text, which are those of [`for_each_word_or_break`] in order, is
    /// denied where it stands. An exclusion of one word is broken by a text that says the word anywhere
    /// without denying it.
    pub fn is_negated_in(said: &[&str], at: usize) -> bool {
        is_denied(said, at) || is_free(said, at)
    }

    /// Whether a word is one by which texts deny others. A text without any denies nothing.
    pub fn is_negator(word: &str) -> bool {
        Self::negators().any(|denial| denial == word)
    }

    /// The words by which a product denies something. One that says none of them says what it
    /// says: it breaks an exclusion of one word by having that word.
    pub fn negators() -> impl Iterator<Item = &'static str> {
        let free_of = FREE_OF.into_iter().map(|(free, _)| free);
        let free_of = free_of.filter(|free| !DENIED_BEFORE.contains(free));
        DENIED_AFTER.into_iter().chain(DENIED_BEFORE).chain(free_of).chain(NOT)
    }

    /// For a claim, the word that products say which write it as one: `nickelfree`, as the index
    /// has `nickel-free`, too.
    pub fn claim(&self) -> Option<String> {
        self.is_claim.then(|| format!("{}free", self.words.concat()))
    }

    /// Corrects words that a shop does not know, where there is no doubt what is meant.
    pub(super) fn correct(&mut self, query: &str, vocabulary: &Vocabulary<'_>) -> Vec<Correction> {
        let start = self.span.start;
        let said = Tokens::of(&query[self.span.clone()]);
        let mut corrections = Vec::new();
        for word in &mut self.words {
            let is_it = |at: &usize| *singular(said.word(*at)) == **word;
            if let Some(to) = surely_meant(word, vocabulary)
                && let Some(at) = (0..said.len()).rev().find(is_it)
            {
                let place = said.span(at, at + 1);
                let span = start + place.start..start + place.end;
                corrections.push(Correction {
                    from: query[span.clone()].to_owned(),
                    to: to.clone(),
                    span,
                });
                *word = to.into();
            }
        }
        corrections
    }

    /// Takes over what the query's own words were corrected to.
    pub(super) fn follow(&mut self, corrections: &[Correction]) {
        let is_inside = |span: &Span| self.span.start <= span.start && span.end <= self.span.end;
        for Correction { from, to, span } in corrections {
            let is_it = |word: &&mut Box<str>| *singular(Tokens::of(from).word(0)) == ***word;
            if is_inside(span)
                && !to.contains(' ')
                && let Some(word) = self.words.iter_mut().find(is_it)
            {
                *word = singular(to).into();
            }
        }
    }

    /// Where the last word is said, if all follow the first closely.
    fn last_said_from(&self, said: &[&str], first: usize) -> Option<usize> {
        self.words[1..].iter().try_fold(first, |at, word| {
            let next = (at + 1..said.len()).filter(|next| said[*next] != Self::SENTENCE_BREAK);
            next.take(1 + MAX_GAP).find(|next| *said[*next] == **word)
        })
    }
}

/// Calls `f` with the words of a text, in order, and what parts its sentences.
fn with_words<R>(text: &str, f: impl FnOnce(&[&str]) -> R) -> R {
    let (mut texts, mut ends) = (String::with_capacity(text.len()), Vec::new());
    for_each_word_or_break(text, |word| {
        texts.push_str(word.unwrap_or(Exclusion::SENTENCE_BREAK));
        ends.push(texts.len());
    });
    let start = |at: usize| at.checked_sub(1).map_or(0, |before| ends[before]);
    let said: Vec<&str> = (0..ends.len()).map(|at| &texts[start(at)..ends[at]]).collect();
    f(&said)
}

fn is_denied(said: &[&str], at: usize) -> bool {
    let before = |at: usize| at.checked_sub(1).map_or("", |before| said[before]);
    let at = if before(at) == "any" { at - 1 } else { at };
    if is_denied_at(said, at) {
        return true;
    }
    // The last item of a list is denied with the first.
    let is_last = matches!(before(at), "and" | "or" | "nor");
    let first = |words: usize| at.checked_sub(1 + words);
    is_last && (1..=MAX_LISTED_WORDS).filter_map(first).any(|first| is_free_of(said, first))
        || before(at) != "and" && is_last && first(1).is_some_and(|first| is_denied_at(said, first))
}

/// Whether the words before this one deny it.
fn is_denied_at(said: &[&str], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map_or("", |before| said[before]);
    DENIED_AFTER.contains(&before(1))
        || is_free_of(said, at)
        || CONTAINING.contains(&before(1)) && NOT.contains(&before(2))
}

fn is_free_of(said: &[&str], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map_or("", |before| said[before]);
    FREE_OF.iter().any(|(free, of)| before(2) == *free && of.contains(&before(1)))
}

fn is_free(said: &[&str], at: usize) -> bool {
    said.get(at + 1).is_some_and(|next| DENIED_BEFORE.contains(next))
}

/// How a negation takes the words behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Negator {
    /// "without": a whole noun phrase, and a list of them.
    Without,
    /// "no": one word, and a list of them.
    No,
    /// "not": one word; "and" goes on with what is wanted.
    Not,
    /// "non-": one word.
    Non,
}

const NEGATORS: &[(&str, Negator)] = &[
    (
        "without|w / o|excluding|exclude|except|except for|excepting|other than|anything but|\
         apart from|with no|that has no|which has no|that have no|containing no|contains no|\
         but without|and without|dont want|do not want|i dont want|i do not want|made without|\
         that doesnt contain|that does not contain|that dont contain|that do not contain|\
         not containing|that doesnt have|that does not have|that dont have",
        Negator::Without,
    ),
    ("no|but no|and no|or no", Negator::No),
    (
        "not|but not|and not|or not|thats not|that is not|that are not|nor|\
         that isnt|that arent|which isnt|which arent|which is not|which are not",
        Negator::Not,
    ),
    ("non", Negator::Non),
    ("ohne|ausser|sans|sauf|sin|excepto|sem|exceto|senza|tranne|без|кроме", Negator::Without),
    ("kein|keine|keinen|pas de|aber ohne|mais sans|pero sin|mas sem|ma senza|но без", Negator::No),
    ("nicht|aber nicht|mais pas|pas|pero no|nao|mas nao|ma non|не|но не", Negator::Not),
];

/// What may stand between a negation and the words it takes.
const SKIPPED: &str = "a|an|the|any|made of|made from|made in|made by|of|by|from|in|with|ein|eine|\
    einen|un|une|du|la|le|les|de|el|una|um|uma|il|lo|color|colour|coloured|colored|all";

/// Words that need the next one to say what is not wanted.
const MODIFIERS: &str = "faux fake artificial synthetic genuine real dark light bright hot palm \
    added high low stainless carbon memory blue-light polka built genetically vegan patent animal \
    tree corn coconut peanut olive soy maple neon navy sky baby royal rose dusty hardcover long \
    short full open front side back stiff spare extra visible";

/// Behind a noun phrase, these go on with what is wanted.
const WANTED_AGAIN: &str = "black white red blue green yellow orange purple pink brown grey gray \
    beige gold silver navy cheap cheaper cheapest affordable expensive large small big medium mini \
    xl xxl xs men women man woman kid kids boys girls boy girl unisex size waterproof wireless new \
    best good nice top comfortable lightweight soft warm cotton leather wool";

/// Things in -ing that can be left out; other words in -ing are doings.
const THINGS_IN_ING: &str = "lining padding stitching piercing wiring coating filling clothing \
    ceiling railing drawstring seasoning packaging frosting icing stuffing earring earrings \
    underwiring thing things swing swings sling slings string strings spring springs smocking ruching flooring";

/// Behind "not", these are no things.
const NO_THINGS: &str = "enough too very so only just sure much many yet always even really \
    necessarily free included rated suitable your again at like needed required available now cool ok \
    okay bad good great perfect more less longer matter later least one two three house quite all \
    use ever able mine another anymore well worth";

/// Before "no" and "not", these make a sentence about the shopper.
const ABOUT_ME: &str = "have had has own owns got need needs is are am was do does did can could \
    will would should must may wont cant gets shows leaves makes says so ive weve there theres want wants he she me to or and";

/// Before any negation of another language, these make it a name: "comic sans".
const NAMES_BEFORE: &str = "comic open original seven deadly mortal noto";

/// A query that begins with another verb and its object tells what is to be done, and its
/// negations how: "cut a branch without any noise".
const WANTING: &str = "find get buy want need show give recommend suggest search looking have got \
    like love prefer sell see";

/// What follows a verb and no noun.
const AFTER_VERBS: &[&str] =
    &["a", "an", "the", "my", "our", "your", "his", "her", "their", "up", "out", "off", "down"];

/// Before a claim, these turn it around: "not sugar free".
const NEGATED: &[&str] = &["not", "no", "non", "isnt", "arent", "never", "nicht", "kein", "keine"];

/// Words that turn "without" around: "can't live without a cuppa".
const CANNOT: &[&str] = &["cant", "cannot", "wont", "never"];

/// "a tent with no electricity" tells where, not what.
const PLACES: &[&str] = &["in", "at", "on", "to"];
/// How far before "with no" a place may begin: "at a remote ranch".
const MAX_PLACE: usize = 4;

pub(super) static NEGATOR_WORDS: LazyLock<Lexicon<Negator>> =
    LazyLock::new(|| Lexicon::of_lists(NEGATORS));
static SKIPPED_WORDS: LazyLock<Lexicon<()>> = LazyLock::new(|| Lexicon::of_lists(&[(SKIPPED, ())]));
static MODIFIER_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[MODIFIERS]));
static WANTED_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[WANTED_AGAIN]));
static ING_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[THINGS_IN_ING]));
static NO_THING_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[NO_THINGS]));
static ABOUT_ME_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[ABOUT_ME]));
static WANTING_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[WANTING]));
static NAME_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[NAMES_BEFORE]));

/// All exclusions, in order, each with its tokens. Tokens that are `taken` say something else.
pub(super) fn read(tokens: &Tokens, taken: &[bool], knows: TermLookup) -> Vec<(Exclusion, Span)> {
    let reader = Reader { tokens, taken, knows, is_task: is_task(tokens, taken) };
    let mut found = Vec::new();
    let mut has_content = false;
    let mut at = 0;
    while at < tokens.len() {
        let end = reader.at(at, has_content, &mut found).unwrap_or(at + 1);
        let is_searched_for = end == at + 1 || found.last().is_some_and(|(last, _)| last.is_claim);
        has_content |= is_searched_for && reader.is_content(at);
        at = end;
    }
    found
}

/// Whether a query tells what is to be done rather than what is wanted.
fn is_task(tokens: &Tokens, taken: &[bool]) -> bool {
    let first = tokens.word(0);
    let is_verb =
        tokens.is(0, Kind::Word) && !is_function_word(first) && !WANTING_WORDS.contains(first);
    let cannot = || (0..tokens.len()).any(|at| !taken[at] && CANNOT.contains(&tokens.word(at)));
    is_verb && AFTER_VERBS.contains(&tokens.word(1)) || cannot()
}

struct Reader<'a> {
    tokens: &'a Tokens<'a>,
    taken: &'a [bool],
    knows: TermLookup<'a>,
    is_task: bool,
}

impl Reader<'_> {
    /// Adds what is excluded from a token on, and returns the token behind it.
    fn at(
        &self,
        at: usize,
        has_content: bool,
        found: &mut Vec<(Exclusion, Span)>,
    ) -> Option<usize> {
        if self.is_leading_minus(at) {
            let end = self.end_of_compound(at + 1);
            self.push(at..end, at + 1..end, false, found);
            return Some(end);
        }
        if let Some(end) = self.claim(at, found) {
            return Some(end);
        }
        if self.is_task || self.taken[at] || self.tokens.is_glued(at) {
            return None;
        }
        let (negator, behind) = NEGATOR_WORDS.longest_at(self.tokens, at)?;
        let behind =
            behind + usize::from(negator == Negator::Non && self.tokens.is_hyphen_inside(behind));
        if self.is_part_of_a_name(at, behind, negator) {
            return None;
        }
        let start = self.skip(behind);
        let mut end = self.thing(start, negator, has_content)?;
        self.push(at..end, start..end, false, found);
        while let Some((next, next_end)) = self.listed(end, negator) {
            self.push(end..next_end, next..next_end, false, found);
            end = next_end;
        }
        Some(end)
    }

    /// Adds what a claim of products leaves out: "nickel-free", "free of nickel". A negated claim
    /// ("not sugar free") is none.
    fn claim(&self, at: usize, found: &mut Vec<(Exclusion, Span)>) -> Option<usize> {
        let is_negated = NEGATED.contains(&self.tokens.word_before(at));
        if is_negated || !self.is_content(at) || self.tokens.is_glued(at) {
            return None;
        }
        let claim = claimed::before_free(self.tokens, at, self.knows);
        if let Some(claimed::Claimed { start, end, behind }) = claim {
            if self.taken[at..behind].contains(&true) {
                return None;
            }
            self.push(at..behind, start..end, true, found);
            return Some(behind);
        }
        if let Some(next) = claimed::listed_before(self.tokens, at, self.knows) {
            if self.taken[at..next].contains(&true) {
                return None;
            }
            self.push(at..at + 1, at..at + 1, true, found);
            return Some(next);
        }
        let start = self.skip(claimed::behind_free_of(self.tokens, at)?);
        let can_be_left_out = |at: usize| claimed::can_be_left_out(self.tokens.word(at));
        let mut end = self.thing(start, Negator::No, true).filter(|_| can_be_left_out(start))?;
        self.push(at..end, start..end, true, found);
        while let Some((next, next_end)) = self.listed(end, Negator::No) {
            self.push(end..next_end, next..next_end, true, found);
            end = next_end;
        }
        Some(end)
    }

    /// `-red`, but neither `t-shirt` nor `-20` nor `18 -inch` nor `nickel -free`.
    fn is_leading_minus(&self, at: usize) -> bool {
        matches!(self.tokens.word(at), "-" | "−")
            && !self.tokens.is_glued(at)
            && self.tokens.is_glued(at + 1)
            && self.is_content(at + 1)
            && self.tokens.word(at + 1).len() >= LEAST_AFTER_MINUS
            && !claims(self.tokens.word(at + 1))
            && !DENIED_BEFORE.contains(&self.tokens.word(at + 1))
    }

    fn is_part_of_a_name(&self, at: usize, behind: usize, negator: Negator) -> bool {
        let before = self.tokens.word_before(at);
        let is_single = behind == at + 1;
        let next = self.tokens.word(behind);
        let is_my_story = is_single
            && matches!(negator, Negator::No | Negator::Not)
            && ABOUT_ME_WORDS.contains(before)
            && !self.tokens.is_hyphen_inside(at + 1);
        is_my_story
            && !matches!((before, negator), ("and" | "or", _) | ("is" | "are", Negator::Not))
            || NAME_WORDS.contains(before)
            || self.tokens.is_hyphen_inside(behind)
            || names::begins_a_name(self.tokens, at)
            || names::begins_a_name(self.tokens, behind - 1)
            || self.is_about_a_place(at)
            || negator == Negator::Non && names::is_quality(next)
            || matches!(self.tokens.word(at), "sin" | "sans" | "pas" | "sem" | "no" | "non")
                && behind >= self.tokens.len()
    }

    /// "in a tent with no electricity"
    fn is_about_a_place(&self, at: usize) -> bool {
        let says_where = |before: usize| {
            PLACES.contains(&self.tokens.word(before))
                && matches!(self.tokens.word(before + 1), "a" | "an" | "the" | "my" | "our")
        };
        let with = match self.tokens.word_before(at) {
            "with" => at - 1,
            _ => at,
        };
        self.tokens.word(with) == "with" && (with.saturating_sub(MAX_PLACE)..with).any(says_where)
    }

    fn skip(&self, at: usize) -> usize {
        let once = SKIPPED_WORDS.longest_at(self.tokens, at).map_or(at, |(_, end)| end);
        SKIPPED_WORDS.longest_at(self.tokens, once).map_or(once, |(_, end)| end)
    }

    /// Where the thing that begins at a token ends, if it is one.
    fn thing(&self, at: usize, negator: Negator, has_content: bool) -> Option<usize> {
        if !self.is_thing(at) || CUE_WORDS.longest_at(self.tokens, at).is_some() {
            return None;
        }
        let end = self.end_of_compound(at);
        // "not sugar free" leaves out what claims to be.
        if let Some(claim) = claimed::before_free(self.tokens, at, self.knows) {
            return Some(claim.behind);
        }
        let goes_on = self.is_content(end) && !self.tokens.is_glued(end);
        let is_modifier = MODIFIER_WORDS.contains(self.tokens.word(at));
        let takes_two = || {
            let second = self.tokens.word(end);
            let is_last = !self.is_content(self.end_of_compound(end));
            negator == Negator::Without && has_content && is_last && !WANTED_WORDS.contains(second)
        };
        if goes_on && (is_modifier || takes_two()) {
            return Some(self.end_of_compound(end));
        }
        Some(end)
    }

    /// The next thing of a list: "or suede", "and gluten".
    fn listed(&self, at: usize, negator: Negator) -> Option<(usize, usize)> {
        let goes_on = match self.tokens.word(at) {
            "or" | "nor" | "oder" | "ou" | "или" | "/" => true,
            "and" | "und" | "et" | "y" | "e" | "и" => {
                matches!(negator, Negator::Without | Negator::No)
            }
            _ => false,
        };
        if !goes_on || self.taken.get(at) == Some(&true) {
            return None;
        }
        if NEGATOR_WORDS.longest_at(self.tokens, at).is_some_and(|(_, end)| end > at + 1) {
            return None;
        }
        let next = self.skip(at + 1);
        let is_wanted = || {
            let is_and =
                !matches!(self.tokens.word(at), "or" | "nor" | "oder" | "ou" | "или" | "/");
            let behind = self.end_of_compound(next);
            is_and && (self.is_content(behind) || self.tokens.word(behind) == "of")
        };
        if NEGATOR_WORDS.longest_at(self.tokens, next).is_some() || is_wanted() {
            return None;
        }
        Some((next, self.thing(next, Negator::No, true)?))
    }

    /// Behind the glued word that begins at a token, or where it says something else.
    fn end_of_compound(&self, at: usize) -> usize {
        let end = self.tokens.end_of_compound(at);
        (at + 1..end).find(|at| self.taken[*at]).unwrap_or(end)
    }

    fn is_content(&self, at: usize) -> bool {
        self.tokens.is(at, Kind::Word) && !self.taken[at] && !is_function_word(self.tokens.word(at))
    }

    fn is_thing(&self, at: usize) -> bool {
        let word = self.tokens.word(at);
        let is_doing =
            word.len() >= LEAST_GERUND && word.ends_with("ing") && !ING_WORDS.contains(word);
        self.is_content(at) && !is_doing && !NO_THING_WORDS.contains(word)
    }

    /// Adds an exclusion of the words of some tokens, said by all of `said`.
    fn push(&self, said: Span, things: Span, is_claim: bool, found: &mut Vec<(Exclusion, Span)>) {
        let mut words: Vec<Box<str>> = Vec::new();
        let Span { start: mut at, end } = things;
        while at < end {
            let piece_end = (at + 1..end)
                .find(|next| self.tokens.is(*next, Kind::Sign) || !self.tokens.is_glued(*next))
                .unwrap_or(end);
            for_each_form(self.tokens.raw(at, piece_end), |form| {
                words.push(singular(form).into());
            });
            at = piece_end;
        }
        if !words.is_empty() {
            let span = self.tokens.span(said.start, said.end);
            found.push((Exclusion { words, span, is_claim }, said));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexicon::assert_folded;
    use super::*;

    #[test]
    fn the_phrases_are_folded() {
        assert_folded(NEGATOR_WORDS.phrases());
        assert_folded(SKIPPED_WORDS.phrases());
    }

    #[test]
    fn a_text_is_read_once_however_much_is_excluded() {
        let exclusions: Vec<Exclusion> = (0..140)
            .map(|at| Exclusion {
                words: vec![format!("word{at}").into(), "other".into()],
                span: 0..1,
                is_claim: false,
            })
            .collect();
        let text = "Crème brûlée with a long description. ".repeat(500);
        let fastest = |exclusions: &[Exclusion]| {
            let measure = |_| {
                let began = std::time::Instant::now();
                assert!(!Exclusion::any_matches(exclusions, &text));
                began.elapsed()
            };
            (0..5).map(measure).min().unwrap_or_default()
        };
        let (one, all) = (fastest(&exclusions[..1]), fastest(&exclusions));
        assert!(all < one * 70, "{all:?} for 140 exclusions, {one:?} for one");
    }

    #[test]
    fn a_product_that_denies_a_word_does_not_say_it() {
        let without = |words: &[&str]| Exclusion {
            words: words.iter().map(|word| (*word).into()).collect(),
            span: 0..1,
            is_claim: false,
        };
        let leather = without(&["leather"]);
        for text in ["Leather boots", "boots of LEATHER, no laces", "no leather? real leather!"] {
            assert!(leather.matches(text), "{text}");
        }
        for text in ["", "Boots", "leather-free boots", "Leather free", "no leather", "non-leather"]
        {
            assert!(!leather.matches(text), "{text}");
        }
        let nickel = without(&["nickel"]);
        for text in [
            "free of nickel",
            "Free from nickel!",
            "free of any nickel",
            "without any nickel",
            "free of lead and nickel",
            "no lead or nickel",
            "does not contain nickel",
            "Doesn't contain nickel",
            "frei von Nickel",
            "Nickel-freie Ohrringe",
            "libre de nickel",
            "exempt de nickel",
            "privo di nickel",
        ] {
            assert!(!nickel.matches(text), "{text}");
        }
        for text in [
            "free shipping of nickel",
            "free of lead. Nickel hooks",
            "no lead and nickel plated",
            "Made of nickel. Free shipping",
            "nickel\nfree of lead",
            "no lead. Nickel",
            "• no • nickel •",
            "not nickel",
            "and nickel",
            "any nickel",
            "contains nickel",
        ] {
            assert!(nickel.matches(text), "{text}");
        }
        let soles = without(&["leather", "sole"]);
        assert!(soles.matches("leather soles"));
        assert!(soles.matches("leather outer soles"));
        assert!(!soles.matches("leather upper, rubber sole"));
    }
}
