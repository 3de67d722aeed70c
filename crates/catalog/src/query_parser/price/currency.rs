//! Recognises the currency next to an amount in a query: a sign, code, name or slang word.
//!
//! Signs and codes come from [`crate::currency`]. Of its abbreviations only those listed here
//! count: in a query `ft` and `km` are lengths, not forints and marks.

use std::sync::LazyLock;

use crate::currency::{Currency, Mark, MarkMeaning};

use crate::lexer::{TokenKind, Tokens};
use crate::query_parser::TermLookup;
use crate::query_parser::lexicon::{Lexicon, WordSet};

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

/// Names and slang words by code, singular and plural, in the languages of the price rules.
const NAMES: &[(&str, &str)] = &[
    (
        "dollar|dollars|buck|bucks|us dollar|us dollars|american dollars|u . s . dollars|\
         dolar|dolares|dollari|dollaro|доллар|доллара|долларов|баксов",
        "USD",
    ),
    ("euro|euros|eur|евро", "EUR"),
    ("quid|sterling|pounds sterling|british pounds|gb pounds|фунтов|libras|livres sterling", "GBP"),
    ("yen|japanese yen|yens|円|иен|ienes|yenes", "JPY"),
    ("rupee|rupees|rs|rs .|indian rupees|rupien|roupies|rupias|rupie|рупии", "INR"),
    (
        "ruble|rubles|rouble|roubles|russian rubles|rubel|rublos|rubli|руб|руб .|р .|рубль|рубля|\
         рублеи|рублях",
        "RUB",
    ),
    ("yuan|rmb|renminbi|chinese yuan|kuai|元|人民币|юанеи|юаня", "CNY"),
    ("reais|brazilian reais|brazilian real|реалов", "BRL"),
    ("loonie|loonies|canadian dollar|canadian dollars|canadian bucks", "CAD"),
    ("australian dollar|australian dollars|aussie dollars|aussie bucks", "AUD"),
    (
        "swiss franc|swiss francs|franc|francs|franken|schweizer franken|francs suisses|sfr|\
         francos suizos|francos suicos|franchi|франков",
        "CHF",
    ),
    ("zloty|zlotys|zlotych|zl|polish zloty|злотых", "PLN"),
    ("lira|liras|turkish lira|turkish liras|tl|лир", "TRY"),
    ("hryvnia|hryvnias|hryvnya|hryvna|ukrainian hryvnia|грн|грн .|гривен|гривны|гривень", "UAH"),
    ("won|korean won|원|вон", "KRW"),
    ("new zealand dollars|kiwi dollars", "NZD"),
    ("hong kong dollars", "HKD"),
    ("singapore dollars|sing dollars", "SGD"),
    ("shekel|shekels", "ILS"),
    ("baht|บาท", "THB"),
    ("rand|rands", "ZAR"),
    ("ringgit", "MYR"),
    ("rupiah", "IDR"),
    ("naira", "NGN"),
    ("forint|forints", "HUF"),
    ("koruna|korun|czech crowns|kc", "CZK"),
    ("kronor|swedish kronor|swedish krona", "SEK"),
    ("norwegian kroner|norwegian krone", "NOK"),
    ("danish kroner|danish krone", "DKK"),
    ("dirham|dirhams", "AED"),
    ("tenge|тенге|тг", "KZT"),
    ("лв|лева|leva", "BGN"),
    ("mexican pesos", "MXN"),
];

/// Names that several currencies share.
const SHARED_NAMES: &str = "kr|kr .|kroner|krone|krona|peso|pesos|dinar|dinars|lei|riyal|riyals";

/// Names that are also weights.
const WEIGHTS_TOO: &str = "pound|pounds";

const MINOR_NAMES: &[(&str, Option<Currency>)] = &[
    ("cent|cents|euro cents|centimes|centavos|centesimi|centimos", None),
    ("pence", Some(Currency::GBP)),
    ("копеек", Some(Currency::RUB)),
];

/// Codes that are accepted in any letter case. The others are also words or brands (`all`, `top`,
/// `amd`, `php`) and must be written in capitals.
const PLAIN_CODES: &str = "usd eur gbp jpy inr rub cny brl cad aud chf pln try uah krw sek nok \
    dkk czk huf mxn nzd sgd hkd thb myr idr ils zar twd vnd kzt ars clp pkr egp ngn qar rur";

/// The longest country prefix of a sign: `CDN$`, `MOP$`.
const MAX_COUNTRY_BYTES: usize = 3;

/// Codes that usually mean something else, even in capitals.
const NEVER_CODES: &[&str] = &["all", "amd", "awg", "cup", "pen", "top"];

