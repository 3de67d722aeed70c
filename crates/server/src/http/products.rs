//! The catalog's endpoints: parse, get a pass, make one engine call, write the answer.

use axum::{
    Json,
    extract::{RawQuery, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use catalog::{
    change::Seq,
    product::{Product, ProductId},
};
use engine::writes::{Created, Edit, Precondition};
use serde_json::Value;

use super::{
    App,
    actions::{self, CreatedProduct, to_json},
    auth::Bearer,
    faults::{Faults, FaultyElements},
    json::Unread,
    openapi::{
        PRODUCTS,
        answers::{
            ProductCreated, ProductDeleted, ProductFound, ProductList, ProductUpdated,
            ProductsCreated, ProductsDeleted, ProductsUpdated,
        },
        bodies::{NewProduct, NewProducts, ProductChanges, ProductDeletion, ProductEdits},
        parameters::{
            IdempotencyKey, IfMatch, IfNoneMatch, ListParameters, ProductId as ProductIdParameter,
        },
        problems::{
            ApiProblems, BodyProblems, IdProblems, KeyProblems, ParameterProblems, RoleProblems,
            VersionProblems,
        },
    },
    path::PathText,
    problem::{ApiError, Fault},
    requests,
    wire::{BulkCreated, BulkDeleted, BulkUpdated, ElementFault, ProductBody, ProductPage},
};

/// How many products there are on all pages.
pub(crate) const TOTAL_COUNT: HeaderName = HeaderName::from_static("x-total-count");
/// The caller's own name for a create, which makes it safe to repeat.
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Create a product
///
/// The product is stored and found by search at once. With an `Idempotency-Key`, repeating the
/// request creates it once.
#[utoipa::path(
    post,
    path = "/products",
    operation_id = "create_product",
    tag = PRODUCTS,
    params(IdempotencyKey),
    request_body = NewProduct,
    responses(ProductCreated, ApiProblems, RoleProblems, BodyProblems, KeyProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("EDITOR")))
)]
pub(crate) async fn create(
    State(app): State<App>,
    caller: Bearer,
    headers: HeaderMap,
    body: Unread,
) -> Result<Response, ApiError> {
    let pass = caller.may_write()?;
    let body = body.json().await?;
    let draft = requests::draft(&body).map_err(ApiError::Validation)?;
    let key = idempotency_key(&headers)?;
    let CreatedProduct { id, text } = actions::create(&app, pass, draft, &body, key).await?;
    let location = format!("/api/v1/products/{id}");
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], JsonText(text)).into_response())
}

/// Create up to 100 products
///
/// Good elements are created although others fail; `errors` says what was wrong with those. With
/// an `Idempotency-Key`, repeating the request creates them once.
#[utoipa::path(
    post,
    path = "/products/bulk",
    operation_id = "bulk_create_products",
    tag = PRODUCTS,
    params(IdempotencyKey),
    request_body = NewProducts,
    responses(ProductsCreated, ApiProblems, RoleProblems, BodyProblems, KeyProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("EDITOR")))
)]
pub(crate) async fn bulk_create(
    State(app): State<App>,
    caller: Bearer,
    headers: HeaderMap,
    body: Unread,
) -> Result<Response, ApiError> {
    let pass = caller.may_write()?;
    let body = body.json().await?;
    let (drafts, faulty) = split(requests::bulk_elements(&body)?, requests::draft);
    let (errors, omitted) = faulty.finish();
    let answer = move |products: &[Product]| {
        to_json(&BulkCreated {
            created_count: products.len(),
            created_ids: products.iter().map(|product| product.id.get()).collect(),
            errors: errors.clone(),
            errors_omitted: omitted,
        })
    };
    let once = actions::once("bulk_create", idempotency_key(&headers)?, &body, answer.clone());
    let answer = match app.engine.create(pass, drafts, once).await? {
        Created::New(products) => answer(&products),
        Created::Replayed(answer) => answer,
        Created::KeyReused => return Err(ApiError::KeyTaken),
    };
    Ok((StatusCode::CREATED, JsonText(answer)).into_response())
}

