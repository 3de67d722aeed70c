//! What does an operation answer when all goes well, and what can be done with the answer next?

use std::collections::BTreeMap;

use serde_json::{Value, json};
use utoipa::{
    IntoResponses,
    openapi::{
        RefOr, Response, ResponseBuilder,
        content::{Content, ContentBuilder},
        link::Link,
        schema::{ArrayBuilder, ObjectBuilder, Schema, Type},
    },
};

use super::{
    headers::{
        CACHE_CONTROL, CATALOG_AGE, CATALOG_SEQ, ETAG, LOCATION, RATE_LIMIT, RATE_LIMIT_POLICY,
        REQUEST_ID, TOTAL_COUNT, carrying,
    },
    problems::problem_example,
    vocabulary::schema_named,
};
use crate::http::problem::ApiError;

const JSON: &str = "application/json";

/// Responses with the name of their type: status, then what it is.
macro_rules! answers {
    ($name:ident, $($status:literal => $answer:expr),+ $(,)?) => {
        pub(crate) struct $name;

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                BTreeMap::from([$(($status.to_owned(), RefOr::T($answer.build()))),+])
            }
        }
    };
}

answers!(
    ProductCreated,
    "201" => linked(
        api("The product as it was created.", schema_named("Product"), product(), &[LOCATION]),
        &["get_product", "similar_products", "update_product", "delete_product"],
        "product_id",
    )
);

answers!(
    ProductFound,
    "200" => api("The product.", schema_named("Product"), product(), &[ETAG]),
    "304" => carrying(
        ResponseBuilder::new().description("The copy that `If-None-Match` names is still good."),
        &[REQUEST_ID, ETAG],
    ),
);

answers!(
    ProductUpdated,
    "200" => linked(
        api("The product as it is now.", schema_named("Product"), product(), &[ETAG]),
        &["get_product", "delete_product"],
        "product_id",
    )
);

answers!(
    ProductDeleted,
    "204" => empty("The product is gone.")
);

answers!(
    ProductList,
    "200" => api(
        "The products, in ascending order of id, or as `ids` asked for them.",
        list_of("Product"),
        json!([product()]),
        &[TOTAL_COUNT],
    )
);

answers!(
    ProductsCreated,
    "201" => api(
        "Which elements were created, and what was wrong with the others.",
        schema_named("BulkCreated"),
        json!({"created_count": 1, "created_ids": [17], "errors": [{"index": 1,
            "code": "required", "message": "is required", "field": "price"}]}),
        &[],
    )
    .link("update_first", sending("bulk_update_products", json!({
        "products": [{"id": "$response.body#/created_ids/0", "hidden": true}]})))
    .link("delete_all", sending("bulk_delete_products", json!({
        "product_ids": "$response.body#/created_ids"})))
    .link("get_first", naming("get_product", "product_id", "$response.body#/created_ids/0"))
);

answers!(
    ProductsUpdated,
    "200" => api(
        "Which elements were applied, and what was wrong with the others.",
        schema_named("BulkUpdated"),
        json!({"updated_count": 1, "updated_ids": [17], "errors": [{"index": 1, "id": 99,
            "code": "not_found", "message": "there is no such product"}]}),
        &[],
    )
);

answers!(
    ProductsDeleted,
    "200" => api(
        "How many products were there and are gone now.",
        schema_named("BulkDeleted"),
        json!({"deleted_count": 2}),
        &[],
    )
);

answers!(
    ProductsMatched,
    "200" => api(
        "What was found, best first or in the order that was asked for.",
        schema_named("SearchAnswer"),
        json!({"products": [product()], "query": "a linnen sofa under $900", "total": 1,
            "understood": {"constraints": [{"field": "price", "operation": "below",
                "value": "900", "currency": "USD", "text": "under $900",
                "span": {"start": 14, "end": 24}}],
                "exclusions": [], "sort": null,
                "corrections": [{"from": "linnen", "to": "linen", "span": {"start": 2, "end": 8}}],
                "residual": "linen sofa"}}),
        &[],
    )
);

answers!(
    SimilarFound,
    "200" => api(
        "The products like this one, nearest first.",
        schema_named("SimilarProducts"),
        json!({"products": [product()]}),
        &[],
    )
);

answers!(
    TokenIssued,
    "201" => linked(
        api(
            "The token. Its text is shown this once and kept only as a hash.",
            schema_named("NewToken"),
            json!({"id": 3, "token": "shk_3_wJ5…", "shop_id": 1, "role": "EDITOR",
                "name": "import job", "created_at": "2026-01-02T03:04:05.678901Z",
                "expires_at": "2026-01-03T03:04:05.678901Z"}),
            &[],
        ),
        &["revoke_token"],
        "token_id",
    )
);

answers!(
    TokenList,
    "200" => api(
        "The shop's tokens, revoked and expired ones included, without their secrets.",
        list_of("Token"),
        json!([{"id": 3, "shop_id": 1, "role": "EDITOR", "name": "import job",
            "created_at": "2026-01-02T03:04:05.678901Z", "expires_at": null, "revoked_at": null}]),
        &[],
    )
);

answers!(
    TokenRevoked,
    "204" => empty("The token no longer works, from this moment on.")
);

answers!(
    Alive,
    "200" => well("The process answers."),
    "503" => unwell("A restart would help it.", "the writer is down; restart the server"),
);

