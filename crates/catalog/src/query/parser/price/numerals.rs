//! Numbers in words: "twenty", "nine hundred", "two and a half thousand".
//!
//! Two consecutive numbers below a hundred are a price with cents: "twelve fifty" is 12.50.

use std::sync::LazyLock;

use rust_decimal::Decimal;

use crate::query::parser::{
    lexicon::{Lexicon, lexicon},
    query_tokens::QueryTokens,
};

/// The most words of a number.
const MAX_WORDS: usize = 12;
/// The largest amount in words, in hundredths. Prevents overflow.
const MAX_HUNDREDTHS: u64 = 100_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numeral {
    /// One to nine.
    Unit(u64),
    /// Ten to nineteen, and compounds that take no unit.
    Teen(u64),
    /// Twenty to ninety.
    Tens(u64),
    /// Hundreds in one word; a smaller number may follow.
    Hundreds(u64),
    /// "hundred": multiplies what came before.
    Hundred,
    /// "thousand" and more: multiplies everything since the previous scale.
    Scale(u64),
}

use Numeral::{Hundred, Hundreds, Scale, Teen, Tens, Unit};

static NUMERALS: LazyLock<Lexicon<Numeral>> = LazyLock::new(|| lexicon("number", numeral_of));

/// Banknotes that have names.
static NOTES: LazyLock<Lexicon<Decimal>> =
    LazyLock::new(|| lexicon("number", |meaning| meaning.strip_prefix("note ")?.parse().ok()));

/// Words and letters that only multiply the digits before them: `50k`, `1.5 Mio`.
static TIMES: LazyLock<Lexicon<Decimal>> =
    LazyLock::new(|| lexicon("number", |meaning| meaning.strip_prefix("times ")?.parse().ok()));

/// What a word means: `unit 5`, `teen 15`, `tens 50`, `hundreds 500`, `hundred`, `scale 1000`.
fn numeral_of(meaning: &str) -> Option<Numeral> {
    if meaning == "hundred" {
        return Some(Hundred);
    }
    let (class, value) = meaning.split_once(' ')?;
    let value = value.parse().ok()?;
    Some(match class {
        "unit" => Unit(value),
        "teen" => Teen(value),
        "tens" => Tens(value),
        "hundreds" => Hundreds(value),
        "scale" => Scale(value),
        _ => return None,
    })
}

/// The value of the banknote named at a token, and the exclusive end of its name.
pub(super) fn note_at(tokens: &QueryTokens, at: usize) -> Option<(Decimal, usize)> {
    NOTES.longest_at(tokens, at)
}

/// A number in words.
pub(super) struct InWords {
    pub(super) value: Decimal,
    /// The factor of its last word: 1000 in "two thousand".
    pub(super) multiplier: Decimal,
    /// The exclusive end of its tokens.
    pub(super) end: usize,
}

/// The number in words that begins at a token.
pub(super) fn number_at(tokens: &QueryTokens, at: usize) -> Option<InWords> {
    let mut sum = Sum::default();
    let mut end = at;
    for _ in 0..MAX_WORDS {
        let Some((numeral, next)) = numeral_after(tokens, end, at) else { break };
        if !sum.take(numeral) {
            break;
        }
        end = next;
        if let Some(next) = half_at(tokens, end) {
            sum.add_half();
            end = next;
        }
    }
    let multiplier = match sum.last? {
        Hundred => Decimal::ONE_HUNDRED,
        Scale(by) => Decimal::from(by),
        _ => Decimal::ONE,
    };
    Some(InWords { value: sum.value(), multiplier, end })
}

/// The factor of a word after digits: "2.5 thousand", "5 hundred", "50k".
pub(super) fn multiplier_at(tokens: &QueryTokens, at: usize) -> Option<(Decimal, usize)> {
    if let Some(found) = TIMES.longest_at(tokens, at) {
        return Some(found);
    }
    match NUMERALS.longest_at(tokens, at)? {
        (Hundred, end) if tokens.word(at) == "hundred" => Some((Decimal::ONE_HUNDRED, end)),
        (Scale(by), end) if !tokens.word(at).starts_with("a ") => Some((Decimal::from(by), end)),
        _ => None,
    }
}

fn numeral_after(tokens: &QueryTokens, end: usize, start: usize) -> Option<(Numeral, usize)> {
    let found = NUMERALS.longest_at(tokens, end);
    if found.is_some() || end == start {
        return found;
    }
    let is_joined = tokens.is_hyphen_inside(end) || matches!(tokens.word(end), "and" | "e" | "y");
    let is_hundred_before = matches!(tokens.word_before(end), "hundred" | "thousand" | "grand")
        || matches!(tokens.word(end), "-" | "e" | "y");
    (is_joined && is_hundred_before).then(|| NUMERALS.longest_at(tokens, end + 1))?
}