/// Update a product
///
/// Only the fields that are sent change. With `If-Match`, only the version that was read is
/// changed; without, the last write wins field by field.
#[utoipa::path(
    put,
    path = "/products/{product_id}",
    operation_id = "update_product",
    tag = PRODUCTS,
    params(ProductIdParameter, IfMatch),
    request_body = ProductChanges,
    responses(ProductUpdated, ApiProblems, RoleProblems, BodyProblems, IdProblems, VersionProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("EDITOR")))
)]
pub(crate) async fn update(
    State(app): State<App>,
    caller: Bearer,
    PathText(id): PathText,
    headers: HeaderMap,
    body: Unread,
) -> Result<Response, ApiError> {
    let pass = caller.may_write()?;
    let id = product_id(&id)?;
    let body = body.json().await?;
    let patch = requests::patch(&body).map_err(ApiError::Validation)?;
    let edit = Edit { id, patch, precondition: precondition(&headers) };
    Ok(with_etag(&actions::update(&app, pass, edit).await?))
}

/// Update up to 100 products
///
/// Elements are applied in order; good ones although others fail, and `errors` says what was wrong
/// with those.
#[utoipa::path(
    put,
    path = "/products/bulk",
    operation_id = "bulk_update_products",
    tag = PRODUCTS,
    request_body = ProductEdits,
    responses(ProductsUpdated, ApiProblems, RoleProblems, BodyProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("EDITOR")))
)]
pub(crate) async fn bulk_update(
    State(app): State<App>,
    caller: Bearer,
    body: Unread,
) -> Result<Json<BulkUpdated>, ApiError> {
    let pass = caller.may_write()?;
    let body = body.json().await?;
    let mut faulty = FaultyElements::default();
    let mut edits = Vec::new();
    let mut places = Vec::new();
    for (index, element) in requests::bulk_elements(&body)?.iter().enumerate() {
        let read = requests::bulk_edit(element);
        match read.edit {
            Ok((id, patch)) => {
                edits.push(Edit { id, patch, precondition: Precondition::Exists });
                places.push((index, id.get()));
            }
            Err(faults) => {
                faulty.add(index, faults.map(|fault| ElementFault::new(index, read.id, fault)));
            }
        }
    }
    let mut updated_ids = Vec::new();
    for (outcome, (index, id)) in app.engine.update(pass, edits).await?.into_iter().zip(places) {
        match outcome {
            Ok(product) => updated_ids.push(product.id.get()),
            Err(refusal) => faulty.add(index, ElementFault::refused(index, id, refusal)),
        }
    }
    let (errors, errors_omitted) = faulty.finish();
    let updated_count = updated_ids.len();
    Ok(Json(BulkUpdated { updated_count, updated_ids, errors, errors_omitted }))
}

/// Delete a product
///
/// It is gone from the catalog and from search at once, and its id is never used again.
#[utoipa::path(
    delete,
    path = "/products/{product_id}",
    operation_id = "delete_product",
    tag = PRODUCTS,
    params(ProductIdParameter, IfMatch),
    responses(ProductDeleted, ApiProblems, RoleProblems, IdProblems, VersionProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("EDITOR")))
)]
pub(crate) async fn delete(
    State(app): State<App>,
    caller: Bearer,
    PathText(id): PathText,
    headers: HeaderMap,
) -> Result<StatusCode, ApiError> {
    let pass = caller.may_write()?;
    let id = product_id(&id)?;
    actions::delete(&app, pass, id, precondition(&headers)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Delete up to 100 products
///
/// The body is sent with the DELETE request. Ids that name no product are not counted, and one
/// that is named twice is counted once.
#[utoipa::path(
    delete,
    path = "/products/bulk",
    operation_id = "bulk_delete_products",
    tag = PRODUCTS,
    request_body = ProductDeletion,
    responses(ProductsDeleted, ApiProblems, RoleProblems, BodyProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("EDITOR")))
)]
pub(crate) async fn bulk_delete(
    State(app): State<App>,
    caller: Bearer,
    body: Unread,
) -> Result<Json<BulkDeleted>, ApiError> {
    let pass = caller.may_write()?;
    let body = body.json().await?;
    let ids = requests::bulk_ids(&body)?;
    let outcomes = app.engine.delete(pass, ids, Precondition::Exists).await?;
    Ok(Json(BulkDeleted { deleted_count: outcomes.iter().filter(|done| done.is_ok()).count() }))
}

