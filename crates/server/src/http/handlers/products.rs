//! The endpoints of products.

use axum::{
    Json,
    extract::{RawQuery, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use catalog::{change::Seq, product::Product};
use engine::writes::{Created, Edit, Precondition, Refusal};
use serde_json::Value;

use super::actions::{self, CreatedProduct, to_json};
use crate::http::{
    app::App,
    caller::Bearer,
    errors::{
        ApiError, ValidationErrors,
        responses::{
            ApiProblems, BodyProblems, IdProblems, KeyProblems, ParameterProblems, RoleProblems,
            VersionProblems,
        },
        validation::{ElementError, ElementErrors},
    },
    headers::TOTAL_COUNT,
    openapi::tags::PRODUCTS,
    requests::{
        ObjectDefinition,
        body::RequestBody,
        headers::{
            IdempotencyKey, IfMatch, IfNoneMatch, PathText, client_has_version, idempotency_key,
            precondition, product_id,
        },
        parameters::ProductIdParameter,
        products::{
            ListParameters, NewProduct, NewProducts, ProductChanges, ProductDeletion, ProductEdit,
            ProductEdits, list_parameters,
        },
    },
    responses::{
        bulk::{
            BulkCreated, BulkDeleted, BulkUpdated, ProductsCreated, ProductsDeleted,
            ProductsUpdated,
        },
        products::{
            ProductBody, ProductCreated, ProductDeleted, ProductFound, ProductList, ProductPage,
            ProductUpdated,
        },
    },
};

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
    body: RequestBody,
) -> Result<Response, ApiError> {
    let pass = caller.may_write()?;
    let body = body.json().await?;
    let draft = NewProduct::read(&body).map_err(ApiError::Validation)?;
    let key = idempotency_key(&headers)?;
    let CreatedProduct { id, text } = actions::create(&app, pass, draft, &body, key).await?;
    let location = format!("/api/v1/products/{id}");
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], RawJson(text)).into_response())
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
    body: RequestBody,
) -> Result<Response, ApiError> {
    let pass = caller.may_write()?;
    let body = body.json().await?;
    let elements = NewProducts::read(&body).map_err(ApiError::Validation)?;
    let (drafts, invalid) = read_each(elements, NewProduct::read);
    let (errors, omitted) = invalid.finish();
    let answer = move |outcomes: &[Result<Product, Refusal>]| {
        let products: Vec<&Product> = outcomes.iter().flatten().collect();
        to_json(&BulkCreated {
            created_count: products.len(),
            created_ids: products.iter().map(|product| product.id.get()).collect(),
            errors: errors.clone(),
            errors_omitted: omitted,
        })
    };
    let once = actions::once("bulk_create", idempotency_key(&headers)?, &body, answer.clone());
    let answer = match app.engine.create(pass, drafts, once).await? {
        Created::New(outcomes) => answer(&outcomes),
        Created::Replayed(answer) => answer,
        Created::KeyReused => return Err(ApiError::KeyTaken),
    };
    Ok((StatusCode::CREATED, RawJson(answer)).into_response())
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
    body: RequestBody,
) -> Result<Response, ApiError> {
    let pass = caller.may_write()?;
    let id = product_id(&id)?;
    let body = body.json().await?;
    let patch = ProductChanges::read(&body).map_err(ApiError::Validation)?;
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
    body: RequestBody,
) -> Result<Json<BulkUpdated>, ApiError> {
    let pass = caller.may_write()?;
    let body = body.json().await?;
    let elements = ProductEdits::read(&body).map_err(ApiError::Validation)?;
    let mut invalid = ElementErrors::default();
    let mut edits = Vec::new();
    let mut origins = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        match ProductEdit::read(element) {
            Ok((id, patch)) => {
                edits.push(Edit { id, patch, precondition: Precondition::Exists });
                origins.push((index, id.get()));
            }
            Err(errors) => {
                let id = ProductEdit::id_of(element);
                invalid.add(index, errors.map(|error| ElementError::new(index, id, error)));
            }
        }
    }
    let mut updated_ids = Vec::new();
    for (outcome, (index, id)) in app.engine.update(pass, edits).await?.into_iter().zip(origins) {
        match outcome {
            Ok(product) => updated_ids.push(product.id.get()),
            Err(refusal) => invalid.add(index, ElementError::refused(index, id, refusal)),
        }
    }
    let (errors, errors_omitted) = invalid.finish();
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
    body: RequestBody,
) -> Result<Json<BulkDeleted>, ApiError> {
    let pass = caller.may_write()?;
    let body = body.json().await?;
    let ids = ProductDeletion::read(&body).map_err(ApiError::Validation)?;
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
    let request = list_parameters(query.as_deref()).map_err(ApiError::Validation)?;
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
    if client_has_version(&headers, product.version) {
        return Ok(
            (StatusCode::NOT_MODIFIED, [(header::ETAG, etag(product.version))]).into_response()
        );
    }
    Ok(with_etag(&product))
}

/// A body that is serialised already.
struct RawJson(Vec<u8>);

impl IntoResponse for RawJson {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}

/// The valid elements, and the errors of the others.
fn read_each<'a, T>(
    elements: &'a [Value],
    read: impl Fn(&'a Value) -> Result<T, ValidationErrors>,
) -> (Vec<T>, ElementErrors) {
    let (mut valid, mut invalid) = (Vec::new(), ElementErrors::default());
    for (index, element) in elements.iter().enumerate() {
        match read(element) {
            Ok(value) => valid.push(value),
            Err(errors) => {
                invalid.add(index, errors.map(|error| ElementError::new(index, None, error)));
            }
        }
    }
    (valid, invalid)
}

fn with_etag(product: &Product) -> Response {
    ([(header::ETAG, etag(product.version))], Json(ProductBody::from(product))).into_response()
}

fn etag(version: Seq) -> String {
    format!("\"{version}\"")
}
