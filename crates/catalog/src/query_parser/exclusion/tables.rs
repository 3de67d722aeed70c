//! Word lists of the exclusion rules.

use std::sync::LazyLock;

use crate::query_parser::lexicon::{Lexicon, WordSet};

/// Words that may stand between a negation and the words it excludes.
const SKIPPED: &str = "a|an|the|any|made of|made from|made in|made by|of|by|from|in|with|ein|eine|\
    einen|un|une|du|la|le|les|de|el|una|um|uma|il|lo|color|colour|coloured|colored|all";

/// Modifiers: the excluded thing includes the word after them ("faux fur").
const MODIFIERS: &str = "faux fake artificial synthetic genuine real dark light bright hot palm \
    added high low stainless carbon memory blue-light polka built genetically vegan patent animal \
    tree corn coconut peanut olive soy maple neon navy sky baby royal rose dusty hardcover long \
    short full open front side back stiff spare extra visible";

/// After an excluded noun, these words are wanted again: "without laces black".
const WANTED_AGAIN: &str = "black white red blue green yellow orange purple pink brown grey gray \
    beige gold silver navy cheap cheaper cheapest affordable expensive large small big medium mini \
    xl xxl xs men women man woman kid kids boys girls boy girl unisex size waterproof wireless new \
    best good nice top comfortable lightweight soft warm cotton leather wool";

/// Nouns in -ing that can be excluded; other words in -ing are taken for verbs.
const THINGS_IN_ING: &str = "lining padding stitching piercing wiring coating filling clothing \
    ceiling railing drawstring seasoning packaging frosting icing stuffing earring earrings \
    underwiring thing things swing swings sling slings string strings spring springs smocking ruching flooring";

/// Words that are not things a product can be without.
const NOT_NOUNS: &str = "enough too very so only just sure much many yet always even really \
    necessarily free included rated suitable your again at like needed required available now cool ok \
    okay bad good great perfect more less longer matter later least one two three house quite all \
    use ever able mine another anymore well worth";

/// Before "no" and "not", these words start a sentence about the shopper.
const ABOUT_ME: &str = "have had has own owns got need needs is are am was do does did can could \
    will would should must may wont cant gets shows leaves makes says so ive weve there theres want wants he she me to or and";

/// Words that make the following foreign negation part of a name: "comic sans".
const NAMES_BEFORE: &str = "comic open original seven deadly mortal noto";

/// Verbs of wanting. A query that begins with any other verb and its object describes a task, and
/// its negations describe how to do it: "cut a branch without any noise".
const WANTING: &str = "find get buy want need show give recommend suggest search looking have got \
    like love prefer sell see";

/// Words that follow a verb but not a noun.
pub(super) const AFTER_VERBS: &[&str] =
    &["a", "an", "the", "my", "our", "your", "his", "her", "their", "up", "out", "off", "down"];

/// Words that negate a free-from claim: "not sugar free".
pub(super) const NEGATED: &[&str] =
    &["not", "no", "non", "isnt", "arent", "never", "nicht", "kein", "keine"];

/// Words that reverse "without": "can't live without a cuppa".
pub(super) const CANNOT: &[&str] = &["cant", "cannot", "wont", "never"];

/// Prepositions of place: "in a tent with no electricity" describes a place, not the product.
pub(super) const PLACES: &[&str] = &["in", "at", "on", "to"];
/// How many words before "with no" a place may begin: "at a remote ranch".
pub(super) const MAX_PLACE: usize = 4;

pub(super) static SKIPPED_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| Lexicon::of_lists(&[(SKIPPED, ())]));
pub(super) static MODIFIER_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[MODIFIERS]));
pub(super) static WANTED_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[WANTED_AGAIN]));
pub(super) static ING_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[THINGS_IN_ING]));
pub(super) static NOT_NOUN_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[NOT_NOUNS]));
pub(super) static ABOUT_ME_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[ABOUT_ME]));
pub(super) static WANTING_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[WANTING]));
pub(super) static NAME_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[NAMES_BEFORE]));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_parser::lexicon::assert_folded;

    #[test]
    fn the_phrases_are_folded() {
        assert_folded(SKIPPED_WORDS.phrases());
    }
}
