//! Tables of prices with their parse.

mod properties;

use expect_test::{Expect, expect};

use super::*;

fn check(input: &str, expect: Expect) {
    let read = match Price::parse(input) {
        Ok(price) => {
            let money = price.money().unwrap();
            format!("{} {}", money.amount, money.currency)
        }
        Err(fault) => format!("refused: {fault:?}"),
    };
    expect.assert_eq(&read);
}

#[test]
fn the_documented_examples() {
    check("$19.99", expect!["19.99 USD"]);
    check("19,99 €", expect!["19.99 EUR"]);
    check("EUR 1.299,00", expect!["1299.00 EUR"]);
    check("£1,299", expect!["1299 GBP"]);
    check("¥1500", expect!["1500 JPY"]);
    check("1 299 ₽", expect!["1299 RUB"]);
}

#[test]
fn a_sign_stands_on_either_side() {
    check("€5", expect!["5 EUR"]);
    check("5€", expect!["5 EUR"]);
    check("5 €", expect!["5 EUR"]);
    check("€ 5", expect!["5 EUR"]);
    check("₹499", expect!["499 INR"]);
    check("499 ₹", expect!["499 INR"]);
    check("₩15000", expect!["15000 KRW"]);
    check("฿100", expect!["100 THB"]);
    check("1299₸", expect!["1299 KZT"]);
    check("5 ￥", expect!["5 JPY"]);
    check("＄5", expect!["5 USD"]);
    check("₫ 100000", expect!["100000 VND"]);
    check("R 100", expect!["100 ZAR"]);
    check("R$ 100", expect!["100 BRL"]);
}

#[test]
fn a_code_stands_on_either_side_in_any_letter_case() {
    check("USD 5", expect!["5 USD"]);
    check("5 USD", expect!["5 USD"]);
    check("5usd", expect!["5 USD"]);
    check("Usd5", expect!["5 USD"]);
    check("chf 5.50", expect!["5.50 CHF"]);
    check("100 all", expect!["100 ALL"]);
}

#[test]
fn abbreviations_of_one_currency() {
    check("US$5", expect!["5 USD"]);
    check("CA$ 5", expect!["5 CAD"]);
    check("c$5", expect!["5 CAD"]);
    check("NT$500", expect!["500 TWD"]);
    check("CN¥ 25", expect!["25 CNY"]);
    check("25元", expect!["25 CNY"]);
    check("2500円", expect!["2500 JPY"]);
    check("49,90 zł", expect!["49.90 PLN"]);
    check("199 Kč", expect!["199 CZK"]);
    check("199 Kc\u{30c}", expect!["199 CZK"]);
    check("1 990 Ft", expect!["1990 HUF"]);
    check("500 руб.", expect!["500 RUB"]);
    check("500руб", expect!["500 RUB"]);
    check("500 р.", expect!["500 RUB"]);
    check("250 ГРН", expect!["250 UAH"]);
    check("20 лв", expect!["20 BGN"]);
    check("Fr. 5.50", expect!["5.50 CHF"]);
    check("Fr.5", expect!["5 CHF"]);
    check("RM12.90", expect!["12.90 MYR"]);
    check("Rp 15.000", expect!["15000 IDR"]);
    check("S/. 20", expect!["20 PEN"]);
    check("5 د.إ", expect!["5 AED"]);
}

#[test]
fn a_sign_and_a_code_that_agree() {
    check("$19.99 USD", expect!["19.99 USD"]);
    check("$5 CAD", expect!["5 CAD"]);
    check("US$ 5 USD", expect!["5 USD"]);
    check("CAD 5 $", expect!["5 CAD"]);
    check("¥5 CNY", expect!["5 CNY"]);
    check("£5 EGP", expect!["5 EGP"]);
    check("$199 mxn", expect!["199 MXN"]);
    check("C$5 NIO", expect!["5 NIO"]);
}

#[test]
fn spaces_are_any_of_unicode() {
    check("  $5  ", expect!["5 USD"]);
    check("5\u{a0}€", expect!["5 EUR"]);
    check("1\u{202f}299,50\u{a0}€", expect!["1299.50 EUR"]);
    check("1\u{2009}299\u{2009}000\u{3000}¥", expect!["1299000 JPY"]);
    check("\u{3000}$\u{2003}5", expect!["5 USD"]);
}