static NAMED: LazyLock<Lexicon<CurrencyMention>> = LazyLock::new(|| {
    let major =
        CurrencyMention { currency: None, sign: None, is_minor: false, may_be_weight: false };
    let mut lists = vec![(SHARED_NAMES, major)];
    for (names, code) in NAMES {
        lists.push((*names, CurrencyMention { currency: Currency::from_code(code), ..major }));
    }
    for (names, currency) in MINOR_NAMES {
        lists.push((*names, CurrencyMention { currency: *currency, is_minor: true, ..major }));
    }
    let pounds = CurrencyMention { currency: Some(Currency::GBP), may_be_weight: true, ..major };
    lists.push((WEIGHTS_TOO, pounds));
    Lexicon::of_lists(&lists)
});

/// The marks that are a single character other than a letter.
static SIGNS: LazyLock<Vec<&'static Mark>> = LazyLock::new(|| {
    let is_sign = |mark: &&Mark| {
        let mut chars = mark.text().chars();
        chars.next().is_some_and(|c| !c.is_alphanumeric()) && chars.next().is_none()
    };
    Mark::all().iter().filter(is_sign).collect()
});

static CODES: LazyLock<WordSet> = LazyLock::new(|| WordSet::of(&[PLAIN_CODES]));

/// The currency mentioned at a token, and the exclusive end of the mention.
pub(super) fn mention_at(
    tokens: &Tokens,
    at: usize,
    knows: TermLookup,
) -> Option<(CurrencyMention, usize)> {
    sign_at(tokens, at)
        .or_else(|| NAMED.longest_at(tokens, at))
        .or_else(|| code_at(tokens, at, knows))
}

/// Like [`mention_at`], restricted to what is written before an amount: "dollars 50" is unusual.
pub(super) fn mention_before(
    tokens: &Tokens,
    at: usize,
    knows: TermLookup,
) -> Option<(CurrencyMention, usize)> {
    let is_abbreviation = matches!(tokens.word(at), "rs" | "rmb" | "sfr" | "kr" | "tl");
    let named = || NAMED.longest_at(tokens, at).filter(|_| is_abbreviation);
    sign_at(tokens, at).or_else(named).or_else(|| code_at(tokens, at, knows))
}

/// `$`, `€`, or a sign with its country: `CA$`, `R$`.
fn sign_at(tokens: &Tokens, at: usize) -> Option<(CurrencyMention, usize)> {
    let has_country = tokens.is(at, TokenKind::Word)
        && tokens.is_glued(at + 1)
        && tokens.word(at).len() <= MAX_COUNTRY_BYTES;
    let end = at + 1 + usize::from(has_country);
    let alone = single_sign(tokens, end - 1)?;
    let sign = if has_country { Mark::find(tokens.raw(at, end))? } else { alone };
    let currency = match sign.meaning() {
        MarkMeaning::One(only) | MarkMeaning::Mostly { alone: only, .. } => Some(only),
        MarkMeaning::Shared(_) => None,
    };
    let money =
        CurrencyMention { currency, sign: Some(sign), is_minor: false, may_be_weight: false };
    Some((money, end))
}

fn single_sign(tokens: &Tokens, at: usize) -> Option<&'static Mark> {
    let sign = tokens.word(at);
    let found = || SIGNS.iter().find(|mark| mark.text() == sign).copied();
    if tokens.is(at, TokenKind::Sign) { found() } else { None }
}

fn code_at(tokens: &Tokens, at: usize, knows: TermLookup) -> Option<(CurrencyMention, usize)> {
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
        (_, Some(code)) if before.sign.is_some_and(|sign| sign.agrees_with(code)) => Some(after),
        (Some(code), _) if after.sign.is_some_and(|sign| sign.agrees_with(code)) => Some(before),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_parser::lexicon::assert_folded;

    #[test]
    fn names_are_folded_and_their_codes_exist() {
        assert_folded(NAMED.phrases());
        for (names, code) in NAMES {
            assert!(Currency::from_code(code).is_some(), "{names}");
        }
        for code in CODES.words().filter(|code| *code != "rur") {
            assert!(Currency::from_code(code).is_some(), "{code}");
        }
    }

    #[test]
    fn lengths_and_brands_are_no_currencies() {
        let found = |text| mention_at(&Tokens::of(text), 0, &|_| false).map(|(money, _)| money);
        for text in ["ft", "km", "amd", "AMD", "F", "R", "all", "top", "php", "!", "%", ""] {
            assert_eq!(found(text), None, "{text:?}");
        }
        assert!(found("PHP or so").is_some());
    }
}
