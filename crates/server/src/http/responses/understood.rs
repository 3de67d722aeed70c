//! How a query was interpreted, in the response to a search.

use catalog::{
    inference::attributes::QueryAttribute,
    product::inferred::CategoryIndex,
    query::parser::{Exclusion, ParsedQuery, PriceConstraint, PriceKind, SortOrder, Span},
    text::{correction::Correction, language::Language},
};
use embed::inference::taxonomy;
use serde::Serialize;
use utoipa::{ToSchema, openapi::schema::Object};

use crate::http::json_schema::one_of;

/// How the query was read.
#[derive(Debug, Serialize, ToSchema)]
pub struct Understood {
    /// Conditions that every product found satisfies, in the order they were said.
    constraints: Vec<UnderstoodConstraint>,
    /// What no product found says, in the order it was said.
    exclusions: Vec<UnderstoodExclusion>,
    /// The order that was asked for; `null` for best first.
    #[schema(required)]
    sort: Option<UnderstoodSort>,
    /// Words that no product says, corrected to words that products say, in the order they were
    /// said.
    corrections: Vec<UnderstoodCorrection>,
    /// What the thing should be or have, in the order it was said. It decides the order of results;
    /// what is required is a condition.
    attributes: Vec<UnderstoodAttribute>,
    /// What kind of thing it should be, if the query says so clearly. It decides no more than the
    /// order of results.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    category: Option<UnderstoodCategory>,
    /// The assumed language of the query, an ISO 639-1 code, where its words tell one other than
    /// English.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    language: Option<&'static str>,
    /// The words left to search for, corrected. Empty if the query only sets conditions.
    residual: String,
}

/// A condition on a field of products.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnderstoodConstraint {
    /// The field: `price`.
    #[schema(schema_with = constrained_field)]
    field: &'static str,
    /// How the field compares. `between` and `about` have `min` and `max`, both let in; the
    /// others have `value`.
    #[schema(schema_with = constraint_operation)]
    operation: &'static str,
    /// The amount, an exact decimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    value: Option<String>,
    /// The least amount, an exact decimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    min: Option<String>,
    /// The greatest amount, an exact decimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    max: Option<String>,
    /// Only prices in this currency, an ISO 4217 code; `null` for the amount in any.
    #[schema(required)]
    currency: Option<String>,
    /// The piece of the query that says so.
    text: String,
    /// Where it stands.
    span: CharacterSpan,
}

/// Words that are not wanted.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnderstoodExclusion {
    /// The words, as products are searched for them.
    words: String,
    /// The piece of the query that says so.
    text: String,
    /// Where it stands.
    span: CharacterSpan,
}

/// An order of results.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnderstoodSort {
    /// Which order.
    #[schema(schema_with = sort_order)]
    order: &'static str,
    /// The piece of the query that says so.
    text: String,
    /// Where it stands.
    span: CharacterSpan,
}

/// A piece of the query that was probably not meant as written.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnderstoodCorrection {
    /// The piece as written.
    from: String,
    /// What is searched for in its place.
    to: String,
    /// Where it stands.
    span: CharacterSpan,
}

/// Something that the thing should be or have.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnderstoodAttribute {
    /// The attribute, as products and filters name it: `color`.
    name: &'static str,
    /// The values that will do, as products and filters name them: `blue` for *navy*.
    values: Vec<&'static str>,
    /// The piece of the query that says so.
    text: String,
    /// Where it stands.
    span: CharacterSpan,
    /// Whether nothing else will do (`only`, `must be`): every product found has one of the values.
    required: bool,
}

/// A kind of thing.
#[derive(Debug, Serialize, ToSchema)]
pub struct UnderstoodCategory {
    /// Its id, as products and filters have it.
    id: &'static str,
    /// The names from the root of the taxonomy down to the category.
    path: Vec<&'static str>,
}

/// A piece of the query, in characters (Unicode scalar values) from 0.
#[derive(Debug, Serialize, ToSchema)]
pub struct CharacterSpan {
    /// Its first character.
    start: usize,
    /// The character behind its last.
    end: usize,
}

impl Understood {
    /// The interpretation of a query, with the pieces of its text.
    pub fn of(query: &str, understood: &ParsedQuery) -> Self {
        let constraints = understood.constraints.iter();
        let exclusions = understood.exclusions.iter();
        Self {
            constraints: constraints.map(|read| constraint(query, read)).collect(),
            exclusions: exclusions.map(|read| exclusion(query, read)).collect(),
            sort: understood.sort.as_ref().map(|hint| {
                let (text, span) = piece(query, &hint.span);
                UnderstoodSort { order: order_name(hint.order), text, span }
            }),
            corrections: understood
                .corrections
                .iter()
                .map(|read| correction(query, read))
                .collect(),
            attributes: understood
                .attributes
                .iter()
                .filter_map(|read| attribute(query, understood, read))
                .collect(),
            category: None,
            language: understood
                .language
                .filter(|language| *language != Language::English)
                .map(Language::code),
            residual: understood.residual.clone(),
        }
    }

    /// The interpretation with the category that the query names.
    pub(super) fn in_category(self, category: Option<CategoryIndex>) -> Self {
        let named = |category| UnderstoodCategory {
            id: taxonomy().id(category),
            path: taxonomy().path(category),
        };
        Self { category: category.map(named), ..self }
    }
}

fn attribute(
    query: &str,
    understood: &ParsedQuery,
    read: &QueryAttribute,
) -> Option<UnderstoodAttribute> {
    let (text, span) = piece(query, &understood.span_in_query(&read.words)?);
    Some(UnderstoodAttribute {
        name: read.attribute.name(),
        values: read.value_names().collect(),
        text,
        span,
        required: read.is_required,
    })
}

