//! The lexicon: which words and phrases name which values, how far each can be trusted, and the
//! classes of the words around them. Its data are the files in `lexicon/`.

use std::{collections::HashMap, sync::LazyLock};

use crate::{
    product::inferred::{Attribute, InferredAttributes},
    text::{analysis::singular, fnv::WordHash},
};

/// Phrases: `values`, `certainty`, `kind` (general, special, foreign or similar), words separated by `|`.
const PHRASES: [&str; 7] = [
    include_str!("lexicon/colors.tsv"),
    include_str!("lexicon/materials.tsv"),
    include_str!("lexicon/patterns.tsv"),
    include_str!("lexicon/audiences.tsv"),
    include_str!("lexicon/sizes.tsv"),
    include_str!("lexicon/nothing.tsv"),
    include_str!("lexicon/other-languages.tsv"),
];
/// Word classes: class, words separated by `|`.
const CLASSES: &str = include_str!("lexicon/classes.tsv");

/// How much a word needs around it to state a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certainty {
    /// Nothing: `black`.
    Sure,
    /// A place of its own (", gold", "in gold"), or a thing later in its clause: `gold`.
    Likely,
    /// A place of its own, or a thing directly after it: `mint`.
    Doubtful,
    /// A place of its own: `stone`, which before a thing is the material.
    Placed,
    /// A thing directly after it: `oak`, of which a floor may just have the color.
    Attributive,
    /// A field that is about nothing else: `male`.
    Label,
}

/// The language of a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    English,
    /// Any of the others.
    Foreign,
    /// Another language, or a typo of the English word: `linnen`.
    Either,
}

/// What a phrase means.
#[derive(Debug)]
pub(super) struct Meaning {
    /// Empty for phrases that look like an attribute and are none: "olive oil".
    pub(super) values: InferredAttributes,
    pub(super) certainty: Certainty,
    /// The phrase if it is a shade or a species: `navy`, not `blue`.
    pub(super) special: Option<&'static str>,
    pub(super) origin: Origin,
}

impl Meaning {
    /// The attribute whose rules apply, the first of those with a value.
    pub(super) fn attribute(&self) -> Option<Attribute> {
        Attribute::ALL.into_iter().find(|one| self.values.get(*one) != 0)
    }

    pub(super) fn is(&self, attribute: Attribute) -> bool {
        self.values.get(attribute) != 0
    }
}

#[derive(Debug)]
struct Entry {
    rest: Box<[&'static str]>,
    /// At least one; several if it may be several attributes: "stone".
    meanings: Vec<Meaning>,
}

/// What is known of a word.
#[derive(Debug, Default)]
pub(super) struct Info {
    /// A bit set of [`class`].
    pub(super) classes: u64,
    /// The phrases that begin with it, the longest first.
    entries: Vec<Entry>,
}

impl Info {
    /// The longest phrase that begins with this word and continues with `words`, and its length.
    pub(super) fn longest<'w>(
        &'static self,
        is_inflected: bool,
        words: impl Fn(usize) -> &'w str,
    ) -> Option<(&'static [Meaning], usize)> {
        let follows = |entry: &Entry| {
            entry.rest.iter().zip(1..).all(|(rest, at)| {
                let word = words(at);
                // A singular begins like its plural.
                let may_be = word.as_bytes().first() == rest.as_bytes().first();
                may_be && (word == *rest || singular(word) == *rest)
            })
        };
        // "Blues" are music and "glasses" are worn; "stripes" and "puppies" mean the same.
        let counts = |entry: &Entry| {
            !is_inflected
                || !entry.rest.is_empty()
                || matches!(
                    entry.meanings[0].attribute(),
                    Some(Attribute::Pattern | Attribute::Audience) | None
                )
        };
        let entry = self.entries.iter().find(|entry| counts(entry) && follows(entry))?;
        Some((&entry.meanings, 1 + entry.rest.len()))
    }
}

