//! A price condition compiled to integer comparisons, for evaluation on every product of a shop.

use rust_decimal::Decimal;

use super::constraint::{Bound, PriceConstraint};
use crate::product::price::{MAX_DECIMALS, Money};

/// A compiled price condition. Equivalent to the [`PriceConstraint`] it was made from.
#[derive(Clone, Debug)]
pub struct PriceRange<'a> {
    constraint: &'a PriceConstraint,
    /// For each number of decimals, the least and the greatest admitted amount in units of the last
    /// decimal.
    ends: [(i128, i128); MAX_DECIMALS + 1],
}

impl<'a> PriceRange<'a> {
    /// Compiles a condition.
    pub fn of(constraint: &'a PriceConstraint) -> Self {
        let ends = std::array::from_fn(|decimals| {
            let least = constraint.floor.map_or(i128::MIN, |floor| least(floor, decimals as u32));
            let greatest =
                constraint.ceiling.map_or(i128::MAX, |ceiling| greatest(ceiling, decimals as u32));
            (least, greatest)
        });
        Self { constraint, ends }
    }

    /// Whether a product of this price satisfies the condition.
    #[inline]
    pub fn admits(&self, price: Money) -> bool {
        let Some((least, greatest)) = self.ends.get(price.amount.scale() as usize) else {
            return self.constraint.admits(price);
        };
        let amount = price.amount.mantissa();
        *least <= amount
            && amount <= *greatest
            && self.constraint.currency.is_none_or(|currency| currency == price.currency)
    }
}

fn least(floor: Bound, decimals: u32) -> i128 {
    let (whole, is_exact) = in_units(floor.amount, decimals);
    if is_exact && floor.inclusive { whole } else { whole + 1 }
}

fn greatest(ceiling: Bound, decimals: u32) -> i128 {
    let (whole, is_exact) = in_units(ceiling.amount, decimals);
    if is_exact && !ceiling.inclusive { whole - 1 } else { whole }
}

/// An amount in units of the given decimal, rounded down, and whether that is exact. Cannot
/// overflow: a decimal has 96 bits, and eight more digits take 27.
fn in_units(amount: Decimal, decimals: u32) -> (i128, bool) {
    let (digits, scale) = (amount.mantissa(), amount.scale());
    match decimals.checked_sub(scale) {
        Some(more) => (digits * 10_i128.pow(more), true),
        None => {
            let unit = 10_i128.pow(scale - decimals);
            (digits.div_euclid(unit), digits.rem_euclid(unit) == 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{product::currency::Currency, query::parser::PriceKind};

    fn amount() -> impl Strategy<Value = Decimal> {
        prop_oneof![
            (0_i64..3000, 0_u32..12).prop_map(|(digits, scale)| Decimal::new(digits, scale)),
            (0_i64..=i64::MAX, 0_u32..=28).prop_map(|(digits, scale)| Decimal::new(digits, scale)),
            Just(Decimal::MAX),
        ]
    }

    fn bound() -> impl Strategy<Value = Option<Bound>> {
        prop::option::of(
            (amount(), any::<bool>()).prop_map(|(amount, inclusive)| Bound { amount, inclusive }),
        )
    }

    proptest! {
        #[test]
        fn it_admits_what_the_condition_admits(
            floor in bound(),
            ceiling in bound(),
            euro in any::<bool>(),
            others in prop::collection::vec(amount(), 1..20),
        ) {
            let currency = euro.then_some(Currency::EUR);
            let kind = PriceKind::Between;
            let constraint = PriceConstraint { kind, floor, ceiling, currency, span: 0..1 };
            let range = PriceRange::of(&constraint);
            let ends = floor.iter().chain(&ceiling).map(|bound| bound.amount);
            let rescaled = ends.clone().flat_map(|end| (0..=10).map(move |scale| {
                let mut end = end;
                end.rescale(scale);
                end
            }));
            for amount in ends.clone().chain(rescaled).chain(others) {
                for currency in [Currency::EUR, Currency::USD] {
                    let price = Money { amount, currency };
                    prop_assert_eq!(range.admits(price), constraint.admits(price), "{:?}", price);
                }
            }
        }
    }
}
