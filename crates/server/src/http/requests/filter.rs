//! Conditions on products as data, what to count, and in which order to answer.

#[cfg(test)]
mod tests;

use catalog::{
    product::{
        attributes::{AttributeName, InvalidName, RESERVED_NAMES},
        currency::Currency,
        inferred::CategoryIndex,
        price::{MAX_DECIMALS, MAX_WHOLE_DIGITS},
    },
    query::{
        filter::{AttributeTest, Condition, FoldedText, MAX_CONDITIONS, MAX_VALUES, ProductFilter},
        parser::PriceConstraint,
        sort::Sort,
    },
    ranking::facets::{FacetField, MAX_FACETS},
};
use embed::inference::taxonomy;
use rust_decimal::Decimal;
use serde_json::{Map, Value, json};
use utoipa::openapi::{
    RefOr, Schema,
    extensions::Extensions,
    schema::{AnyOfBuilder, ObjectBuilder, Type},
};

use super::{
    fields::{
        Fields, Invalid, ObjectDefinition, Read, Rule, both, entries, list, number, object,
        request_bodies, text,
    },
    merchant_data::{first_repeated, repeated, value_text, value_texts_schema},
};
use crate::http::json_schema::{
    array, described_reference, formatted, name_except, named_schema, reference, sort_except,
    string,
};

/// The reserved names that filters and facets do not know either.
const UNKNOWN_NAMES: [&str; 4] = ["id", "hidden", "query", "sort"];

const FILTER: &str = "Conditions on price, category and attributes, all of which must hold. With a \
                      filter, `query` may be left out or blank: all products that match, newest \
                      first.";

const CATEGORIES: &str = "One of these categories or one below, by id (`fr-22`) or by its whole path \
                          (`Furniture > Sofas`).";

/// Prices within bounds.
pub(crate) struct PriceRange;
/// Numbers within bounds.
pub(crate) struct NumberRange;

request_bodies!(PriceRange, NumberRange);

impl<'a> ObjectDefinition<'a> for PriceRange {
    type Value = PriceConstraint;

    fn define(fields: &mut Fields<'a>) -> Option<PriceConstraint> {
        let about = "Prices from `min` to `max`, both included. Every part may be left out.";
        fields.about(about, || Some(json!({"min": "10", "max": "49.99", "currency": "USD"})));
        let min = fields.optional("min", amount("The lowest price."));
        let max = fields.optional("max", amount("The highest price."));
        let currency = fields.optional("currency", currency());
        reject_crossed(fields, min, max);
        Some(PriceConstraint::between(min, max, currency))
    }
}

impl<'a> ObjectDefinition<'a> for NumberRange {
    type Value = AttributeTest;

    fn define(fields: &mut Fields<'a>) -> Option<AttributeTest> {
        let about = "Numbers from `min` to `max`, both included. Either may be left out.";
        fields.about(about, || Some(json!({"min": 2, "max": 4})));
        let min = fields.optional("min", number("The least number."));
        let max = fields.optional("max", number("The greatest number."));
        reject_crossed(fields, min, max);
        Some(AttributeTest::Between { min, max })
    }
}

fn reject_crossed<T: PartialOrd>(fields: &mut Fields<'_>, min: Option<T>, max: Option<T>) {
    if min.zip(max).is_some_and(|(min, max)| min > max) {
        fields.reject("min", Invalid::new("out_of_range", "must not be above max"));
    }
}

/// The filter of a search.
pub(super) fn filter<'a>() -> Rule<'a, ProductFilter> {
    let schema = || described_reference("Filter", FILTER);
    // One entry more for `not`, whose conditions are counted with the others below.
    let Rule { read, schema } = entries(MAX_CONDITIONS + 1, entry, schema);
    let read = move |value| {
        let mut filter = ProductFilter::default();
        for entry in read(value)? {
            match entry {
                Entry::Condition(condition) => filter.all.push(condition),
                Entry::Not(conditions) => filter.none = conditions,
            }
        }
        if filter.all.len() + filter.none.len() > MAX_CONDITIONS {
            let message = format!("must have at most {MAX_CONDITIONS} conditions");
            return Err(Invalid::new("too_many", message).into());
        }
        Ok(filter)
    };
    Rule { read: Box::new(read), schema }
}

enum Entry {
    Condition(Condition),
    Not(Vec<Condition>),
}