/// The classes of words that the rules ask for, a bit each.
pub(super) mod class {
    macro_rules! classes {
        ($($name:ident: $text:literal,)*) => {
            /// Names in the file, in the order of their bits.
            pub(in super::super) const NAMES: &[&str] = &[$($text),*];
            classes!(@bits 0; $($name)*);
        };
        (@bits $at:expr; $name:ident $($rest:ident)*) => {
            pub(in super::super) const $name: u64 = 1 << $at;
            classes!(@bits $at + 1; $($rest)*);
        };
        (@bits $at:expr;) => {};
    }
    classes! {
        // Where a clause begins, and what it is about.
        WITH: "with",
        FOR: "for",
        IN: "in",
        ELSEWHERE: "elsewhere",
        // Kinds of things.
        THING: "thing",
        PART: "part",
        CARE: "care",
        FOOD: "food",
        SCENTED: "scented",
        MEDIA: "media",
        PLANT: "plant",
        BEDDING: "bedding",
        PET_CARE: "pet care",
        PACK: "pack",
        GEM: "gem",
        JEWELRY: "jewelry",
        CARAT: "carat",
        POTTERY: "pottery",
        SOFT: "soft",
        HARD: "hard",
        // Words beside an attribute.
        IMITATION: "imitation",
        LOOK: "look",
        FINISH: "finish",
        SURFACE: "surface",
        SHADE: "shade",
        FILLER: "filler",
        NEGATOR: "negator",
        FREE: "free",
        THEME: "theme",
        NOT_SIZED: "not sized",
        LAMINATE: "laminate",
        LIST: "list",
        PERCENT: "percent",
        // Words of sentences.
        VERB: "verb",
        MADE: "made",
        MATERIAL_LABEL: "material label",
        COLOR_LABEL: "color label",
        CONSTRUCTION: "construction",
        GENUINE: "genuine",
        ADVICE: "advice",
        ADULT: "adult",
        YOUR: "your",
        FUNCTION: "function",
        REQUIRED: "required",
        NECESSITY: "necessity",
        SEARCH: "search",
        SIZE_LABEL: "size label",
    }
}

type Words = HashMap<&'static str, Info, WordHash>;

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let mut words = Words::default();
    for line in PHRASES.iter().flat_map(|file| lines(file)) {
        add_phrases(&mut words, line);
    }
    for (class, list) in lines(CLASSES).filter_map(|line| line.split_once('\t')) {
        let bit = class::NAMES.iter().position(|name| *name == class);
        for word in list.split('|').map(str::trim) {
            words.entry(word).or_default().classes |= bit.map_or(0, |bit| 1 << bit);
        }
    }
    for info in words.values_mut() {
        info.entries.sort_by_key(|entry| std::cmp::Reverse(entry.rest.len()));
    }
    words
});

