//! Read-your-writes across nodes: every response names the last change that it reflects, and a
//! request can require one.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue},
    middleware::Next,
    response::{IntoResponse, Response},
};
use catalog::product::{ShopId, change::Seq};
use engine::{Engine, WaitOutcome};

use super::{
    caller::Bearer,
    errors::{ApiError, ValidationError},
    headers::{CATALOG_AGE, CATALOG_SEQ, MIN_CATALOG_SEQ},
};

/// How long a request waits for the change that it requires.
const WAIT_LIMIT: Duration = Duration::from_secs(5);

/// The layer around every API route, inside the authentication layer.
pub(crate) async fn layer(
    State(engine): State<Arc<Engine>>,
    bearer: Bearer,
    request: Request,
    next: Next,
) -> Response {
    let shop = bearer.shop();
    let mut response = match wait(&engine, shop, request.headers()).await {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    write_headers(&engine, shop, response.headers_mut()).await;
    response
}

async fn wait(engine: &Engine, shop: ShopId, headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(required) = headers.get(MIN_CATALOG_SEQ) else { return Ok(()) };
    let seq = parse(required).ok_or_else(|| {
        let message = "must be a whole number, as X-Catalog-Seq gave it";
        ApiError::invalid(ValidationError::new("X-Min-Catalog-Seq", "out_of_range", message))
    })?;
    match engine.wait_for_seq(shop, seq, WAIT_LIMIT).await? {
        WaitOutcome::Reached => Ok(()),
        WaitOutcome::TimedOut => Err(ApiError::Unavailable(
            "this node has not seen the change that X-Min-Catalog-Seq asks for".to_owned(),
        )),
        WaitOutcome::UnknownChange { last } => Err(ApiError::Unavailable(format!(
            "the shop has no change {seq} that X-Min-Catalog-Seq asks for, its last one is {last}"
        ))),
    }
}

fn parse(value: &HeaderValue) -> Option<Seq> {
    let number: u64 = value.to_str().ok()?.trim().parse().ok()?;
    i64::try_from(number).is_ok().then_some(Seq(number))
}

/// Adds the sequence number that the response reflects, and its age while the database is
/// unavailable.
async fn write_headers(engine: &Engine, shop: ShopId, headers: &mut HeaderMap) {
    // Left out where it cannot be determined.
    if let Ok(seq) = engine.visible_seq(shop).await {
        headers.insert(CATALOG_SEQ, HeaderValue::from(seq.0));
    }
    if let Some(age) = engine.staleness() {
        headers.insert(CATALOG_AGE, HeaderValue::from(age.as_secs()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_valid_sequence_numbers_are_accepted() {
        let check = |text: &str| parse(&HeaderValue::from_str(text).unwrap());
        assert_eq!(check("17"), Some(Seq(17)));
        assert_eq!(check(" 0 "), Some(Seq(0)));
        for bad in ["", "-1", "1.5", "abc", "9223372036854775808"] {
            assert_eq!(check(bad), None, "{bad}");
        }
    }
}
