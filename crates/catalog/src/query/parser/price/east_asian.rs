//! Numbers with the units of Chinese, Japanese and Korean: `3万5千`, `1.5万`, `5만`, `五千`.
//!
//! Each part is a number times a unit. A unit below ten thousand multiplies its number only, one
//! from ten thousand on everything since the last of these: `十二万三千` is (10 + 2) · 10000 + 3 · 1000.

use std::sync::LazyLock;

use rust_decimal::Decimal;

use super::numerals::InWords;
use crate::{
    product::{currency::Currency, price::read_amount},
    query::parser::{
        lexicon::{Lexicon, lexicon},
        query_tokens::QueryTokens,
    },
    text::lexer::TokenKind,
};

const MYRIAD: i64 = 10_000;
/// The most tokens of a number. Prevents overflow, with [`MAX_VALUE`].
const MAX_TOKENS: usize = 12;
const MAX_VALUE: i64 = 1_000_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// `五`
    Digit(i64),
    /// `万`
    Unit(i64),
}

static PARTS: LazyLock<Lexicon<Part>> = LazyLock::new(|| lexicon("number", part_of));

fn part_of(meaning: &str) -> Option<Part> {
    let (class, value) = meaning.split_once(' ')?;
    match class {
        "digit" => Some(Part::Digit(value.parse().ok()?)),
        "part" => Some(Part::Unit(value.parse().ok()?)),
        _ => None,
    }
}

/// Whether a meaning of the section `number` belongs here.
#[cfg(test)]
pub(super) fn is_part(meaning: &str) -> bool {
    part_of(meaning).is_some()
}

/// The number that begins at a token, if it has at least one unit or is in words.
pub(super) fn number_at(tokens: &QueryTokens, at: usize) -> Option<InWords> {
    let mut sum = Sum::default();
    let mut end = at;
    while end < at + MAX_TOKENS {
        if tokens.is(end, TokenKind::Digits) {
            let follows_unit = end > at && tokens.gap_before(end).is_empty();
            if !sum.can_take_number() || end > at && !follows_unit {
                break;
            }
            sum.number = Some(read_amount(tokens.word(end), Currency::USD).ok()?);
            end += 1;
            continue;
        }
        match PARTS.longest_at(tokens, end) {
            Some((Part::Digit(digit), next)) if sum.can_take_number() => {
                (sum.number, sum.has_part, end) = (Some(digit.into()), true, next);
            }
            Some((Part::Unit(unit), next)) => {
                if !sum.multiply(unit) {
                    return None;
                }
                end = next;
            }
            _ => break,
        }
    }
    let value = sum.has_part.then(|| sum.value().normalize())?;
    Some(InWords { value, multiplier: sum.last_unit(), end })
}

#[derive(Default)]
struct Sum {
    /// Multiplied by units of ten thousand and more.
    finished: Decimal,
    /// Since the last of these.
    section: Decimal,
    /// Not multiplied yet.
    number: Option<Decimal>,
    last: Option<i64>,
    has_part: bool,
}

impl Sum {
    /// A number follows a unit or begins.
    fn can_take_number(&self) -> bool {
        self.number.is_none()
    }

    /// Whether the unit continues the number. Units descend.
    fn multiply(&mut self, unit: i64) -> bool {
        let number = self.number.take();
        if unit < MYRIAD {
            let number = number.unwrap_or(Decimal::ONE);
            self.section += number * Decimal::from(unit);
        } else {
            let section = self.section + number.unwrap_or_default();
            let section = if section.is_zero() { Decimal::ONE } else { section };
            self.finished += section * Decimal::from(unit);
            self.section = Decimal::ZERO;
        }
        (self.last, self.has_part) = (Some(unit), true);
        self.value() <= Decimal::from(MAX_VALUE)
    }

    fn value(&self) -> Decimal {
        self.finished + self.section + self.number.unwrap_or_default()
    }

    fn last_unit(&self) -> Decimal {
        Decimal::from(self.last.filter(|_| self.number.is_none()).unwrap_or(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up() {
        let read = |text: &str| {
            let tokens = QueryTokens::of(text);
            number_at(&tokens, 0).map(|number| number.value.to_string())
        };
        for (text, value) in [
            ("5万円", "50000"),
            ("1.5万元", "15000"),
            ("1万5千円", "15000"),
            ("1万5000円", "15000"),
            ("3만5천원", "35000"),
            ("五千元", "5000"),
            ("两百块", "200"),
            ("二百五十元", "250"),
            ("十二万円", "120000"),
            ("만원", "10000"),
        ] {
            assert_eq!(read(text).as_deref(), Some(value), "{text}");
        }
        for text in ["5000元", "沙发", "50", ""] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn long_numbers_are_refused() {
        assert!(number_at(&QueryTokens::of("999999999999万億億億円"), 0).is_none());
    }
}
