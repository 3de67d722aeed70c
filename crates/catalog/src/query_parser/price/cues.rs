//! Phrases that introduce or follow a price, and when they accept a number without a currency.

use std::sync::LazyLock;

use super::PriceKind::{self, About, Above, AtLeast, AtMost, Below, Between};
use crate::{lexer::Tokens, query_parser::lexicon::Lexicon};

/// When a number without a currency is a price after a cue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bare {
    /// Never: "for 12" may be guests.
    Never,
    /// If nothing follows that it could count: "up to 50".
    Last,
    /// Also before a noun that numbers do not count: "under 50 headphones".
    BeforeNoun,
    /// Unless a unit follows: "cheaper than 50".
    Always,
}

/// A phrase before an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cue {
    pub(super) kind: PriceKind,
    pub(super) bare: Bare,
    /// Smaller numbers without a currency are counts, sizes or ages.
    pub(super) least: u32,
    /// Whether the number may be a year: "from 2024", "about 1917".
    pub(super) may_be_year: bool,
    /// Whether the cue is also part of names: "Air Max 90".
    pub(super) is_name: bool,
}

const fn cue(kind: PriceKind, bare: Bare, least: u32) -> Cue {
    Cue { kind, bare, least, may_be_year: false, is_name: false }
}

const UNDER: Cue = cue(Below, Bare::BeforeNoun, 1);
const LESS: Cue = cue(Below, Bare::Last, 5);
const CHEAPER: Cue = cue(Below, Bare::Always, 1);
const UP_TO: Cue = cue(AtMost, Bare::Last, 10);
const NO_DEARER: Cue = cue(AtMost, Bare::Always, 1);
const MAX: Cue = Cue { is_name: true, ..cue(AtMost, Bare::Last, 10) };
pub(super) const OVER: Cue = cue(Above, Bare::Last, 10);
const DEARER: Cue = cue(Above, Bare::Always, 1);
const AT_LEAST: Cue = cue(AtLeast, Bare::Last, 10);
const NO_CHEAPER: Cue = cue(AtLeast, Bare::Always, 1);
const FROM: Cue = Cue { may_be_year: true, ..cue(AtLeast, Bare::Last, 20) };
const AROUND: Cue = Cue { may_be_year: true, ..cue(About, Bare::Last, 10) };
const BETWEEN: Cue = cue(Between, Bare::Last, 5);
/// "de 20 à 50": a range, only with a currency.
const RANGE: Cue = cue(Between, Bare::Never, 1);

/// Phrases before an amount, by language.
const CUES: &[(&str, Cue)] = &[
    // English
    ("under|below|beneath|sub|sub -|<", UNDER),
    ("less than|less then|lower than|fewer than", LESS),
    (
        "cheaper than|cheaper then|less expensive than|for less than|priced under|priced below",
        CHEAPER,
    ),
    (
        "up to|at most|maximum|maximum of|max of|within|< =|= <|≤|upto|up until|limit of|\
         limited to|capped at",
        UP_TO,
    ),
    ("max|max .", MAX),
    (
        "budget of|budget up to|max budget|maximum budget|price limit|max price|max price of|\
         max price is|max price :|maximum price|maximum price of",
        NO_DEARER,
    ),
    ("min price|min price of|minimum price|minimum price of|min price :", NO_CHEAPER),
    (
        "over|above|more than|more then|greater than|higher than|>|north of|exceeding|in excess of",
        OVER,
    ),
    ("more expensive than|pricier than|dearer than|costlier than", DEARER),
    (
        "at least|min|min .|minimum|minimum of|min of|upwards of|upward of|> =|= >|≥|\
         starting at|starting from|starts at",
        AT_LEAST,
    ),
    ("from", FROM),
    (
        "about|around|roughly|approximately|approx|approx .|circa|ca|ca .|close to|near|~|≈|\
         somewhere around|in the region of|something around|nearly",
        AROUND,
    ),
    ("between|anywhere between|somewhere between|anywhere from", BETWEEN),
    // German
    ("unter|weniger als", LESS),
    ("gunstiger als|billiger als", CHEAPER),
    ("bis|bis zu|hochstens|maximal|bis maximal|bis max|bis max .", UP_TO),
    ("uber|mehr als", OVER),
    ("teurer als", DEARER),
    ("mindestens", AT_LEAST),
    ("ab", FROM),
    ("etwa|ungefahr|rund|zirka|um die|in etwa", AROUND),
    ("zwischen", BETWEEN),
    ("von", RANGE),
    // French
    (
        "moins de|moins que|sous|en dessous de|en - dessous de|au dessous de|au - dessous de|\
         inferieur a",
        LESS,
    ),
    ("moins cher que|moins chere que|moins cheres que|moins chers que", CHEAPER),
    (
        "jusqua|jusqu a|maximum de|au maximum|au plus|ne depassant pas|ne depasse pas|\
         ne depassent pas|ne depassera pas|nexcede pas|nexcedant pas|nexcedent pas",
        UP_TO,
    ),
    ("plus de|plus que|au dessus de|au - dessus de|superieur a", OVER),
    ("plus cher que|plus chere que|plus chers que|plus cheres que", DEARER),
    ("au moins|a partir de|au minimum|minimum de", AT_LEAST),
    ("environ|autour de|aux alentours de|a peu pres", AROUND),
    ("entre", BETWEEN),
    ("de|da|del", RANGE),
    // Spanish
    ("menos de|por debajo de|debajo de|inferior a|por menos de", LESS),
    ("mas barato que|mas barata que|mas baratos que|mas baratas que", CHEAPER),
    ("hasta|como maximo|maximo|maximo de|a lo sumo", UP_TO),
    ("mas de|por encima de|superior a|arriba de", OVER),
    ("mas caro que|mas cara que|mas caros que|mas caras que", DEARER),
    ("al menos|por lo menos|desde|como minimo|minimo|minimo de", AT_LEAST),
    ("alrededor de|unos|unas|cerca de|aproximadamente|mas o menos", AROUND),
    // Portuguese
    ("abaixo de|por menos de|menos que|menos do que", LESS),
    ("mais barato que|mais barata que|mais baratos que|mais barato do que", CHEAPER),
    ("ate|no maximo|ate no maximo", UP_TO),
    ("mais de|acima de|mais que|mais do que", OVER),
    ("mais caro que|mais cara que|mais caros que|mais caras que|mais caro do que", DEARER),
    ("pelo menos|no minimo|ao menos", AT_LEAST),
    ("por volta de|em torno de|uns|umas|aproximadamente", AROUND),
    // Italian
    ("meno di|sotto|sotto i|sotto gli|al di sotto di|inferiore a", LESS),
    ("piu economico di|meno caro di", CHEAPER),
    ("fino a|al massimo|massimo|entro|entro i|max di", UP_TO),
    ("piu di|oltre|oltre i|sopra i|sopra|superiore a", OVER),
    ("piu caro di|piu cara di|piu cari di|piu care di", DEARER),
    ("almeno|a partire da|minimo di", AT_LEAST),
    ("intorno a|intorno ai|sui|attorno ai", AROUND),
    ("tra|fra|tra i|fra i", BETWEEN),
    // Russian
    ("меньше|менее|ниже|меньше чем", LESS),
    ("дешевле|дешевле чем", CHEAPER),
    ("до|максимум|в пределах", UP_TO),
    ("больше|более|свыше|выше", OVER),
    ("дороже|дороже чем", DEARER),
    ("минимум|как минимум", AT_LEAST),
    ("от", FROM),
    ("около|примерно|порядка|приблизительно", AROUND),
    ("между", BETWEEN),
];

