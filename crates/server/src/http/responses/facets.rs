//! The facets in the response to a search.

use catalog::ranking::facets::{
    AttributeFacet, Bucket, Facet, FacetValue, Facets, NumberFacet, PriceFacet, ValueCount,
};
use rust_decimal::Decimal;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use store::NumberJson;
use utoipa::{
    ToSchema,
    openapi::{
        Ref,
        schema::{ObjectBuilder, OneOfBuilder, Type},
    },
};

use super::inferred::CategoryFacetBody;
use crate::http::json_schema::{boolean, described_reference, named_schema, reference, string};

/// The facets of a result by name, in the order of the request.
#[derive(Debug)]
pub struct FacetsBody(Vec<(String, FacetBody)>);

impl Serialize for FacetsBody {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, facet)| (name, facet)))
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum FacetBody {
    Attribute(AttributeFacetBody),
    Category(CategoryFacetBody),
    Price(Vec<PriceFacetBody>),
}

/// How results are distributed over the values of an attribute.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AttributeFacet)]
pub(crate) struct AttributeFacetBody {
    /// Strings and booleans with the number of results that have them, by descending count, then by
    /// value. Left out if all values are numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    values: Option<Vec<ValueCountBody>>,
    /// The number of results without the attribute.
    missing: usize,
    /// The least number, if results have numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = f64, nullable = false, required = false)]
    min: Option<NumberJson>,
    /// The greatest number, if results have numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = f64, nullable = false, required = false)]
    max: Option<NumberJson>,
    /// Adjacent ranges of numbers, ascending, if results have numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    histogram: Option<Vec<NumberBucketBody>>,
}

/// A value and the number of results that have it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ValueCount)]
pub(crate) struct ValueCountBody {
    /// The value, as most of these results write it.
    #[schema(schema_with = facet_value)]
    value: Value,
    /// How many results have it.
    count: usize,
}

/// How the prices in one currency are distributed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PriceFacet)]
pub(crate) struct PriceFacetBody {
    /// The currency, an ISO 4217 code.
    currency: String,
    /// The lowest price, an exact decimal.
    min: String,
    /// The highest price, an exact decimal.
    max: String,
    /// Adjacent ranges of prices, ascending.
    histogram: Vec<PriceBucketBody>,
}

/// The results with a number from `from` to below `to`; the last bucket includes `to`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NumberBucket)]
pub(crate) struct NumberBucketBody {
    /// The lower end.
    #[schema(value_type = f64)]
    from: NumberJson,
    /// The upper end.
    #[schema(value_type = f64)]
    to: NumberJson,
    /// How many results lie within.
    count: usize,
}

/// The results with a price from `from` to below `to`; the last bucket includes `to`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PriceBucket)]
pub(crate) struct PriceBucketBody {
    /// The lower end, an exact decimal.
    from: String,
    /// The upper end, an exact decimal.
    to: String,
    /// How many results lie within.
    count: usize,
}

impl From<&Facets> for FacetsBody {
    fn from(Facets(facets): &Facets) -> Self {
        let facet = |facet: &Facet| match facet {
            Facet::Attribute(facet) => FacetBody::Attribute(facet.into()),
            Facet::Category(facet) => FacetBody::Category(facet.into()),
            Facet::Price(facets) => FacetBody::Price(facets.iter().map(Into::into).collect()),
        };
        Self(facets.iter().map(|(field, found)| (field.name().to_owned(), facet(found))).collect())
    }
}

impl From<&AttributeFacet> for AttributeFacetBody {
    fn from(AttributeFacet { values, numbers, missing }: &AttributeFacet) -> Self {
        let has_numbers_only = values.is_empty() && numbers.is_some();
        let bucket = |Bucket { from, to, count }: &Bucket<f64>| NumberBucketBody {
            from: NumberJson(*from),
            to: NumberJson(*to),
            count: *count,
        };
        let numbers = numbers.as_ref();
        Self {
            values: (!has_numbers_only).then(|| values.iter().map(Into::into).collect()),
            missing: *missing,
            min: numbers.map(|NumberFacet { min, .. }| NumberJson(*min)),
            max: numbers.map(|NumberFacet { max, .. }| NumberJson(*max)),
            histogram: numbers.map(|facet| facet.histogram.iter().map(bucket).collect()),
        }
    }
}

impl From<&ValueCount> for ValueCountBody {
    fn from(ValueCount { value, count }: &ValueCount) -> Self {
        let value = match value {
            FacetValue::Boolean(value) => json!(value),
            FacetValue::Text(text) => json!(text),
        };
        Self { value, count: *count }
    }
}