fn lines(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn add_phrases(words: &mut Words, line: &'static str) {
    let mut columns = line.split('\t');
    let mut column = || columns.next().unwrap_or_default();
    let (values, certainty, kind, phrases) = (column(), column(), column(), column());
    let Some(certainty) = certainty_named(certainty) else { return };
    for phrase in phrases.split('|').map(str::trim) {
        let mut parts = phrase.split(' ');
        let first = parts.next().unwrap_or_default();
        let special = (kind == "special").then_some(phrase);
        let origin = match kind {
            "foreign" => Origin::Foreign,
            "similar" => Origin::Either,
            _ => Origin::English,
        };
        let meaning = Meaning { values: values_of(values), certainty, special, origin };
        let rest: Box<[_]> = parts.collect();
        let entries = &mut words.entry(first).or_default().entries;
        match entries.iter_mut().find(|entry| entry.rest == rest) {
            Some(entry) => entry.meanings.push(meaning),
            None => entries.push(Entry { rest, meanings: vec![meaning] }),
        }
    }
}

fn certainty_named(name: &str) -> Option<Certainty> {
    Some(match name {
        "sure" => Certainty::Sure,
        "likely" => Certainty::Likely,
        "doubtful" => Certainty::Doubtful,
        "placed" => Certainty::Placed,
        "attributive" => Certainty::Attributive,
        "label" => Certainty::Label,
        _ => return None,
    })
}

/// `color=gold;material=metal`; `-` is nothing.
fn values_of(column: &str) -> InferredAttributes {
    let mut all = InferredAttributes::NONE;
    for (name, value) in column.split(';').filter_map(|pair| pair.split_once('=')) {
        if let Some(attribute) = Attribute::by_name(name) {
            all.add(attribute, attribute.bit(value).unwrap_or_default());
        }
    }
    all
}

/// What is known of a folded word, and whether only its singular is known.
pub(super) fn info(word: &str) -> Option<(&'static Info, bool)> {
    if let Some(info) = WORDS.get(word) {
        return Some((info, false));
    }
    let one = singular(word);
    if one == word { None } else { WORDS.get(&*one).map(|info| (info, true)) }
}

/// The values that a folded word alone names in other languages than English, and hardly in English.
pub(super) fn foreign_values(word: &str) -> InferredAttributes {
    let entries = WORDS.get(word).into_iter().flat_map(|info| &info.entries);
    let meanings = entries.filter(|entry| entry.rest.is_empty()).flat_map(|entry| &entry.meanings);
    let foreign = meanings.filter(|meaning| {
        meaning.origin != Origin::English && meaning.certainty != Certainty::Label
    });
    foreign.fold(InferredAttributes::NONE, |all, meaning| all.union(meaning.values))
}

/// Whether a folded word alone names a value, with this origin.
pub(super) fn has_origin(word: &str, origin: Origin) -> bool {
    let has_origin = |meaning: &Meaning| meaning.origin == origin;
    let mut entries = WORDS.get(word).into_iter().flat_map(|info| &info.entries);
    entries.any(|entry| entry.rest.is_empty() && entry.meanings.iter().any(has_origin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::lexer::Tokens;

    #[test]
    fn every_line_of_the_data_is_understood() {
        for line in PHRASES.iter().flat_map(|file| lines(file)) {
            let columns: Vec<_> = line.split('\t').collect();
            assert_eq!(columns.len(), 4, "{line}");
            assert!(certainty_named(columns[1]).is_some(), "{line}");
            assert!(["general", "special", "foreign", "similar"].contains(&columns[2]), "{line}");
            for pair in columns[0].split(';').filter(|values| *values != "-") {
                let (name, value) = pair.split_once('=').unwrap();
                let attribute = Attribute::by_name(name).unwrap();
                assert!(attribute.bit(value).is_some(), "{line}");
            }
        }
        for line in lines(CLASSES) {
            let (class, _) = line.split_once('\t').unwrap();
            assert!(class::NAMES.contains(&class), "{class}");
        }
        let classes: Vec<_> = lines(CLASSES).filter_map(|line| line.split('\t').next()).collect();
        for name in class::NAMES {
            assert!(classes.contains(name), "{name} has no words");
        }
    }

    #[test]
    fn phrases_are_folded_tokens_and_listed_once_for_an_attribute() {
        let mut seen = std::collections::HashSet::new();
        for line in PHRASES.iter().flat_map(|file| lines(file)) {
            for phrase in line.rsplit('\t').next().unwrap().split('|').map(str::trim) {
                let tokens = Tokens::of(phrase);
                let words: Vec<_> = (0..tokens.len()).map(|at| tokens.word(at)).collect();
                assert_eq!(words.join(" "), phrase);
                let attribute = line.split(['=', '\t']).next().unwrap();
                assert!(seen.insert((attribute, phrase)), "{phrase} is listed twice");
                let is_both = attribute != "-" && seen.contains(&("-", phrase));
                assert!(!is_both, "{phrase} is nothing and something");
            }
        }
    }
}
