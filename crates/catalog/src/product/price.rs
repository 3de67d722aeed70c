//! Parses prices such as `$19.99`.
//!
//! A price is one amount with its currency, as people write it:
//!
//! ```text
//! price  = [space] mark [space] number [space]
//!        | [space] number [space] mark [space]
//!        | [space] mark [space] number [space] mark [space]
//! mark   = a sign or abbreviation (€, CA$, zł) | an ISO 4217 code in any letter case
//! number = ASCII digits, grouped or not, with decimals or not
//! ```
//!
//! A mark on each side is one sign and one code that agree, and the code
//! decides: `$5 CAD` is Canadian. A space is any of Unicode's.
//!
//! How the number is read:
//!
//! - Two different separators: the last one, a comma or dot, is the decimal one
//!   and occurs once; the earlier one groups: `1,299.00`, `1.299,00`, `1 299,00`.
//! - One separator, repeated: it groups: `1.299.000`.
//! - One comma or dot, once: it groups if exactly three digits follow and one to
//!   three come before that do not begin with 0 (`£1,299`, `1.299 €`); else it is
//!   the decimal one (`0.999`, `19,9`, `1299.999`). In a currency with three
//!   decimals or more the first form can be read two ways, and is refused.
//! - Apostrophes and spaces only ever group: `1'299.00`, `1 299`.
//! - Groups have three digits, the first one to three and no leading 0. Commas
//!   also group the Indian way: `12,34,567.89`.
//!
//! Amounts are exact decimals; no float is involved.

use rust_decimal::Decimal;
use thiserror::Error;

use crate::product::currency::{Currency, Mark, MarkMeaning};

/// The longest price, in characters.
pub const MAX_CHARS: usize = 64;
/// The most digits before the decimal separator.
pub const MAX_WHOLE_DIGITS: usize = 15;
/// The most digits after the decimal separator.
pub const MAX_DECIMALS: usize = 8;

/// Bits of the integer that a decimal scales.
const MANTISSA_BITS: u32 = 96;

/// From this many minor digits on, `1.299` is as likely 1.299 as 1299.
const MINOR_DIGITS_LIKE_A_GROUP: u8 = 3;

/// A price: the text as written and the parsed value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Price {
    text: String,
    /// `None` only for a stored text that the rules above do not, or no longer, accept.
    money: Option<Money>,
}

/// An amount in a currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    /// Never negative.
    pub amount: Decimal,
    /// As the sign or code of the price denotes it.
    pub currency: Currency,
}

impl Money {
    /// Parses a price by the rules of this module.
    pub fn parse(text: &str) -> Result<Money, InvalidPrice> {
        let parts = Parts::of(text)?;
        let currency = read_currency(parts.before, parts.after)?;
        let amount = read_amount(parts.number, currency)?;
        Ok(Money { amount, currency })
    }

    /// Amount, decimals and currency in one number, never `u128::MAX`.
    pub fn to_bits(self) -> u128 {
        let &[a, b, c] = self.currency.code().as_bytes() else { return 0 };
        let high = u32::from_le_bytes([a, b, c, self.amount.scale() as u8]);
        u128::from(high) << MANTISSA_BITS | self.amount.mantissa().unsigned_abs()
    }

    /// The money that [`Self::to_bits`] returns; `None` for any other number.
    pub fn from_bits(bits: u128) -> Option<Money> {
        let [a, b, c, scale] = ((bits >> MANTISSA_BITS) as u32).to_le_bytes();
        let currency = Currency::from_code(str::from_utf8(&[a, b, c]).ok()?)?;
        let mantissa = (bits & ((1 << MANTISSA_BITS) - 1)).cast_signed();
        let amount = Decimal::try_from_i128_with_scale(mantissa, scale.into()).ok()?;
        let money = Money { amount, currency };
        (money.to_bits() == bits).then_some(money)
    }
}

/// An amount of money, or none, in 16 bytes: for the many that an index holds.
///
/// Those of [`Decimal::serialize`], with the currency in the first, which is not used there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedMoney([u8; 16]);

impl PackedMoney {
    /// The money.
    #[inline]
    pub fn get(self) -> Option<Money> {
        let currency = Currency::from_number(self.0[0])?;
        Some(Money { amount: Decimal::deserialize(self.0), currency })
    }
}

