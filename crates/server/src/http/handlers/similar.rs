//! The endpoint of similar products.

use axum::{
    Json,
    extract::{RawQuery, State},
};
use engine::SimilarRequest;

use crate::http::{
    app::App,
    caller::Bearer,
    errors::{
        ApiError,
        responses::{ApiProblems, IdProblems, RoleProblems},
    },
    openapi::tags::SEARCH,
    requests::{
        headers::{PathText, product_id},
        parameters::ProductIdParameter,
        search::SimilarParameters,
    },
    responses::{
        products::ProductBody,
        search::{SimilarFound, SimilarProducts},
    },
};

/// Similar products
///
/// The shop's products that mean nearly the same as this one, nearest first and without itself. A
/// product that nothing is near has none, and neither has any product on a server without a model.
///
/// Hidden products are left out unless `include_hidden` asks for them, which needs the role
/// VIEWER. For a SHOPPER a hidden product does not exist, so there is nothing like it either.
#[utoipa::path(
    get,
    path = "/products/{product_id}/similar",
    operation_id = "similar_products",
    tag = SEARCH,
    params(ProductIdParameter, SimilarParameters),
    responses(SimilarFound, ApiProblems, RoleProblems, IdProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("SHOPPER")))
)]
pub(crate) async fn similar(
    State(app): State<App>,
    caller: Bearer,
    PathText(id): PathText,
    RawQuery(query): RawQuery,
) -> Result<Json<SimilarProducts>, ApiError> {
    caller.may_search(SimilarParameters::asks_for_hidden(query.as_deref()))?;
    let parameters = SimilarParameters::read(query.as_deref()).map_err(ApiError::Validation)?;
    let request = SimilarRequest {
        product: product_id(&id)?,
        limit: parameters.limit,
        include_hidden: parameters.include_hidden,
    };
    let found = app.engine.similar(caller.may_read(), request).await?;
    let found = found.ok_or(ApiError::NotFound("product"))?;
    Ok(Json(SimilarProducts { products: found.iter().map(ProductBody::from).collect() }))
}
