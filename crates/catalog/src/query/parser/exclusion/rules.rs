//! Finds exclusions and free-from claims in the tokens of a query.
//!
//! ```text
//! exclusion = "-" word
//!           | negator [skipped] noun {joiner noun}     without leather or suede
//!           | noun [particle] postposed negator        deri olmayan, 革なし
//!           | noun "free" | "free of" noun {joiner noun}
//! ```
//!
//! Each rule abstains where the negation may belong to an idiom, a task or a place.

use crate::{
    query::parser::{
        negators::{NEGATOR_WORDS, Negator, PARTICLE_WORDS, POSTPOSED_WORDS},
        price::{is_cue_at, is_suffix_at, takes_number},
        query_tokens::QueryTokens,
        segmentation::is_unspaced,
    },
    text::{
        analysis::{after_elision, for_each_form, is_function_word, singular},
        lexer::{Span, TokenKind},
        vocabulary::TermLookup,
    },
};

use super::{
    Exclusion, free_from, idioms,
    matching::NEGATES_PREVIOUS,
    tables::{
        ABOUT_ME_WORDS, AFTER_VERBS, AND_WORDS, CANNOT, INFINITIVES, ING_WORDS, LONE_NAMES,
        MAX_PLACE, MODIFIER_WORDS, NAME_WORDS, NEGATED, NOT_NOUN_WORDS, OR_WORDS, PLACES,
        SKIPPED_WORDS, WANTED_WORDS, WANTING_WORDS,
    },
};

/// Shorter words after a minus are parts of names: `usb -c`.
const MIN_AFTER_MINUS: usize = 3;
/// Shorter words in -ing are nouns: king, ring, wing.
const MIN_GERUND: usize = 5;

/// The most words before a negation of [`Negator::AtEnd`].
const MAX_BEFORE_END: usize = 1;
/// The most words between a negation and the sign of an infinitive.
const MAX_BEFORE_INFINITIVE: usize = 4;

/// Finds all exclusions, in order, each with its tokens. Tokens that are `taken` belong to other rules.
pub(in crate::query::parser) fn parse(
    tokens: &QueryTokens,
    taken: &[bool],
    knows: TermLookup,
) -> Vec<(Exclusion, Span)> {
    let parser = Parser { tokens, taken, knows, is_task: is_task(tokens, taken) };
    let mut found = Vec::new();
    let mut has_content = false;
    let mut at = 0;
    while at < tokens.len() {
        let end = parser.at(at, has_content, &mut found).unwrap_or(at + 1);
        let is_searched_for = end == at + 1 || found.last().is_some_and(|(last, _)| last.is_claim);
        has_content |= is_searched_for && parser.is_content(at);
        at = end;
    }
    found
}

/// Whether a query describes a task rather than a product.
fn is_task(tokens: &QueryTokens, taken: &[bool]) -> bool {
    let first = tokens.word(0);
    let is_verb =
        tokens.is(0, TokenKind::Word) && !is_function_word(first) && !WANTING_WORDS.contains(first);
    let cannot = || (0..tokens.len()).any(|at| !taken[at] && CANNOT.contains(tokens.word(at)));
    is_verb && AFTER_VERBS.contains(tokens.word(1)) || cannot()
}

struct Parser<'a> {
    tokens: &'a QueryTokens<'a>,
    taken: &'a [bool],
    knows: TermLookup<'a>,
    is_task: bool,
}

