//! The search endpoint.

use axum::{Json, extract::State};

use super::actions;
use crate::http::{
    app::App,
    caller::Bearer,
    errors::{
        ApiError,
        responses::{ApiProblems, BodyProblems, RoleProblems},
    },
    openapi::tags::SEARCH,
    requests::{body::RequestBody, search::SearchRequest},
    responses::search::{ProductsMatched, SearchAnswer},
};

/// Search products
///
/// Products by what a shopper says and means, best first. Prices, exclusions and an order written in the
/// query are kept exactly: no product found breaks one. `understood` says how the query was
/// read, and `understand` switches parts of that off.
///
/// Hidden products are left out unless `include_hidden` asks for them, which needs the role
/// VIEWER.
#[utoipa::path(
    post,
    path = "/search",
    operation_id = "search_products",
    tag = SEARCH,
    request_body = SearchRequest,
    responses(ProductsMatched, ApiProblems, RoleProblems, BodyProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("SHOPPER")))
)]
pub(crate) async fn search(
    State(app): State<App>,
    caller: Bearer,
    body: RequestBody,
) -> Result<Json<SearchAnswer>, ApiError> {
    let body = body.json().await?;
    Ok(Json(actions::search(&app, *caller, &body).await?))
}
