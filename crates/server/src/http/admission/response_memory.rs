//! The memory of responses that clients have not read yet. A large response is counted until its
//! last byte is written to the socket, against the bound for all callers and against its shop's, or
//! without a token against those of all such requests and of its address. A shop, or all requests
//! without a token, get half of what the others leave.

use std::sync::Arc;

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{Method, StatusCode},
    response::{IntoResponse, Response},
};
use catalog::product::ShopId;
use http_body_util::BodyExt;

use super::{
    connections::Address,
    pool::{Limit, Owner, Permit, Pool, Share},
};
use crate::http::{caller::Bearer, errors::ApiError, traffic::RequestKind};

/// Responses up to this size are not counted: the limit on connections bounds them.
const SMALL_BYTES: usize = 64 << 10;
/// Requests without a token from one address may hold a quarter of the memory.
const ADDRESSES_PER_MEMORY: usize = 4;

/// The memory of responses that are not sent yet.
#[derive(Debug)]
pub(crate) struct ResponseMemory {
    memory: Arc<Pool>,
    per_address: Limit,
}

/// Marks a response that is not counted: it goes to the admin listener.
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
        Self { memory: Pool::new(bytes), per_address: Limit::AtMost(bytes / ADDRESSES_PER_MEMORY) }
    }

    /// Rejects a write before it starts while the shop's share is exhausted: its response would be
    /// sent in any case.
    pub(crate) fn check(&self, shop: ShopId) -> Result<(), ApiError> {
        let share = fair(Owner::Shop(shop));
        if self.memory.is_exhausted(&share) { Err(exhausted()) } else { Ok(()) }
    }

    /// The same response to this address, counted until it is sent, or a 503 in its place.
    pub(crate) async fn count(
        &self,
        response: Response,
        sending: Sending,
        address: Address,
    ) -> Response {
        let exact = response.body().size_hint().exact();
        let size = exact.map_or(0, |size| size as usize);
        if size <= SMALL_BYTES || response.extensions().get::<Uncounted>().is_some() {
            return response;
        }
        let shares = match response.extensions().get::<Bearer>() {
            Some(bearer) => vec![fair(Owner::Shop(bearer.shop()))],
            None => {
                let of_address = Share { owner: Owner::Address(address), limit: self.per_address };
                vec![fair(Owner::Public), of_address]
            }
        };
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
}

fn fair(owner: Owner) -> Share {
    Share { owner, limit: Limit::Fair }
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
    use std::net::{IpAddr, Ipv4Addr};

    use axum::http::{HeaderMap, HeaderValue};

    use super::*;
    use crate::http::responses::static_content::StaticContent;

    fn response(size: usize) -> Response {
        vec![b'x'; size].into_response()
    }

    fn address(host: u8) -> Address {
        Address::from(IpAddr::from(Ipv4Addr::new(10, 0, 0, host)))
    }

    async fn bytes(response: Response) -> Bytes {
        response.into_body().collect().await.unwrap().to_bytes()
    }

    #[tokio::test]
    async fn a_response_is_counted_until_its_bytes_are_dropped() {
        let unsent = ResponseMemory::new(2 << 20);
        let first = unsent.count(response(400 << 10), Sending::RejectWhenFull, address(1)).await;
        let first = bytes(first).await;
        assert_eq!(first.len(), 400 << 10);
        let second = unsent.count(response(400 << 10), Sending::RejectWhenFull, address(1)).await;
        assert_eq!(second.status(), StatusCode::SERVICE_UNAVAILABLE);
        let small = unsent.count(response(SMALL_BYTES), Sending::RejectWhenFull, address(1)).await;
        assert_eq!(small.status(), StatusCode::OK);
        let written = unsent.count(response(400 << 10), Sending::Always, address(1)).await;
        assert_eq!(written.status(), StatusCode::OK);
        drop((first, written));
        let again = unsent.count(response(400 << 10), Sending::RejectWhenFull, address(1)).await;
        assert_eq!(bytes(again).await.len(), 400 << 10);
    }

    #[tokio::test]
    async fn an_address_without_a_token_leaves_memory_to_others() {
        let unsent = ResponseMemory::new(2 << 20);
        let mut held = Vec::new();
        for (host, status) in [(1, 200), (1, 503), (2, 200), (3, 503)] {
            let response = response(500 << 10);
            let counted = unsent.count(response, Sending::RejectWhenFull, address(host)).await;
            assert_eq!(counted.status().as_u16(), status, "{host}");
            held.push(counted);
        }
    }

    #[tokio::test]
    async fn static_content_is_counted() {
        let unsent = ResponseMemory::new(2 << 20);
        let text = "x".repeat(400 << 10);
        let content = StaticContent::new(HeaderValue::from_static("text/plain"), text);
        let ask = || {
            let response = content.respond(&HeaderMap::new());
            assert!(response.extensions().get::<Uncounted>().is_none());
            unsent.count(response, Sending::RejectWhenFull, address(1))
        };
        let held = ask().await;
        assert_eq!(held.status(), StatusCode::OK);
        assert_eq!(ask().await.status(), StatusCode::SERVICE_UNAVAILABLE);
        drop(held);
        assert_eq!(ask().await.status(), StatusCode::OK);
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
