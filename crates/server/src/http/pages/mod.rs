//! What do people look at? The shop page at `/` and `/preview`, and the desk page at `/admin`.
//!
//! The pages are files of this folder, carried by the binary ([`assets`]): plain modules that call
//! the API like any other client. What a browser lets them do is in [`policy`].

mod assets;
mod policy;
#[cfg(test)]
mod tests;

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};

pub(crate) use self::policy::PagePolicy;
use super::{
    App,
    openapi::{
        PAGES, Published,
        answers::{Asset, Page},
        parameters::{AssetName, IfNoneMatch},
        problems::{AnyProblems, MissingProblems},
    },
    problem::ApiError,
};

const NO_SNIFFING: HeaderValue = HeaderValue::from_static("nosniff");

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

/// The desk
///
/// The shop's products, imports, figures and tokens: the page asks for a token with the role EDITOR
/// or ADMIN.
#[utoipa::path(
    get,
    path = "/admin",
    operation_id = "get_desk",
    tag = PAGES,
    params(IfNoneMatch),
    responses(Page, AnyProblems),
    security(()),
    extensions(("x-required-role" = json!("none")))
)]
pub(crate) async fn desk(State(app): State<App>, headers: HeaderMap) -> Response {
    page(&app, &assets::DESK, &headers)
}

/// Part of a page
///
/// A script, style or picture. Its address changes with its content, so a copy is good forever.
#[utoipa::path(
    get,
    path = "/assets/{version}/{file}",
    operation_id = "get_asset",
    tag = PAGES,
    params(AssetName, IfNoneMatch),
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
    Ok(([(header::X_CONTENT_TYPE_OPTIONS, NO_SNIFFING)], asset.answer(&headers)).into_response())
}

fn page(app: &App, page: &Published, headers: &HeaderMap) -> Response {
    let guards = [
        (header::CONTENT_SECURITY_POLICY, app.page_policy.header()),
        (header::X_CONTENT_TYPE_OPTIONS, NO_SNIFFING),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (policy::OPENER_POLICY, HeaderValue::from_static("same-origin")),
    ];
    (guards, page.answer(headers)).into_response()
}
