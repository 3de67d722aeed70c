//! How is a rule of the service written in JSON Schema? Small words that schemas are made of.

use serde_json::{Map, Value, json};
use utoipa::openapi::{
    Ref, RefOr, Schema,
    extensions::Extensions,
    schema::{
        AdditionalProperties, ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, SchemaType,
        Type,
    },
};

/// What `char::is_whitespace` accepts, as members of a character class.
const WHITE: &str = r"\t-\r \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000";
/// The same without control characters, which most fields refuse.
const PRINTED_WHITE: &str = r" \u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000";
/// What `char::is_control` accepts, as members of a character class.
const CONTROL: &str = r"\u0000-\u001F\u007F-\u009F";

/// Text without control characters, newlines and tabs apart.
pub(super) fn plain_text() -> String {
    format!(r"^(?:[^{CONTROL}]|\t|\r?\n)*$")
}

/// Plain text with something in it besides white space.
pub(super) fn plain_text_not_blank() -> String {
    format!(
        r"^(?:[{PRINTED_WHITE}]|\t|\r?\n)*[^{CONTROL}{PRINTED_WHITE}](?:[^{CONTROL}]|\t|\r?\n)*$"
    )
}

/// Any text with something in it besides white space.
pub(super) fn not_blank() -> String {
    format!("[^{WHITE}]")
}

/// Whole numbers with commas in between, or nothing.
pub(super) fn comma_separated(most: usize) -> String {
    let number = format!("[{WHITE}]*[+-]?[0-9]+[{WHITE}]*");
    format!("^(?:[{WHITE}]*|{number}(?:,{number}){{0,{}}})$", most - 1)
}

/// Visible ASCII, with spaces inside at the most.
pub(super) fn header_text() -> &'static str {
    "^[!-~](?:[ -~]*[!-~])?$"
}

pub(super) fn string(description: &str) -> ObjectBuilder {
    described(Type::String, description)
}

/// A string of a kind that has a name and no pattern.
pub(super) fn formatted(format: &str, description: &str) -> ObjectBuilder {
    string(description).format(Some(SchemaFormat::Custom(format.to_owned())))
}

pub(super) fn one_of(values: impl IntoIterator<Item = &'static str>) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(values))
}

pub(super) fn boolean(description: &str, default: bool) -> ObjectBuilder {
    described(Type::Boolean, description).default(Some(json!(default)))
}

pub(super) fn integer(description: &str, min: usize, max: usize) -> ObjectBuilder {
    described(Type::Integer, description)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(min))
        .maximum(Some(max))
}

/// The number of a product, shop or token.
pub(super) fn id(description: &str) -> ObjectBuilder {
    integer(description, 1, i64::MAX as usize)
}

/// Any value at all.
pub(super) fn anything(description: &str) -> ObjectBuilder {
    described(SchemaType::AnyValue, description)
}

/// An object with the properties it is given and no others.
pub(super) fn closed_object(description: &str) -> ObjectBuilder {
    described(Type::Object, description)
        .additional_properties(Some(AdditionalProperties::FreeForm(false)))
}

pub(super) fn array(
    description: &str,
    items: impl Into<RefOr<Schema>>,
    min: usize,
    max: usize,
) -> ArrayBuilder {
    ArrayBuilder::new()
        .items(items.into())
        .description(Some(description))
        .min_items((min > 0).then_some(min))
        .max_items(Some(max))
}

/// The keyword that asks for at least one of these properties, said as "not all of them missing":
/// unlike a choice between objects, it leaves an object an object for those who make code of it.
/// The builder of objects has no word for it, but writes its extensions as they are.
pub(super) fn any_property_of(names: &[&str]) -> Option<Extensions> {
    let missing: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!({"not": {}}))).collect();
    Some(Extensions::from_iter([("not", json!({"properties": missing}))]))
}

pub(super) fn schema_named(name: &str) -> RefOr<Schema> {
    RefOr::Ref(Ref::from_schema_name(name))
}

fn described(kind: impl Into<SchemaType>, description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(kind)
        .description((!description.is_empty()).then_some(description))
}
