//! Facets that PostgreSQL counts, over the products that pass a filter.

use std::collections::BTreeSet;

use catalog::{
    product::{
        attributes::{AttributeName, Number},
        currency::Currency,
        inferred::CategoryIndex,
        price::Money,
    },
    query::filter::FoldedText,
    ranking::facets::{AttributeCounts, CategoryCounts, Facet, FacetField, PriceCounts},
};
use embed::inference::taxonomy;

use super::{
    row_filter::RowFilter,
    rows::CATEGORY,
    snapshot::{CountedValue, SearchSnapshot},
};
use crate::StoreError;

/// The facets of the newest `most` products that pass a filter, in the order of `fields`, each with
/// at most `limit` values. `category` is the one whose children are counted, if a filter names one.
pub(super) fn count(
    snapshot: &SearchSnapshot<'_>,
    filter: &RowFilter,
    fields: &[&FacetField],
    category: Option<CategoryIndex>,
    limit: usize,
    most: i64,
) -> Result<Vec<Facet>, StoreError> {
    let names: BTreeSet<&str> = fields.iter().filter_map(|field| counted_name(field)).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let found = match names.is_empty() {
        true => Vec::new(),
        false => snapshot.count_values(filter, &names, most)?,
    };
    let values: Vec<(String, Value)> = found.into_iter().filter_map(Value::of).collect();
    let facet = |field: &&FacetField| match field {
        FacetField::Price => count_prices(snapshot, filter, most),
        FacetField::Category => Ok(category_facet(&values, category, limit)),
        FacetField::Attribute(name) => Ok(attribute_facet(&values, name, limit)),
    };
    fields.iter().map(facet).collect()
}

/// The name in `search_rows.attributes`.
fn counted_name(field: &FacetField) -> Option<&str> {
    match field {
        FacetField::Attribute(name) => Some(name.as_str()),
        FacetField::Category => Some(CATEGORY),
        FacetField::Price => None,
    }
}

fn attribute_facet(values: &[(String, Value)], name: &AttributeName, limit: usize) -> Facet {
    let values = || values.iter().filter(|(other, _)| other == name.as_str());
    let mut counts = AttributeCounts::default();
    for (_, value) in values() {
        match value {
            Value::Missing(products) => counts.add_missing(*products),
            Value::Boolean(boolean, products) => counts.add_boolean(*boolean, *products),
            Value::Number(number, products) => counts.add_number(*number, *products),
            Value::Text { written, folded, products, .. } => {
                counts.add_text(folded.as_str(), written, *products);
            }
        }
    }
    for (_, value) in values() {
        if let Value::Text { folded, products, is_further: true, .. } = value {
            (0..*products).for_each(|_| counts.repeated(folded.as_str()));
        }
    }
    counts.finish(limit)
}

fn category_facet(
    values: &[(String, Value)],
    required: Option<CategoryIndex>,
    limit: usize,
) -> Facet {
    let mut counts = CategoryCounts::new(taxonomy(), required);
    for (_, value) in values.iter().filter(|(name, _)| name == CATEGORY) {
        match value {
            Value::Text { written, products, .. } => {
                counts.add(taxonomy().with_id(written), *products);
            }
            Value::Missing(products) | Value::Boolean(_, products) | Value::Number(_, products) => {
                counts.add(None, *products)
            }
        }
    }
    counts.finish(limit)
}

/// A value and how many products have it.
enum Value {
    Missing(usize),
    Boolean(bool, usize),
    Number(Number, usize),
    Text {
        written: String,
        folded: FoldedText,
        products: usize,
        /// Whether these products are counted for another spelling of the string too.
        is_further: bool,
    },
}

impl Value {
    /// A value and its attribute; `None` for one that cannot be decoded.
    fn of(counted: CountedValue) -> Option<(String, Self)> {
        let CountedValue { attribute, kind, value, products } = counted;
        if kind == "null" {
            return Some((attribute, Self::Missing(products)));
        }
        let value = value?;
        let text = |written: String, is_further| {
            let folded = FoldedText::of(&written);
            Self::Text { written, folded, products, is_further }
        };
        let value = match &*kind {
            "boolean" => Self::Boolean(value == "true", products),
            "number" => Self::Number(value.parse().ok().and_then(Number::new)?, products),
            "string" => text(value, false),
            "array" => {
                let [written] = serde_json::from_str::<[String; 1]>(&value).ok()?;
                text(written, true)
            }
            _ => return None,
        };
        Some((attribute, value))
    }
}

fn count_prices(
    snapshot: &SearchSnapshot<'_>,
    filter: &RowFilter,
    most: i64,
) -> Result<Facet, StoreError> {
    let mut counts = PriceCounts::default();
    for (currency, amount, products) in snapshot.count_prices(filter, most)? {
        if let (Some(currency), Ok(amount)) = (Currency::from_code(&currency), amount.parse()) {
            let price = Money { amount, currency };
            (0..products).for_each(|_| counts.add(price));
        }
    }
    Ok(counts.finish())
}
