//! The memory of responses that clients have not read yet. A large response is counted until its
//! last byte is written to the socket, against the bound for all callers and against its shop's.

use std::sync::Arc;

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{Method, StatusCode},
    response::{IntoResponse, Response},
};
use catalog::product::ShopId;
use http_body_util::BodyExt;

use super::pool::{Owner, Permit, Pool, Share};
use crate::http::{caller::Bearer, errors::ApiError, traffic::RequestKind};

/// Responses up to this size are not counted: the limit on connections bounds them.
const SMALL_BYTES: usize = 64 << 10;
/// A shop may hold one half of the memory.
const SHOPS_PER_MEMORY: usize = 2;

/// The memory of responses that are not sent yet.
#[derive(Debug)]
pub(crate) struct ResponseMemory {
    memory: Arc<Pool>,
    per_shop: usize,
}

/// Marks a response that is not counted: its bytes are shared by all requests, or it goes to the
/// admin listener.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uncounted;

/// Marks a response as [`Uncounted`].
pub(crate) async fn exempt(mut response: Response) -> Response {
    response.extensions_mut().insert(Uncounted);
    response
}

/// What happens to a response that would exceed the bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sending {
    /// A 503 replaces it: the request can be repeated without side effects.
    RejectWhenFull,
    /// It is sent nevertheless: it reports a write.
    Always,
}

impl Sending {
    pub(crate) fn of(method: &Method, route: &str) -> Self {
        let reads = matches!(*method, Method::GET | Method::HEAD)
            || RequestKind::of(method, route) == Some(RequestKind::Search);
        if reads { Self::RejectWhenFull } else { Self::Always }
    }
}

impl ResponseMemory {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { memory: Pool::new(bytes), per_shop: bytes / SHOPS_PER_MEMORY }
    }

    /// Rejects a write before it starts while the shop's share is exhausted: its response would be
    /// sent in any case.
    pub(crate) fn check(&self, shop: ShopId) -> Result<(), ApiError> {
        let share = self.share(Owner::Shop(shop));
        if self.memory.is_exhausted(&share) { Err(exhausted()) } else { Ok(()) }
    }

    /// The same response, counted until it is sent, or a 503 in its place.
    pub(crate) async fn count(&self, response: Response, sending: Sending) -> Response {
        let exact = response.body().size_hint().exact();
        let size = exact.map_or(0, |size| size as usize);
        if size <= SMALL_BYTES || response.extensions().get::<Uncounted>().is_some() {
            return response;
        }
        let bearer = response.extensions().get::<Bearer>();
        let owner = bearer.map_or(Owner::Public, |bearer| Owner::Shop(bearer.shop()));
        let shares = [self.share(owner)];
        let permit = match (self.memory.take(size, &shares), sending) {
            (Ok(permit), _) => permit,
            (Err(_), Sending::Always) => self.memory.take_unbounded(size, &shares),
            (Err(_), Sending::RejectWhenFull) => return exhausted().into_response(),
        };
        let (parts, body) = response.into_parts();
        match body.collect().await {
            Ok(whole) => {
                let bytes = Bytes::from_owner(Counted { bytes: whole.to_bytes(), _permit: permit });
                Response::from_parts(parts, Body::from(bytes))
            }
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }

    fn share(&self, owner: Owner) -> Share {
        Share { owner, limit: self.per_shop }
    }
}

fn exhausted() -> ApiError {
    ApiError::Unavailable("responses that clients have not read take too much memory".to_owned())
}

/// The bytes of a response; dropping them releases the memory.
struct Counted {
    bytes: Bytes,
    _permit: Permit,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(size: usize) -> Response {
        vec![b'x'; size].into_response()
    }

    async fn bytes(response: Response) -> Bytes {
        response.into_body().collect().await.unwrap().to_bytes()
    }

    #[tokio::test]
    async fn a_response_is_counted_until_its_bytes_are_dropped() {
        let unsent = ResponseMemory::new(1 << 20);
        let first = unsent.count(response(400 << 10), Sending::RejectWhenFull).await;
        let first = bytes(first).await;
        assert_eq!(first.len(), 400 << 10);
        let second = unsent.count(response(400 << 10), Sending::RejectWhenFull).await;
        assert_eq!(second.status(), StatusCode::SERVICE_UNAVAILABLE);
        let small = unsent.count(response(SMALL_BYTES), Sending::RejectWhenFull).await;
        assert_eq!(small.status(), StatusCode::OK);
        let written = unsent.count(response(400 << 10), Sending::Always).await;
        assert_eq!(written.status(), StatusCode::OK);
        drop((first, written));
        let again = unsent.count(response(400 << 10), Sending::RejectWhenFull).await;
        assert_eq!(bytes(again).await.len(), 400 << 10);
    }

    #[test]
    fn only_reads_are_rejected_after_they_ran() {
        for (method, route, sending) in [
            (Method::GET, "/api/v1/products", Sending::RejectWhenFull),
            (Method::POST, "/v1/search", Sending::RejectWhenFull),
            (Method::POST, "/api/v1/products", Sending::Always),
            (Method::POST, "/mcp", Sending::Always),
        ] {
            assert_eq!(Sending::of(&method, route), sending, "{method} {route}");
        }
    }
}
