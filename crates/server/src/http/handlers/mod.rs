//! The handlers of the API: each one gets a pass, reads its request, makes one engine call, and
//! writes the response. [`actions`] has what they share with the tools of [`super::mcp`].

pub(crate) mod actions;
mod bulk;
mod changes;
pub(crate) mod demo;
pub(crate) mod health;
mod products;
mod search;
mod similar;
mod stats;
mod tokens;

use utoipa_axum::{router::OpenApiRouter, routes};

use super::app::App;

/// The paths that need a token.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(products::list, products::create))
        .routes(routes!(bulk::create, bulk::update, bulk::delete))
        .routes(routes!(bulk::upsert))
        .routes(routes!(products::get, products::update, products::delete))
        .routes(routes!(search::search))
        .routes(routes!(similar::similar))
        .routes(routes!(changes::list))
        .routes(routes!(tokens::list, tokens::issue))
        .routes(routes!(tokens::revoke))
        .routes(routes!(stats::stats))
}