/// List products
///
/// The catalog in pages, or the products that `ids` names. A SHOPPER sees visible products
/// alone. Other parameters than these are refused.
#[utoipa::path(
    get,
    path = "/products",
    operation_id = "list_products",
    tag = PRODUCTS,
    params(ListParameters),
    responses(ProductList, ApiProblems, ParameterProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("SHOPPER")))
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Bearer,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let pass = caller.may_read();
    let request = requests::list_parameters(query.as_deref()).map_err(ApiError::Validation)?;
    let ProductPage { products, total } = actions::list(&app, pass, request).await?;
    Ok(([(TOTAL_COUNT, total.to_string())], Json(products)).into_response())
}

/// Get a product
///
/// A SHOPPER sees visible products alone; a hidden one does not exist for it.
#[utoipa::path(
    get,
    path = "/products/{product_id}",
    operation_id = "get_product",
    tag = PRODUCTS,
    params(ProductIdParameter, IfNoneMatch),
    responses(ProductFound, ApiProblems, IdProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("SHOPPER")))
)]
pub(crate) async fn get(
    State(app): State<App>,
    caller: Bearer,
    PathText(id): PathText,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let pass = caller.may_read();
    let product = actions::get(&app, pass, product_id(&id)?).await?;
    let known = headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .any(|tags| names_version(tags, product.version, WeakTags::Match));
    if known {
        return Ok(
            (StatusCode::NOT_MODIFIED, [(header::ETAG, etag(product.version))]).into_response()
        );
    }
    Ok(with_etag(&product))
}

/// A body that is JSON text already.
struct JsonText(Vec<u8>);

impl IntoResponse for JsonText {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}

/// Good elements, and the faults of the others by their place.
fn split<T>(
    elements: &[Value],
    read: impl Fn(&Value) -> Result<T, Faults>,
) -> (Vec<T>, FaultyElements) {
    let (mut good, mut bad) = (Vec::new(), FaultyElements::default());
    for (index, element) in elements.iter().enumerate() {
        match read(element) {
            Ok(value) => good.push(value),
            Err(faults) => {
                bad.add(index, faults.map(|fault| ElementFault::new(index, None, fault)));
            }
        }
    }
    (good, bad)
}

/// The caller's name for a create, if its headers give one.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let Some(key) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    let key = requests::idempotency_key(key.to_str().unwrap_or_default());
    key.map(Some).map_err(|refused| {
        ApiError::fault(Fault::new("Idempotency-Key", refused.code, refused.message))
    })
}

/// The product that a path names.
pub(super) fn product_id(raw: &str) -> Result<ProductId, ApiError> {
    match raw.parse() {
        Ok(id) => Ok(id),
        // A whole number that no product can have is just unknown.
        Err(_) if requests::is_integer(raw) => Err(ApiError::NotFound("product")),
        Err(why) => Err(ApiError::fault(Fault::new("product_id", "wrong_type", why))),
    }
}

fn with_etag(product: &Product) -> Response {
    ([(header::ETAG, etag(product.version))], Json(ProductBody::from(product))).into_response()
}

fn etag(version: Seq) -> String {
    format!("\"{version}\"")
}

fn precondition(headers: &HeaderMap) -> Precondition {
    let lists = || headers.get_all(header::IF_MATCH).iter();
    if lists().next().is_none() || lists().any(|tags| tags == "*") {
        return Precondition::Exists;
    }
    Precondition::IsVersion(lists().flat_map(|tags| versions(tags, WeakTags::Differ)).collect())
}

/// Whether a weak tag can be the same as a strong one: for `If-None-Match` yes, for
/// `If-Match` never (RFC 9110, 13.1).
#[derive(Clone, Copy, PartialEq, Eq)]
enum WeakTags {
    Match,
    Differ,
}

fn names_version(tags: &HeaderValue, version: Seq, weak: WeakTags) -> bool {
    tags == "*" || versions(tags, weak).contains(&version)
}

/// The versions that a list of entity tags names; tags that are not ours name none.
fn versions(tags: &HeaderValue, weak: WeakTags) -> Vec<Seq> {
    let tags = tags.to_str().unwrap_or_default();
    tags.split(',')
        .filter_map(|tag| {
            let tag = tag.trim();
            let tag = match (tag.strip_prefix("W/"), weak) {
                (Some(opaque), WeakTags::Match) => opaque,
                (Some(_), WeakTags::Differ) => return None,
                (None, _) => tag,
            };
            tag.strip_prefix('"')?.strip_suffix('"')?.parse().ok().map(Seq)
        })
        .collect()
}