impl From<Option<Money>> for PackedMoney {
    fn from(money: Option<Money>) -> Self {
        let Some(Money { amount, currency }) = money else { return Self([0; 16]) };
        let mut bytes = amount.serialize();
        bytes[0] = currency.number();
        Self(bytes)
    }
}

impl Price {
    /// Parses a price by the rules of this module.
    pub fn parse(text: &str) -> Result<Price, InvalidPrice> {
        Ok(Price { money: Some(Money::parse(text)?), text: text.to_owned() })
    }

    /// A price from the store, which earlier rules may have accepted. A text that cannot be parsed is
    /// kept as it is and satisfies no price condition.
    pub fn from_stored(text: String) -> Price {
        Price { money: Money::parse(&text).ok(), text }
    }

    /// The price exactly as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The amount, with as many decimals as were written, and the currency; `None` for a stored
    /// text that cannot be parsed.
    pub fn money(&self) -> Option<Money> {
        self.money
    }
}

/// Why a text is not a price. Each message says how to write it instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidPrice {
    /// Nothing but spaces.
    #[error("the price is blank; write an amount with its currency, such as \"$19.99\"")]
    Blank,
    /// More than [`MAX_CHARS`].
    #[error(
        "a price has at most {MAX_CHARS} characters; \
         write only the amount and its currency, such as \"$19.99\""
    )]
    TooLong,
    /// A newline, tab or other character that is not text.
    #[error("a price is one line without control characters, such as \"$19.99\"")]
    ControlCharacter,
    /// A digit other than 0 to 9, or a fraction such as ½.
    #[error("write the amount with the digits 0 to 9 instead of '{found}', such as \"$19.99\"")]
    OtherDigits {
        /// The first such character.
        found: char,
    },
    /// No digit at all.
    #[error("the price has no amount; write one with its currency, such as \"$19.99\"")]
    NoNumber,
    /// Two numbers, a range, an exponent: something that does not belong inside a number.
    #[error(
        "{found:?} cannot stand inside the amount; \
         write one plain number, not a range or an exponent, such as \"$19.99\""
    )]
    NotOneNumber {
        /// The first character that does not belong.
        found: char,
    },
    /// A minus before or after the amount.
    #[error("a price cannot be negative; leave the minus or dash out, such as \"$19.99\"")]
    Negative,
    /// A plus before or after the amount.
    #[error("a price is one exact amount; leave the plus out, such as \"$19.99\"")]
    Plus,
    /// `.99`
    #[error("the amount has no digit before its separator; write a zero, such as \"$0.99\"")]
    NoWholeDigits,
    /// `5.`
    #[error("the amount ends in a separator; leave it out or add decimals, such as \"$5.00\"")]
    NoDecimals,
    /// A number with neither sign nor code.
    #[error(
        "the price has no currency; write a sign or an ISO 4217 code, such as \"$19.99\" or \"19.99 USD\""
    )]
    NoCurrency,
    /// A text beside the number that stands for no currency.
    #[error(
        "{mark:?} is not a currency sign or an ISO 4217 code; \
         write a price such as \"$19.99\" or \"19.99 USD\""
    )]
    UnknownMark {
        /// The text.
        mark: String,
    },
    /// An abbreviation that several currencies use.
    #[error(
        "{mark:?} is used for several currencies; write the code instead ({codes}), \
         such as \"19.99 {first}\"",
        codes = listing(among),
        first = among[0]
    )]
    SharedMark {
        /// The abbreviation.
        mark: &'static str,
        /// The currencies it may mean.
        among: &'static [Currency],
    },
    /// Two signs or two codes.
    #[error(
        "the currency is written twice; write it once, such as \"$19.99\", \
         or a sign and a code, such as \"$19.99 USD\""
    )]
    WrittenTwice,
    /// A sign and a code of different currencies.
    #[error(
        "\"{sign}\" and \"{code}\" are different currencies; \
         write one of them, such as \"$19.99\" or \"19.99 {code}\""
    )]
    Disagree {
        /// The sign.
        sign: &'static str,
        /// The code.
        code: Currency,
    },
    /// Separators that neither group nor begin the decimals.
    #[error(
        "the separators in {number:?} do not make a number; group by thousands \
         and write the decimals last, such as \"$1,299.00\", or leave groups out, such as \"$1299.00\""
    )]
    MisplacedSeparator {
        /// The number as written.
        number: String,
    },
    /// `1.299 KWD`: both 1299 and 1.299 are usual ways to read it.
    #[error(
        "{number:?} can be read two ways in {currency}; \
         write \"{grouped} {currency}\" or \"{decimal} {currency}\""
    )]
    ReadTwoWays {
        /// The number as written.
        number: String,
        /// How to write it if the separator groups.
        grouped: String,
        /// How to write it if the separator begins the decimals.
        decimal: String,
        /// The currency that makes both likely.
        currency: Currency,
    },
    /// More than [`MAX_WHOLE_DIGITS`].
    #[error(
        "the amount is too large: at most {MAX_WHOLE_DIGITS} digits come before the decimals, \
         such as \"$19.99\""
    )]
    TooManyWholeDigits,
    /// More than [`MAX_DECIMALS`].
    #[error("the amount has more than {MAX_DECIMALS} decimals; round it, such as \"$19.99\"")]
    TooManyDecimals,
}

