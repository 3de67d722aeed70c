//! The conditions of a search as SQL evaluates them.

use catalog::{
    product::{ProductId, access::Visibility},
    query::{
        filter::{Condition, ProductFilter},
        parser::{PriceConstraint, PriceInterval},
    },
};

use super::{
    super::session::Value,
    labels,
    rows::{ABOVE_PRICES, NO_PRICE},
};

/// The parameters of a filter.
#[derive(Clone, Debug)]
pub(crate) struct RowFilter {
    include_hidden: bool,
    /// The lowest and the highest amount, both inclusive, as decimal numbers.
    amounts: (String, String),
    /// `None` for any currency.
    currencies: Option<Vec<String>>,
    /// A tsquery for the exclusions; `None` for any text.
    pub(super) allowed: Option<String>,
    /// Products that satisfy the exclusions although they do not match `allowed`.
    pub(super) also_allowed: Vec<i64>,
    /// A tsquery on labels; `None` for any attributes and category.
    labels: Option<String>,
    excluded_prices: Option<ExcludedPrices>,
    /// A tsquery that products match; `None` for any text.
    pub(super) matching: Option<String>,
}

/// Prices that products must not have.
#[derive(Clone, Debug, Default)]
struct ExcludedPrices {
    lowest: Vec<String>,
    highest: Vec<String>,
    /// `None` for any currency.
    currencies: Vec<Option<String>>,
}

impl RowFilter {
    /// Admits all visible products.
    pub(crate) fn visible(visibility: Visibility) -> Self {
        Self {
            include_hidden: visibility == Visibility::All,
            amounts: (LOWEST.to_owned(), NO_PRICE.to_owned()),
            currencies: None,
            allowed: None,
            also_allowed: Vec::new(),
            labels: None,
            excluded_prices: None,
            matching: None,
        }
    }

    /// The visible products that satisfy the price conditions of a query and a filter. Exclusions
    /// are not part of it.
    pub(crate) fn of(
        visibility: Visibility,
        constraints: &[PriceConstraint],
        filter: &ProductFilter,
    ) -> Self {
        let price = |condition: &Condition| match condition {
            Condition::Price(constraint) => Some(constraint.clone()),
            Condition::Attribute(..) | Condition::Required(..) | Condition::Category(_) => None,
        };
        let required: Vec<PriceConstraint> =
            constraints.iter().cloned().chain(filter.all.iter().filter_map(price)).collect();
        let interval = PriceInterval::of(&required);
        // A price that cannot be parsed satisfies no condition.
        let above_all = if required.is_empty() { NO_PRICE } else { ABOVE_PRICES };
        let mut excluded = ExcludedPrices::default();
        for constraint in filter.none.iter().filter_map(price) {
            excluded.add(PriceInterval::of(&[constraint]));
        }
        Self {
            amounts: bounds(&interval, above_all),
            currencies: interval.currencies.as_deref().map(codes),
            labels: labels::tsquery(filter),
            excluded_prices: (!excluded.lowest.is_empty()).then_some(excluded),
            ..Self::visible(visibility)
        }
    }

    /// Whether it has no condition on prices, attributes or category.
    pub(super) fn has_no_conditions(&self) -> bool {
        let is_any_price = self.amounts.1 == NO_PRICE && self.excluded_prices.is_none();
        is_any_price && self.labels.is_none()
    }

    /// Whether it admits every visible product.
    pub(super) fn admits_all(&self) -> bool {
        self.has_no_conditions() && self.allowed.is_none() && self.matching.is_none()
    }

    /// The filter, restricted to a currency that it admits.
    pub(super) fn in_currency(&self, currency: String) -> Self {
        Self { currencies: Some(vec![currency]), ..self.clone() }
    }

    /// The filter, restricted to products that match a tsquery.
    pub(super) fn matching(&self, text: String) -> Self {
        Self { matching: Some(text), ..self.clone() }
    }

    /// The first parameters of a statement with this filter, up to `matching`.
    pub(super) fn values<'a>(&'a self, shop: &'a i64) -> [Value<'a>; 11] {
        static NONE: (Option<Vec<String>>, Option<Vec<Option<String>>>) = (None, None);
        let [lowest, highest, currencies]: [Value<'a>; 3] = match &self.excluded_prices {
            None => [&NONE.0, &NONE.0, &NONE.1],
            Some(excluded) => [&excluded.lowest, &excluded.highest, &excluded.currencies],
        };
        [
            shop,
            &self.include_hidden,
            &self.amounts.0,
            &self.amounts.1,
            &self.currencies,
            &self.allowed,
            &self.also_allowed,
            &self.labels,
            lowest,
            highest,
            currencies,
        ]
    }

    /// Lets products pass that satisfy the exclusions although they do not match `allowed`.
    pub(super) fn also_allow(&mut self, products: impl Iterator<Item = ProductId>) {
        self.also_allowed.extend(products.map(|id| id.get().cast_signed()));
    }
}

impl ExcludedPrices {
    fn add(&mut self, interval: PriceInterval) {
        let (lowest, highest) = bounds(&interval, ABOVE_PRICES);
        self.lowest.push(lowest);
        self.highest.push(highest);
        let currency = interval.currencies.as_deref().map(codes).and_then(|mut codes| codes.pop());
        self.currencies.push(currency);
    }
}

/// The amount below which there is no price.
const LOWEST: &str = "0";

/// Both ends of an interval of amounts.
fn bounds(interval: &PriceInterval, above_all: &str) -> (String, String) {
    (
        interval.least.map_or_else(|| LOWEST.to_owned(), |amount| amount.to_string()),
        interval.greatest.map_or_else(|| above_all.to_owned(), |amount| amount.to_string()),
    )
}

fn codes(currencies: &[catalog::product::currency::Currency]) -> Vec<String> {
    currencies.iter().map(|currency| currency.code().to_owned()).collect()
}
