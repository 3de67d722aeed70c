//! Lexicon of the phrases that negate what follows them in a query: "without", "no", "other than".

use std::sync::LazyLock;

use super::lexicon::Lexicon;

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

pub(super) static NEGATOR_WORDS: LazyLock<Lexicon<Negator>> =
    LazyLock::new(|| Lexicon::of_lists(NEGATORS));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_parser::lexicon::assert_folded;

    #[test]
    fn the_phrases_are_folded() {
        assert_folded(NEGATOR_WORDS.phrases());
    }
}
