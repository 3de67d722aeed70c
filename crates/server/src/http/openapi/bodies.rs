//! What may a client send? The schemas of request bodies, with the limits that
//! [`requests`] checks.

use catalog::{media, price, product, query};
use engine::tokens;
use serde_json::{Value, json};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr, Schema,
        schema::{ArrayBuilder, ObjectBuilder},
    },
};

use super::{
    choices,
    vocabulary::{
        any_property_of, anything, array, boolean, closed_object, formatted, id, integer,
        not_blank, one_of, plain_text, plain_text_not_blank, schema_named, string,
    },
};
use crate::http::requests::{self, MAX_BULK, MAX_TOKEN_SECONDS};

/// A schema with the name of its type.
macro_rules! request_body {
    ($name:ident, $schema:expr) => {
        pub(crate) struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                $schema.into()
            }
        }

        impl ToSchema for $name {}
    };
}

request_body!(
    NewProduct,
    ignoring(
        settable(closed_object("A product to create."))
            .property("hidden", hidden().default(Some(false.into())))
            .required("title")
            .required("price"),
        &requests::READ_ONLY
    )
    .examples([new_product_example()])
);

request_body!(
    ProductChanges,
    ignoring(
        settable(closed_object("The fields to change, at least one; the others stay as they are.")),
        &requests::READ_ONLY
    )
    .extensions(any_property_of(&requests::SETTABLE))
    .examples([json!({"price": "$799.00", "hidden": false})])
);

request_body!(
    ProductEdit,
    ignoring(
        settable(
            closed_object("A product and the fields of it to change, at least one.")
                .property("id", id("Which product."))
        )
        .required("id"),
        &requests::READ_ONLY[1..]
    )
    .extensions(any_property_of(&requests::SETTABLE))
    .examples([json!({"id": 17, "price": "$799.00"})])
);

request_body!(
    NewProducts,
    closed_object("Products to create.")
        .property(
            "products",
            array(
                "Each element is taken on its own: one that breaks a rule is answered in `errors`, \
                 the others are created.",
                schema_named("NewProduct"),
                1,
                MAX_BULK
            )
        )
        .required("products")
        .examples([json!({"products": [new_product_example(),
            {"title": "Oak side table", "price": "149,00 €"}]})])
);

request_body!(
    ProductEdits,
    closed_object("Products to change.")
        .property(
            "products",
            array(
                "Each element is taken on its own and in order: one that breaks a rule is \
                 answered in `errors`, the others are applied.",
                schema_named("ProductEdit"),
                1,
                MAX_BULK
            )
        )
        .required("products")
        .examples([
            json!({"products": [{"id": 17, "price": "$799.00"}, {"id": 18, "hidden": true}]})
        ])
);

request_body!(
    ProductDeletion,
    closed_object("Products to delete.")
        .property(
            "product_ids",
            array("Unknown ids are no error; they are not counted.", id(""), 1, MAX_BULK)
        )
        .required("product_ids")
        .examples([json!({"product_ids": [17, 18]})])
);

request_body!(
    SearchRequest,
    closed_object("What to search for.")
        .property(
            "query",
            string(
                "The shopper's words, in natural language, with any conditions in them: a price \
                 (`under $50`, `20 to 30 euros`), what is not wanted (`without leather`), an order \
                 (`cheapest first`). Not blank.",
            )
            .min_length(Some(1))
            .max_length(Some(query::MAX_CHARS))
            .pattern(Some(not_blank()))
            .examples(["a linen sofa under $900"])
        )
        .property(
            "limit",
            integer("How many products to return at most.", 1, query::MAX_LIMIT)
                .default(Some(query::DEFAULT_LIMIT.into()))
        )
        .property(
            "offset",
            integer("How many products to skip, for paging.", 0, query::MAX_OFFSET)
                .default(Some(0.into()))
        )
        .property(
            "include_hidden",
            boolean("Whether hidden products are searched too; needs the role VIEWER.", false)
        )
        .property("understand", schema_named("Understand"))
        .property(
            "explain",
            boolean("Whether each product comes with the parts of its score.", false)
        )
        .required("query")
        .examples([json!({"query": "a linen sofa under $900", "limit": 10})])
);

