//! Sort orders in a query: "cheapest", "newest".

use std::sync::LazyLock;

use super::{lexicon::Lexicon, price::negator_before, query_tokens::QueryTokens};
use crate::{query::parser::lexicon::lexicon, text::lexer::Span};

/// An order other than by relevance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortOrder {
    /// "cheapest"
    PriceAscending,
    /// "most expensive"
    PriceDescending,
    /// "newest"
    Newest,
}

/// A sort order found in a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortHint {
    /// The order.
    pub order: SortOrder,
    /// Its bytes in the query.
    pub span: Span,
}

static HINT_WORDS: LazyLock<Lexicon<SortOrder>> = LazyLock::new(|| {
    lexicon("sort", |meaning| match meaning {
        "cheapest" => Some(SortOrder::PriceAscending),
        "dearest" => Some(SortOrder::PriceDescending),
        "newest" => Some(SortOrder::Newest),
        _ => None,
    })
});

/// The sort orders of a query.
#[derive(Debug, Default)]
pub(super) struct Orders {
    /// The first requested order, with its tokens.
    pub(super) requested: Option<(SortHint, Span)>,
    /// The tokens of negated orders: "not the cheapest".
    pub(super) refused: Vec<Span>,
}

/// Finds sort orders among the tokens that are not `taken`.
pub(super) fn parse(tokens: &QueryTokens, taken: &[bool]) -> Orders {
    let mut orders = Orders::default();
    for at in 0..tokens.len() {
        let Some((order, end)) = hint_at(tokens, at) else { continue };
        if taken[at..end].contains(&true) || tokens.is_glued(at) || tokens.word(end) == "than" {
            continue;
        }
        if let Some(negator) = negator_before(tokens, at) {
            if !taken[negator..at].contains(&true) {
                orders.refused.push(negator..end);
            }
        } else if orders.requested.is_none() {
            orders.requested = Some((SortHint { order, span: tokens.span(at, end) }, at..end));
        }
    }
    orders
}

fn hint_at(tokens: &QueryTokens, at: usize) -> Option<(SortOrder, usize)> {
    HINT_WORDS.longest_at(tokens, at)
}
