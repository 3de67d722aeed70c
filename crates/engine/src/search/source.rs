//! The interface between the search pipeline and the data that it searches.

use catalog::{
    product::{Product, ProductId, access::Visibility, change::Seq},
    query::parser::ParsedQuery,
    ranking::hits::Hit,
    text::{
        analysis::QueryTerms,
        vocabulary::{TermLookup, Vocabulary},
    },
};
use embed::TextLanguage;
use index::{Matches, Plan};
use store::StoreError;

use super::StageTimer;

/// One consistent state of a shop, as one caller sees it.
///
/// Words, statistics, scores and totals depend on the visible products alone.
pub(crate) trait SearchSource {
    /// Which products the caller may see.
    fn visibility(&self) -> Visibility;

    /// The last change that this state includes.
    fn seq(&self) -> Seq;

    /// Announces a text whose words will be looked up. Sources with expensive lookups fetch them at
    /// once.
    fn prefetch_text(&self, _text: &str) {}

    /// Announces query words that will be looked up.
    fn prefetch_words(&self, _words: &QueryTerms) {}

    /// Whether a visible product contains a word, given as it is indexed. If the lookup fails,
    /// [`score`](Self::score) returns the error.
    fn contains_word(&self, word: &str) -> bool;

    /// The language of most visible products.
    fn language(&self) -> TextLanguage;

    /// Whether a visible product has this key.
    fn contains_key(&self, _key: &str) -> bool {
        false
    }

    /// Calls `f` with the words of the visible products. `is_word` tells words of the language.
    fn with_vocabulary(&self, is_word: TermLookup, f: &mut dyn FnMut(&Vocabulary<'_>));

    /// The page of a plan, made from `parsed`. Ends the stages that lead up to scoring.
    fn score(
        &self,
        plan: &Plan<'_>,
        parsed: &ParsedQuery,
        timer: &mut StageTimer,
    ) -> Result<Scored, StoreError>;

    /// The products with this visibility that are most similar to another one, which may be hidden;
    /// most similar first, without the product itself.
    fn most_similar(
        &self,
        product: ProductId,
        visibility: Visibility,
        limit: usize,
    ) -> Result<Vec<Hit>, StoreError>;

    /// The rows of visible products, in the order of `ids`. They may be newer than this state;
    /// products that are gone or not visible are omitted.
    fn products(&self, ids: &[ProductId]) -> Result<Vec<Product>, StoreError>;
}

/// The scored page of a plan.
#[derive(Debug)]
pub(crate) struct Scored {
    pub(crate) matches: Matches,
    /// `false` if more products than `matches.total` may match.
    pub(crate) is_total_exact: bool,
}