answers!(
    Ready,
    "200" => well("Requests are welcome."),
    "503" => unwell(
        "Not now: shops are being loaded, the store cannot be used, or the server is stopping.",
        "shops are being loaded",
    ),
);

answers!(
    Figures,
    "200" => open(
        "The figures in Prometheus's text format.",
        "text/plain",
        text(),
        json!("shopkeeper_writes_waiting 0\n"),
        &[],
    )
);

answers!(
    ShopFiguresTold,
    "200" => api(
        "How the shop is doing.",
        schema_named("ShopFigures"),
        json!({"shop_id": 1, "role": "EDITOR", "products": {"visible": 1190, "hidden": 12},
            "searches": {"count": 3, "failed": 0, "p50_ms": 1.2, "p95_ms": 2.9, "p99_ms": 2.9,
                "times": [{"up_to_ms": 1.2, "count": 2}, {"up_to_ms": 2.9, "count": 1}]},
            "writes": {"count": 0, "failed": 0, "p50_ms": null, "p95_ms": null, "p99_ms": null,
                "times": []},
            "process": {"uptime_seconds": 3600, "memory_bytes": 73400320, "index_bytes": 2097152,
                "writes_waiting": 0, "vectors_waiting": 0}}),
        &[],
    )
);

answers!(
    Document,
    "200" => open(
        "The OpenAPI document.",
        JSON,
        schema_named("OpenApiDocument"),
        json!({"openapi": "3.1.0", "info": {"title": "Shopkeeper", "version": "…"}, "paths": {}}),
        &[ETAG, CACHE_CONTROL],
    ),
    "304" => unchanged(),
);

answers!(
    Page,
    "200" => open(
        "The page.",
        "text/html",
        text(),
        json!("<!doctype html>…"),
        &[ETAG, CACHE_CONTROL],
    ),
    "304" => unchanged(),
);

answers!(
    Asset,
    "200" => open(
        "The file.",
        "text/javascript",
        text(),
        json!("export const …"),
        &[ETAG, CACHE_CONTROL],
    )
    .content("text/css", content(text(), json!(":root { … }")))
    .content("image/svg+xml", content(text(), json!("<svg …/>"))),
    "304" => unchanged(),
);

/// An answer of the API: JSON, with the headers that all of them carry.
fn api(
    description: &str,
    schema: RefOr<Schema>,
    example: Value,
    headers: &[&str],
) -> ResponseBuilder {
    let response = open(description, JSON, schema, example, headers);
    carrying(response, &[CATALOG_AGE, CATALOG_SEQ, RATE_LIMIT, RATE_LIMIT_POLICY])
}

/// An answer outside the API: no rate limit.
fn open(
    description: &str,
    media_type: &str,
    schema: RefOr<Schema>,
    example: Value,
    headers: &[&str],
) -> ResponseBuilder {
    let response = ResponseBuilder::new()
        .description(description)
        .content(media_type, content(schema, example));
    carrying(carrying(response, headers), &[REQUEST_ID])
}

fn content(schema: RefOr<Schema>, example: Value) -> Content {
    ContentBuilder::new().schema(Some(schema)).example(Some(example)).build()
}

fn well(description: &str) -> ResponseBuilder {
    open(description, JSON, schema_named("Health"), json!({"status": "ok"}), &[])
}

/// What is wrong, or the problem that every address may give for want of time.
fn unwell(description: &str, status: &str) -> ResponseBuilder {
    let problem = ContentBuilder::new()
        .schema(Some(schema_named("Problem")))
        .example(Some(problem_example(&ApiError::TookTooLong)))
        .build();
    open(description, JSON, schema_named("Health"), json!({"status": status}), &[])
        .content("application/problem+json", problem)
}

fn empty(description: &str) -> ResponseBuilder {
    let response = ResponseBuilder::new().description(description);
    carrying(response, &[CATALOG_AGE, CATALOG_SEQ, REQUEST_ID, RATE_LIMIT, RATE_LIMIT_POLICY])
}

fn unchanged() -> ResponseBuilder {
    let response =
        ResponseBuilder::new().description("The copy that `If-None-Match` names is still good.");
    carrying(response, &[REQUEST_ID, ETAG, CACHE_CONTROL])
}

/// Operations that take the id in this answer.
fn linked(response: ResponseBuilder, operations: &[&str], parameter: &str) -> ResponseBuilder {
    operations.iter().fold(response, |response, id| {
        response.link(*id, naming(id, parameter, "$response.body#/id"))
    })
}

/// An operation that takes something of this answer in its address.
fn naming(operation: &str, parameter: &str, taken: &str) -> Link {
    Link::builder().operation_id(operation).parameter(parameter, taken).build()
}

/// An operation that takes something of this answer in its body.
fn sending(operation: &str, body: Value) -> Link {
    Link::builder().operation_id(operation).request_body(Some(body)).build()
}

fn list_of(name: &str) -> RefOr<Schema> {
    ArrayBuilder::new().items(schema_named(name)).into()
}

fn text() -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).into()
}

fn product() -> Value {
    json!({"id": 17, "title": "Linen sofa", "description": "Three seats, washable covers.",
        "price": "$899.00", "hidden": false,
        "media": [{"url": "https://example.com/sofa.jpg", "type": "image"}],
        "shop_id": 1, "created_at": "2026-01-02T03:04:05.678901Z",
        "updated_at": "2026-01-02T03:04:05.678901Z"})
}
