//! Free-from claims in a query: "nickel-free", "lactose free", "free of nickel".
//!
//! With a hyphen, or after "free of", any word but those of [`NAMES`] makes a claim. Without a
//! hyphen, "free" may belong to the next word ("nike free run", "books free shipping"): then only
//! known substances make a claim, and words for which the shop's vocabulary has `wordfree`.

use std::sync::LazyLock;

use crate::analysis::singular;

use super::idioms;
use crate::lexer::{TokenKind, Tokens};
use crate::query_parser::TermLookup;
use crate::query_parser::lexicon::{Lexicon, WordSet};

/// Forms of "free" after its word.
const FREE: &[&str] = &["free", "frei", "freie", "freier", "freies", "freien"];

/// "free of", by language.
const FREE_OF: &str = "free of|free from|frei von|exempt de|exempte de|exempts de|exemptes de|\
    libre de|libres de|livre de|livres de|privo di|priva di|privi di|prive di";

/// Substances that are not products, so that they can only be the first item of a list: "gluten and
/// dairy free".
const IMPURITIES: &str = "gluten dairy lactose casein nickel lead cadmium cobalt chrome chromium \
    mercury aluminum aluminium bpa bps pvc pfas pfoa pfos ptfe teflon gmo msg paraben parabens \
    sulfate sulfates sulphate sulphates phthalate phthalates formaldehyde toluene triclosan \
    fluoride peroxide ammonia chlorine petroleum fragrance perfume scent dye latex allergen \
    allergens pesticide pesticides hormone hormones antibiotic antibiotics preservative \
    preservatives additive additives cholesterol sodium caffeine aspartame sucralose nitrate \
    nitrates nitrite sulfite sulfites cruelty laktose blei duftstoff parfum konservierungsstoff";

/// Substances that are products and that other products can be free of.
const INGREDIENTS: &str = "sugar salt fat oil carb carbs grain wheat corn soy soya yeast rice oat \
    barley nut nuts peanut peanuts almond sesame egg eggs milk cheese meat pork beef fish shellfish \
    gelatin gelatine honey palm alcohol silicone mineral talc plastic leather fur wool down feather \
    cotton polyester nylon silk rubber metal steel zinc copper brass glass wood paper bleach \
    acid soap foam powder wax starch glue adhesive acetone zucker fett salz alkohol soja milch ei nuss chlor silikon \
    plastik leder gas tobacco nicotine thc";

/// Modifiers: the substance includes the word after them.
const MODIFIERS: &str = "palm added refined tree trans animal artificial synthetic coconut corn olive mineral peanut cow";

/// Words that form a name or a promise with "free". Products that mention such a word prevent it, do
/// without it or do not charge it; excluding them would be wrong.
const NAMES: &[&str] = &[
    // What is not charged.
    "duty tax taxes vat toll customs tariff interest commission royalty royalties rent charge cost \
     costs fee fees postage shipping delivery money",
    // How it is used or works.
    "hand hands wire wires cord cable cables tool tools battery batteries drill screw screws nail \
     installation assembly touch contact cage glare flicker hub",
    // What a shopper does not have to feel or do.
    "care carefree hassle worry worries stress risk trouble guilt pain anxiety drama clutter mess \
     maintenance iron ironing subscription commitment judgment judgement problem effort scot foot \
     fancy spill",
    // What a product prevents.
    "wrinkle wrinkles crease creases rust stain stains frost fog smoke dust static streak streaks \
     drip drips leak leaks noise sound lag jam clog clogs tangle tangles knot frizz odor odour odors \
     smell sweat tear tears scratch shatter skid slip snag splinter pill pilling fade spot weed \
     weeds pest pests bug bugs insect mosquito tick flea germ germs bacteria virus mold mould acne \
     dandruff blemish bark spam ad ads virus crash debt drug crime conflict symptom",
    // Not a thing at all.
    "one two three get buy is are be it its for all feel live born set break breaking stand stay \
     sets run go me you totally completely almost nearly truly always the a an",
];

/// Words that "free" modifies: "free shipping", "free size".
const TAKES_FREE: &str = "shipping delivery postage return returns size sizes sized people run runs \
    rn running runner range standing stand style form fall flow flowing play hand hands spirit time \
    trial sample samples wifi app apps download downloads pattern patterns printable printables \
    pass ticket tickets weight weights motion fire willy bird radical radicals lance agent agents \
    kick throw verse market will wheel wheels wheeling diving dive space state speech press solo \
    guy choice roam roaming rider riders engraving installation assembly refund warranty";

/// After "free of", these are not substances.
const NO_PARTS: &[&str] = &["charge", "cost", "costs", "home", "here", "there"];

static FREE_OF_WORDS: LazyLock<Lexicon<()>> = LazyLock::new(|| Lexicon::of_lists(&[(FREE_OF, ())]));
static IMPURITY_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[IMPURITIES]));
static INGREDIENT_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[INGREDIENTS]));
static MODIFIER_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[MODIFIERS]));
static NAME_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(NAMES));
static TAKER_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[TAKES_FREE]));