#[test]
fn two_separators_the_last_is_decimal() {
    check("$1,299.00", expect!["1299.00 USD"]);
    check("1.299,00 €", expect!["1299.00 EUR"]);
    check("CHF 1'299.50", expect!["1299.50 CHF"]);
    check("CHF 1’299,50", expect!["1299.50 CHF"]);
    check("1 299,5 €", expect!["1299.5 EUR"]);
    check("$1,234,567.8", expect!["1234567.8 USD"]);
    check("1.234.567,89 €", expect!["1234567.89 EUR"]);
    check("₹12,34,567.89", expect!["1234567.89 INR"]);
    check("$1,299.999", expect!["1299.999 USD"]);
    check("1,299.500 KWD", expect!["1299.500 KWD"]);
}

#[test]
fn a_repeated_separator_groups() {
    check("$1,299,000", expect!["1299000 USD"]);
    check("1.299.000 €", expect!["1299000 EUR"]);
    check("1 299 000 ₽", expect!["1299000 RUB"]);
    check("CHF 1'299'000", expect!["1299000 CHF"]);
    check("₹12,34,567", expect!["1234567 INR"]);
    check("₹1,00,000", expect!["100000 INR"]);
    check("1.299.000 KWD", expect!["1299000 KWD"]);
}

#[test]
fn a_lone_comma_or_dot_groups_three_digits() {
    check("1.299 €", expect!["1299 EUR"]);
    check("$12,999", expect!["12999 USD"]);
    check("$999.999", expect!["999999 USD"]);
    check("¥1,500", expect!["1500 JPY"]);
    check("1,000 USD", expect!["1000 USD"]);
}

#[test]
fn a_lone_comma_or_dot_is_decimal_otherwise() {
    check("$0.999", expect!["0.999 USD"]);
    check("0,999 €", expect!["0.999 EUR"]);
    check("$1.2", expect!["1.2 USD"]);
    check("$1,29", expect!["1.29 USD"]);
    check("$1.2999", expect!["1.2999 USD"]);
    check("$1234.567", expect!["1234.567 USD"]);
    check("$012.345", expect!["12.345 USD"]);
    check("$0.00000001", expect!["0.00000001 USD"]);
    check("0.999 KWD", expect!["0.999 KWD"]);
    check("1.2990 KWD", expect!["1.2990 KWD"]);
    check("1299.000 KWD", expect!["1299.000 KWD"]);
    check("1.50 JPY", expect!["1.50 JPY"]);
}

