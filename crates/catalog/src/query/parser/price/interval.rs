//! The intersection of all price conditions as bounds on columns, for a store that filters in SQL.

use rust_decimal::Decimal;

use super::constraint::{Bound, PriceConstraint};
use crate::product::{currency::Currency, price::MAX_DECIMALS};

/// Exactly the prices that satisfy a set of conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriceInterval {
    /// The least amount, inclusive.
    pub least: Option<Decimal>,
    /// The greatest amount, inclusive.
    pub greatest: Option<Decimal>,
    /// The admitted currencies: all if `None`, no price at all if empty.
    pub currencies: Option<Vec<Currency>>,
}

impl PriceInterval {
    /// The intersection of these conditions.
    pub fn of(constraints: &[PriceConstraint]) -> Self {
        let mut interval = Self::default();
        for PriceConstraint { floor, ceiling, currency, .. } in constraints {
            if let Some(least) = floor.map(|floor| included(floor, step())) {
                interval.least = Some(interval.least.map_or(least, |other| other.max(least)));
            }
            if let Some(greatest) = ceiling.map(|ceiling| included(ceiling, -step())) {
                let lesser = |other: Decimal| other.min(greatest);
                interval.greatest = Some(interval.greatest.map_or(greatest, lesser));
            }
            if let Some(currency) = currency {
                let is_open = |others: &Vec<Currency>| others.contains(currency);
                let is_possible = interval.currencies.as_ref().is_none_or(is_open);
                interval.currencies = Some(Vec::from_iter(is_possible.then_some(*currency)));
            }
        }
        interval
    }
}

/// The smallest difference between two prices.
fn step() -> Decimal {
    Decimal::new(1, MAX_DECIMALS as u32)
}

/// The first price inside a bound: no price lies between it and the bound.
fn included(bound: Bound, step: Decimal) -> Decimal {
    let Bound { amount, inclusive } = bound;
    // With more decimals than a price has, or more digits, no price is on the bound.
    if inclusive || amount.normalize().scale() > MAX_DECIMALS as u32 {
        return amount;
    }
    amount.checked_add(step).unwrap_or(amount)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{product::price::Money, query::parser::PriceKind};

    fn constraint() -> impl Strategy<Value = PriceConstraint> {
        let bound = || {
            let amount =
                (0_i64..3000, 0_u32..12).prop_map(|(digits, scale)| Decimal::new(digits, scale));
            prop::option::of(
                (amount, any::<bool>()).prop_map(|(amount, inclusive)| Bound { amount, inclusive }),
            )
        };
        let currency =
            prop_oneof![Just(None), Just(Some(Currency::EUR)), Just(Some(Currency::USD))];
        (bound(), bound(), currency).prop_map(|(floor, ceiling, currency)| PriceConstraint {
            kind: PriceKind::Between,
            floor,
            ceiling,
            currency,
            span: 0..1,
        })
    }

    proptest! {
        #[test]
        fn a_price_is_inside_if_it_satisfies_every_condition(
            constraints in prop::collection::vec(constraint(), 0..3),
            prices in prop::collection::vec((0_i64..3000, 0_u32..=8), 1..20),
        ) {
            let interval = PriceInterval::of(&constraints);
            let ends = constraints.iter().flat_map(|one| [one.floor, one.ceiling]).flatten();
            let near = ends.flat_map(|end| {
                let amount = end.amount.round_dp(MAX_DECIMALS as u32);
                [amount, amount + step(), (amount - step()).max(Decimal::ZERO)]
            });
            let amounts = prices.iter().map(|(digits, scale)| Decimal::new(*digits, *scale));
            for amount in amounts.chain(near) {
                for currency in [Currency::EUR, Currency::USD] {
                    let is_inside = interval.least.is_none_or(|least| least <= amount)
                        && interval.greatest.is_none_or(|greatest| amount <= greatest)
                        && interval.currencies.as_ref().is_none_or(|all| all.contains(&currency));
                    let admitted =
                        constraints.iter().all(|one| one.admits(Money { amount, currency }));
                    prop_assert_eq!(is_inside, admitted, "{} {} {:?}", amount, currency, interval);
                }
            }
        }
    }
}
