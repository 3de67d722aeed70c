//! Meanings of the phrases that introduce or follow a price, and when they accept a number without
//! a currency.

use std::sync::LazyLock;

use super::PriceKind::{self, About, Above, AtLeast, AtMost, Below, Between};
use crate::query::parser::{
    lexicon::{Lexicon, lexicon, phrases},
    query_tokens::QueryTokens,
};

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
const BELOW: Suffix = Suffix { kind: Below, takes_bare: true, is_name: false };
const ABOVE: Suffix = Suffix { kind: Above, takes_bare: false, is_name: false };
const OR_SO: Suffix = Suffix { kind: About, takes_bare: false, is_name: false };

fn cue_of(meaning: &str) -> Option<Cue> {
    Some(match meaning {
        "under" => UNDER,
        "less than" => LESS,
        "cheaper than" => CHEAPER,
        "up to" => UP_TO,
        "max" => MAX,
        "price up to" => NO_DEARER,
        "more than" => OVER,
        "dearer than" => DEARER,
        "at least" => AT_LEAST,
        "price at least" => NO_CHEAPER,
        "from" => FROM,
        "about" => AROUND,
        "between" => BETWEEN,
        "range" => RANGE,
        _ => return None,
    })
}

fn lead_of(meaning: &str) -> Option<Lead> {
    Some(match meaning {
        "for" => FOR,
        "have" => HAVE,
        "price" => PRICE,
        "budget" => BUDGET,
        _ => return None,
    })
}

fn suffix_of(meaning: &str) -> Option<Suffix> {
    Some(match meaning {
        "or less" => OR_LESS,
        "below" => BELOW,
        "tops" => TOPS,
        "max" => AT_MAX,
        "or more" => OR_MORE,
        "above" => ABOVE,
        "or so" => OR_SO,
        _ => return None,
    })
}

/// Phrases before an amount.
pub(super) static CUE_WORDS: LazyLock<Lexicon<Cue>> = LazyLock::new(|| lexicon("cue", cue_of));
pub(super) static LEAD_WORDS: LazyLock<Lexicon<Lead>> = LazyLock::new(|| lexicon("lead", lead_of));
pub(super) static SUFFIX_WORDS: LazyLock<Lexicon<Suffix>> =
    LazyLock::new(|| lexicon("suffix", suffix_of));
/// Joins the two amounts of a range.
pub(super) static JOINER_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| phrases("joiner", &["range"]));
/// Joins them after "between".
pub(super) static BETWEEN_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| phrases("joiner", &["range", "between"]));
/// After two amounts, makes a range of them: "100 ja 200 euron välillä".
pub(super) static CLOSING_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| phrases("joiner", &["closing"]));
/// Negates the comparison before it: "5000円以下ではない".
pub(super) static NEGATED_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| phrases("suffix", &["negated"]));
/// Negates a comparison before it at the end of a query: "1000 TL üzeri istemiyorum".
pub(super) static NEGATED_AT_END: LazyLock<Lexicon<()>> =
    LazyLock::new(|| phrases("suffix", &["negated at end"]));
/// Particles that link a condition to the noun after it: 的, の.
pub(super) static PARTICLE_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| phrases("trailer", &["particle"]));
/// Redundant phrases after an amount that has a cue.
pub(super) static TRAILER_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| phrases("trailer", &["any"]));
/// Words that may stand between a cue and its amount.
pub(super) static FILLER_WORDS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| phrases("filler", &["any"]));

/// Whether a cue begins at a token.
pub(in crate::query::parser) fn is_cue_at(tokens: &QueryTokens, at: usize) -> bool {
    CUE_WORDS.is_at(tokens, at)
}

/// Whether a phrase that compares the amount before it begins at a token.
pub(in crate::query::parser) fn is_suffix_at(tokens: &QueryTokens, at: usize) -> bool {
    SUFFIX_WORDS.is_at(tokens, at)
}