/// A price cut at its first and last digit, without the spaces around each part.
struct Parts<'a> {
    before: &'a str,
    number: &'a str,
    after: &'a str,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Result<Parts<'a>, InvalidPrice> {
        // The length comes first: nothing below looks at more than the limit.
        if text.chars().nth(MAX_CHARS).is_some() {
            return Err(InvalidPrice::TooLong);
        }
        if text.contains(breaks_the_line) {
            return Err(InvalidPrice::ControlCharacter);
        }
        let text = text.trim_matches(is_space);
        if text.is_empty() {
            return Err(InvalidPrice::Blank);
        }
        if let Some(found) = text.chars().find(|c| c.is_numeric() && !c.is_ascii_digit()) {
            return Err(InvalidPrice::OtherDigits { found });
        }
        let is_digit = |c: char| c.is_ascii_digit();
        let (Some(first), Some(last)) = (text.find(is_digit), text.rfind(is_digit)) else {
            return Err(InvalidPrice::NoNumber);
        };

        let (before, number, after) = (&text[..first], &text[first..=last], &text[last + 1..]);
        let belongs = |c: char| c.is_ascii_digit() || Separator::of(c).is_some();
        if let Some(found) = number.chars().find(|&c| !belongs(c)) {
            return Err(InvalidPrice::NotOneNumber { found });
        }
        if before.contains(is_minus) || after.contains(is_minus) {
            return Err(InvalidPrice::Negative);
        }
        if before.contains(is_plus) || after.contains(is_plus) {
            return Err(InvalidPrice::Plus);
        }
        // "Fr.5" has its dot from the abbreviation, "$.5" has not.
        let mark = before.trim_end_matches(is_space);
        if before.ends_with(is_point) && !stands_for_a_currency(mark) {
            return Err(InvalidPrice::NoWholeDigits);
        }
        if after.starts_with(is_point) {
            return Err(InvalidPrice::NoDecimals);
        }
        Ok(Parts { before: mark, number, after: after.trim_start_matches(is_space) })
    }
}

/// What is written beside the number.
enum Written {
    Code(Currency),
    Sign { sign: &'static Mark, alone: Currency },
}

impl Written {
    fn read(text: &str) -> Result<Written, InvalidPrice> {
        if let Some(currency) = Currency::from_code(text) {
            return Ok(Written::Code(currency));
        }
        let Some(sign) = Mark::find(text) else {
            let mark = text.to_owned();
            return Err(InvalidPrice::UnknownMark { mark });
        };
        match sign.meaning() {
            MarkMeaning::One(alone) | MarkMeaning::Mostly { alone, .. } => {
                Ok(Written::Sign { sign, alone })
            }
            MarkMeaning::Shared(among) => {
                let mark = sign.text();
                Err(InvalidPrice::SharedMark { mark, among })
            }
        }
    }
}

fn stands_for_a_currency(text: &str) -> bool {
    Currency::from_code(text).is_some() || Mark::find(text).is_some()
}

fn read_currency(before: &str, after: &str) -> Result<Currency, InvalidPrice> {
    use Written::{Code, Sign};

    if before.is_empty() && after.is_empty() {
        return Err(InvalidPrice::NoCurrency);
    }
    if before.is_empty() || after.is_empty() {
        let mark = if before.is_empty() { after } else { before };
        let (Code(currency) | Sign { alone: currency, .. }) = Written::read(mark)?;
        return Ok(currency);
    }
    match (Written::read(before)?, Written::read(after)?) {
        (Sign { sign, .. }, Code(code)) | (Code(code), Sign { sign, .. }) => {
            if sign.may_denote(code) {
                return Ok(code);
            }
            let sign = sign.text();
            Err(InvalidPrice::Disagree { sign, code })
        }
        (Sign { .. }, Sign { .. }) | (Code(_), Code(_)) => Err(InvalidPrice::WrittenTwice),
    }
}

/// What may stand between two digits. Variants of one separator count as the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    Comma,
    Dot,
    Apostrophe,
    Space,
}