impl Parser<'_> {
    /// Adds the exclusions that begin at a token, and returns their exclusive end.
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
        if let Some(end) = self.push_claim(at, found) {
            return Some(end);
        }
        if self.is_task || self.taken[at] || self.tokens.is_glued(at) {
            return None;
        }
        if let Some(end) = self.push_postposed(at, found) {
            return Some(end);
        }
        let (negator, after) = NEGATOR_WORDS.longest_at(self.tokens, at)?;
        let after =
            after + usize::from(negator == Negator::Non && self.tokens.is_hyphen_inside(after));
        if self.is_part_of_a_name(at, after, negator) {
            return None;
        }
        let start = self.skip(after);
        let mut end = self.end_of_noun(start, negator, has_content)?;
        if negator == Negator::AtEnd && !self.is_at_end(at, end) || self.has_infinitive(after) {
            return None;
        }
        let statement = at..self.past_particle(end);
        self.push(statement.clone(), start..end, false, found);
        end = statement.end;
        while let Some((next, next_end)) = self.next_in_list(end, negator) {
            let statement = end..self.past_particle(next_end);
            self.push(statement.clone(), next..next_end, false, found);
            end = statement.end;
        }
        Some(end)
    }

    /// Whether a negation at a token follows the noun that begins the query, and its own noun ends
    /// the query or begins a list.
    fn is_at_end(&self, at: usize, end: usize) -> bool {
        let is_last = end == self.tokens.len()
            || self.taken[end]
            || OR_WORDS.is_at(self.tokens, end)
            || self.tokens.is(end, TokenKind::Sign);
        let words_before = self.taken[..at].iter().filter(|taken| !**taken).count();
        (1..=MAX_BEFORE_END).contains(&words_before) && is_last
    }

    /// Whether an infinitive follows: "zonder te kloppen", "utan att störa".
    fn has_infinitive(&self, at: usize) -> bool {
        let mut words = (at..self.tokens.len()).take(MAX_BEFORE_INFINITIVE);
        words.any(|at| INFINITIVES.is_at(self.tokens, at))
    }

    /// Adds the exclusion of a noun whose negator follows it: "deri olmayan".
    fn push_postposed(&self, at: usize, found: &mut Vec<(Exclusion, Span)>) -> Option<usize> {
        let noun_end = self.tokens.end_of_compound(at);
        let (_, end) = POSTPOSED_WORDS
            .longest_at(self.tokens, noun_end)
            .or_else(|| POSTPOSED_WORDS.longest_at(self.tokens, self.past_particle(noun_end)))?;
        let is_comparison = is_cue_at(self.tokens, at) || is_suffix_at(self.tokens, at);
        let is_excluded = self.is_noun(at)
            && !is_comparison
            && !self.taken[at..end].contains(&true)
            && !idioms::begins_idiom(self.tokens, at);
        if is_excluded {
            self.push(at..end, at..noun_end, false, found);
        }
        is_excluded.then_some(end)
    }

    /// The end of the particles at a token, at most two: 除了苹果以外的.
    fn past_particle(&self, at: usize) -> usize {
        let once =
            |at: usize| PARTICLE_WORDS.longest_at(self.tokens, at).map_or(at, |(_, end)| end);
        once(once(at))
    }

    /// Adds the claim that begins at a token: "nickel-free", "free of nickel". A negated claim ("not
    /// sugar free") is none.
    fn push_claim(&self, at: usize, found: &mut Vec<(Exclusion, Span)>) -> Option<usize> {
        let is_negated = NEGATED.contains(self.tokens.word_before(at));
        if is_negated || !self.is_content(at) || self.tokens.is_glued(at) {
            return None;
        }
        let claim = free_from::before_free(self.tokens, at, self.knows);
        if let Some(free_from::FreeFrom { start, end, claim_end }) = claim {
            if self.taken[at..claim_end].contains(&true) {
                return None;
            }
            self.push(at..claim_end, start..end, true, found);
            return Some(claim_end);
        }
        if let Some(next) = free_from::listed_before(self.tokens, at, self.knows) {
            if self.taken[at..next].contains(&true) {
                return None;
            }
            self.push(at..at + 1, at..at + 1, true, found);
            return Some(next);
        }
        let start = self.skip(free_from::after_free_of(self.tokens, at)?);
        let can_be_absent = |at: usize| free_from::can_be_absent(self.tokens.word(at));
        let mut end =
            self.end_of_noun(start, Negator::No, true).filter(|_| can_be_absent(start))?;
        self.push(at..end, start..end, true, found);
        while let Some((next, next_end)) = self.next_in_list(end, Negator::No) {
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
            && self.tokens.word(at + 1).len() >= MIN_AFTER_MINUS
            && !takes_number(self.tokens, self.tokens.word(at + 1))
            && !NEGATES_PREVIOUS.contains(&self.tokens.word(at + 1))
    }

    fn is_part_of_a_name(&self, at: usize, after: usize, negator: Negator) -> bool {
        let before = self.tokens.word_before(at);
        let is_single = after == at + 1;
        let next = self.tokens.word(after);
        let is_about_shopper = is_single
            && matches!(negator, Negator::No | Negator::Not)
            && ABOUT_ME_WORDS.contains(before)
            && !self.tokens.is_hyphen_inside(at + 1);
        is_about_shopper
            && !matches!((before, negator), ("and" | "or", _) | ("is" | "are", Negator::Not))
            || NAME_WORDS.contains(before)
            || self.tokens.is_hyphen_inside(after)
            || idioms::begins_idiom(self.tokens, at)
            || idioms::begins_idiom(self.tokens, after - 1)
            || self.is_about_a_place(at)
            || negator == Negator::Non && idioms::is_quality(next)
            || LONE_NAMES.contains(self.tokens.word(at)) && after >= self.tokens.len()
    }

    /// "in a tent with no electricity"
    fn is_about_a_place(&self, at: usize) -> bool {
        let says_where = |before: usize| {
            PLACES.contains(self.tokens.word(before))
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

    /// The exclusive end of the noun or noun phrase that begins at a token, if there is one.
    fn end_of_noun(&self, at: usize, negator: Negator, has_content: bool) -> Option<usize> {
        if !self.is_noun(at) || is_cue_at(self.tokens, at) {
            return None;
        }
        let end = self.end_of_compound(at);
        // "not sugar free" excludes products that claim to be sugar free.
        if let Some(claim) = free_from::before_free(self.tokens, at, self.knows) {
            return Some(claim.claim_end);
        }
        let is_unspaced = self.tokens.word(at).starts_with(is_unspaced);
        let goes_on = self.is_content(end) && !self.tokens.is_glued(end) && !is_unspaced;
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

    /// The next noun of a list: "or suede", "and gluten".
    fn next_in_list(&self, at: usize, negator: Negator) -> Option<(usize, usize)> {
        let is_or = OR_WORDS.is_at(self.tokens, at);
        let goes_on = is_or
            || AND_WORDS.is_at(self.tokens, at)
                && matches!(negator, Negator::Without | Negator::No);
        if !goes_on || self.taken.get(at) == Some(&true) {
            return None;
        }
        if NEGATOR_WORDS.longest_at(self.tokens, at).is_some_and(|(_, end)| end > at + 1) {
            return None;
        }
        let next = self.skip(at + 1);
        let is_wanted = || {
            let after = self.end_of_compound(next);
            !is_or && (self.is_content(after) || self.tokens.word(after) == "of")
        };
        if NEGATOR_WORDS.is_at(self.tokens, next) || is_wanted() {
            return None;
        }
        Some((next, self.end_of_noun(next, Negator::No, true)?))
    }

    /// The exclusive end of the compound that begins at a token, or of its part that is not taken.
    fn end_of_compound(&self, at: usize) -> usize {
        let end = self.tokens.end_of_compound(at);
        (at + 1..end).find(|at| self.taken[*at]).unwrap_or(end)
    }

    fn is_content(&self, at: usize) -> bool {
        self.tokens.is(at, TokenKind::Word)
            && !self.taken[at]
            && !is_function_word(self.tokens.word(at))
    }

    fn is_noun(&self, at: usize) -> bool {
        let word = self.tokens.word(at);
        let is_gerund =
            word.len() >= MIN_GERUND && word.ends_with("ing") && !ING_WORDS.contains(word);
        self.is_content(at) && !is_gerund && !NOT_NOUN_WORDS.has_word(self.tokens, word)
    }

    /// Adds an exclusion of the words of `nouns`, stated by the tokens of `statement`.
    fn push(
        &self,
        statement: Span,
        nouns: Span,
        is_claim: bool,
        found: &mut Vec<(Exclusion, Span)>,
    ) {
        let mut words: Vec<Box<str>> = Vec::new();
        let Span { start: mut at, end } = nouns;
        while at < end {
            let piece_end = (at + 1..end)
                .find(|next| self.tokens.is(*next, TokenKind::Sign) || !self.tokens.is_glued(*next))
                .unwrap_or(end);
            let raw = self.tokens.raw(at, piece_end);
            let is_name = (self.knows)(self.tokens.word(at));
            let raw = after_elision(raw).filter(|_| !is_name).unwrap_or(raw);
            for_each_form(raw, |form| words.push(singular(form).into()));
            at = piece_end;
        }
        if !words.is_empty() {
            let span = self.tokens.span(statement.start, statement.end);
            found.push((Exclusion { words, span, is_claim }, statement));
        }
    }
}
