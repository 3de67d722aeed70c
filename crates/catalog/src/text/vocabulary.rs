//! The words of a shop, as spelling correction and word forms look them up.

use super::word_forms::ShopLanguages;

/// Receives terms of the shop.
pub type Found<'f> = &'f mut dyn FnMut(&str);

/// Whether the shop's vocabulary has a term. Decides phrases that are a name in one shop and a
/// condition in another. The term is folded like those of the index.
pub type TermLookup<'a> = &'a dyn Fn(&str) -> bool;

/// The vocabulary of a shop, as far as the caller can see it.
#[derive(Clone, Copy)]
pub struct Vocabulary<'a> {
    /// The number of products.
    pub num_docs: u64,
    /// The languages other than English that products are written in.
    pub languages: &'a dyn Fn() -> ShopLanguages,
    /// Whether a word is in the dictionary of the language.
    pub is_dictionary_word: &'a dyn Fn(&str) -> bool,
    /// Whether a word, written in any way, is one of another language and not an English one.
    pub is_foreign_word: &'a dyn Fn(&str) -> bool,
    /// Announces terms that will be looked up next, so that a remote vocabulary can fetch them in
    /// one batch.
    pub prefetch: &'a dyn Fn(&[String]),
    /// The number of products that have a term.
    pub doc_freq: &'a dyn Fn(&str) -> u64,
    /// Yields terms similar to a word: at least all within [`budget`](super::spelling::budget).
    pub near: &'a dyn Fn(&str, Found<'_>),
    /// Yields terms that begin with a word.
    pub with_prefix: &'a dyn Fn(&str, Found<'_>),
    /// Yields terms that end with any of these suffixes, in order.
    pub with_suffix: &'a dyn Fn(&[String], Found<'_>),
    /// The number of products that have a term together with any of the others.
    pub co_doc_freq: &'a dyn Fn(&str, &[&str]) -> u64,
}