impl Separator {
    fn of(c: char) -> Option<Separator> {
        match c {
            ',' => Some(Separator::Comma),
            '.' => Some(Separator::Dot),
            '\'' | '’' => Some(Separator::Apostrophe),
            c if is_space(c) => Some(Separator::Space),
            _ => None,
        }
    }

    fn may_begin_decimals(self) -> bool {
        matches!(self, Separator::Comma | Separator::Dot)
    }
}

/// `number` begins and ends with a digit and holds nothing but digits and separators.
pub(crate) fn read_amount(number: &str, currency: Currency) -> Result<Decimal, InvalidPrice> {
    let misplaced = || InvalidPrice::MisplacedSeparator { number: number.to_owned() };
    let runs: Vec<&str> = number.split(|c: char| !c.is_ascii_digit()).collect();
    let separators: Vec<Separator> = number.chars().filter_map(Separator::of).collect();
    if runs.iter().any(|run| run.is_empty()) {
        return Err(misplaced()); // two separators in a row
    }

    let decimals_follow = match separators.as_slice() {
        [] => false,
        [only] if !only.may_begin_decimals() => false,
        [only] if !is_grouped(&runs, *only) => true,
        [_] if currency.minor_digits() < MINOR_DIGITS_LIKE_A_GROUP => false,
        [_] => return Err(read_two_ways(number, &runs, currency)),
        [first, .., last] => first != last,
    };
    let (whole, decimals) = match runs.split_last() {
        Some((last, earlier)) if decimals_follow => (earlier, *last),
        _ => (runs.as_slice(), ""),
    };

    // Of the separators, the last may begin the decimals; all others must group.
    let (grouping, decimal) = separators.split_at(whole.len() - 1);
    let groups_well = match grouping {
        [] => true,
        [first, others @ ..] => others.iter().all(|s| s == first) && is_grouped(whole, *first),
    };
    if !groups_well || !decimal.iter().all(|s| s.may_begin_decimals()) {
        return Err(misplaced());
    }

    if whole.iter().map(|run| run.len()).sum::<usize>() > MAX_WHOLE_DIGITS {
        return Err(InvalidPrice::TooManyWholeDigits);
    }
    if decimals.len() > MAX_DECIMALS {
        return Err(InvalidPrice::TooManyDecimals);
    }
    // 23 digits at most: far from what i128 and Decimal hold.
    let digits = runs.iter().flat_map(|run| run.bytes());
    let mantissa = digits.fold(0_i128, |sum, digit| sum * 10 + i128::from(digit - b'0'));
    Ok(Decimal::from_i128_with_scale(mantissa, decimals.len() as u32))
}

/// Whether runs of digits with `separator` between them are one grouped number.
fn is_grouped(runs: &[&str], separator: Separator) -> bool {
    let [first, middle @ .., last] = runs else {
        return false;
    };
    let by = |size: usize| first.len() <= size && middle.iter().all(|run| run.len() == size);
    let indian = separator == Separator::Comma && by(2);
    !first.starts_with('0') && last.len() == 3 && (by(3) || indian)
}

fn read_two_ways(number: &str, runs: &[&str], currency: Currency) -> InvalidPrice {
    InvalidPrice::ReadTwoWays {
        number: number.to_owned(),
        grouped: format!("{}.000", runs.concat()),
        decimal: format!("{}0", runs.join(".")),
        currency,
    }
}

/// Unicode's space separators: U+00A0, U+2009, U+202F and so on.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() && !breaks_the_line(c)
}

fn breaks_the_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Hyphens and dashes count: people type them for a minus.
fn is_minus(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}')
}

fn is_plus(c: char) -> bool {
    matches!(c, '+' | '\u{ff0b}')
}

/// A separator of numbers that is not a space.
fn is_point(c: char) -> bool {
    Separator::of(c).is_some_and(|separator| separator != Separator::Space)
}

fn listing(currencies: &[Currency]) -> String {
    let codes: Vec<&str> = currencies.iter().map(Currency::code).collect();
    codes.join(", ")
}

#[cfg(test)]
mod tests;