impl From<&PriceFacet> for PriceFacetBody {
    fn from(PriceFacet { currency, min, max, histogram }: &PriceFacet) -> Self {
        let bucket = |Bucket { from, to, count }: &Bucket<Decimal>| PriceBucketBody {
            from: amount(*from),
            to: amount(*to),
            count: *count,
        };
        Self {
            currency: currency.code().to_owned(),
            min: amount(*min),
            max: amount(*max),
            histogram: histogram.iter().map(bucket).collect(),
        }
    }
}

fn amount(amount: Decimal) -> String {
    amount.normalize().to_string()
}

fn facet_value() -> OneOfBuilder {
    OneOfBuilder::new()
        .item(string(""))
        .item(boolean("", None))
        .description(Some("The value, as most of these results write it."))
}

/// The schema of the field with facets.
pub(super) fn facets_field() -> Ref {
    described_reference(
        "Facets",
        "The requested facets, by name. Counts are over all results, not over a page. A condition of \
         `filter` does not restrict the facet of its own attribute.",
    )
}

pub(super) fn facets_example() -> Value {
    json!({"color": {"values": [{"value": "green", "count": 1}], "missing": 0},
        "price": [{"currency": "USD", "min": "899", "max": "899",
            "histogram": [{"from": "899", "to": "899", "count": 1}]}]})
}

mod schema {
    use super::*;

    named_schema!(
        /// The facets of a result.
        Facets,
        ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some(
                "How results are distributed: `price` by currency, the most frequent one first, \
                 `category` by the categories directly below what results have in common or are \
                 filtered by, and attributes by value."
            ))
            .property("category", reference("CategoryFacet"))
            .property(
                "price",
                utoipa::openapi::schema::ArrayBuilder::new()
                    .items(reference("PriceFacet"))
                    .description(Some("Prices, one entry for each currency, the most frequent one first."))
            )
            .additional_properties(Some(reference("AttributeFacet")))
    );
}
pub(crate) use schema::Facets as FacetsSchema;

#[cfg(test)]
mod tests {
    use catalog::{
        product::{attributes::AttributeName, currency::Currency},
        ranking::facets::FacetField,
    };

    use super::*;

    fn written(facet: AttributeFacet) -> Value {
        json!(AttributeFacetBody::from(&facet))
    }

    #[test]
    fn an_attribute_has_values_or_numbers_or_both() {
        let count = |value, count| ValueCount { value, count };
        let values =
            vec![count(FacetValue::Text("green".into()), 2), count(FacetValue::Boolean(true), 1)];
        let numbers = NumberFacet {
            min: 1.0,
            max: 2.5,
            histogram: vec![Bucket { from: 1.0, to: 2.5, count: 3 }],
        };
        let range =
            json!({"min": 1, "max": 2.5, "histogram": [{"from": 1, "to": 2.5, "count": 3}]});
        assert_eq!(written(AttributeFacet::default()), json!({"values": [], "missing": 0}));
        let mut only_numbers = range.clone();
        only_numbers["missing"] = json!(4);
        let facet = AttributeFacet { numbers: Some(numbers.clone()), missing: 4, values: vec![] };
        assert_eq!(written(facet).to_string(), only_numbers.to_string());
        let mut both = only_numbers;
        both["values"] = json!([{"value": "green", "count": 2}, {"value": true, "count": 1}]);
        assert_eq!(written(AttributeFacet { numbers: Some(numbers), missing: 4, values }), both);
    }

    #[test]
    fn facets_are_written_in_the_order_of_the_request_with_exact_amounts() {
        let amount = |text: &str| text.parse::<Decimal>().unwrap();
        let price = PriceFacet {
            currency: Currency::EUR,
            min: amount("5.00"),
            max: amount("7.50"),
            histogram: vec![Bucket { from: amount("5"), to: amount("7.5"), count: 2 }],
        };
        let size = FacetField::Attribute(AttributeName::parse("size").unwrap());
        let facets = Facets(vec![
            (size, Facet::Attribute(AttributeFacet::default())),
            (FacetField::Price, Facet::Price(vec![price])),
        ]);
        assert_eq!(
            serde_json::to_string(&FacetsBody::from(&facets)).unwrap(),
            r#"{"size":{"values":[],"missing":0},"price":[{"currency":"EUR","min":"5","max":"7.5","histogram":[{"from":"5","to":"7.5","count":2}]}]}"#
        );
    }
}
