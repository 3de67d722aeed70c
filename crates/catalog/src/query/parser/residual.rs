//! The residual text: what is left to search for after conditions and stop words are removed.

use super::query_tokens::QueryTokens;
use crate::text::{
    analysis,
    lexer::{Span, TokenKind},
};

/// Separators between kept text and removed text.
const PUNCTUATION: &[char] = &[',', ';', ':', '.', '!', '?', '-', '–', '—', '&', '/'];

/// Marks the stop words among the tokens that are not `taken`, and the tokens of `refused` sort
/// orders. If nothing was taken and the query consists of stop words, none is marked: they are
/// searched for.
pub(super) fn stop_words(tokens: &QueryTokens, taken: &[bool], refused: &[bool]) -> Vec<bool> {
    // No phrase may span a taken token.
    let words: Vec<&str> =
        (0..tokens.len()).map(|at| if taken[at] { "" } else { tokens.word(at) }).collect();
    let mut is_stop_word = analysis::stop_words(&words);
    for at in 0..tokens.len() {
        is_stop_word[at] &= !taken[at] && !is_in_compound(tokens, at) && !is_inches(tokens, at);
        is_stop_word[at] |= refused[at] && !taken[at];
    }
    let is_kept = |at: usize| !tokens.is(at, TokenKind::Sign) && !taken[at] && !is_stop_word[at];
    let has_content = (0..tokens.len()).any(is_kept) || taken.contains(&true);
    if !has_content {
        is_stop_word.fill(false);
    }
    is_stop_word
}

/// Whether a token is part of a compound such as "state-of-the-art".
fn is_in_compound(tokens: &QueryTokens, at: usize) -> bool {
    tokens.is_glued(at)
        || tokens.is_hyphen_inside(at + 1)
        || tokens.is_glued(at + 1) && !tokens.is(at + 1, TokenKind::Sign)
}

/// "30 in" is a length.
fn is_inches(tokens: &QueryTokens, at: usize) -> bool {
    tokens.word(at) == "in" && at > 0 && tokens.is(at - 1, TokenKind::Digits)
}

/// The spans of text of the tokens that are not `removed`.
pub(super) fn kept(tokens: &QueryTokens, removed: &[bool]) -> Vec<Span> {
    let text = tokens.text();
    if !removed.contains(&true) {
        let start = text.len() - text.trim_start().len();
        return Vec::from_iter(Some(start..start + text.trim().len()));
    }
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if removed[at] {
            at += 1;
            continue;
        }
        let end = (at..tokens.len()).find(|at| removed[*at]).unwrap_or(tokens.len());
        let piece = trimmed(text, tokens.span(at, end), at > 0, end < tokens.len());
        if !piece.is_empty() {
            pieces.push(piece);
        }
        at = end;
    }
    pieces
}

/// The given spans of a text, joined by single spaces.
pub(super) fn text(text: &str, kept: &[Span]) -> String {
    let pieces: Vec<&str> = kept.iter().map(|span| &text[span.clone()]).collect();
    pieces.join(" ")
}

/// Maps a span of the residual text to a span of the query. It may start in one kept piece and end
/// in another.
pub(super) fn span_in_query(kept: &[Span], span: &Span) -> Option<Span> {
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
    Some(find(span.start)?..find(span.end)?)
}

/// Removes punctuation next to removed text.
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

/// The spans of runs of marked tokens.
pub(super) fn spans(tokens: &QueryTokens, marked: &[bool]) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(start) = (at..marked.len()).find(|at| marked[*at]) {
        at = (start..marked.len()).find(|at| !marked[*at]).unwrap_or(marked.len());
        spans.push(tokens.span(start, at));
    }
    spans
}