fn constraint(query: &str, read: &PriceConstraint) -> UnderstoodConstraint {
    let floor = read.floor.map(|bound| bound.amount.to_string());
    let ceiling = read.ceiling.map(|bound| bound.amount.to_string());
    let (value, min, max) = match read.kind {
        PriceKind::Between | PriceKind::About => (None, floor, ceiling),
        _ => (floor.or(ceiling), None, None),
    };
    let (text, span) = piece(query, &read.span);
    UnderstoodConstraint {
        field: "price",
        operation: operation_name(read.kind),
        value,
        min,
        max,
        currency: read.currency.map(|currency| currency.code().to_owned()),
        text,
        span,
    }
}

fn exclusion(query: &str, read: &Exclusion) -> UnderstoodExclusion {
    let (text, span) = piece(query, &read.span);
    UnderstoodExclusion { words: read.text(), text, span }
}

fn correction(query: &str, read: &Correction) -> UnderstoodCorrection {
    let (from, span) = piece(query, &read.span);
    UnderstoodCorrection { from, to: read.to.clone(), span }
}

fn piece(query: &str, span: &Span) -> (String, CharacterSpan) {
    let text = &query[span.clone()];
    let start = query[..span.start].chars().count();
    (text.to_owned(), CharacterSpan { start, end: start + text.chars().count() })
}

/// The name of an operation in responses.
fn operation_name(kind: PriceKind) -> &'static str {
    match kind {
        PriceKind::Below => "below",
        PriceKind::AtMost => "at_most",
        PriceKind::Above => "above",
        PriceKind::AtLeast => "at_least",
        PriceKind::Between => "between",
        PriceKind::About => "about",
    }
}

/// The name of an order in responses.
fn order_name(order: SortOrder) -> &'static str {
    match order {
        SortOrder::PriceAscending => "price_ascending",
        SortOrder::PriceDescending => "price_descending",
        SortOrder::Newest => "newest",
    }
}

/// The schema of the fields that a query can set conditions on.
fn constrained_field() -> Object {
    one_of(["price"]).description(Some("The field.")).build()
}

/// The schema of the operations of conditions.
fn constraint_operation() -> Object {
    use PriceKind::{About, Above, AtLeast, AtMost, Below, Between};
    let kinds = [Below, AtMost, Above, AtLeast, Between, About];
    one_of(kinds.map(operation_name))
        .description(Some(
            "How the field compares. `between` and `about` (within 20%) have `min` and `max`, \
             both let in; the others have `value`.",
        ))
        .build()
}

/// The schema of the orders of results.
fn sort_order() -> Object {
    use SortOrder::{Newest, PriceAscending, PriceDescending};
    let orders = [PriceAscending, PriceDescending, Newest];
    one_of(orders.map(order_name)).description(Some("Which order.")).build()
}

#[cfg(test)]
mod tests {
    use catalog::query::parser::parse;
    use serde_json::{Value, json};

    use super::*;

    fn read(query: &str) -> Value {
        serde_json::to_value(Understood::of(query, &parse(query))).unwrap()
    }

    #[test]
    fn spans_are_counted_in_characters() {
        let read = read("Café-Stühle 🛋 under €50");
        assert_eq!(read["constraints"][0]["text"], "under €50");
        assert_eq!(read["constraints"][0]["span"], json!({"start": 14, "end": 23}));
    }

    #[test]
    fn amounts_are_exact_decimals() {
        let check = |query: &str, expected: Value| {
            let read = read(query);
            let constraint = &read["constraints"][0];
            let found =
                ["operation", "value", "min", "max", "currency"].map(|name| &constraint[name]);
            assert_eq!(json!(found), expected, "{query}");
        };
        check("sofa under $899.90", json!(["below", "899.90", null, null, "USD"]));
        check("sofa up to 900", json!(["at_most", "900", null, null, null]));
        check("sofa over $1,299.00", json!(["above", "1299.00", null, null, "USD"]));
        check("sofa at least 20 euros", json!(["at_least", "20", null, null, "EUR"]));
        check("sofa between $20 and $50", json!(["between", null, "20", "50", "USD"]));
        check("sofa about $50", json!(["about", null, "40", "60", "USD"]));
    }

    #[test]
    fn attributes_have_the_pieces_that_say_so() {
        let read = read("🛋 navy armchair under $900, only linen or cotton");
        let attribute = |name: &str, values: &[&str], text: &str, start: usize, required: bool| {
            json!({"name": name, "values": values, "text": text, "required": required,
                "span": {"start": start, "end": start + text.len()}})
        };
        let expected = json!([
            attribute("color", &["blue"], "navy", 2, false),
            attribute("material", &["cotton", "linen"], "linen or cotton", 33, true),
        ]);
        assert_eq!(read["attributes"], expected);
    }

    #[test]
    fn the_example_of_the_documentation_is_correct() {
        let page = include_str!("../../../../../docs/search.md");
        let (_, example) = page.split_once("```json\n").unwrap();
        let (example, _) = example.split_once("```").unwrap();
        let example: Value = serde_json::from_str(&format!("{{{example}}}")).unwrap();
        assert_eq!(read("red shoes under $50 without leather"), example["understood"]);
    }

    #[test]
    fn a_query_without_conditions_is_words_alone() {
        let expected = json!({"constraints": [], "exclusions": [], "sort": null,
            "corrections": [], "attributes": [], "residual": "under armour shoes"});
        assert_eq!(read("under armour shoes"), expected);
    }
}
