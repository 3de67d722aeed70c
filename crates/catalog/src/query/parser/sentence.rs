//! The sentence of a query: its text without conditions, with corrected words. Its places can be
//! traced back to the query.

use crate::text::{correction::Correction, lexer::Span};

/// A piece of the sentence.
struct Piece<'a> {
    /// Where it stands in the query.
    span: Span,
    /// What replaces it.
    corrected: Option<&'a str>,
    /// Whether text was removed before it. A space stands in its place.
    follows_gap: bool,
}

impl Piece<'_> {
    fn len(&self) -> usize {
        self.corrected.map_or(self.span.len(), str::len)
    }
}

/// The pieces of the sentence. A correction that reaches beyond one kept span is left out.
fn pieces<'a>(kept: &[Span], corrections: &'a [Correction]) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    for (place, span) in kept.iter().enumerate() {
        let (mut at, mut follows_gap) = (span.start, place > 0);
        let mut push = |span: Span, corrected| {
            if !span.is_empty() {
                pieces.push(Piece { span, corrected, follows_gap });
                follows_gap = false;
            }
        };
        for Correction { span: wrong, to, .. } in corrections {
            if at <= wrong.start && wrong.end <= span.end {
                push(at..wrong.start, None);
                push(wrong.clone(), Some(to.as_str()));
                at = wrong.end;
            }
        }
        push(at..span.end, None);
    }
    pieces
}

/// The kept spans of a query, with their corrections.
pub(super) fn text(query: &str, kept: &[Span], corrections: &[Correction]) -> String {
    let mut text = String::with_capacity(query.len());
    for piece in pieces(kept, corrections) {
        if piece.follows_gap {
            text.push(' ');
        }
        text.push_str(piece.corrected.unwrap_or(&query[piece.span]));
    }
    text
}

/// Where the query says what stands at a place of the sentence. A part of a corrected word is the
/// whole word.
pub(super) fn span_in_query(
    kept: &[Span],
    corrections: &[Correction],
    span: &Span,
) -> Option<Span> {
    let (mut at, mut start) = (0, None);
    for piece in pieces(kept, corrections) {
        at += usize::from(piece.follows_gap);
        let end = at + piece.len();
        let is_corrected = piece.corrected.is_some();
        if start.is_none() && span.start < end {
            let inside = span.start.saturating_sub(at);
            start = Some(piece.span.start + if is_corrected { 0 } else { inside });
        }
        if span.end <= end {
            let inside = span.end.saturating_sub(at);
            let end = if is_corrected { piece.span.end } else { piece.span.start + inside };
            return Some(start?..end);
        }
        at = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::correction::Confidence;

    fn correction(query: &str, from: &str, to: &str) -> Correction {
        let start = query.find(from).unwrap();
        let span = start..start + from.len();
        Correction { from: from.to_owned(), to: to.to_owned(), span, confidence: Confidence::High }
    }

    #[test]
    fn places_of_the_sentence_are_places_of_the_query() {
        let query = "a grene sofa under $900 in blak or white";
        let gap = query.find("under").unwrap();
        let kept = [0..gap - 1, gap + "under $900 ".len()..query.len()];
        let corrections = [correction(query, "grene", "green"), correction(query, "blak", "black")];
        let sentence = text(query, &kept, &corrections);
        assert_eq!(sentence, "a green sofa in black or white");
        for (said, written) in [
            ("green", "grene"),
            ("gree", "grene"),
            ("green sofa", "grene sofa"),
            ("sofa", "sofa"),
            ("sofa in", "sofa under $900 in"),
            ("black", "blak"),
            ("white", "white"),
        ] {
            let start = sentence.find(said).unwrap();
            let span = span_in_query(&kept, &corrections, &(start..start + said.len())).unwrap();
            assert_eq!(&query[span], written, "{said}");
        }
        assert_eq!(span_in_query(&kept, &corrections, &(0..100)), None);
    }

    #[test]
    fn a_correction_across_removed_text_is_left_out() {
        let query = "back under $5 pack";
        let kept = [0..4, 14..18];
        let across = Correction { span: 0..18, ..correction("back pack", "back pack", "backpack") };
        assert_eq!(text(query, &kept, &[across]), "back pack");
    }
}
