//! Parses an amount of money in a query.
//!
//! A number in digits or words, with or without a currency on either side: `$1,299`, `50k`, `fifty
//! bucks`, `a tenner`. Digits follow the rules of catalog prices.

use rust_decimal::Decimal;

use super::{
    context::is_weighed,
    currency::{CurrencyMention, agreed, is_one_of_money, mention_at, mention_before},
    east_asian,
    numerals::{InWords, multiplier_at, note_at, number_at},
};
use crate::{
    product::{
        currency::Currency,
        price::{MAX_WHOLE_DIGITS, is_space, read_amount},
    },
    query::parser::query_tokens::QueryTokens,
    text::{lexer::TokenKind, vocabulary::TermLookup},
};

/// `1 299 000` has three groups; more are no price.
const MAX_GROUPS: usize = 5;
const DIGITS_OF_A_GROUP: usize = 3;

/// An amount and the end of its tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Amount {
    pub(super) value: Decimal,
    pub(super) currency: Option<Currency>,
    /// Whether a currency or another word for money is next to the number.
    pub(super) is_marked: bool,
    pub(super) is_in_words: bool,
    /// The multiplier: 1000 in `2k`.
    pub(super) multiplier: Decimal,
    /// The exclusive end of its tokens.
    pub(super) end: usize,
}

/// Parses the amounts of one text.
pub(super) struct Amounts<'a> {
    pub(super) tokens: &'a QueryTokens<'a>,
    pub(super) knows: TermLookup<'a>,
    weighs: bool,
}

impl<'a> Amounts<'a> {
    pub(super) fn of(tokens: &'a QueryTokens<'a>, knows: TermLookup<'a>) -> Self {
        let weighs = (0..tokens.len()).any(|at| is_weighed(tokens.word(at)));
        Self { tokens, knows, weighs }
    }

    /// The amount that begins at a token.
    pub(super) fn at(&self, at: usize) -> Option<Amount> {
        if let Some((value, end)) = note_at(self.tokens, at) {
            let currency = Some(Currency::GBP);
            return Some(Amount { value, currency, is_marked: true, ..Amount::bare(end) });
        }
        if let Some(one) = self.one_of_money(at) {
            return Some(one);
        }
        let before = mention_before(self.tokens, at, self.knows);
        let start = before.map_or(at, |(_, end)| end);
        let before = before.map(|(money, _)| money);
        let is_sign = before.is_some() && self.tokens.is(at, TokenKind::Sign);
        if !is_sign && self.is_part_of_a_word(at) {
            return None;
        }
        let number = self.number(start, before)?;
        self.with_money(number, before)
    }

    /// The second amount of `20-40`, which would be part of a word without the first.
    pub(super) fn after_joiner(&self, at: usize) -> Option<Amount> {
        self.with_money(self.number(at, None)?, None)
    }

    /// "under a dollar"
    fn one_of_money(&self, at: usize) -> Option<Amount> {
        if !is_one_of_money(self.tokens, at) {
            return None;
        }
        let number = Amount { value: Decimal::ONE, ..Amount::bare(at + 1) };
        self.with_money(number, None)
    }

    /// The 40 of `wd-40` and the 15 of `x15` are not numbers.
    fn is_part_of_a_word(&self, at: usize) -> bool {
        let is_word = |at: usize| self.tokens.is(at, TokenKind::Word);
        let is_bound = |at: usize| self.tokens.is_glued(at);
        match at {
            0 => false,
            1 => is_bound(1) && is_word(0),
            _ => {
                is_bound(at)
                    && (is_word(at - 1)
                        || self.tokens.is_hyphen_inside(at - 1)
                        || matches!(self.tokens.word(at - 1), "-" | "." | "/" | "#"))
            }
        }
    }

    fn number(&self, at: usize, before: Option<CurrencyMention>) -> Option<Amount> {
        if let Some(InWords { value, multiplier, end }) = east_asian::number_at(self.tokens, at) {
            let is_in_words = !self.tokens.is(at, TokenKind::Digits);
            return Some(Amount { value, multiplier, is_in_words, ..Amount::bare(end) });
        }
        if !self.tokens.is(at, TokenKind::Digits) {
            let InWords { value, multiplier, end } = number_at(self.tokens, at)?;
            return Some(Amount { value, multiplier, is_in_words: true, ..Amount::bare(end) });
        }
        let end = self.end_of_groups(at, before.is_some());
        let digits = match self.tokens.word(at).len() == self.tokens.raw(at, at + 1).len() {
            true => self.tokens.raw(at, end),
            // Full-width digits are folded.
            false => self.tokens.word(at),
        };
        if digits.len() > 2 * MAX_WHOLE_DIGITS || is_part_number(digits) || self.is_fraction(end) {
            return None;
        }
        let currency = before.and_then(|money| money.currency).unwrap_or(Currency::USD);
        let value = read_amount(digits, currency).ok()?;
        let number = Amount { value, ..Amount::bare(end) };
        Some(match multiplier_at(self.tokens, end) {
            Some((multiplier, end)) => {
                let value = value.checked_mul(multiplier)?.normalize();
                Amount { value, multiplier, end, ..number }
            }
            None => number,
        })
    }

