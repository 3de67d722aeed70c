//! Properties of the parse of every text.

use proptest::prelude::*;
use proptest::sample::select;
use rust_decimal::Decimal;

use crate::product::price::Price;

use super::super::{ParseOptions, ParsedQuery, PriceKind, Span, parse};

/// Pieces that mean something, so that random texts hit the grammar.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "under", "over", "between", "and", "to", "-", "–", "$", "€", "50", "1,299.00", "1 299", "k",
    "twenty", "hundred", "and a half", "a", "grand", "dollars", "pounds", "cents", "max", "or less",
    "+", "~", "for", "budget", "price", "without", "not", "no", "non", "or", "leather", "suede",
    "cheapest", "newest", "can't", "nothing", "pay", "more than", "free", "-free", "free of", "and",
    "nickel", "gluten", "than", "less", "до", "рублей", "über", "für", "é", "🔥", "e\u{301}",
    "٣", "½", "ﬁ", "№", ".", ",", "'", "\"", "%", "x", "inch", "shoes", "please", "i want",
    "do", "bez", "zł", "til", "kr", "TL", "altı", "alle", "euroa", "geen", "te", "不要", "以下", "元",
    "万", "五", "的", "不超过", "不", "円", "未満", "なし", "は", "の", "이하", "만", "원", "없는", "을", "５",
    "\u{200D}", "\u{AD}", "\0", "\n", "مرحبا", "绿茶", "999999999999999", "0.00000001",
];

fn texts() -> impl Strategy<Value = String> {
    let glue = select(&["", " ", "  ", "\n", "\t", "\u{2028}", "\u{A0}"][..]);
    prop::collection::vec((select(PIECES), glue), 0..14)
        .prop_map(|pieces| pieces.iter().flat_map(|(piece, glue)| [*piece, *glue]).collect())
}

fn spans(parsed: &ParsedQuery) -> Vec<Span> {
    let constraints = parsed.constraints.iter().map(|constraint| constraint.span.clone());
    // The words of a claim are searched for.
    let exclusions = parsed.exclusions.iter().filter(|exclusion| !exclusion.is_claim);
    let exclusions = exclusions.map(|exclusion| exclusion.span.clone());
    let sort = parsed.sort.iter().map(|sort| sort.span.clone());
    let aside = parsed.stop_words.iter().cloned();
    constraints.chain(exclusions).chain(sort).chain(aside).collect()
}

/// Letters and digits: what a search could look for.
fn content(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

fn check_all(text: &str) {
    let parsed = parse(text);
    let mut spans = spans(&parsed);
    spans.sort_by_key(|span| span.start);
    let mut left = String::new();
    let mut end = 0;
    for span in &spans {
        assert!(end <= span.start && span.start < span.end, "{text:?}: {spans:?}");
        left += &text[end..span.start];
        end = span.end;
    }
    left += &text[end..];
    assert_eq!(content(&parsed.residual), content(&left), "{text:?}");
    for constraint in &parsed.constraints {
        assert!(constraint.floor.is_some() || constraint.ceiling.is_some(), "{text:?}");
        if let (Some(floor), Some(ceiling)) = (constraint.floor, constraint.ceiling) {
            assert!(floor.amount <= ceiling.amount, "{text:?}");
        }
    }
    for exclusion in &parsed.exclusions {
        assert!(!exclusion.words.is_empty(), "{text:?}");
        assert!(!text[exclusion.span.clone()].is_empty(), "{text:?}");
    }
    assert_eq!(parse(text), parsed);
}

proptest! {
    #[test]
    fn any_text_is_parsed_without_loss(text in "\\PC{0,80}") {
        check_all(&text);
    }

    #[test]
    fn any_phrase_is_parsed_without_loss(text in texts()) {
        check_all(&text);
    }

    #[test]
    fn options_switch_rules_off(text in texts()) {
        let read = |options: ParseOptions| options.parse(&text, &|_| false);
        let all = ParseOptions::default();
        assert!(read(ParseOptions { price: false, ..all }).constraints.is_empty());
        assert!(read(ParseOptions { exclusions: false, ..all }).exclusions.is_empty());
        assert!(read(ParseOptions { sort: false, ..all }).sort.is_none());
        assert!(read(ParseOptions { stop_words: false, ..all }).stop_words.is_empty());
        let nothing = read(ParseOptions::NOTHING);
        prop_assert!(!nothing.has_conditions() && nothing.stop_words.is_empty());
        prop_assert_eq!(nothing.residual, text);
    }

    #[test]
    fn conditions_agree_with_a_naive_check(
        (cue, kind) in select(&[
            ("under", PriceKind::Below), ("up to", PriceKind::AtMost), ("over", PriceKind::Above),
            ("at least", PriceKind::AtLeast), ("about", PriceKind::About),
        ][..]),
        asked in 1_i64..2_000,
        cents in 0_i64..240_000,
        (sign, code) in select(&[("$", "USD"), ("€", "EUR"), ("", "")][..]),
        offered in select(&["USD", "EUR", "JPY"][..]),
    ) {
        // Without a currency, small numbers and years are no prices.
        prop_assume!(!sign.is_empty() || asked >= 20 && !(1900..2100).contains(&asked));
        let parsed = parse(&format!("shoes {cue} {sign}{asked}"));
        prop_assert_eq!(parsed.constraints.len(), 1);
        prop_assert_eq!(parsed.constraints[0].kind, kind);
        let price = Price::parse(&format!("{} {offered}", Decimal::new(cents, 2))).unwrap();
        let bound = asked * 100;
        let fits = match kind {
            PriceKind::Below => cents < bound,
            PriceKind::AtMost => cents <= bound,
            PriceKind::Above => cents > bound,
            PriceKind::AtLeast => cents >= bound,
            PriceKind::About | PriceKind::Between => {
                asked * 80 <= cents && cents <= asked * 120
            }
        };
        prop_assert_eq!(parsed.admits(&price), fits && (code.is_empty() || code == offered));
    }
}

#[test]
fn hostile_text_is_parsed_in_linear_time() {
    for piece in
        ["-", "under ", "$", "1 ", "1 000 ", "twenty ", "a hundred and ", "no ", "or ", "price "]
            .iter()
            .chain(PIECES)
    {
        check_all(&piece.repeat(1_000));
    }
}

#[test]
fn what_the_fuzzer_found() {
    check_all("no JJJJ1price 5.50");
    check_all("under $2\n986\n986");
}

#[test]
fn the_shop_decides_what_max_means() {
    let constraints = |knows: &dyn Fn(&str) -> bool| {
        ParseOptions::default().parse("shoes max 90", knows).constraints.len()
    };
    assert_eq!(constraints(&|_| false), 1);
    assert_eq!(constraints(&|word| word == "max"), 0);
}
