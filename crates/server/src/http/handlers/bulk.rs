//! The endpoints of bulk requests: good elements succeed although others fail.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use catalog::product::Product;
use engine::writes::{
    Created, Edit, Precondition, Refusal, UpsertElement, UpsertOutcome, Upserted,
};
use serde_json::Value;

use super::{
    actions::{self, to_json},
    products::RawJson,
};
use crate::http::{
    app::App,
    caller::Bearer,
    errors::{
        ApiError, ValidationError, ValidationErrors,
        responses::{ApiProblems, BodyProblems, KeyProblems, RoleProblems},
        validation::{ElementError, ElementErrors},
    },
    openapi::tags::PRODUCTS,
    requests::{
        ObjectDefinition,
        body::RequestBody,
        headers::{IdempotencyKey, idempotency_key},
        products::{
            NewProduct, NewProducts, ProductDeletion, ProductEdit, ProductEdits, ProductUpsert,
            ProductUpserts,
        },
    },
    responses::bulk::{
        BulkCreated, BulkDeleted, BulkUpdated, BulkUpserted, ProductsCreated, ProductsDeleted,
        ProductsUpdated, ProductsUpserted,
    },
};

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
pub(crate) async fn create(
    State(app): State<App>,
    caller: Bearer,
    headers: HeaderMap,
    body: RequestBody,
) -> Result<Response, ApiError> {
    let pass = caller.may_write()?;
    let body = body.json().await?;
    let elements = NewProducts::read(&body).map_err(ApiError::Validation)?;
    let Elements { valid: drafts, origins, invalid } =
        Elements::read(elements, NewProduct::read, |_, error| error);
    let answer = move |outcomes: &[Result<Product, Refusal>]| {
        let mut invalid = invalid.clone();
        let mut created_ids = Vec::new();
        for (outcome, index) in outcomes.iter().zip(&origins) {
            match outcome {
                Ok(product) => created_ids.push(product.id.get()),
                Err(refusal) => invalid.add(*index, ElementError::refused(*index, None, *refusal)),
            }
        }
        let (errors, errors_omitted) = invalid.finish();
        to_json(&BulkCreated {
            created_count: created_ids.len(),
            created_ids,
            errors,
            errors_omitted,
        })
    };
    let once = actions::once("bulk_create", idempotency_key(&headers)?, &body, answer.clone());
    let answer = match app.engine.create(pass, drafts, once).await? {
        Created::New(outcomes) => answer(&outcomes),
        Created::Replayed(answer) => answer,
        Created::KeyReused => return Err(ApiError::IdempotencyKeyReused),
    };
    Ok((StatusCode::CREATED, RawJson(answer)).into_response())
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
pub(crate) async fn update(
    State(app): State<App>,
    caller: Bearer,
    body: RequestBody,
) -> Result<Json<BulkUpdated>, ApiError> {
    let pass = caller.may_write()?;
    let body = body.json().await?;
    let elements = ProductEdits::read(&body).map_err(ApiError::Validation)?;
    let with_id =
        |element: &Value, error| ElementError { id: ProductEdit::id_of(element), ..error };
    let Elements { valid, origins, mut invalid } =
        Elements::read(elements, ProductEdit::read, with_id);
    let edit = |(id, patch)| Edit { id, patch, precondition: Precondition::Exists };
    let edits: Vec<_> = valid.into_iter().map(edit).collect();
    let ids: Vec<_> = edits.iter().map(|edit| edit.id.get()).collect();
    let outcomes = app.engine.update(pass, edits).await?;
    let mut updated_ids = Vec::new();
    for ((outcome, index), id) in outcomes.into_iter().zip(origins).zip(ids) {
        match outcome {
            Ok(product) => updated_ids.push(product.id.get()),
            Err(refusal) => invalid.add(index, ElementError::refused(index, Some(id), refusal)),
        }
    }
    let (errors, errors_omitted) = invalid.finish();
    let updated_count = updated_ids.len();
    Ok(Json(BulkUpdated { updated_count, updated_ids, errors, errors_omitted }))
}

/// Create or update up to 100 products by key
///
/// An element whose key the shop does not know creates a product, which needs a title and a price;
/// any other changes the fields that are sent. Elements are applied in order; good ones although
/// others fail, and `errors` says what was wrong with those. With an `Idempotency-Key`, repeating
/// the request applies it once.
#[utoipa::path(
    post,
    path = "/products/upsert",
    operation_id = "upsert_products",
    tag = PRODUCTS,
    params(IdempotencyKey),
    request_body = ProductUpserts,
    responses(ProductsUpserted, ApiProblems, RoleProblems, BodyProblems, KeyProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("EDITOR")))
)]
pub(crate) async fn upsert(
    State(app): State<App>,
    caller: Bearer,
    headers: HeaderMap,
    body: RequestBody,
) -> Result<Response, ApiError> {
    let pass = caller.may_write()?;
    let body = body.json().await?;
    let elements = ProductUpserts::read(&body).map_err(ApiError::Validation)?;
    let with_key = |element: &Value, error: ElementError| ElementError {
        key: ProductUpsert::key_of(element),
        ..error
    };
    let Elements { valid, origins, invalid } =
        Elements::read(elements, ProductUpsert::read, with_key);
    let keys: Vec<_> = valid.iter().map(|(key, _)| key.as_str().to_owned()).collect();
    let answer =
        move |outcomes: &[Upserted]| to_json(&upserted(outcomes, &origins, &keys, invalid.clone()));
    let once = actions::once("upsert", idempotency_key(&headers)?, &body, answer.clone());
    let elements = valid.into_iter().map(|(key, patch)| UpsertElement { key, patch }).collect();
    let answer = match app.engine.upsert(pass, elements, once).await? {
        UpsertOutcome::Applied(outcomes) => answer(&outcomes),
        UpsertOutcome::Replayed(answer) => answer,
        UpsertOutcome::KeyReused => return Err(ApiError::IdempotencyKeyReused),
    };
    Ok(RawJson(answer).into_response())
}

