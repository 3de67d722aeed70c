//! Sort orders in a query: "cheapest", "newest".

use std::sync::LazyLock;

use super::lexicon::Lexicon;
use super::price::negator_before;
use crate::lexer::Span;
use crate::lexer::Tokens;

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

const HINTS: &[(&str, SortOrder)] = &[
    (
        "cheapest|least expensive|lowest price|lowest priced|lowest prices|most affordable|\
         price low to high|low to high|price ascending|cheapest first|\
         billigste|billigster|billigsten|billigstes|gunstigste|gunstigster|gunstigsten|gunstigstes|\
         le moins cher|la moins chere|les moins chers|les moins cheres|lo mas barato|\
         el mas barato|la mas barata|los mas baratos|las mas baratas|o mais barato|\
         a mais barata|mais barato|mais barata|il piu economico|la piu economica|piu economico|\
         piu economica|самыи дешевыи|самая дешевая|самое дешевое|самые дешевые",
        SortOrder::PriceAscending,
    ),
    (
        "most expensive|priciest|highest price|highest priced|high to low|price high to low|\
         price descending|dearest|costliest|teuerste|teuerster|teuersten|teuerstes|le plus cher|\
         la plus chere|les plus chers|el mas caro|la mas cara|los mas caros|o mais caro|\
         a mais cara|il piu caro|la piu cara|самыи дорогои|самая дорогая|самые дорогие",
        SortOrder::PriceDescending,
    ),
    (
        "newest|latest|most recent|new arrivals|newest first|neueste|neuester|neuesten|neuestes|\
         le plus recent|les plus recents|mas reciente|mas recientes|mais recente|mais recentes|\
         il piu recente|самыи новыи|самая новая|самые новые|новинки",
        SortOrder::Newest,
    ),
];

static HINT_WORDS: LazyLock<Lexicon<SortOrder>> = LazyLock::new(|| Lexicon::of_lists(HINTS));

/// The sort orders of a query.
#[derive(Debug, Default)]
pub(super) struct Orders {
    /// The first requested order, with its tokens.
    pub(super) requested: Option<(SortHint, Span)>,
    /// The tokens of negated orders: "not the cheapest".
    pub(super) refused: Vec<Span>,
}

/// Finds sort orders among the tokens that are not `taken`.
pub(super) fn parse(tokens: &Tokens, taken: &[bool]) -> Orders {
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

fn hint_at(tokens: &Tokens, at: usize) -> Option<(SortOrder, usize)> {
    HINT_WORDS.longest_at(tokens, at)
}

#[cfg(test)]
mod tests {
    use super::super::lexicon::assert_folded;
    use super::*;

    #[test]
    fn the_phrases_are_folded() {
        assert_folded(HINT_WORDS.phrases());
    }
}
