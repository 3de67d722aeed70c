//! How much memory do responses hold that their clients have not taken? Large ones are counted until
//! their last byte is handed to the system, for all callers together and for each shop.

use std::sync::Arc;

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{Method, StatusCode},
    response::{IntoResponse, Response},
};
use catalog::product::ShopId;
use http_body_util::BodyExt;

use super::{
    auth::Bearer,
    pool::{Holder, Pool, Share, Taken},
    problem::ApiError,
    traffic::Work,
};

/// Responses up to this size are not counted: the connections bound them.
const SMALL_BYTES: usize = 64 << 10;
/// A shop may hold one half of the memory.
const SHOPS_PER_MEMORY: usize = 2;

/// The memory of responses on their way.
#[derive(Debug)]
pub(crate) struct UnsentResponses {
    memory: Arc<Pool>,
    per_shop: usize,
}

/// The mark of a response that is not counted: its bytes are in memory anyway, once for all who
/// ask, or those who ask are few.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uncounted;

/// Lets a response be sent without being counted.
pub(crate) async fn exempt(mut response: Response) -> Response {
    response.extensions_mut().insert(Uncounted);
    response
}

/// What may become of a response that finds no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sending {
    /// A refusal takes its place: asking again does no harm.
    IfThereIsRoom,
    /// It is sent nevertheless: it says what was written.
    Always,
}

impl Sending {
    pub(crate) fn of(method: &Method, route: &str) -> Self {
        let reads = matches!(*method, Method::GET | Method::HEAD)
            || Work::of(method, route) == Some(Work::Search);
        if reads { Self::IfThereIsRoom } else { Self::Always }
    }
}

impl UnsentResponses {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { memory: Pool::new(bytes), per_shop: bytes / SHOPS_PER_MEMORY }
    }

    /// Refuses a request whose response would be sent whether there is room or not, while the
    /// shop has used up its part.
    pub(crate) fn check(&self, shop: ShopId) -> Result<(), ApiError> {
        let share = self.share(Holder::Shop(shop));
        if self.memory.is_used_up(&share) { Err(no_room()) } else { Ok(()) }
    }

    /// The same response, counted until it is sent; or a refusal in its place.
    pub(crate) async fn count(&self, response: Response, sending: Sending) -> Response {
        let exact = response.body().size_hint().exact();
        let size = exact.map_or(0, |size| size as usize);
        if size <= SMALL_BYTES || response.extensions().get::<Uncounted>().is_some() {
            return response;
        }
        let bearer = response.extensions().get::<Bearer>();
        let holder = bearer.map_or(Holder::Public, |bearer| Holder::Shop(bearer.shop()));
        let shares = [self.share(holder)];
        let taken = match (self.memory.take(size, &shares), sending) {
            (Ok(taken), _) => taken,
            (Err(_), Sending::Always) => self.memory.take_anyway(size, &shares),
            (Err(_), Sending::IfThereIsRoom) => return no_room().into_response(),
        };
        let (parts, body) = response.into_parts();
        match body.collect().await {
            Ok(whole) => {
                let bytes = Bytes::from_owner(Counted { bytes: whole.to_bytes(), _taken: taken });
                Response::from_parts(parts, Body::from(bytes))
            }
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }

    fn share(&self, holder: Holder) -> Share {
        Share { holder, limit: self.per_shop }
    }
}

fn no_room() -> ApiError {
    ApiError::Unavailable("responses that clients have not read take too much memory".to_owned())
}

/// The bytes of a response, which give their memory back when the connection drops them.
struct Counted {
    bytes: Bytes,
    _taken: Taken,
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
        let unsent = UnsentResponses::new(1 << 20);
        let first = unsent.count(response(400 << 10), Sending::IfThereIsRoom).await;
        let first = bytes(first).await;
        assert_eq!(first.len(), 400 << 10);
        let second = unsent.count(response(400 << 10), Sending::IfThereIsRoom).await;
        assert_eq!(second.status(), StatusCode::SERVICE_UNAVAILABLE);
        let small = unsent.count(response(SMALL_BYTES), Sending::IfThereIsRoom).await;
        assert_eq!(small.status(), StatusCode::OK);
        let written = unsent.count(response(400 << 10), Sending::Always).await;
        assert_eq!(written.status(), StatusCode::OK);
        drop((first, written));
        let again = unsent.count(response(400 << 10), Sending::IfThereIsRoom).await;
        assert_eq!(bytes(again).await.len(), 400 << 10);
    }

    #[test]
    fn only_reads_may_be_refused_once_they_are_done() {
        for (method, route, sending) in [
            (Method::GET, "/api/v1/products", Sending::IfThereIsRoom),
            (Method::POST, "/v1/search", Sending::IfThereIsRoom),
            (Method::POST, "/api/v1/products", Sending::Always),
            (Method::POST, "/mcp", Sending::Always),
        ] {
            assert_eq!(Sending::of(&method, route), sending, "{method} {route}");
        }
    }
}