#[test]
fn apostrophes_and_spaces_only_group() {
    check("CHF 1'299", expect!["1299 CHF"]);
    check("1 299 KWD", expect!["1299 KWD"]);
    check("CHF 1'29", expect![[r#"refused: MisplacedSeparator { number: "1'29" }"#]]);
    check("5 99 €", expect![[r#"refused: MisplacedSeparator { number: "5 99" }"#]]);
    check("1 2 €", expect![[r#"refused: MisplacedSeparator { number: "1 2" }"#]]);
    check("0 299 €", expect![[r#"refused: MisplacedSeparator { number: "0 299" }"#]]);
}

#[test]
fn zeros_are_kept_or_dropped_as_numbers_are() {
    check("$0", expect!["0 USD"]);
    check("$0.00", expect!["0.00 USD"]);
    check("$007", expect!["7 USD"]);
    check("$5.10", expect!["5.10 USD"]);
}

#[test]
fn the_limits_are_inclusive() {
    check("$999999999999999", expect!["999999999999999 USD"]);
    check("$1000000000000000", expect!["refused: TooManyWholeDigits"]);
    check("$999,999,999,999,999.99999999", expect!["999999999999999.99999999 USD"]);
    check("$0.123456789", expect!["refused: TooManyDecimals"]);
    check("$00000000000000001", expect!["refused: TooManyWholeDigits"]);
}

#[test]
fn no_text_or_no_number() {
    check("", expect!["refused: Blank"]);
    check(" \u{a0} ", expect!["refused: Blank"]);
    check("free", expect!["refused: NoNumber"]);
    check("$", expect!["refused: NoNumber"]);
    check("USD", expect!["refused: NoNumber"]);
    check("$ - ", expect!["refused: NoNumber"]);
}

#[test]
fn no_currency_or_an_unknown_one() {
    check("19.99", expect!["refused: NoCurrency"]);
    check("1 299", expect!["refused: NoCurrency"]);
    check("5 XYZ", expect![[r#"refused: UnknownMark { mark: "XYZ" }"#]]);
    check("₿5", expect![[r#"refused: UnknownMark { mark: "₿" }"#]]);
    check("5 dollars", expect![[r#"refused: UnknownMark { mark: "dollars" }"#]]);
    check("USD $5", expect![[r#"refused: UnknownMark { mark: "USD $" }"#]]);
    check("US $5", expect![[r#"refused: UnknownMark { mark: "US $" }"#]]);
    check("5 %", expect![[r#"refused: UnknownMark { mark: "%" }"#]]);
    check("~$5", expect![[r#"refused: UnknownMark { mark: "~$" }"#]]);
    check("($5)", expect![[r#"refused: UnknownMark { mark: "($" }"#]]);
    check("5 $ each", expect![[r#"refused: UnknownMark { mark: "$ each" }"#]]);
    check("5\u{200b}€", expect![[r#"refused: UnknownMark { mark: "\u{200b}€" }"#]]);
    check("$5;", expect![[r#"refused: UnknownMark { mark: ";" }"#]]);
}

#[test]
fn shared_abbreviations_name_the_codes() {
    check(
        "199 kr",
        expect![[r#"refused: SharedMark { mark: "kr", among: [DKK, ISK, NOK, SEK] }"#]],
    );
    check(
        "Rs. 500",
        expect![[r#"refused: SharedMark { mark: "Rs.", among: [INR, LKR, MUR, NPR, PKR, SCR] }"#]],
    );
    check(
        "Rs.500",
        expect![[r#"refused: SharedMark { mark: "Rs.", among: [INR, LKR, MUR, NPR, PKR, SCR] }"#]],
    );
    check(
        "₨500",
        expect![[r#"refused: SharedMark { mark: "₨", among: [INR, LKR, MUR, NPR, PKR, SCR] }"#]],
    );
    check("100 lei", expect![[r#"refused: SharedMark { mark: "lei", among: [MDL, RON] }"#]]);
    check(
        "kr 199 SEK",
        expect![[r#"refused: SharedMark { mark: "kr", among: [DKK, ISK, NOK, SEK] }"#]],
    );
}

#[test]
fn two_marks_that_cannot_both_stand() {
    check("€5 USD", expect![[r#"refused: Disagree { sign: "€", code: USD }"#]]);
    check("US$5 CAD", expect![[r#"refused: Disagree { sign: "US$", code: CAD }"#]]);
    check("CN¥ 5 JPY", expect![[r#"refused: Disagree { sign: "CN¥", code: JPY }"#]]);
    check("$5$", expect!["refused: WrittenTwice"]);
    check("$5€", expect!["refused: WrittenTwice"]);
    check("USD 5 USD", expect!["refused: WrittenTwice"]);
    check("USD 5 EUR", expect!["refused: WrittenTwice"]);
    check("$5 foo", expect![[r#"refused: UnknownMark { mark: "foo" }"#]]);
}

#[test]
fn negative_wherever_the_minus_stands() {
    check("-$5", expect!["refused: Negative"]);
    check("$-5", expect!["refused: Negative"]);
    check("$ - 5", expect!["refused: Negative"]);
    check("5- €", expect!["refused: Negative"]);
    check("-5 €", expect!["refused: Negative"]);
    check("5 €-", expect!["refused: Negative"]);
    check("\u{2212}5 €", expect!["refused: Negative"]);
    check("$\u{2212}5", expect!["refused: Negative"]);
    check("–5 €", expect!["refused: Negative"]);
    check("5,- €", expect!["refused: Negative"]);
    check("USD -1.50", expect!["refused: Negative"]);
}

#[test]
fn a_plus_is_rejected() {
    check("+5 €", expect!["refused: Plus"]);
    check("$+5", expect!["refused: Plus"]);
    check("$5+", expect!["refused: Plus"]);
}

#[test]
fn only_one_plain_number() {
    check("$5-10", expect!["refused: NotOneNumber { found: '-' }"]);
    check("$5 - $10", expect!["refused: NotOneNumber { found: '-' }"]);
    check("5–10 €", expect!["refused: NotOneNumber { found: '–' }"]);
    check("1e5 USD", expect!["refused: NotOneNumber { found: 'e' }"]);
    check("$1e5", expect!["refused: NotOneNumber { found: 'e' }"]);
    check("3 x $5", expect!["refused: NotOneNumber { found: 'x' }"]);
    check("$5/6", expect!["refused: NotOneNumber { found: '/' }"]);
    check("$1_000", expect!["refused: NotOneNumber { found: '_' }"]);
    check("2 for 5 €", expect!["refused: NotOneNumber { found: 'f' }"]);
    check("0x1F USD", expect!["refused: NotOneNumber { found: 'x' }"]);
}

#[test]
fn digits_on_both_sides_of_a_separator() {
    check("$.99", expect!["refused: NoWholeDigits"]);
    check(".99 €", expect!["refused: NoWholeDigits"]);
    check(",99 €", expect!["refused: NoWholeDigits"]);
    check("$ .99", expect!["refused: NoWholeDigits"]);
    check("Fr. .99", expect!["refused: NoWholeDigits"]);
    check("$5.", expect!["refused: NoDecimals"]);
    check("5. €", expect!["refused: NoDecimals"]);
    check("5, €", expect!["refused: NoDecimals"]);
    check("5.USD", expect!["refused: NoDecimals"]);
    check("$5'", expect!["refused: NoDecimals"]);
}

#[test]
fn separators_that_do_not_group() {
    check("$1,29,99", expect![[r#"refused: MisplacedSeparator { number: "1,29,99" }"#]]);
    check("1.299.00 €", expect![[r#"refused: MisplacedSeparator { number: "1.299.00" }"#]]);
    check("$1,2345.00", expect![[r#"refused: MisplacedSeparator { number: "1,2345.00" }"#]]);
    check("$1234,567.00", expect![[r#"refused: MisplacedSeparator { number: "1234,567.00" }"#]]);
    check("1.299 000 €", expect![[r#"refused: MisplacedSeparator { number: "1.299 000" }"#]]);
    check("1.299,000.50 €", expect![[r#"refused: MisplacedSeparator { number: "1.299,000.50" }"#]]);
    check("1,299.50,5 €", expect![[r#"refused: MisplacedSeparator { number: "1,299.50,5" }"#]]);
    check("$1..5", expect![[r#"refused: MisplacedSeparator { number: "1..5" }"#]]);
    check("$1,.5", expect![[r#"refused: MisplacedSeparator { number: "1,.5" }"#]]);
    check("$1, 299", expect![[r#"refused: MisplacedSeparator { number: "1, 299" }"#]]);
    check("1  299 €", expect![[r#"refused: MisplacedSeparator { number: "1  299" }"#]]);
    check("$1,299'000.50", expect![[r#"refused: MisplacedSeparator { number: "1,299'000.50" }"#]]);
    check("$0,299.00", expect![[r#"refused: MisplacedSeparator { number: "0,299.00" }"#]]);
    check("12.34.567 €", expect![[r#"refused: MisplacedSeparator { number: "12.34.567" }"#]]);
    check("$12.05.2024", expect![[r#"refused: MisplacedSeparator { number: "12.05.2024" }"#]]);
    check("CHF 1.299'00", expect![[r#"refused: MisplacedSeparator { number: "1.299'00" }"#]]);
}

#[test]
fn a_number_that_reads_two_ways() {
    check(
        "1.299 KWD",
        expect![[
            r#"refused: ReadTwoWays { number: "1.299", grouped: "1299.000", decimal: "1.2990", currency: KWD }"#
        ]],
    );
    check(
        "1,299 BHD",
        expect![[
            r#"refused: ReadTwoWays { number: "1,299", grouped: "1299.000", decimal: "1.2990", currency: BHD }"#
        ]],
    );
    check(
        "KWD 12.500",
        expect![[
            r#"refused: ReadTwoWays { number: "12.500", grouped: "12500.000", decimal: "12.5000", currency: KWD }"#
        ]],
    );
    check(
        "1.299 CLF",
        expect![[
            r#"refused: ReadTwoWays { number: "1.299", grouped: "1299.000", decimal: "1.2990", currency: CLF }"#
        ]],
    );
}

#[test]
fn control_characters_are_rejected() {
    check("$5\n", expect!["refused: ControlCharacter"]);
    check("$\t5", expect!["refused: ControlCharacter"]);
    check("\r\n", expect!["refused: ControlCharacter"]);
    check("$5\u{0}", expect!["refused: ControlCharacter"]);
    check("$5\u{85}", expect!["refused: ControlCharacter"]);
    check("$5\u{2028}", expect!["refused: ControlCharacter"]);
}

#[test]
fn only_ascii_digits_are_accepted() {
    check("٥ USD", expect!["refused: OtherDigits { found: '٥' }"]);
    check("５円", expect!["refused: OtherDigits { found: '５' }"]);
    check("$½", expect!["refused: OtherDigits { found: '½' }"]);
    check("5½ €", expect!["refused: OtherDigits { found: '½' }"]);
    check("$5²", expect!["refused: OtherDigits { found: '²' }"]);
}

#[test]
fn a_long_text_is_rejected_whatever_it_contains() {
    let blanks = " ".repeat(MAX_CHARS - 2);
    check(&format!("{blanks}€5"), expect!["5 EUR"]);
    check(&format!("{blanks} €5"), expect!["refused: TooLong"]);
    check(&"5\n".repeat(1 << 20), expect!["refused: TooLong"]);
}

/// One text per fault; the messages are what callers of the API read.
#[test]
fn messages_say_how_to_write_it_instead() {
    let too_long = "5".repeat(MAX_CHARS + 1);
    let texts = [
        "",
        &too_long,
        "$5\n",
        "$½",
        "$",
        "$5-10",
        "-$5",
        "$5+",
        "$.99",
        "$5.",
        "5",
        "5 quid",
        "5 kr",
        "$5$",
        "€5 USD",
        "$1,2,3",
        "1.299 KWD",
        "$1000000000000000",
        "$0.123456789",
    ];
    let messages = texts.map(|text| match Price::parse(text) {
        Ok(price) => panic!("{text:?} is a price: {price:?}"),
        Err(fault) => fault.to_string(),
    });
    expect![[r#"
        the price is blank; write an amount with its currency, such as "$19.99"
        a price has at most 64 characters; write only the amount and its currency, such as "$19.99"
        a price is one line without control characters, such as "$19.99"
        write the amount with the digits 0 to 9 instead of '½', such as "$19.99"
        the price has no amount; write one with its currency, such as "$19.99"
        '-' cannot stand inside the amount; write one plain number, not a range or an exponent, such as "$19.99"
        a price cannot be negative; leave the minus or dash out, such as "$19.99"
        a price is one exact amount; leave the plus out, such as "$19.99"
        the amount has no digit before its separator; write a zero, such as "$0.99"
        the amount ends in a separator; leave it out or add decimals, such as "$5.00"
        the price has no currency; write a sign or an ISO 4217 code, such as "$19.99" or "19.99 USD"
        "quid" is not a currency sign or an ISO 4217 code; write a price such as "$19.99" or "19.99 USD"
        "kr" is used for several currencies; write the code instead (DKK, ISK, NOK, SEK), such as "19.99 DKK"
        the currency is written twice; write it once, such as "$19.99", or a sign and a code, such as "$19.99 USD"
        "€" and "USD" are different currencies; write one of them, such as "$19.99" or "19.99 USD"
        the separators in "1,2,3" do not make a number; group by thousands and write the decimals last, such as "$1,299.00", or leave groups out, such as "$1299.00"
        "1.299" can be read two ways in KWD; write "1299.000 KWD" or "1.2990 KWD"
        the amount is too large: at most 15 digits come before the decimals, such as "$19.99"
        the amount has more than 8 decimals; round it, such as "$19.99""#]].assert_eq(&messages.join("\n"));
}

#[test]
fn suggestions_for_ambiguous_numbers_are_accepted() {
    for text in ["1.299 KWD", "999,999 TND", "10.000 CLF"] {
        let Err(InvalidPrice::ReadTwoWays { grouped, decimal, currency, .. }) = Price::parse(text)
        else {
            panic!("{text} is clear");
        };
        let read =
            |number| Price::parse(&format!("{number} {currency}")).unwrap().money().unwrap().amount;
        assert_eq!(read(grouped), read(decimal) * Decimal::from(1000), "{text}");
    }
}

#[test]
fn money_survives_as_a_number_and_packed() {
    for text in ["$19.99", "12.50 EUR", "¥0", "999999999999999.99999999 USD", "$5.00"] {
        let money = Money::parse(text).unwrap();
        let read = Money::from_bits(money.to_bits()).unwrap();
        let unpacked = PackedMoney::from(Some(money)).get().unwrap();
        for read in [read, unpacked] {
            assert_eq!((read, read.amount.scale()), (money, money.amount.scale()), "{text}");
        }
    }
    assert_eq!(PackedMoney::from(None).get(), None);
    for bits in [0, 1, u128::MAX, u128::MAX >> 1] {
        assert_eq!(Money::from_bits(bits), None);
    }
}
