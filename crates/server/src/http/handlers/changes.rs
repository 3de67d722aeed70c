//! The endpoint of changes.

use axum::{
    Json,
    extract::{RawQuery, State},
};
use store::ChangesExpired;

use crate::http::{
    app::App,
    caller::Bearer,
    errors::{
        ApiError,
        responses::{ApiProblems, ExpiryProblems, ParameterProblems, RoleProblems},
    },
    openapi::tags::PRODUCTS,
    requests::changes::ChangesParameters,
    responses::changes::{ChangesListed, ChangesPageBody},
};

/// List changes
///
/// The creations, updates and deletions of products after a sequence number, oldest first, for
/// copies of the catalog that follow it. Pass `next` as the next `since`. Changes are retained for
/// a limited time; if some after `since` are no longer, or the shop has no change `since` because an
/// older state of the store was restored, the response is 410: the whole catalog must be read again,
/// and then the changes after `last` of the response.
#[utoipa::path(
    get,
    path = "/changes",
    operation_id = "list_changes",
    tag = PRODUCTS,
    params(ChangesParameters),
    responses(ChangesListed, ApiProblems, RoleProblems, ParameterProblems, ExpiryProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("VIEWER")))
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Bearer,
    RawQuery(query): RawQuery,
) -> Result<Json<ChangesPageBody>, ApiError> {
    // Changes name hidden products too.
    let pass = caller.may_search(true)?;
    let ChangesParameters { since, limit } =
        ChangesParameters::read(query.as_deref()).map_err(ApiError::Validation)?;
    match app.engine.changes(pass, since, limit).await? {
        Ok(page) => Ok(Json(ChangesPageBody::from(page))),
        Err(ChangesExpired { last }) => Err(ApiError::ChangesExpired { last }),
    }
}
