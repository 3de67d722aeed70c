//! Phrases in which a negation is part of what is wanted: "no show socks", "non stick".

use std::sync::LazyLock;

use crate::analysis::singular;

use crate::lexer::{TokenKind, Tokens};
use crate::query_parser::lexicon::{Lexicon, WordSet};

/// Words after "no" in names of things and features.
const NO_NAMES: &str = "show shows iron drill slip stick sew cook bake churn knead spill tie touch \
    contact kink dig hub leak rust fuss chafe tear tears poo tangle crease wrinkle name brainer \
    frill frills nonsense limit limits fear entry exit boundaries doubt problem matter time need \
    one way other more longer less idea good retreat surrender mercy rinse scrub buckle pull bark \
    chew mess heat melt blink snag scratch burn fade sag roll ride gap wake bounce flush weld nail \
    nails damage fly tilt step hassle stop sweat calk caulk coat jitter crash assembly prep wash \
    hem throw trace waste peek strings comment kill cry man country game soliciting trespassing \
    parking smoking swimming fishing diving tool tools bull bite hunger fog fit filter frizz \
    glare crumb pill shed front tuck cal calorie bleach foam drip pressure bed dye added wonder \
    ma thanks thank please idea clue room worries hub knock squeak skid mow till peel crush crack \
    shave blade press turn flat bend vacancy vacancies dogs pets turning littering overtaking frost screws file \
    turbo ordinary experience budget object price spending maximum minimum";

/// Words after "non", likewise; most others are qualities.
const NON_NAMES: &str = "stick slip skid toxic gmo dairy alcoholic woven iron fat fiction scuff \
    acetone aerosol scratch sterile tarnish binary greasy drowsy stop contact food pilling wood \
    combi crease kink tilt rinse drip branded brand slippery sticky shedding glare \
    habit prescription clump clumping fade sag fog bio oem sim pro cling comedogenic damp profit ecc rust touch zero pressure";

/// Whole phrases, including brands.
const PHRASES: &str = "not your mother|not your daughter|not your average|not your|not just|\
    not only|not too|not very|not so|not a toy|not for sale|not included|not today|not safe|\
    not fragile|not another|not dog|not milk|not co|without a doubt|without doubt|without limits|\
    without borders|without walls|without you|without me|without words|without end|\
    sin city|sins|sin bin|sans serif|sans souci|sans soleil|pas de deux|pas de calais|\
    no 1|no country for|no man|no one|no7|not rated|no and low|no - vacancy|sem fio|sem fios|\
    sin cables|sans fil|ohne ende|non la";

/// Endings of qualities: non-metallic, non-dimmable, non-vented.
const QUALITY_ENDINGS: &[&str] = &["able", "ible", "ic", "ed", "ing", "ive", "ent", "ous", "ical"];
/// Nouns that end like qualities.
const THINGS: &str = "plastic acrylic ceramic fabric elastic organic synthetic cotton-blend red";

static NO: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[NO_NAMES]));
static NON: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[NON_NAMES]));
static WHOLE: LazyLock<Lexicon<()>> = LazyLock::new(|| Lexicon::of_lists(&[(PHRASES, ())]));
static THING_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[THINGS]));

/// Whether the negation at a token belongs to an idiom.
pub(super) fn begins_idiom(tokens: &Tokens, at: usize) -> bool {
    let next = tokens.word(at + 1);
    let is_no = tokens.word(at) == "no";
    WHOLE.longest_at(tokens, at).is_some()
        || is_no && (NO.contains(next) || tokens.is_hyphen_inside(at + 1))
        || matches!(tokens.word(at), "no" | "non" | "not") && !is_a_word(tokens, at + 1)
}

/// Whether a word follows; "no 5" and "no. 7" are names.
fn is_a_word(tokens: &Tokens, at: usize) -> bool {
    tokens.is(at, TokenKind::Word) || tokens.is_hyphen_inside(at)
}

/// Whether "no" and this word name a feature: "no iron", "no tangle".
pub(super) fn is_feature(word: &str) -> bool {
    NO.contains(word) || NO.contains(&singular(word))
}

/// Whether "non" and this word name a quality rather than a material.
pub(super) fn is_quality(word: &str) -> bool {
    NON.contains(word)
        || NON.contains(&singular(word))
        || QUALITY_ENDINGS.iter().any(|ending| word.ends_with(ending))
            && !THING_WORDS.contains(word)
}
