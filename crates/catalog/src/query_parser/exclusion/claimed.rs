//! Which product claims does a query ask for: "nickel-free", "lactose free", "free of nickel"?
//!
//! With a hyphen, or behind "free of", any word but those of [`NAMES`] makes a claim. Apart from
//! its word, "free" may as well belong to what follows ("nike free run", "books free shipping"):
//! then only known substances make one, and words of which the shop's products say `wordfree`.

use std::sync::LazyLock;

use crate::analysis::singular;

use super::super::TermLookup;
use super::super::lexicon::{Lexicon, WordSet};
use super::super::tokens::{Kind, Tokens};
use super::names;

/// How "free" is written behind its word.
const FREE: &[&str] = &["free", "frei", "freie", "freier", "freies", "freien"];

/// What comes before the word, by language.
const FREE_OF: &str = "free of|free from|frei von|exempt de|exempte de|exempts de|exemptes de|\
    libre de|libres de|livre de|livres de|privo di|priva di|privi di|prive di";

/// What is not a product by itself, so that it can only be the first of a list: "gluten and dairy free".
const IMPURITIES: &str = "gluten dairy lactose casein nickel lead cadmium cobalt chrome chromium \
    mercury aluminum aluminium bpa bps pvc pfas pfoa pfos ptfe teflon gmo msg paraben parabens \
    sulfate sulfates sulphate sulphates phthalate phthalates formaldehyde toluene triclosan \
    fluoride peroxide ammonia chlorine petroleum fragrance perfume scent dye latex allergen \
    allergens pesticide pesticides hormone hormones antibiotic antibiotics preservative \
    preservatives additive additives cholesterol sodium caffeine aspartame sucralose nitrate \
    nitrates nitrite sulfite sulfites cruelty laktose blei duftstoff parfum konservierungsstoff";

/// What can be bought, and be left out of something else.
const INGREDIENTS: &str = "sugar salt fat oil carb carbs grain wheat corn soy soya yeast rice oat \
    barley nut nuts peanut peanuts almond sesame egg eggs milk cheese meat pork beef fish shellfish \
    gelatin gelatine honey palm alcohol silicone mineral talc plastic leather fur wool down feather \
    cotton polyester nylon silk rubber metal steel zinc copper brass glass wood paper bleach \
    acid soap foam powder wax starch glue adhesive acetone zucker fett salz alkohol soja milch ei nuss chlor silikon \
    plastik leder gas tobacco nicotine thc";

/// Words that need the next one to say what is left out.
const MODIFIERS: &str = "palm added refined tree trans animal artificial synthetic coconut corn olive mineral peanut cow";

/// Words before "free" that make a name or a promise of it. A product that says such a word fights
/// it, does without it or does not charge it; to leave it out would be wrong.
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

/// Behind "free", these take it for themselves: "free shipping", "free size".
const TAKES_FREE: &str = "shipping delivery postage return returns size sizes sized people run runs \
    rn running runner range standing stand style form fall flow flowing play hand hands spirit time \
    trial sample samples wifi app apps download downloads pattern patterns printable printables \
    pass ticket tickets weight weights motion fire willy bird radical radicals lance agent agents \
    kick throw verse market will wheel wheels wheeling diving dive space state speech press solo \
    guy choice roam roaming rider riders engraving installation assembly refund warranty";

/// Behind "free of", these are no part of a product.
const NO_PARTS: &[&str] = &["charge", "cost", "costs", "home", "here", "there"];

static FREE_OF_WORDS: LazyLock<Lexicon<()>> = LazyLock::new(|| Lexicon::of_lists(&[(FREE_OF, ())]));
static IMPURITY_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[IMPURITIES]));
static INGREDIENT_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[INGREDIENTS]));
static MODIFIER_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[MODIFIERS]));
static NAME_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(NAMES));
static TAKER_WORDS: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[TAKES_FREE]));

/// Shorter words in front of "-free" are parts of names.
const LEAST_LETTERS: usize = 2;
/// Longer lists are read from their second item on.
const MAX_LISTED: usize = 4;

/// What a claim is about: the tokens `start..end`, and the token behind the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claimed {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) behind: usize,
}

/// The claim that begins with the word it is about: "nickel-free", "palm oil free".
pub(super) fn before_free(tokens: &Tokens, at: usize, knows: TermLookup) -> Option<Claimed> {
    if !tokens.is(at, Kind::Word) || tokens.is_glued(at) {
        return None;
    }
    hyphenated(tokens, at).or_else(|| apart(tokens, at, knows))
}

/// Where the words begin that "free of" at a token is said about.
pub(super) fn behind_free_of(tokens: &Tokens, at: usize) -> Option<usize> {
    let (_, end) = FREE_OF_WORDS.longest_at(tokens, at)?;
    (!tokens.is_glued(at)).then_some(end)
}

/// Whether a product can be free of a word.
pub(super) fn can_be_left_out(word: &str) -> bool {
    is_substance(word)
        || word.len() >= LEAST_LETTERS
            && !NAME_WORDS.contains(word)
            && !names::is_feature(word)
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
fn hyphenated(tokens: &Tokens, at: usize) -> Option<Claimed> {
    let behind = tokens.end_of_compound(at);
    let end = behind.checked_sub(2).filter(|end| *end > at && tokens.is_hyphen_inside(*end))?;
    // Of "gluten-and-dairy-free" the last word alone is certain.
    let is_and = |at: &usize| matches!(tokens.word(*at), "and" | "&" | "or");
    let start = (at..end)
        .rev()
        .find(is_and)
        .map_or(at, |and| and + 1 + usize::from(tokens.word(and) != "&"));
    let is_claim = FREE.contains(&tokens.word(behind - 1))
        && start < end
        && tokens.is(start, Kind::Word)
        && can_be_left_out(tokens.word(end - 1));
    is_claim.then_some(Claimed { start, end, behind })
}

/// "lactose free", "palm oil free"
fn apart(tokens: &Tokens, at: usize, knows: TermLookup) -> Option<Claimed> {
    let is_modifier = MODIFIER_WORDS.contains(tokens.word(at))
        && tokens.is(at + 1, Kind::Word)
        && !FREE.contains(&tokens.word(at + 1));
    let end = at + 1 + usize::from(is_modifier);
    let (word, free) = (tokens.word(end - 1), tokens.word(end));
    let stands_apart =
        !tokens.is_glued(end) && !tokens.is_glued(end - 1) && !tokens.is_hyphen_inside(end + 1);
    if !FREE.contains(&free) || !stands_apart || TAKER_WORDS.contains(tokens.word(end + 1)) {
        return None;
    }
    let is_said_by_the_shop = || can_be_left_out(word) && knows(&format!("{}free", singular(word)));
    let is_claim = is_substance(word) || is_said_by_the_shop();
    is_claim.then_some(Claimed { start: at, end, behind: end + 1 })
}

fn is_substance(word: &str) -> bool {
    let is_listed = |word: &str| IMPURITY_WORDS.contains(word) || INGREDIENT_WORDS.contains(word);
    is_listed(word) || is_listed(&singular(word))
}

#[cfg(test)]
mod tests {
    use super::super::super::lexicon::assert_folded;
    use super::*;

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
        let claimed = Claimed { start: 0, end: 1, behind: 2 };
        assert_eq!(read(&|word| word == "tefloniumfree"), Some(claimed));
    }
}