/// Shorter words in front of "-free" are parts of names.
const LEAST_LETTERS: usize = 2;
/// The most items of a list before its claim.
const MAX_LISTED: usize = 4;

/// A claim about the tokens `start..end`. `claim_end` is the exclusive end of the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FreeFrom {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) claim_end: usize,
}

/// The claim that begins with its substance: "nickel-free", "palm oil free".
pub(super) fn before_free(tokens: &Tokens, at: usize, knows: TermLookup) -> Option<FreeFrom> {
    if !tokens.is(at, TokenKind::Word) || tokens.is_glued(at) {
        return None;
    }
    hyphenated(tokens, at).or_else(|| separate(tokens, at, knows))
}

/// The start of the substance after "free of" at a token.
pub(super) fn after_free_of(tokens: &Tokens, at: usize) -> Option<usize> {
    let (_, end) = FREE_OF_WORDS.longest_at(tokens, at)?;
    (!tokens.is_glued(at)).then_some(end)
}

/// Whether a product can be free of what a word names.
pub(super) fn can_be_absent(word: &str) -> bool {
    is_substance(word)
        || word.len() >= LEAST_LETTERS
            && !NAME_WORDS.contains(word)
            && !idioms::is_feature(word)
            && !NO_PARTS.contains(&word)
}

/// The first item of a list that ends in a claim: "gluten" in "gluten and dairy free".
pub(super) fn listed_before(tokens: &Tokens, at: usize, knows: TermLookup) -> Option<usize> {
    let is_joined = |at: usize| matches!(tokens.word(at), "and" | "or" | "," | "&" | "/" | "und");
    let mut item = at;
    for _ in 0..MAX_LISTED {
        if !IMPURITY_WORDS.contains(tokens.word(item)) || !is_joined(item + 1) {
            return None;
        }
        let joiners = 1 + usize::from(tokens.word(item + 1) == "," && is_joined(item + 2));
        item += 1 + joiners;
        if before_free(tokens, item, knows).is_some() {
            return Some(at + 1 + joiners);
        }
    }
    None
}

/// "nickel-free", "palm-oil-free"
fn hyphenated(tokens: &Tokens, at: usize) -> Option<FreeFrom> {
    let claim_end = tokens.end_of_compound(at);
    let end = claim_end.checked_sub(2).filter(|end| *end > at && tokens.is_hyphen_inside(*end))?;
    // Of "gluten-and-dairy-free", only the last word is certain.
    let is_and = |at: &usize| matches!(tokens.word(*at), "and" | "&" | "or");
    let start = (at..end)
        .rev()
        .find(is_and)
        .map_or(at, |and| and + 1 + usize::from(tokens.word(and) != "&"));
    let is_claim = FREE.contains(&tokens.word(claim_end - 1))
        && start < end
        && tokens.is(start, TokenKind::Word)
        && can_be_absent(tokens.word(end - 1));
    is_claim.then_some(FreeFrom { start, end, claim_end })
}

/// "lactose free", "palm oil free"
fn separate(tokens: &Tokens, at: usize, knows: TermLookup) -> Option<FreeFrom> {
    let is_modifier = MODIFIER_WORDS.contains(tokens.word(at))
        && tokens.is(at + 1, TokenKind::Word)
        && !FREE.contains(&tokens.word(at + 1));
    let end = at + 1 + usize::from(is_modifier);
    let (word, free) = (tokens.word(end - 1), tokens.word(end));
    let is_separate =
        !tokens.is_glued(end) && !tokens.is_glued(end - 1) && !tokens.is_hyphen_inside(end + 1);
    if !FREE.contains(&free) || !is_separate || TAKER_WORDS.contains(tokens.word(end + 1)) {
        return None;
    }
    let is_shop_term = || can_be_absent(word) && knows(&format!("{}free", singular(word)));
    let is_claim = is_substance(word) || is_shop_term();
    is_claim.then_some(FreeFrom { start: at, end, claim_end: end + 1 })
}

fn is_substance(word: &str) -> bool {
    let is_listed = |word: &str| IMPURITY_WORDS.contains(word) || INGREDIENT_WORDS.contains(word);
    is_listed(word) || is_listed(&singular(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_parser::lexicon::assert_folded;

    #[test]
    fn the_phrases_are_folded() {
        assert_folded(FREE_OF_WORDS.phrases());
        for words in [&IMPURITY_WORDS, &INGREDIENT_WORDS, &NAME_WORDS, &TAKER_WORDS] {
            assert_folded(words.words().map(str::to_owned).collect());
        }
    }

    #[test]
    fn no_substance_is_a_name() {
        for word in IMPURITY_WORDS.words().chain(INGREDIENT_WORDS.words()) {
            assert!(!NAME_WORDS.contains(word), "{word}");
        }
    }

    #[test]
    fn the_shop_decides_which_other_words_make_a_claim() {
        let read = |knows: TermLookup| before_free(&Tokens::of("teflonium free pan"), 0, knows);
        assert_eq!(read(&|_| false), None);
        let claimed = FreeFrom { start: 0, end: 1, claim_end: 2 };
        assert_eq!(read(&|word| word == "tefloniumfree"), Some(claimed));
    }
}