/// The response to an upsert: `origins` and `keys` are those of the valid elements.
fn upserted(
    outcomes: &[Upserted],
    origins: &[usize],
    keys: &[String],
    mut invalid: ElementErrors,
) -> BulkUpserted {
    let (mut created_ids, mut updated_ids) = (Vec::new(), Vec::new());
    for ((outcome, index), key) in outcomes.iter().zip(origins).zip(keys) {
        match outcome {
            Upserted::Created(product) => created_ids.push(product.id.get()),
            Upserted::Updated(product) => updated_ids.push(product.id.get()),
            Upserted::LimitExceeded(limit) => {
                let refusal = Refusal::LimitExceeded(*limit);
                let error = ElementError::refused(*index, None, refusal);
                invalid.add(*index, ElementError { key: Some(key.clone()), ..error });
            }
            Upserted::Incomplete(missing) => {
                let mut errors = ValidationErrors::default();
                for field in missing {
                    errors.push(ValidationError::new(*field, "required", "is required"));
                }
                invalid.add(
                    *index,
                    errors.map(|error| {
                        let error = ElementError::new(*index, None, error);
                        ElementError { key: Some(key.clone()), ..error }
                    }),
                );
            }
        }
    }
    let (errors, errors_omitted) = invalid.finish();
    BulkUpserted {
        created_count: created_ids.len(),
        created_ids,
        updated_count: updated_ids.len(),
        updated_ids,
        errors,
        errors_omitted,
    }
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
pub(crate) async fn delete(
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

/// The elements of a bulk request.
struct Elements<T> {
    valid: Vec<T>,
    /// The index of each valid element.
    origins: Vec<usize>,
    invalid: ElementErrors,
}

impl<T> Elements<T> {
    /// Reads each element on its own. `identify` adds to an error what names its product.
    fn read<'a>(
        elements: &'a [Value],
        read: impl Fn(&'a Value) -> Result<T, ValidationErrors>,
        identify: impl Fn(&'a Value, ElementError) -> ElementError,
    ) -> Self {
        let (mut valid, mut origins) = (Vec::new(), Vec::new());
        let mut invalid = ElementErrors::default();
        for (index, element) in elements.iter().enumerate() {
            match read(element) {
                Ok(value) => {
                    valid.push(value);
                    origins.push(index);
                }
                Err(errors) => {
                    let error = |error| identify(element, ElementError::new(index, None, error));
                    invalid.add(index, errors.map(error));
                }
            }
        }
        Self { valid, origins, invalid }
    }
}
