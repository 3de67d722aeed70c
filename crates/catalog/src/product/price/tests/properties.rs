//! Properties of the parse: every price that the rules allow is parsed, and no text panics.

use proptest::prelude::*;
use proptest::sample::select;

use crate::product::price::*;

/// Every way to write a price that the rules of the module allow.
#[derive(Debug, Clone)]
struct Way {
    whole: u64,
    decimals: String,
    grouping: Grouping,
    group_with: char,
    decimal_with: char,
    currency: Currency,
    before: String,
    after: String,
    spaces: [String; 4],
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Grouping {
    None,
    Thousands,
    Indian,
}

const SPACES: &[char] = &[
    ' ', '\u{a0}', '\u{1680}', '\u{2000}', '\u{2007}', '\u{2009}', '\u{200a}', '\u{202f}',
    '\u{205f}', '\u{3000}',
];

impl Way {
    fn number(&self) -> String {
        let digits = self.whole.to_string();
        let mut number = String::new();
        for (at, digit) in digits.chars().enumerate() {
            let left = digits.len() - at;
            let groups = match self.grouping {
                Grouping::None => false,
                Grouping::Thousands => left.is_multiple_of(3),
                Grouping::Indian => left == 3 || left > 3 && !left.is_multiple_of(2),
            };
            if at > 0 && groups {
                number.push(self.group_with);
            }
            number.push(digit);
        }
        if !self.decimals.is_empty() {
            number.push(self.decimal_with);
            number.push_str(&self.decimals);
        }
        number
    }

    fn text(&self) -> String {
        let [start, left, right, end] = &self.spaces;
        let (before, after) = (&self.before, &self.after);
        format!("{start}{before}{left}{}{right}{after}{end}", self.number())
    }

    fn amount(&self) -> Decimal {
        let digits = format!("{}.{}", self.whole, self.decimals);
        digits.trim_end_matches('.').parse().unwrap()
    }

    /// One comma or dot, one to three digits and no 0 before it, three after it.
    fn looks_grouped_once(&self) -> bool {
        let number = self.number();
        let mut runs = number.split([',', '.']);
        let (first, last) = (runs.next().unwrap_or(""), runs.next().unwrap_or(""));
        let first_fits = first.len() <= 3 && first.bytes().all(|b| b.is_ascii_digit());
        first_fits && !first.starts_with('0') && last.len() == 3 && runs.next().is_none()
    }
}

fn marks_around(currency: Currency) -> impl Strategy<Value = (String, String)> {
    let code = currency.code().to_owned();
    let codes = select(vec![code.to_lowercase(), code]);
    let shared = |mark: &Mark| matches!(mark.meaning(), MarkMeaning::Shared(_));
    let agreeing = Mark::all().iter();
    let agreeing = agreeing.filter(|mark| mark.may_denote(currency) && !shared(mark));
    let (mut alone, mut beside) = (vec![String::new()], vec![String::new()]);
    for mark in agreeing {
        beside.push(mark.text().to_owned());
        if let MarkMeaning::One(_) = mark.meaning() {
            alone.push(mark.text().to_owned());
        }
        if let MarkMeaning::Mostly { alone: meant, .. } = mark.meaning()
            && meant == currency
        {
            alone.push(mark.text().to_owned());
        }
    }
    let one = (codes.clone(), select(alone), any::<bool>());
    let one = one.prop_map(|(code, sign, use_code)| {
        let mark = if use_code || sign.is_empty() { code } else { sign };
        (mark, String::new())
    });
    let both = (select(beside), codes);
    let swap = |(pair, swap): ((String, String), bool)| match swap {
        true => (pair.1, pair.0),
        false => pair,
    };
    (prop_oneof![one, both], any::<bool>()).prop_map(swap)
}

fn any_way() -> impl Strategy<Value = Way> {
    let space = || proptest::collection::vec(select(SPACES), 0..3);
    let space = || space().prop_map(|spaces| spaces.into_iter().collect::<String>());
    let whole = (0..=15_u32).prop_flat_map(|digits| 0..10_u64.pow(digits));
    let groupings = select(vec![Grouping::None, Grouping::Thousands, Grouping::Indian]);
    let group_with = prop_oneof![select(vec![',', '.', '\'', '’']), select(SPACES)];
    let currencies: Vec<Currency> = Currency::all().collect();
    let marked =
        select(currencies).prop_flat_map(|currency| (Just(currency), marks_around(currency)));
    (
        (whole, "[0-9]{0,8}", groupings, group_with),
        select(vec![',', '.']),
        marked,
        [space(), space(), space(), space()],
    )
        .prop_map(|(number, decimal_with, (currency, marks), spaces)| Way {
            whole: number.0,
            decimals: number.1,
            grouping: number.2,
            group_with: if number.2 == Grouping::Indian { ',' } else { number.3 },
            decimal_with,
            currency,
            before: marks.0,
            after: marks.1,
            spaces,
        })
        .prop_filter("one separator cannot both group and begin decimals", |way| {
            way.grouping == Grouping::None || way.group_with != way.decimal_with
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_way_to_write_a_price_is_read_back(way in any_way()) {
        let text = way.text();
        let parsed = Price::parse(&text);
        if way.looks_grouped_once() {
            let two_ways = matches!(parsed, Err(InvalidPrice::ReadTwoWays { .. }));
            prop_assert_eq!(two_ways, way.currency.minor_digits() >= 3, "{}", text);
            // Three decimals after a short number are a group, by the rule.
            prop_assume!(!two_ways && way.decimals.is_empty());
        }
        let price = parsed.map_err(|fault| TestCaseError::fail(format!("{text:?}: {fault}")))?;
        let expected = Money { amount: way.amount(), currency: way.currency };
        prop_assert_eq!(price.money(), Some(expected));
        prop_assert_eq!(price.text(), &text);
    }

    #[test]
    fn any_text_is_parsed_or_rejected(text in any::<String>()) {
        reads_or_refuses(&text)?;
    }

    #[test]
    fn any_text_that_looks_like_a_price_is_read_or_refused(
        text in "[0-9]?[$€ ]?[0-9.,'’ \u{a0}-]{0,14}( ?(USD|KWD|kr|€|руб\\.))?"
    ) {
        reads_or_refuses(&text)?;
    }
}

/// What holds for every text: reading again changes nothing, and the
/// amount has the very digits of the text.
fn reads_or_refuses(text: &str) -> Result<(), TestCaseError> {
    let Ok(price) = Price::parse(text) else {
        return Ok(());
    };
    prop_assert_eq!(price.text(), text);
    prop_assert_eq!(Price::parse(price.text()), Ok(price.clone()));
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let amount = price.money().unwrap().amount;
    prop_assert_eq!(digits.parse(), Ok(amount.mantissa()));
    prop_assert!(amount.scale() as usize <= MAX_DECIMALS);
    prop_assert_eq!(Price::from_stored(text.to_owned()), price);
    Ok(())
}
