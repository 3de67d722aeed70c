//! Builders for the JSON Schemas of the OpenAPI document.

use serde_json::{Map, Value, json};
use utoipa::openapi::{
    Ref, RefOr, Schema,
    extensions::Extensions,
    schema::{
        AdditionalProperties, ArrayBuilder, KnownFormat, ObjectBuilder, RefBuilder, SchemaFormat,
        SchemaType, Type,
    },
};

/// The characters of `char::is_whitespace`, as members of a character class.
const WHITE: &str = r"\t-\r \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000";
/// The same without control characters, which most fields reject.
const PRINTED_WHITE: &str = r" \u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000";
/// The characters of `char::is_control`, as members of a character class.
const CONTROL: &str = r"\u0000-\u001F\u007F-\u009F";

/// The characters of an attribute's name.
const NAME: &str = "[a-z][a-z0-9_]{0,39}";

/// The pattern of text without control characters other than newlines and tabs.
pub(crate) fn plain_text() -> String {
    format!(r"^(?:[^{CONTROL}]|\t|\r?\n)*$")
}

/// The pattern of plain text with at least one character that is not white space.
pub(crate) fn plain_text_not_blank() -> String {
    format!(
        r"^(?:[{PRINTED_WHITE}]|\t|\r?\n)*[^{CONTROL}{PRINTED_WHITE}](?:[^{CONTROL}]|\t|\r?\n)*$"
    )
}

/// The pattern of any text with at least one character that is not white space.
pub(crate) fn not_blank() -> String {
    format!("[^{WHITE}]")
}

/// The pattern of text without any control character.
pub(crate) fn one_line() -> String {
    format!("^[^{CONTROL}]*$")
}

/// The pattern of an attribute's name other than these.
pub(crate) fn name_except(reserved: &[&str]) -> String {
    format!("^(?!(?:{})$){NAME}$", reserved.join("|"))
}

/// The pattern of an attribute's name other than these, or of the name after a minus.
pub(crate) fn sort_except(reserved: &[&str]) -> String {
    let directed = ["-relevance", "-newest", "-oldest"];
    let names = [reserved, &directed].concat().join("|");
    let minus: Vec<_> = reserved.iter().map(|name| format!("-{name}")).collect();
    format!("^(?!(?:{names}|{})$)-?{NAME}$", minus.join("|"))
}

/// The pattern of at most `most` integers separated by commas, or of no text at all.
pub(crate) fn comma_separated(most: usize) -> String {
    let number = format!("[{WHITE}]*[+-]?[0-9]+[{WHITE}]*");
    format!("^(?:[{WHITE}]*|{number}(?:,{number}){{0,{}}})$", most - 1)
}

/// The pattern of visible ASCII with spaces only between other characters.
pub(crate) fn header_text() -> &'static str {
    "^[!-~](?:[ -~]*[!-~])?$"
}

pub(crate) fn string(description: &str) -> ObjectBuilder {
    described(Type::String, description)
}

/// A string with a format instead of a pattern.
pub(crate) fn formatted(format: &str, description: &str) -> ObjectBuilder {
    string(description).format(Some(SchemaFormat::Custom(format.to_owned())))
}

pub(crate) fn one_of(values: impl IntoIterator<Item = &'static str>) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(values))
}

pub(crate) fn boolean(description: &str, default: Option<bool>) -> ObjectBuilder {
    described(Type::Boolean, description).default(default.map(|default| json!(default)))
}

pub(crate) fn integer(description: &str, min: u64, max: u64) -> ObjectBuilder {
    described(Type::Integer, description)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(min as usize))
        .maximum(Some(max as usize))
}

pub(crate) fn number(description: &str) -> ObjectBuilder {
    described(Type::Number, description)
}

/// The id of a product, shop or token.
pub(crate) fn id(description: &str) -> ObjectBuilder {
    integer(description, 1, i64::MAX as u64)
}

/// A value of any type.
pub(crate) fn any_value(description: &str) -> ObjectBuilder {
    described(SchemaType::AnyValue, description)
}

/// An object that has no other properties than those it is given.
pub(crate) fn closed_object(description: &str) -> ObjectBuilder {
    described(Type::Object, description)
        .additional_properties(Some(AdditionalProperties::FreeForm(false)))
}

/// An array of `min` to `max` elements.
pub(crate) fn array(
    description: &str,
    items: impl Into<RefOr<Schema>>,
    min: usize,
    max: usize,
) -> ArrayBuilder {
    ArrayBuilder::new()
        .items(items.into())
        .description((!description.is_empty()).then_some(description))
        .min_items((min > 0).then_some(min))
        .max_items(Some(max))
}

/// The keyword that requires at least one of these properties, as "not all of them are missing":
/// with `anyOf`, code generators would no longer see a plain object. [`ObjectBuilder`] has no
/// method for it, but writes its extensions as they are.
pub(crate) fn any_property_of(names: &[&str]) -> Extensions {
    let missing: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!({"not": {}}))).collect();
    Extensions::from_iter([("not", json!({"properties": missing}))])
}

/// A reference to a schema under `components`.
pub(crate) fn reference(name: &str) -> RefOr<Schema> {
    RefOr::Ref(Ref::from_schema_name(name))
}

/// A reference with a description of its own.
pub(crate) fn described_reference(name: &str, description: &str) -> Ref {
    RefBuilder::new().ref_location_from_schema_name(name).description(Some(description)).build()
}

/// Declares a type that stands for a schema of the type's name under `components`.
macro_rules! named_schema {
    ($(#[$meta:meta])* $name:ident, $schema:expr) => {
        $(#[$meta])*
        pub(crate) struct $name;

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                $schema.into()
            }
        }

        impl utoipa::ToSchema for $name {}
    };
}
pub(crate) use named_schema;

fn described(kind: impl Into<SchemaType>, description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(kind)
        .description((!description.is_empty()).then_some(description))
}