fn half_at(tokens: &QueryTokens, at: usize) -> Option<usize> {
    let is_half =
        tokens.word(at) == "and" && tokens.word(at + 1) == "a" && tokens.word(at + 2) == "half";
    is_half.then_some(at + 3)
}

/// A number under construction, in hundredths, so that halves and cents are exact.
#[derive(Default)]
struct Sum {
    finished: u64,
    current: u64,
    last: Option<Numeral>,
    has_cents: bool,
}

impl Sum {
    /// Whether the numeral continues the number.
    fn take(&mut self, numeral: Numeral) -> bool {
        if self.finished.max(self.current) > MAX_HUNDREDTHS {
            return false;
        }
        let taken = match (numeral, self.last) {
            (Unit(n), Some(Tens(_))) => self.add(n),
            (Unit(n) | Teen(n) | Tens(n) | Hundreds(n), None | Some(Scale(_))) => self.add(n * 100),
            (Unit(n) | Teen(n) | Tens(n), Some(Hundred | Hundreds(_))) => self.add(n * 100),
            (Teen(n) | Tens(n), Some(Unit(_) | Teen(_) | Tens(_)))
                if n < 100 && self.finished == 0 && self.current < 10_000 && !self.has_cents =>
            {
                self.has_cents = true;
                self.add(n)
            }
            (Hundred, None | Some(Unit(_) | Teen(_) | Scale(_))) if !self.has_cents => {
                self.current = self.current.max(100) * 100;
                true
            }
            (Scale(by), _) if !self.has_cents && !matches!(self.last, Some(Scale(_))) => {
                self.finished += self.current.max(100) * by;
                self.current = 0;
                true
            }
            _ => false,
        };
        if taken {
            self.last = Some(numeral);
        }
        taken
    }

    /// Adds whole units, or cents once they have begun.
    fn add(&mut self, hundredths: u64) -> bool {
        let is_unit_of_tens = hundredths < 10 && !self.has_cents;
        self.current += if is_unit_of_tens { hundredths * 100 } else { hundredths };
        true
    }

    fn add_half(&mut self) {
        match self.last {
            Some(Scale(by)) => self.finished += by * 50,
            Some(Hundred) => self.current += 5_000,
            _ => self.current += 50,
        }
    }

    fn value(&self) -> Decimal {
        let hundredths = self.finished.saturating_add(self.current);
        Decimal::new(i64::try_from(hundredths).unwrap_or(i64::MAX), 2).normalize()
    }
}

#[cfg(test)]
mod tests {
    use super::{super::east_asian::is_part, *};
    use crate::query::parser::languages::rules;

    fn check(text: &str, expected: &str) {
        let tokens = QueryTokens::of(text);
        let read = match number_at(&tokens, 0) {
            Some(number) => format!("{} {}", number.value, tokens.len() - number.end),
            None => "none".to_owned(),
        };
        assert_eq!(read, expected, "{text:?}");
    }

    #[test]
    fn every_meaning_is_a_number() {
        for rule in rules("number") {
            let is_known = numeral_of(rule.meaning).is_some()
                || is_part(rule.meaning)
                || rule.meaning.starts_with("note ")
                || rule.meaning.starts_with("times ");
            assert!(is_known, "{rule:?}");
        }
    }

    #[test]
    fn numbers_in_words() {
        check("twenty", "20 0");
        check("twenty five", "25 0");
        check("twenty-five", "25 0");
        check("nine hundred", "900 0");
        check("a hundred", "100 0");
        check("hundred", "100 0");
        check("a hundred and fifty", "150 0");
        check("one thousand two hundred and thirty four", "1234 0");
        check("two and a half thousand", "2500 0");
        check("twelve hundred", "1200 0");
        check("a couple hundred", "200 0");
        check("two thousand five hundred", "2500 0");
        check("one and a half", "1.5 0");
        check("a thousand and a half", "1500 0");
    }

    #[test]
    fn spoken_prices() {
        check("twelve fifty", "12.5 0");
        check("nineteen ninety nine", "19.99 0");
        check("nine ninety-nine", "9.99 0");
        check("twenty four ninety nine", "24.99 0");
        check("twenty five fifty five", "25.55 0");
    }

    #[test]
    fn a_number_ends_where_it_cannot_continue() {
        check("twenty shoes", "20 1");
        check("a shoe", "none");
        check("one two", "1 1");
        check("fifty and red", "50 2");
        check("thousand thousand", "1000 1");
        check("", "none");
    }

    #[test]
    fn other_languages() {
        check("fünfzig", "50 0");
        check("cinquante", "50 0");
        check("dos mil", "2000 0");
        check("treinta y cinco", "35 0");
        check("cinco mil", "5000 0");
        check("две тысячи", "2000 0");
        check("сто пятьдесят", "150 0");
        check("mille", "1000 0");
    }
}