/// A phrase before a cue or an amount that makes the number a price, or likely one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lead {
    /// Whether it mentions prices: a number then needs no currency.
    pub(super) is_price: bool,
    /// The comparison if no cue follows.
    pub(super) alone: PriceKind,
}

const FOR: Lead = Lead { is_price: false, alone: About };
const HAVE: Lead = Lead { is_price: false, alone: AtMost };
const PRICE: Lead = Lead { is_price: true, alone: About };
const BUDGET: Lead = Lead { is_price: true, alone: AtMost };

const LEADS: &[(&str, Lead)] = &[
    ("for|at|for just|for only|at only|for a price of", FOR),
    (
        "i have|i only have|i have only|ive got|i got|i only got|i have got|we have|we only have|\
         we got|weve got|ich habe|wir haben|jai|nous avons|tengo|tenemos|eu tenho|temos|ho|abbiamo|\
         у меня|у меня есть",
        HAVE,
    ),
    (
        "price|price of|price is|price :|prices|priced|priced at|price range|price range of|\
         price range :|price range is|in the price range of|cost|costs|costing|that cost|\
         that costs|which cost|which costs|selling for|sold for",
        PRICE,
    ),
    (
        "budget|budget is|budget :|budget of|a budget of|with a budget of|on a budget of|\
         my budget|my budget is|our budget|our budget is|with budget|spend|to spend|can spend|\
         i can spend|can only spend|i can only spend|i can afford|i can only afford|i can pay|\
         i can only pay|willing to spend|willing to pay|prepared to spend|prepared to pay|\
         want to spend|looking to spend|spending limit|spending limit is|spending limit of|\
         price limit is|budget limit|budget limit is|my limit|my limit is|our limit is|limit is|\
         limit :|my max is|my maximum is|the most i can spend is|the most i can pay is|\
         the most i can afford is|most i can spend is|most i can pay is|all i can spend is",
        BUDGET,
    ),
    (
        "preis|preis :|zum preis von|prix|prix :|precio|precio :|preco|preco :|prezzo|prezzo :",
        PRICE,
    ),
    ("цена|цена :|ценои|по цене|стоимость|стоимостью", PRICE),
    (
        "budget von|mein budget|mein budget ist|mein limit|mein limit ist|mein budget liegt bei|\
         un budget de|budget de|mon budget|mon budget est|mon budget est de|ma limite est|\
         ma limite est de|presupuesto|presupuesto de|mi presupuesto|mi presupuesto es|\
         mi presupuesto es de|mi limite es|mi limite es de|orcamento|orcamento de|meu orcamento|\
         meu orcamento e|meu orcamento e de|meu limite e|meu limite e de|budget di|un budget di|\
         il mio budget|il mio budget e|il mio budget e di|il mio limite e|il mio limite e di|\
         бюджет|мои бюджет|мои лимит|лимит",
        BUDGET,
    ),
    ("pour|por|за|um|fur|per", FOR),
];

