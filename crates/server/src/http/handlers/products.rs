//! The endpoints of single products and of lists.

use axum::{
    Json,
    extract::{RawQuery, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use catalog::product::{Product, change::Seq};
use engine::writes::Edit;

use super::actions::{self, CreatedProduct};
use crate::http::{
    app::App,
    caller::Bearer,
    errors::{
        ApiError,
        responses::{
            ApiProblems, BodyProblems, IdProblems, KeyProblems, ParameterProblems, RoleProblems,
            VersionProblems,
        },
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
        listing::{ListParameters, list_parameters},
        parameters::ProductIdParameter,
        products::{NewProduct, ProductChanges},
    },
    responses::products::{
        ProductBody, ProductCreated, ProductDeleted, ProductFound, ProductList, ProductPage,
        ProductUpdated,
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
    responses(
        ProductUpdated,
        ApiProblems,
        RoleProblems,
        BodyProblems,
        IdProblems,
        VersionProblems,
        KeyProblems
    ),
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

/// List products
///
/// The catalog in pages, or the products that `ids` or `keys` name. A SHOPPER sees visible products
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
pub(super) struct RawJson(pub(super) Vec<u8>);

impl IntoResponse for RawJson {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}

fn with_etag(product: &Product) -> Response {
    ([(header::ETAG, etag(product.version))], Json(ProductBody::from(product))).into_response()
}

fn etag(version: Seq) -> String {
    format!("\"{version}\"")
}
