//! Facets: how the products of a result are distributed over the values of an attribute, over
//! prices or over categories. [`AttributeCounts`], [`PriceCounts`] and [`CategoryCounts`] collect
//! what the products of a result have, and turn it into a facet.

mod categories;
mod counts;
mod histogram;

use rust_decimal::Decimal;

use crate::product::{
    attributes::AttributeName,
    currency::Currency,
    inferred::{Attribute, CategoryIndex},
};

pub use self::{
    categories::CategoryCounts,
    counts::{AttributeCounts, PriceCounts},
};

/// The most facets of a request.
pub const MAX_FACETS: usize = 20;
/// The most values of a facet that a request may ask for.
pub const MAX_FACET_LIMIT: usize = 100;
/// The values of a facet by default.
pub const DEFAULT_FACET_LIMIT: usize = 20;

/// What a facet counts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FacetField {
    /// The price, by currency.
    Price,
    /// The category.
    Category,
    /// An attribute, the merchant's or inferred.
    Attribute(AttributeName),
}

impl FacetField {
    /// Whether it counts what is inferred.
    pub fn uses_inference(&self) -> bool {
        match self {
            Self::Price => false,
            Self::Category => true,
            Self::Attribute(name) => Attribute::by_name(name.as_str()).is_some(),
        }
    }

    /// The name in requests and responses.
    pub fn name(&self) -> &str {
        match self {
            Self::Price => "price",
            Self::Category => "category",
            Self::Attribute(name) => name.as_str(),
        }
    }
}

/// The facets of a result, in the order of the request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facets(pub Vec<(FacetField, Facet)>);

/// The counts of one facet.
#[derive(Clone, Debug, PartialEq)]
pub enum Facet {
    /// Of an attribute.
    Attribute(AttributeFacet),
    /// Of prices, one for each currency; the most frequent currency first.
    Price(Vec<PriceFacet>),
    /// Of categories.
    Category(CategoryFacet),
}

/// The counts of the categories directly below one: the required one, or the deepest that all
/// products of the result have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CategoryFacet {
    /// The category whose children are counted; `None` counts the roots of the taxonomy.
    pub parent: Option<CategoryIndex>,
    /// Its children that have products, by descending count, then by id.
    pub values: Vec<CategoryCount>,
    /// Products without a category.
    pub missing: usize,
}

/// The number of products of a category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CategoryCount {
    /// The category.
    pub category: CategoryIndex,
    /// How many products belong to it or to a category below it.
    pub count: usize,
}

/// The counts of an attribute. A name may have values of several types.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttributeFacet {
    /// Strings and booleans, by descending count, then by value.
    pub values: Vec<ValueCount>,
    /// The distribution of numbers, if there are any.
    pub numbers: Option<NumberFacet>,
    /// Products without the attribute.
    pub missing: usize,
}

/// The number of products with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueCount {
    /// The value.
    pub value: FacetValue,
    /// How many products have it.
    pub count: usize,
}

/// A value that is counted on its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FacetValue {
    /// A boolean.
    Boolean(bool),
    /// A string, as most of its products write it.
    Text(Box<str>),
}

/// The distribution of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberFacet {
    /// The least number.
    pub min: f64,
    /// The greatest number.
    pub max: f64,
    /// Adjacent buckets, ascending, that contain all numbers.
    pub histogram: Vec<Bucket<f64>>,
}

/// The distribution of the prices in one currency.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceFacet {
    /// The currency.
    pub currency: Currency,
    /// The lowest price.
    pub min: Decimal,
    /// The highest price.
    pub max: Decimal,
    /// Adjacent buckets, ascending, that contain all prices.
    pub histogram: Vec<Bucket<Decimal>>,
}

/// A bucket of a histogram: from `from` to below `to`; the last one includes `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket<T> {
    /// The lower end.
    pub from: T,
    /// The upper end.
    pub to: T,
    /// How many products lie within.
    pub count: usize,
}
