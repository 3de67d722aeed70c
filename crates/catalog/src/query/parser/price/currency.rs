//! Recognises the currency next to an amount in a query: a sign, code, name or slang word.
//!
//! Signs and codes come from [`crate::product::currency`]. Of its abbreviations only those listed here
//! count: in a query `ft` and `km` are lengths, not forints and marks.

use std::sync::LazyLock;

use crate::{
    product::currency::{Currency, Mark, MarkMeaning},
    query::parser::{
        lexicon::{Lexicon, WordSet, lexicon, phrases, words},
        query_tokens::QueryTokens,
    },
    text::{language::Language, lexer::TokenKind, vocabulary::TermLookup},
};

/// A currency mentioned in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CurrencyMention {
    /// `None` for a word that several currencies share: `kr`, `pesos`.
    pub(super) currency: Option<Currency>,
    /// The sign, if it is one: a code next to the amount may override it (`$5 CAD`).
    pub(super) sign: Option<&'static Mark>,
    /// Whether the amount counts hundredths: cents, pence.
    pub(super) is_minor: bool,
    /// Whether the word is also a weight.
    pub(super) may_be_weight: bool,
}

/// Codes that are accepted in any letter case. The others are also words or brands (`all`, `top`,
/// `amd`, `php`) and must be written in capitals.
const PLAIN_CODES: &str = "usd eur gbp jpy inr rub cny brl cad aud chf pln try uah krw sek nok \
    dkk czk huf mxn nzd sgd hkd thb myr idr ils zar twd vnd kzt ars clp pkr egp ngn qar rur";

/// The longest country prefix of a sign: `CDN$`, `MOP$`.
const MAX_COUNTRY_BYTES: usize = 3;

/// Codes that usually mean something else, even in capitals.
const NEVER_CODES: &[&str] = &["all", "amd", "awg", "cup", "pen", "top"];

/// Names and slang words, singular and plural.
static NAMED: LazyLock<Lexicon<CurrencyMention>> =
    LazyLock::new(|| lexicon("currency", mention_of));
/// Names that are also written before an amount: "rs 500".
static ABBREVIATIONS: LazyLock<WordSet> = LazyLock::new(|| words("currency", "abbreviation"));
/// One of a currency: "under a dollar".
static ONE_OF: LazyLock<Lexicon<()>> = LazyLock::new(|| phrases("currency", &["one of"]));

/// What a name of a currency means: a code, `shared` by several currencies, `weight too` for pounds,
/// or `hundredths` of a code or of any.
fn mention_of(meaning: &str) -> Option<CurrencyMention> {
    let major =
        CurrencyMention { currency: None, sign: None, is_minor: false, may_be_weight: false };
    Some(match meaning {
        "abbreviation" | "one of" => return None,
        "shared" => major,
        "weight too" => {
            CurrencyMention { currency: Some(Currency::GBP), may_be_weight: true, ..major }
        }
        "hundredths" => CurrencyMention { is_minor: true, ..major },
        _ => match meaning.strip_prefix("hundredths of ") {
            Some(code) => CurrencyMention {
                currency: Some(Currency::from_code(code)?),
                is_minor: true,
                ..major
            },
            None => CurrencyMention { currency: Some(Currency::from_code(meaning)?), ..major },
        },
    })
}

/// Whether "a dollar" or the like begins at a token.
pub(super) fn is_one_of_money(tokens: &QueryTokens, at: usize) -> bool {
    ONE_OF.is_at(tokens, at)
}

/// The marks that are a single character other than a letter.
static SIGNS: LazyLock<Vec<&'static Mark>> = LazyLock::new(|| {
    let is_sign = |mark: &&Mark| {
        let mut chars = mark.text().chars();
        chars.next().is_some_and(|c| !c.is_alphanumeric()) && chars.next().is_none()
    };
    Mark::all().iter().filter(is_sign).collect()
});

static CODES: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(PLAIN_CODES.split_whitespace()));

/// The currency mentioned at a token, and the exclusive end of the mention.
pub(super) fn mention_at(
    tokens: &QueryTokens,
    at: usize,
    knows: TermLookup,
) -> Option<(CurrencyMention, usize)> {
    sign_at(tokens, at).or_else(|| named_at(tokens, at)).or_else(|| code_at(tokens, at, knows))
}

/// Like [`mention_at`], restricted to what is written before an amount: "dollars 50" is unusual.
pub(super) fn mention_before(
    tokens: &QueryTokens,
    at: usize,
    knows: TermLookup,
) -> Option<(CurrencyMention, usize)> {
    let is_abbreviation = ABBREVIATIONS.contains(tokens.word(at));
    let named = || named_at(tokens, at).filter(|_| is_abbreviation);
    sign_at(tokens, at).or_else(named).or_else(|| code_at(tokens, at, knows))
}