/// Joins the two amounts of a range.
const JOINERS: &str = "to|-|–|—|‒|−|up to|till|until|bis|a|hasta|ate|до";

/// Also joins them after "between".
const JOINERS_BETWEEN: &str = "and|&|und|et|y|e|и|ed";

/// A phrase after an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Suffix {
    pub(super) kind: PriceKind,
    /// Whether it accepts a number without a currency.
    pub(super) takes_bare: bool,
    /// As in [`Cue`].
    pub(super) is_name: bool,
}

const OR_LESS: Suffix = Suffix { kind: AtMost, takes_bare: true, is_name: false };
const TOPS: Suffix = Suffix { kind: AtMost, takes_bare: false, is_name: false };
const AT_MAX: Suffix = Suffix { kind: AtMost, takes_bare: true, is_name: true };
const OR_MORE: Suffix = Suffix { kind: AtLeast, takes_bare: false, is_name: false };
const OR_SO: Suffix = Suffix { kind: About, takes_bare: false, is_name: false };

const SUFFIXES: &[(&str, Suffix)] = &[
    ("or less|or cheaper|or under|or below|or lower|or fewer|to spend", OR_LESS),
    (
        "is my limit|is our limit|is my max|is my maximum|is my budget|is our budget|\
         is all i have|is all i can spend|is the most i can spend|is the most i can pay|\
         and no more|and not more|but no more|but not more|and not a penny more|\
         and not a cent more|not a penny more|not a cent more",
        OR_LESS,
    ),
    ("and under|and below|and less|tops|at most|at the most|budget|limit", TOPS),
    ("max|maximum|max .", AT_MAX),
    (
        "or more|or above|or over|or higher|or up|and up|and above|and over|and more|plus|+|\
         minimum|min|at least|upwards|and upwards",
        OR_MORE,
    ),
    ("or so|ish|- ish|price range|more or less", OR_SO),
    (
        "oder weniger|oder gunstiger|ou moins|o menos|ou menos|o meno|или меньше|или дешевле|\
         nicht uberschreiten|nicht uberschreitet|nicht ubersteigen|nicht ubersteigt|\
         zum ausgeben|a depenser|para gastar|da spendere",
        OR_LESS,
    ),
    ("maximal|hochstens|et moins|maximo|massimo|максимум|au maximum|al massimo|como maximo", TOPS),
    ("oder mehr|und mehr|ou plus|et plus|o mas|ou mais|o piu|или больше|и выше|и больше", OR_MORE),
];

/// Redundant phrases after an amount that has a cue.
const TRAILERS: &str = "or so|tops|upwards|and up|each|apiece|a piece|in total|or less|or under|\
    or cheaper|or more|price range|price point|aufwarts|и выше|to spend|and no more|\
    and not more|but no more|but not more|and not a penny more|and not a cent more|\
    not a penny more|not a cent more|ausgeben|bezahlen|zahlen|\
    kosten|hinausgehen";

/// Words that may stand between a cue and its amount.
const FILLERS: &str = "a|the|of|is|:|like|only|just|maybe|say|about|around|roughly|i|von|de|les|\
    los|os|gli|чем";

pub(super) static CUE_WORDS: LazyLock<Lexicon<Cue>> = LazyLock::new(|| Lexicon::of_lists(CUES));
pub(super) static LEAD_WORDS: LazyLock<Lexicon<Lead>> = LazyLock::new(|| Lexicon::of_lists(LEADS));
pub(super) static SUFFIX_WORDS: LazyLock<Lexicon<Suffix>> =
    LazyLock::new(|| Lexicon::of_lists(SUFFIXES));
pub(super) static JOINER_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| Lexicon::of_lists(&[(JOINERS, ())]));
pub(super) static BETWEEN_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| Lexicon::of_lists(&[(JOINERS, ()), (JOINERS_BETWEEN, ())]));
pub(super) static TRAILER_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| Lexicon::of_lists(&[(TRAILERS, ())]));
pub(super) static FILLER_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| Lexicon::of_lists(&[(FILLERS, ())]));

/// Whether a cue begins at a token.
pub(in crate::query_parser) fn is_cue_at(tokens: &Tokens, at: usize) -> bool {
    CUE_WORDS.longest_at(tokens, at).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_parser::lexicon::assert_folded;

    #[test]
    fn the_phrases_are_folded() {
        assert_folded(CUE_WORDS.phrases());
        assert_folded(LEAD_WORDS.phrases());
        assert_folded(SUFFIX_WORDS.phrases());
        assert_folded(BETWEEN_WORDS.phrases());
        assert_folded(TRAILER_WORDS.phrases());
        assert_folded(FILLER_WORDS.phrases());
    }
}
