//! How new is an answer? Every answer to a shop says which change it shows at the least, and a
//! request can ask for one: so a client reads its own writes through any node.

use std::time::Duration;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue},
    middleware::Next,
    response::{IntoResponse, Response},
};
use catalog::{change::Seq, product::ShopId};
use engine::Awaited;

use super::{
    App,
    auth::Bearer,
    problem::{ApiError, Fault},
};

/// The last change that an answer shows at the least.
pub(crate) const CATALOG_SEQ: HeaderName = HeaderName::from_static("x-catalog-seq");
/// How many seconds old an answer may be, while the database cannot be asked.
pub(crate) const CATALOG_AGE: HeaderName = HeaderName::from_static("x-catalog-age");
/// The change that a request wants to see.
const MIN_CATALOG_SEQ: HeaderName = HeaderName::from_static("x-min-catalog-seq");
/// How long a request waits for it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The layer around every API route, inside the one that knows the caller.
pub(crate) async fn layer(
    State(app): State<App>,
    bearer: Bearer,
    request: Request,
    next: Next,
) -> Response {
    let shop = bearer.shop();
    let mut response = match wait(&app, shop, request.headers()).await {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    say(&app, shop, response.headers_mut()).await;
    response
}

async fn wait(app: &App, shop: ShopId, headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(asked) = headers.get(MIN_CATALOG_SEQ) else { return Ok(()) };
    let seq = read(asked).ok_or_else(|| {
        let message = "must be a whole number, as X-Catalog-Seq gave it";
        ApiError::fault(Fault::new("X-Min-Catalog-Seq", "out_of_range", message))
    })?;
    match app.engine.wait_for(shop, seq, PATIENCE).await? {
        Awaited::Seen => Ok(()),
        Awaited::NotInTime => Err(ApiError::Unavailable(
            "this node has not seen the change that X-Min-Catalog-Seq asks for".to_owned(),
        )),
        Awaited::NoSuchChange { last } => Err(ApiError::Unavailable(format!(
            "the shop has no change {seq} that X-Min-Catalog-Seq asks for, its last one is {last}"
        ))),
    }
}

fn read(value: &HeaderValue) -> Option<Seq> {
    let number: u64 = value.to_str().ok()?.trim().parse().ok()?;
    i64::try_from(number).is_ok().then_some(Seq(number))
}

async fn say(app: &App, shop: ShopId, headers: &mut HeaderMap) {
    // Whoever cannot know says nothing.
    if let Ok(seq) = app.engine.seen(shop).await {
        headers.insert(CATALOG_SEQ, HeaderValue::from(seq.0));
    }
    if let Some(age) = app.engine.age() {
        headers.insert(CATALOG_AGE, HeaderValue::from(age.as_secs()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_that_can_be_changes_are_read() {
        let check = |text: &str| read(&HeaderValue::from_str(text).unwrap());
        assert_eq!(check("17"), Some(Seq(17)));
        assert_eq!(check(" 0 "), Some(Seq(0)));
        for bad in ["", "-1", "1.5", "abc", "9223372036854775808"] {
            assert_eq!(check(bad), None, "{bad}");
        }
    }
}