fn named_at(tokens: &QueryTokens, at: usize) -> Option<(CurrencyMention, usize)> {
    let (money, end) = NAMED.longest_at(tokens, at)?;
    // In traditional characters, 元 is also the dollar of Taiwan and of Hong Kong.
    let is_shared = tokens.word(at) == "元" && tokens.is_traditional();
    let currency = money.currency.filter(|_| !is_shared);
    Some((CurrencyMention { currency, ..money }, end))
}

/// `$`, `€`, or a sign with its country: `CA$`, `R$`.
fn sign_at(tokens: &QueryTokens, at: usize) -> Option<(CurrencyMention, usize)> {
    let has_country = tokens.is(at, TokenKind::Word)
        && tokens.is_glued(at + 1)
        && tokens.word(at).len() <= MAX_COUNTRY_BYTES;
    let end = at + 1 + usize::from(has_country);
    let alone = single_sign(tokens, end - 1)?;
    let sign = if has_country { Mark::find(tokens.raw(at, end))? } else { alone };
    let currency = match sign.meaning() {
        MarkMeaning::Mostly { alone: Currency::JPY, .. } => yen_or_yuan(tokens),
        MarkMeaning::One(only) | MarkMeaning::Mostly { alone: only, .. } => Some(only),
        MarkMeaning::Shared(_) => None,
    };
    let money =
        CurrencyMention { currency, sign: Some(sign), is_minor: false, may_be_weight: false };
    Some((money, end))
}

/// `¥` is the sign of two currencies; the language of the query decides. Without kana, a query may
/// be in either language.
fn yen_or_yuan(tokens: &QueryTokens) -> Option<Currency> {
    match (tokens.may_be_in(Language::Chinese), tokens.may_be_in(Language::Japanese)) {
        (true, true) => None,
        (true, false) => Some(Currency::CNY),
        (false, _) => Some(Currency::JPY),
    }
}

fn single_sign(tokens: &QueryTokens, at: usize) -> Option<&'static Mark> {
    let sign = tokens.word(at);
    let found = || SIGNS.iter().find(|mark| mark.text() == sign).copied();
    if tokens.is(at, TokenKind::Sign) { found() } else { None }
}

fn code_at(tokens: &QueryTokens, at: usize, knows: TermLookup) -> Option<(CurrencyMention, usize)> {
    if !tokens.is(at, TokenKind::Word) {
        return None;
    }
    let code = if tokens.word(at) == "rur" { "rub" } else { tokens.word(at) };
    let currency = Currency::from_code(code)?;
    if NEVER_CODES.contains(&code) {
        return None;
    }
    let in_capitals = || {
        let is_capital = |text: &str| text.bytes().all(|byte| byte.is_ascii_uppercase());
        let is_all_capitals = !tokens.text().contains(char::is_lowercase);
        is_capital(tokens.raw(at, at + 1)) && !is_all_capitals && !knows(code)
    };
    if !CODES.contains(code) && !in_capitals() {
        return None;
    }
    let money = CurrencyMention {
        currency: Some(currency),
        sign: None,
        is_minor: false,
        may_be_weight: false,
    };
    Some((money, at + 1))
}

/// Combines the mentions before and after an amount, if they agree.
pub(super) fn agreed(before: CurrencyMention, after: CurrencyMention) -> Option<CurrencyMention> {
    match (before.currency, after.currency) {
        (one, other) if one == other => Some(before),
        (_, Some(code)) if before.sign.is_some_and(|sign| sign.may_denote(code)) => Some(after),
        (Some(code), _) if after.sign.is_some_and(|sign| sign.may_denote(code)) => Some(before),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::parser::languages::rules;

    #[test]
    fn the_currencies_of_names_and_codes_exist() {
        for rule in rules("currency") {
            let is_known = matches!(rule.meaning, "abbreviation" | "one of")
                || mention_of(rule.meaning).is_some();
            assert!(is_known, "{rule:?}");
        }
        for code in CODES.words().filter(|code| *code != "rur") {
            assert!(Currency::from_code(code).is_some(), "{code}");
        }
    }

    #[test]
    fn lengths_and_brands_are_no_currencies() {
        let found =
            |text| mention_at(&QueryTokens::of(text), 0, &|_| false).map(|(money, _)| money);
        for text in ["ft", "km", "amd", "AMD", "F", "R", "all", "top", "php", "!", "%", ""] {
            assert_eq!(found(text), None, "{text:?}");
        }
        assert!(found("PHP or so").is_some());
    }
}
