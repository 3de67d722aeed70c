//! The search endpoint.

use axum::{Json, body::Body, extract::State, http::HeaderMap};

use super::{
    App,
    auth::Bearer,
    json,
    openapi::{
        SEARCH,
        answers::ProductsMatched,
        bodies::SearchRequest,
        problems::{ApiProblems, BodyProblems, RoleProblems},
    },
    problem::ApiError,
    requests,
    wire::SearchAnswer,
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
    headers: HeaderMap,
    body: Body,
) -> Result<Json<SearchAnswer>, ApiError> {
    let body = json::read(&headers, body, app.body_limits).await?;
    // Asking for hidden products without the role is 403 even where other fields are at fault.
    let asks_for_hidden = body.get("include_hidden") == Some(&true.into());
    let pass = caller.may_search(asks_for_hidden)?;
    let request = requests::search(&body).map_err(ApiError::Validation)?;
    let query = request.query.as_str().to_owned();
    let found = app.engine.search(pass, request).await?;
    Ok(Json(SearchAnswer::of(&query, &found)))
}
