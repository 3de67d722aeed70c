//! Which words may stand in a field that takes only some? Those that several schemas share, or that
//! programs compare with, have a schema of their own, so that generated clients name them once.

use catalog::access;
use engine::embed;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        Ref, RefOr, Schema,
        schema::{Object, ObjectBuilder, OneOfBuilder, RefBuilder, Type},
    },
};

use super::{
    errors::{FAULT_CODES, every_error},
    vocabulary::{one_of, schema_named},
};
use crate::http::understood;

/// A schema of words with the name of its type.
macro_rules! choice {
    ($name:ident, $words:expr, $description:expr) => {
        pub(crate) struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                one_of($words).description(Some($description)).into()
            }
        }

        impl ToSchema for $name {}
    };
}

choice!(
    Role,
    access::Role::ALL.map(access::Role::as_str),
    "What a token lets its bearer do; each role includes the ones before."
);

choice!(
    Encoder,
    [embed::Encoder::Deep, embed::Encoder::Instant].map(embed::Encoder::as_str),
    "What tells what a query means: `deep`, or `instant` where the server is too busy for it."
);

choice!(
    ProblemCode,
    problem_codes(),
    "The kind of a problem, for programs. Later versions may know more."
);

choice!(
    FaultCode,
    FAULT_CODES.map(|(code, _)| code),
    "What can be wrong with a field or an element, for programs. Later versions may know more."
);

fn problem_codes() -> Vec<&'static str> {
    let mut codes: Vec<_> = every_error().iter().map(|error| error.table().1).collect();
    codes.dedup();
    codes
}

/// The code of a problem, for the schema of its body.
pub(crate) fn problem_code() -> Ref {
    named("ProblemCode", "The kind of problem, for programs.")
}

/// The code of a fault, for the schemas that list them.
pub(crate) fn fault_code() -> Ref {
    named("FaultCode", "What is wrong, for programs.")
}

/// The role of a token, for the schemas that have one.
pub(crate) fn role() -> Ref {
    named("Role", "What it lets its bearer do.")
}

/// The encoder of a query or none, for the schema of what a search found.
pub(crate) fn encoder() -> OneOfBuilder {
    OneOfBuilder::new()
        .item(schema_named("Encoder"))
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .description(Some(
            "Which encoder told what the query means. `null` where meaning took no part.",
        ))
}

/// The fields that a query can set conditions on, for the schema of what was understood.
pub(crate) fn constrained_field() -> Object {
    one_of(["price"]).description(Some("The field.")).build()
}

/// The ways to compare a field, for the schema of what was understood.
pub(crate) fn constraint_operation() -> Object {
    use catalog::query_parser::PriceKind::{About, Above, AtLeast, AtMost, Below, Between};
    let kinds = [Below, AtMost, Above, AtLeast, Between, About];
    one_of(kinds.map(understood::operation_name))
        .description(Some(
            "How the field compares. `between` and `about` (within 20%) have `min` and `max`, \
             both let in; the others have `value`.",
        ))
        .build()
}

/// The orders of results, for the schema of what was understood.
pub(crate) fn sort_order() -> Object {
    use catalog::query_parser::SortOrder::{Newest, PriceAscending, PriceDescending};
    let orders = [PriceAscending, PriceDescending, Newest];
    one_of(orders.map(understood::order_name)).description(Some("Which order.")).build()
}

/// The kinds of media, for the schema of products.
pub(crate) fn media_kind() -> Object {
    one_of(["image"]).description(Some("What it is.")).build()
}

fn named(schema: &str, description: &str) -> Ref {
    RefBuilder::new().ref_location_from_schema_name(schema).description(Some(description)).build()
}