    /// `1/4`
    fn is_fraction(&self, end: usize) -> bool {
        self.tokens.word(end) == "/"
            && self.tokens.is_glued(end)
            && self.tokens.is_glued(end + 1)
            && self.tokens.is(end + 1, TokenKind::Digits)
    }

    /// `1 299` is one number next to a currency, or if the second group could not stand alone
    /// (`5 000`).
    fn end_of_groups(&self, at: usize, is_marked: bool) -> usize {
        let first = self.tokens.word(at);
        let is_group = |at: usize| {
            let digits = self.tokens.word(at);
            self.tokens.is(at, TokenKind::Digits)
                && is_one_space(self.tokens.gap_before(at))
                && digits.split(['.', ',']).next().map(str::len) == Some(DIGITS_OF_A_GROUP)
        };
        let may_begin = first.len() <= DIGITS_OF_A_GROUP
            && !first.starts_with('0')
            && first.bytes().all(|byte| byte.is_ascii_digit());
        let mut end = at + 1;
        while may_begin && end - at < MAX_GROUPS && is_group(end) {
            end += 1;
        }
        let must_group = self.tokens.word(at + 1).starts_with('0');
        if must_group || is_marked || mention_at(self.tokens, end, self.knows).is_some() {
            end
        } else {
            at + 1
        }
    }

    fn with_money(&self, number: Amount, before: Option<CurrencyMention>) -> Option<Amount> {
        let hyphen = usize::from(self.tokens.is_hyphen_inside(number.end));
        let after = mention_at(self.tokens, number.end + hyphen, self.knows);
        let (money, end) = match (before, after) {
            (None, None) => return Some(number),
            (Some(before), None) => (before, number.end),
            (None, Some(after)) => after,
            (Some(before), Some((after, end))) => {
                agreed(before, after).map_or((before, number.end), |money| (money, end))
            }
        };
        if money.may_be_weight && self.weighs {
            return None;
        }
        let value = match money.is_minor {
            true => (number.value / Decimal::ONE_HUNDRED).normalize(),
            false => number.value,
        };
        Some(Amount { value, currency: money.currency, is_marked: true, end, ..number })
    }
}

impl Amount {
    fn bare(end: usize) -> Self {
        Self {
            value: Decimal::ZERO,
            currency: None,
            is_marked: false,
            is_in_words: false,
            multiplier: Decimal::ONE,
            end,
        }
    }
}

fn is_one_space(gap: &str) -> bool {
    let mut chars = gap.chars();
    chars.next().is_some_and(is_space) && chars.next().is_none()
}

/// `007` is not a price.
fn is_part_number(digits: &str) -> bool {
    digits.len() > 1
        && digits.starts_with('0')
        && !digits.starts_with("0.")
        && !digits.starts_with("0,")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let tokens = QueryTokens::of(text);
        let amounts = Amounts::of(&tokens, &|_| false);
        let read = match amounts.at(0) {
            Some(amount) => {
                let currency = amount.currency.map_or("any".to_owned(), |c| c.to_string());
                let rest = tokens.len() - amount.end;
                let mark = if amount.is_marked { "" } else { " bare" };
                format!("{} {currency}{mark}, {rest} left", amount.value)
            }
            None => "none".to_owned(),
        };
        assert_eq!(read, expected, "{text:?}");
    }

    #[test]
    fn digits_follow_the_rules_of_prices() {
        check("$1,299.00", "1299.00 USD, 0 left");
        check("1.299 €", "1299 EUR, 0 left");
        check("19,99", "19.99 any bare, 0 left");
        check("1 299 ₽", "1299 RUB, 0 left");
        check("1 299 000 uah", "1299000 UAH, 0 left");
        check("5 000", "5000 any bare, 0 left");
        check("5 100", "5 any bare, 1 left");
        check("1\n299 €", "1 any bare, 2 left");
        check("1.2.3", "none");
        check("1.5k", "1500 any bare, 0 left");
        check("2 grand", "2000 any bare, 0 left");
        check("3 hundred bucks", "300 USD, 0 left");
    }

    #[test]
    fn money_on_either_side() {
        for text in ["CA$50", "50 CA$", "$50 CAD", "cad 50", "50cad", "50 canadian dollars"] {
            check(text, "50 CAD, 0 left");
        }
        check("50-dollar", "50 USD, 0 left");
        check("rs. 500", "500 INR, 0 left");
        check("€50 $", "50 EUR, 1 left");
        check("50 kr", "50 any, 0 left");
        check("99 cents", "0.99 any, 0 left");
        check("fifty pence", "0.5 GBP, 0 left");
        check("a tenner", "10 GBP, 0 left");
        check("a dollar", "1 USD, 0 left");
        check("twenty quid please", "20 GBP, 1 left");
    }

    #[test]
    fn pounds_are_a_weight_next_to_things_that_are_weighed() {
        check("50 pounds", "50 GBP, 0 left");
        check("50 pounds dumbbells", "none");
    }
}
