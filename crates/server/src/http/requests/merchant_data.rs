//! The fields of a product for the merchant's own data: key, page and attributes.

use catalog::product::{
    attributes::{
        AttributeName, AttributeValue, Attributes, MAX_ATTRIBUTES, MAX_STRINGS, MAX_VALUE_CHARS,
        RESERVED_NAMES,
    },
    http_url::{MAX_PRODUCT_URL_CHARS, ProductUrl},
    key::{Key, MAX_KEY_CHARS},
};
use serde_json::{Value, json};
use utoipa::openapi::{
    RefOr, Schema,
    schema::{ArrayBuilder, ObjectBuilder, OneOfBuilder, Type},
};

use super::fields::{Invalid, Read, Rule, both, entries, list, read_number, text};
use crate::http::json_schema::{
    array, described_reference, formatted, name_except, named_schema, one_line, plain_text, string,
};

const KEY: &str = "Your own identifier of the product, such as a SKU or a handle: unique within the \
                   shop, compared byte for byte, without control characters.";
const URL: &str = "The absolute http or https address of the product's page, kept as written and \
                   never fetched.";
const ATTRIBUTES: &str = "What you state about the product, by name, in place of all that was there: \
                          filters, facets and orders use it, and its strings are searched.";

/// The key of a product that is created or named.
pub(super) fn key<'a>() -> Rule<'a, Key> {
    text(Key::parse, || key_schema(KEY, 1))
}

/// The key in an update; the empty string removes it.
pub(super) fn changed_key<'a>() -> Rule<'a, Option<Key>> {
    text(removable(Key::parse), || key_schema(&format!("{KEY} `\"\"` removes it."), 0))
}

/// The page of a product that is created.
pub(super) fn url<'a>() -> Rule<'a, ProductUrl> {
    text(parse_url, || url_schema(URL))
}

/// The page in an update; the empty string removes it.
pub(super) fn changed_url<'a>() -> Rule<'a, Option<ProductUrl>> {
    text(removable(parse_url), || url_schema(&format!("{URL} `\"\"` removes it.")))
}

/// The attributes of a product.
pub(super) fn attributes<'a>() -> Rule<'a, Attributes> {
    let schema = || described_reference("Attributes", ATTRIBUTES);
    let Rule { read, schema } = entries(MAX_ATTRIBUTES, attribute, schema);
    Rule { read: Box::new(move |value| read(value).map(Attributes::new)), schema }
}

/// The names and values of examples.
pub(crate) fn attributes_example() -> Value {
    json!({"brand": "Hygge", "color": ["green", "grey"], "seats": 3, "in_stock": true})
}

fn removable<T, E>(parse: impl Fn(&str) -> Result<T, E>) -> impl Fn(&str) -> Result<Option<T>, E> {
    move |raw| if raw.is_empty() { Ok(None) } else { parse(raw).map(Some) }
}

fn parse_url(raw: &str) -> Result<ProductUrl, Invalid> {
    ProductUrl::parse(raw).map_err(|why| Invalid::new("invalid_url", why))
}

pub(super) fn key_schema(about: &str, min: usize) -> ObjectBuilder {
    string(about)
        .min_length((min > 0).then_some(min))
        .max_length(Some(MAX_KEY_CHARS))
        .pattern(Some(one_line()))
        .examples(["SOFA-3-GREEN"])
}

fn url_schema(about: &str) -> ObjectBuilder {
    formatted("http-url", about)
        .max_length(Some(MAX_PRODUCT_URL_CHARS))
        .examples(["https://example.com/linen-sofa"])
}

fn attribute(name: &str, value: &Value) -> Read<(AttributeName, AttributeValue)> {
    let name = AttributeName::parse(name).map_err(|why| Invalid::new("invalid_name", why).into());
    both(name, attribute_value(value))
}

fn attribute_value(value: &Value) -> Read<AttributeValue> {
    match value {
        Value::String(_) => (value_text().read)(value).map(AttributeValue::Text),
        Value::Number(_) => read_number(value).map(AttributeValue::Number),
        Value::Bool(value) => Ok(AttributeValue::Boolean(*value)),
        Value::Array(_) => {
            let texts = (list("", 1, MAX_STRINGS, value_text()).read)(value)?;
            match first_repeated(&texts) {
                None => Ok(AttributeValue::Texts(texts.into())),
                Some(index) => Err(repeated(index).into()),
            }
        }
        other => Err(Invalid::wrong_type(
            "a string, a number, true, false or an array of strings",
            other,
        )
        .into()),
    }
}

/// A string value of an attribute, in products and in filters.
pub(super) fn value_text<'a>() -> Rule<'a, Box<str>> {
    text(AttributeValue::parse_text, value_text_schema)
}

fn value_text_schema() -> ObjectBuilder {
    string("").min_length(Some(1)).max_length(Some(MAX_VALUE_CHARS)).pattern(Some(plain_text()))
}

/// The index of the first element that equals an earlier one.
pub(super) fn first_repeated<T: PartialEq>(elements: &[T]) -> Option<usize> {
    (1..elements.len()).find(|index| elements[..*index].contains(&elements[*index]))
}

/// The error of an element that equals an earlier one.
pub(super) fn repeated(index: usize) -> Invalid {
    Invalid { path: format!("[{index}]"), ..Invalid::new("repeated", "must be given once") }
}

/// An array of strings, as the value of an attribute or in a filter.
pub(super) fn value_texts_schema(about: &str, max: usize) -> ArrayBuilder {
    array(about, RefOr::<Schema>::from(value_text_schema()), 1, max)
}

mod schema {
    use super::*;

    named_schema!(
        /// The attributes of a product.
        Attributes,
        ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some(
                "What the merchant states about a product, by name. A name has 1 to 40 characters of \
                 `a-z`, `0-9` and `_` and starts with a letter; `id`, `price`, `hidden`, `category`, \
                 `query`, `sort` and `not` are reserved. A value is a string, a number, a boolean, or an \
                 array of different strings. Numbers keep 15 significant digits."
            ))
            .max_properties(Some(MAX_ATTRIBUTES))
            .property_names(Some(string("").pattern(Some(name_except(&RESERVED_NAMES)))))
            .additional_properties(Some(RefOr::<Schema>::from(
                OneOfBuilder::new()
                    .item(value_text_schema())
                    .item(ObjectBuilder::new().schema_type(Type::Number))
                    .item(ObjectBuilder::new().schema_type(Type::Boolean))
                    .item(value_texts_schema("", MAX_STRINGS).unique_items(true))
            )))
            .examples([attributes_example()])
    );
}
pub(crate) use schema::Attributes as AttributesSchema;
