//! A price condition: exact bounds in one currency or in any.

use std::fmt;

use rust_decimal::Decimal;

use crate::{
    product::{currency::Currency, price::Money},
    text::lexer::Span,
};

/// "About" an amount is within this many percent of it.
const ABOUT_PERCENT: i64 = 20;

/// One end of a price range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bound {
    /// The amount.
    pub amount: Decimal,
    /// Whether the amount itself is in the range.
    pub inclusive: bool,
}

impl Bound {
    fn inclusive(amount: Decimal) -> Option<Self> {
        Some(Self { amount, inclusive: true })
    }

    fn exclusive(amount: Decimal) -> Option<Self> {
        Some(Self { amount, inclusive: false })
    }
}

/// The comparison of a price condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PriceKind {
    /// "under 50"
    Below,
    /// "up to 50"
    AtMost,
    /// "over 50"
    Above,
    /// "at least 50"
    AtLeast,
    /// "between 20 and 50"
    Between,
    /// "about 50": within 20%
    About,
}

/// A price condition, of a query or of a filter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PriceConstraint {
    /// The comparison.
    pub kind: PriceKind,
    /// The lower bound.
    pub floor: Option<Bound>,
    /// The upper bound.
    pub ceiling: Option<Bound>,
    /// The required currency; `None` compares the amount in any currency.
    pub currency: Option<Currency>,
    /// Its bytes in the query; empty for a filter.
    pub span: Span,
}

impl PriceConstraint {
    /// The condition of a filter: both ends are included.
    pub fn between(min: Option<Decimal>, max: Option<Decimal>, currency: Option<Currency>) -> Self {
        let (floor, ceiling) = (min.and_then(Bound::inclusive), max.and_then(Bound::inclusive));
        let kind = match (floor, ceiling) {
            (Some(_), None) => PriceKind::AtLeast,
            (None, Some(_)) => PriceKind::AtMost,
            _ => PriceKind::Between,
        };
        Self { kind, floor, ceiling, currency, span: 0..0 }
    }

    /// A condition with one amount.
    pub(super) fn one(
        kind: PriceKind,
        amount: Decimal,
        currency: Option<Currency>,
        span: Span,
    ) -> Self {
        let (floor, ceiling) = match kind {
            PriceKind::Below => (None, Bound::exclusive(amount)),
            PriceKind::AtMost => (None, Bound::inclusive(amount)),
            PriceKind::Above => (Bound::exclusive(amount), None),
            PriceKind::AtLeast => (Bound::inclusive(amount), None),
            PriceKind::Between => (Bound::inclusive(amount), Bound::inclusive(amount)),
            PriceKind::About => {
                let off = amount * Decimal::new(ABOUT_PERCENT, 2);
                let (low, high) = ((amount - off).normalize(), (amount + off).normalize());
                (Bound::inclusive(low), Bound::inclusive(high))
            }
        };
        Self { kind, floor, ceiling, currency, span }
    }

    /// An inclusive range between two amounts in either order.
    pub(super) fn range(
        one: Decimal,
        other: Decimal,
        currency: Option<Currency>,
        span: Span,
    ) -> Self {
        let (floor, ceiling) = (Bound::inclusive(one.min(other)), Bound::inclusive(one.max(other)));
        Self { kind: PriceKind::Between, floor, ceiling, currency, span }
    }

    /// Whether a price satisfies the condition.
    pub fn admits(&self, price: Money) -> bool {
        let amount = price.amount;
        let is_above =
            |floor: Bound| amount > floor.amount || floor.inclusive && amount == floor.amount;
        let is_below = |ceiling: Bound| {
            amount < ceiling.amount || ceiling.inclusive && amount == ceiling.amount
        };
        self.currency.is_none_or(|currency| currency == price.currency)
            && self.floor.is_none_or(is_above)
            && self.ceiling.is_none_or(is_below)
    }
}

/// `price < 50 USD`, `20 <= price <= 50`
impl fmt::Display for PriceConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = |bound: Bound, without, with| if bound.inclusive { with } else { without };
        match (self.floor, self.ceiling) {
            (Some(floor), Some(ceiling)) => {
                let (low, high) = (sign(floor, "<", "<="), sign(ceiling, "<", "<="));
                write!(f, "{} {low} price {high} {}", floor.amount, ceiling.amount)?;
            }
            (Some(floor), None) => write!(f, "price {} {}", sign(floor, ">", ">="), floor.amount)?,
            (None, Some(ceiling)) => {
                write!(f, "price {} {}", sign(ceiling, "<", "<="), ceiling.amount)?;
            }
            (None, None) => f.write_str("any price")?,
        }
        self.currency.map_or(Ok(()), |currency| write!(f, " {currency}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::price::Price;

    fn check(constraint: &PriceConstraint, price: &str, admitted: bool) {
        let price = Price::parse(price).unwrap();
        let money = price.money().unwrap();
        assert_eq!(constraint.admits(money), admitted, "{constraint} {}", price.text());
    }

    #[test]
    fn bounds_are_inclusive_or_exclusive() {
        let one = |kind| PriceConstraint::one(kind, Decimal::from(50), None, 0..1);
        check(&one(PriceKind::Below), "$50.00", false);
        check(&one(PriceKind::Below), "$49.99", true);
        check(&one(PriceKind::AtMost), "$50.00", true);
        check(&one(PriceKind::AtMost), "$50.01", false);
        check(&one(PriceKind::Above), "$50", false);
        check(&one(PriceKind::AtLeast), "$50", true);
        check(&one(PriceKind::About), "$40", true);
        check(&one(PriceKind::About), "$60.00", true);
        check(&one(PriceKind::About), "$39.99", false);
        check(&one(PriceKind::About), "$60.01", false);
    }

    #[test]
    fn a_currency_admits_that_currency_only() {
        let in_any = PriceConstraint::range(Decimal::TEN, Decimal::ONE, None, 0..1);
        let in_euro = PriceConstraint { currency: Some(Currency::EUR), ..in_any.clone() };
        check(&in_any, "$5", true);
        check(&in_any, "5 EUR", true);
        check(&in_euro, "$5", false);
        check(&in_euro, "5 EUR", true);
        check(&in_euro, "11 EUR", false);
    }
}
