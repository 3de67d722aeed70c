//! The pages for people: the shop at `/` and `/preview`, the admin page at `/admin`, and the API
//! reference at `/docs`.
//!
//! The pages are files of this folder, embedded in the binary ([`assets`]): JavaScript modules that
//! call the API like any other client. [`super::page_policy`] has their Content-Security-Policy.

mod assets;
pub(crate) mod docs;
#[cfg(test)]
mod tests;

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};

use super::{
    app::App,
    errors::{
        ApiError,
        responses::{AnyProblems, MissingProblems},
    },
    openapi::tags::PAGES,
    page_policy::OPENER_POLICY,
    requests::{headers::IfNoneMatch, parameters::AssetParameters},
    responses::static_content::{Asset, Page, StaticContent},
};

/// The demo's shop
///
/// The shop page, open to everyone where the server runs as a demo. Elsewhere, the way to the
/// other pages.
#[utoipa::path(
    get,
    path = "/",
    operation_id = "get_home",
    tag = PAGES,
    params(IfNoneMatch),
    responses(Page, AnyProblems),
    security(()),
    extensions(("x-required-role" = json!("none")))
)]
pub(crate) async fn home(State(app): State<App>, headers: HeaderMap) -> Response {
    page(&app, &assets::SHOP, &headers)
}

/// The shop page
///
/// Search as shoppers would have it, for any shop: the page asks for a token.
#[utoipa::path(
    get,
    path = "/preview",
    operation_id = "get_preview",
    tag = PAGES,
    params(IfNoneMatch),
    responses(Page, AnyProblems),
    security(()),
    extensions(("x-required-role" = json!("none")))
)]
pub(crate) async fn preview(State(app): State<App>, headers: HeaderMap) -> Response {
    page(&app, &assets::SHOP, &headers)
}

/// The admin page
///
/// The shop's products, imports, metrics and tokens: the page asks for a token with the role EDITOR
/// or ADMIN.
#[utoipa::path(
    get,
    path = "/admin",
    operation_id = "get_admin_page",
    tag = PAGES,
    params(IfNoneMatch),
    responses(Page, AnyProblems),
    security(()),
    extensions(("x-required-role" = json!("none")))
)]
pub(crate) async fn admin(State(app): State<App>, headers: HeaderMap) -> Response {
    page(&app, &assets::ADMIN, &headers)
}

/// Part of a page
///
/// A script, style or picture. Its address changes with its content, so a copy is good forever.
#[utoipa::path(
    get,
    path = "/assets/{version}/{file}",
    operation_id = "get_asset",
    tag = PAGES,
    params(AssetParameters, IfNoneMatch),
    responses(Asset, MissingProblems, AnyProblems),
    security(()),
    extensions(("x-required-role" = json!("none")))
)]
pub(crate) async fn asset(
    path: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let missing = ApiError::NotFound("such file");
    let Ok(Path((version, file))) = path else { return Err(missing) };
    let asset = assets::find(&version, &file).ok_or(missing)?;
    Ok(asset.respond(&headers))
}

fn page(app: &App, page: &StaticContent, headers: &HeaderMap) -> Response {
    let security_headers = [
        (header::CONTENT_SECURITY_POLICY, app.page_policy.header()),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (OPENER_POLICY, HeaderValue::from_static("same-origin")),
    ];
    (security_headers, page.respond(headers)).into_response()
}