fn entry<'a>(name: &'a str, value: &'a Value) -> Read<Entry> {
    match name {
        "not" => {
            let exclusions = entries(MAX_CONDITIONS, condition, ObjectBuilder::new);
            (exclusions.read)(value).map(Entry::Not)
        }
        _ => condition(name, value).map(Entry::Condition),
    }
}

fn condition<'a>(name: &'a str, value: &'a Value) -> Read<Condition> {
    if name == "price" {
        return (object::<PriceRange>("PriceRange").read)(value).map(Condition::Price);
    }
    if name == "category" {
        let categories = (categories().read)(value)?;
        return Ok(Condition::within(taxonomy(), &categories));
    }
    let name = attribute_name(name).map_err(Into::into);
    let (name, test) = both(name, attribute_test(value))?;
    Ok(Condition::Attribute(name, test))
}

fn attribute_test(value: &Value) -> Read<AttributeTest> {
    match value {
        Value::Bool(wanted) => Ok(AttributeTest::Is(*wanted)),
        Value::Object(_) => (object::<NumberRange>("NumberRange").read)(value),
        Value::Array(_) => {
            let texts = (list("", 1, MAX_VALUES, value_text()).read)(value)?;
            let mut folded: Vec<_> = texts.iter().map(|text| FoldedText::of(text)).collect();
            folded.sort();
            folded.dedup();
            Ok(AttributeTest::AnyOf(folded))
        }
        other => {
            let expected = "an array of strings, true, false or an object with min and max";
            Err(Invalid::wrong_type(expected, other).into())
        }
    }
}

/// The name of an attribute in a filter or facet.
fn attribute_name(raw: &str) -> Result<AttributeName, Invalid> {
    AttributeName::parse(raw).map_err(|why: InvalidName| Invalid::new("invalid_name", why))
}

/// Categories, by id or path.
fn categories<'a>() -> Rule<'a, Vec<CategoryIndex>> {
    let parse = |raw: &str| {
        taxonomy().parse(raw).ok_or_else(|| {
            let message = "must be the id of a category, such as \"fr-22\", or its whole path, such \
                           as \"Furniture > Sofas\"";
            Invalid::new("unknown_category", message)
        })
    };
    list(CATEGORIES, 1, MAX_VALUES, text(parse, category_id))
}

fn category_id() -> ObjectBuilder {
    formatted("category", "").min_length(Some(1)).examples(["fr-22"])
}

/// An amount as a decimal string. A JSON number is read by its decimal text.
fn amount(about: &str) -> Rule<'_, Decimal> {
    let read = |value: &Value| match value {
        Value::String(raw) => parse_amount(raw).map_err(Into::into),
        Value::Number(number) => parse_amount(&number.to_string()).map_err(Into::into),
        other => Err(Invalid::wrong_type("a decimal string, such as \"49.99\"", other).into()),
    };
    Rule::new(read, move || {
        string(&format!("{about} A JSON number is read by its decimal text."))
            .pattern(Some(format!(
                r"^[0-9]{{1,{MAX_WHOLE_DIGITS}}}(?:\.[0-9]{{1,{MAX_DECIMALS}}})?$"
            )))
            .examples(["49.99"])
    })
}

/// Parses an amount that a price may have.
fn parse_amount(raw: &str) -> Result<Decimal, Invalid> {
    let (whole, decimals) = raw.split_once('.').unwrap_or((raw, "0"));
    let is_digits = |text: &str, max: usize| {
        (1..=max).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let amount = match is_digits(whole, MAX_WHOLE_DIGITS) && is_digits(decimals, MAX_DECIMALS) {
        true => raw.parse().ok(),
        false => None,
    };
    amount.ok_or_else(|| {
        let message = format!(
            "must be an amount such as \"49.99\": at most {MAX_WHOLE_DIGITS} digits, and {MAX_DECIMALS} \
             after a point"
        );
        Invalid::new("invalid_amount", message)
    })
}

fn currency<'a>() -> Rule<'a, Currency> {
    let unknown = || Invalid::new("unknown_currency", "must be an ISO 4217 code, such as USD");
    let about = "Only prices in this currency, an ISO 4217 code; otherwise the amount in any.";
    text(
        move |raw| Currency::from_code(raw).ok_or_else(unknown),
        move || {
            formatted("currency", about).min_length(Some(3)).max_length(Some(3)).examples(["USD"])
        },
    )
}

/// What to count, each once.
pub(super) fn facets<'a>() -> Rule<'a, Vec<FacetField>> {
    let about = "What to count over all results, each name once: `category`, `price` or the name of an \
         attribute, stated or inferred.";
    let field = |raw: &str| match raw {
        "price" => Ok(FacetField::Price),
        "category" => Ok(FacetField::Category),
        _ => attribute_name(raw).map(FacetField::Attribute),
    };
    let Rule { read, .. } = list(about, 1, MAX_FACETS, text(field, facet_name));
    let read = move |value| {
        let fields = read(value)?;
        first_repeated(&fields).map_or(Ok(fields), |index| Err(repeated(index).into()))
    };
    Rule::new(read, move || array(about, facet_name(), 1, MAX_FACETS).unique_items(true))
}

fn facet_name() -> ObjectBuilder {
    let unknown = [&UNKNOWN_NAMES[..], &["not"]].concat();
    string("").pattern(Some(name_except(&unknown))).examples(["color"])
}

/// The order of products.
pub(super) fn sort<'a>(about: &'a str) -> Rule<'a, Sort> {
    text(parse_sort, move || sort_schema(about))
}

