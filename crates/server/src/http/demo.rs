//! What does the demo shop serve besides the API? A token for browsers and the pictures of its products.
//!
//! These addresses exist in `shopkeeper demo` alone; anywhere else they are as unknown as any other.

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
    routing::get,
};
use catalog::access::Role;
use serde::Serialize;

use super::{App, openapi::Published, path::PathText, problem::ApiError};
use crate::demo::pictures;

/// What a browser needs to be a shopper.
#[derive(Serialize)]
struct Session<'a> {
    shop: u64,
    token: &'a str,
    role: &'static str,
    /// What the addresses of the products' pictures begin with. A page that is reached under another name may put its
    /// own `/demo/images/` in its place.
    pictures: &'a str,
}

/// The demo's addresses.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/demo/session", get(session))
        .route(&format!("{}{{*path}}", pictures::FOLDER), get(picture))
}

/// The token that the shop page calls the API with.
async fn session(State(app): State<App>) -> Result<Response, ApiError> {
    let demo = app.demo.as_ref().ok_or(ApiError::NotFound("such address"))?;
    let session = Session {
        shop: demo.shop.get(),
        token: &demo.shopper_token,
        role: Role::Shopper.as_str(),
        pictures: &demo.pictures,
    };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(session)).into_response())
}

/// A product's picture.
async fn picture(PathText(path): PathText, headers: HeaderMap) -> Result<Response, ApiError> {
    let svg = pictures::picture(&path).ok_or(ApiError::NotFound("such picture"))?;
    let guards = [
        // Opened by itself, a picture is a document that could run scripts; ours has none and may have none.
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    let published = Published::new(HeaderValue::from_static("image/svg+xml"), svg);
    Ok((guards, published.answer(&headers)).into_response())
}
