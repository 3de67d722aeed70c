//! The endpoints of the demo shop besides the API: a token for browsers and product pictures.
//!
//! These paths exist only in `shopkeeper demo`; elsewhere they are 404.

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
    routing::get,
};
use catalog::product::access::Role;
use serde::Serialize;

use crate::{
    demo::pictures,
    http::{
        app::App, errors::ApiError, requests::headers::PathText,
        responses::static_content::StaticContent,
    },
};

/// What the shop page needs to call the API.
#[derive(Serialize)]
struct Session<'a> {
    shop: u64,
    token: &'a str,
    role: &'static str,
    /// The prefix of the URLs of product pictures. A page that is served under another host name
    /// may replace it by its own `/demo/images/`.
    pictures: &'a str,
}

/// The demo's paths.
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
    // Opened directly, an SVG is a document that could run scripts.
    let policy = (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'"));
    let content = StaticContent::new(HeaderValue::from_static("image/svg+xml"), svg);
    Ok(([policy], content.respond(&headers)).into_response())
}