pub(super) fn parse_sort(raw: &str) -> Result<Sort, Invalid> {
    Sort::parse(raw).map_err(|why| Invalid::new("invalid_sort", why))
}

pub(super) fn sort_schema(about: &str) -> ObjectBuilder {
    let reserved: Vec<_> = RESERVED_NAMES.into_iter().filter(|name| *name != "price").collect();
    string(about).pattern(Some(sort_except(&reserved))).examples(["-price"])
}

/// The schema of conditions by name. Generators of clients see one type for all names, which the
/// types of `price` and `not` must fit; validators see the type of each name.
fn conditions(about: &str, named: &[(&str, RefOr<Schema>)]) -> ObjectBuilder {
    let tests = || {
        AnyOfBuilder::new()
            .item(value_texts_schema(
                "One of these strings, whatever their case and accents.",
                MAX_VALUES,
            ))
            .item(ObjectBuilder::new().schema_type(Type::Boolean))
            .item(reference("NumberRange"))
    };
    let any = named.iter().fold(tests(), |any, (_, schema)| any.item(schema.clone()));
    let names: Vec<_> = named.iter().map(|(name, _)| *name).chain(UNKNOWN_NAMES).collect();
    let others =
        Map::from_iter([(name_except(&[&names[..], &["not"]].concat()), json!(tests().build()))]);
    let known: Vec<_> = match named.iter().any(|(name, _)| *name == "not") {
        true => UNKNOWN_NAMES.to_vec(),
        false => [&UNKNOWN_NAMES[..], &["not"]].concat(),
    };
    let object = ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some(about))
        .max_properties(Some(MAX_CONDITIONS))
        .property_names(Some(string("").pattern(Some(name_except(&known)))))
        .additional_properties(Some(RefOr::<Schema>::from(any)))
        .extensions(Some(Extensions::from_iter([("patternProperties", Value::Object(others))])));
    named.iter().fold(object, |object, (name, schema)| object.property(*name, schema.clone()))
}

fn categories_schema() -> RefOr<Schema> {
    array(CATEGORIES, category_id(), 1, MAX_VALUES).into()
}

mod schema {
    use super::*;

    named_schema!(
        /// What must not hold for a product.
        Exclusions,
        conditions(
            "Conditions, none of which may hold. A product without an attribute satisfies no condition \
             on it.",
            &[("price", reference("PriceRange")), ("category", categories_schema())],
        )
    );

    named_schema!(
        /// The filter of a search.
        Filter,
        conditions(
            "Conditions by name, all of which must hold, at most 50 with those of `not`: `price` with \
             a range; `category` with an array of ids; any attribute with an array of strings (one of \
             them, whatever their case and accents), with a boolean, or with a range for numbers; `not` \
             with conditions in the same form, none of which may hold. Where the merchant states no \
             `color`, `material`, `pattern`, `audience` or `size`, what the texts state counts, and a \
             shade stands for its base color. A product without an attribute satisfies no condition on \
             it; values of another type than the condition's are ignored.",
            &[
                ("price", reference("PriceRange")),
                ("category", categories_schema()),
                ("not", reference("Exclusions")),
            ],
        )
        .examples([json!({"price": {"max": "900", "currency": "USD"}, "color": ["green", "grey"],
            "in_stock": true, "seats": {"min": 2}, "not": {"material": ["leather"]}})])
    );
}
pub(crate) use schema::{Exclusions, Filter};