request_body!(
    Understand,
    closed_object("What is read in the query. The words of what is switched off are searched for.")
        .property("price", boolean("Conditions on the price: `under $50`, `20 to 30 euros`.", true))
        .property(
            "exclusions",
            boolean("What is not wanted: `without leather`, `not black`, `nickel-free`.", true)
        )
        .property("sort", boolean("The order of results: `cheapest`, `newest`.", true))
        .property(
            "corrections",
            boolean("Words that no product says, corrected: `runing shoes`.", true)
        )
        .examples([json!({"price": false})])
);

request_body!(
    TokenRequest,
    closed_object("A token to issue.")
        .property("role", choices::role())
        .property(
            "name",
            string("What you call it, to recognise it in the list.")
                .max_length(Some(tokens::MAX_NAME_CHARS))
                .pattern(Some(plain_text()))
                .default(Some("".into()))
        )
        .property(
            "expires_in_seconds",
            integer("How long it works; for ever if left out.", 1, MAX_TOKEN_SECONDS as usize)
        )
        .required("role")
        .examples([json!({"role": "EDITOR", "name": "import job", "expires_in_seconds": 86400})])
);

request_body!(
    NewMedia,
    closed_object("A picture of a product.")
        .property(
            "url",
            formatted(
                "http-url",
                "An absolute http or https address, kept as written and never fetched."
            )
            .max_length(Some(media::MAX_URL_CHARS))
            .examples(["https://example.com/sofa.jpg"])
        )
        .property("type", one_of(["image"]))
        .required("url")
        .required("type")
);

/// The fields of a product that a client may set.
fn settable(product: ObjectBuilder) -> ObjectBuilder {
    product
        .property(
            "title",
            string(
                "Not blank, without control characters; spaces around it do not count, up to 1000 \
                 characters with them.",
            )
                .min_length(Some(1))
                .max_length(Some(product::MAX_TITLE_CHARS))
                .pattern(Some(plain_text_not_blank()))
                .examples(["Linen sofa"]),
        )
        .property(
            "description",
            string("Without control characters, newlines and tabs apart.")
                .max_length(Some(product::MAX_DESCRIPTION_CHARS))
                .pattern(Some(plain_text()))
                .examples(["Three seats, washable covers."]),
        )
        .property(
            "price",
            formatted(
                "price",
                "An amount with its currency before or after it, as a sign or an ISO 4217 code: \
                 `$19.99`, `19,99 €`, `EUR 1.299,00`, `£1,299`, `¥1500`, `1 299 ₽`. Kept as written.",
            )
            .min_length(Some(2))
            .max_length(Some(price::MAX_CHARS))
            .examples(["$899.00"]),
        )
        .property("hidden", hidden())
        .property("media", pictures())
}

/// Without a default: a client that fills in defaults would show again what it changes.
fn hidden() -> ObjectBuilder {
    boolean("Whether search leaves it out.", false).default(None)
}

fn pictures() -> ArrayBuilder {
    array(
        "Its pictures, in place of all that were there.",
        schema_named("NewMedia"),
        0,
        media::MAX_ITEMS,
    )
}

/// Fields that may be sent back as they were read, without effect.
fn ignoring(product: ObjectBuilder, names: &[&str]) -> ObjectBuilder {
    names.iter().fold(product, |product, name| {
        product.property(
            *name,
            anything("Ignored, so that what was read can be edited and sent back."),
        )
    })
}

fn new_product_example() -> Value {
    json!({"title": "Linen sofa", "description": "Three seats, washable covers.",
        "price": "$899.00", "media": [{"url": "https://example.com/sofa.jpg", "type": "image"}]})
}
