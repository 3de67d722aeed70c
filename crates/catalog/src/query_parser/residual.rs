//! Which words are left to search for, once all else is read?

use crate::analysis;

use super::Span;
use super::tokens::{Kind, Tokens};

/// Parts what is kept from what was taken out.
const PUNCTUATION: &[char] = &[',', ';', ':', '.', '!', '?', '-', '–', '—', '&', '/'];

/// Marks the function words and chit-chat among the tokens that are not `taken`. Where nothing
/// was taken and nothing else is said, they are what is searched for. Tokens that are `refused` say
/// what the order of results need not be.
pub(super) fn stop_words(tokens: &Tokens, taken: &[bool], refused: &[bool]) -> Vec<bool> {
    // Where something was taken out, no phrase reaches across.
    let words: Vec<&str> =
        (0..tokens.len()).map(|at| if taken[at] { "" } else { tokens.word(at) }).collect();
    let mut aside = analysis::stop_words(&words);
    for at in 0..tokens.len() {
        aside[at] &= !taken[at] && !is_bound(tokens, at) && !is_inches(tokens, at);
        aside[at] |= refused[at] && !taken[at];
    }
    let is_kept = |at: usize| !tokens.is(at, Kind::Sign) && !taken[at] && !aside[at];
    let says_something = (0..tokens.len()).any(is_kept) || taken.contains(&true);
    if !says_something {
        aside.fill(false);
    }
    aside
}

/// Whether a token is part of a compound, such as the words of "state-of-the-art".
fn is_bound(tokens: &Tokens, at: usize) -> bool {
    tokens.is_glued(at)
        || tokens.is_hyphen_inside(at + 1)
        || tokens.is_glued(at + 1) && !tokens.is(at + 1, Kind::Sign)
}

/// "30 in" is a length.
fn is_inches(tokens: &Tokens, at: usize) -> bool {
    tokens.word(at) == "in" && at > 0 && tokens.is(at - 1, Kind::Digits)
}

/// The pieces of text that are left of the tokens that are not `out`.
pub(super) fn kept(tokens: &Tokens, out: &[bool]) -> Vec<Span> {
    let text = tokens.text();
    if !out.contains(&true) {
        let start = text.len() - text.trim_start().len();
        return Vec::from_iter(Some(start..start + text.trim().len()));
    }
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if out[at] {
            at += 1;
            continue;
        }
        let end = (at..tokens.len()).find(|at| out[*at]).unwrap_or(tokens.len());
        let piece = trimmed(text, tokens.span(at, end), at > 0, end < tokens.len());
        if !piece.is_empty() {
            pieces.push(piece);
        }
        at = end;
    }
    pieces
}

/// The pieces of a text, with one space between them.
pub(super) fn text(text: &str, kept: &[Span]) -> String {
    let pieces: Vec<&str> = kept.iter().map(|span| &text[span.clone()]).collect();
    pieces.join(" ")
}

/// Where a place in the words left is in the query. It lies within one piece, or reaches from
/// one into another.
pub(super) fn place_in_query(kept: &[Span], place: &Span) -> Option<Span> {
    let find = |offset: usize| {
        let mut start = 0;
        for piece in kept {
            if offset <= start + piece.len() {
                return Some(piece.start + offset.checked_sub(start)?);
            }
            start += piece.len() + 1;
        }
        None
    };
    Some(find(place.start)?..find(place.end)?)
}

/// Punctuation goes with what it parted.
fn trimmed(text: &str, piece: Span, follows: bool, is_followed: bool) -> Span {
    let is_loose = |c: char| c.is_whitespace() || PUNCTUATION.contains(&c);
    let kept = &text[piece.clone()];
    let from_start = match follows {
        true => kept.trim_start_matches(|c| is_loose(c) || c == ')'),
        false => kept,
    };
    let start = piece.end - from_start.len();
    let kept = match is_followed {
        true => from_start.trim_end_matches(|c| is_loose(c) || c == '('),
        false => from_start,
    };
    start..start + kept.len()
}

/// The places of runs of marked tokens.
pub(super) fn spans(tokens: &Tokens, marked: &[bool]) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(start) = (at..marked.len()).find(|at| marked[*at]) {
        at = (start..marked.len()).find(|at| !marked[*at]).unwrap_or(marked.len());
        spans.push(tokens.span(start, at));
    }
    spans
}
