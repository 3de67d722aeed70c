//! Lexicon of the phrases that negate what follows them in a query: "without", "no", "other than".

use std::sync::LazyLock;

use super::lexicon::Lexicon;
use crate::query::parser::lexicon::{lexicon, phrases};

/// The scope of a negation: how many of the words after it are excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Negator {
    /// "without": a whole noun phrase, or a list of them.
    Without,
    /// "no": one word, or a list of them.
    No,
    /// "not": one word; what follows "and" is wanted again.
    Not,
    /// "non-": one word.
    Non,
    /// "niet", "geen": one word or a list of them at the end of a query that begins with a noun.
    /// These also negate verbs, or state a wish ("geen zin om te koken").
    AtEnd,
}

pub(super) static NEGATOR_WORDS: LazyLock<Lexicon<Negator>> = LazyLock::new(|| {
    lexicon("exclusion", |meaning| match meaning {
        "without" => Some(Negator::Without),
        "no" => Some(Negator::No),
        "not" => Some(Negator::Not),
        "non" => Some(Negator::Non),
        "at end" => Some(Negator::AtEnd),
        _ => None,
    })
});

/// Negators after the word they exclude: "deri olmayan", "革なし".
pub(super) static POSTPOSED_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| phrases("exclusion", &["after"]));

/// Particles between an excluded word and what follows: 的, 을.
pub(super) static PARTICLE_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| phrases("exclusion", &["particle"]));
