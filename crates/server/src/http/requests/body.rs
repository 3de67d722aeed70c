//! Receives the body of a request: complete, and bounded in size, time and memory.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{FromRef, FromRequest, FromRequestParts, MatchedPath, Request},
    http::{HeaderMap, header},
};
use catalog::product::ShopId;
use http_body_util::BodyExt;
use serde_json::Value;

use super::json;
use crate::http::{
    admission::{
        Admission, AdmissionControl, Connection, ResponseMemory,
        pending_bodies::{PendingBody, TooManyBodies},
        response_memory::Sending,
    },
    caller::Bearer,
    errors::ApiError,
};

/// The limits of request bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyLimits {
    /// The largest size.
    pub(crate) bytes: usize,
    /// The longest time until a body has arrived.
    pub(crate) read_time: Duration,
}

/// What receiving a body needs of the service.
#[derive(Clone)]
pub(crate) struct BodyReader {
    pub(crate) limits: BodyLimits,
    pub(crate) admission: Arc<AdmissionControl>,
    pub(crate) response_memory: Arc<ResponseMemory>,
}

/// A body that has not been received yet. The handler receives it after all other checks.
pub(crate) struct RequestBody {
    reader: BodyReader,
    headers: HeaderMap,
    admission: Admission,
    connection: Arc<Connection>,
    shop: ShopId,
    /// The shop whose share of response memory must not be exhausted; `None` for requests whose
    /// response can be rejected later.
    reports_write_of: Option<ShopId>,
    body: Body,
}

impl<S: Send + Sync> FromRequest<S> for RequestBody
where
    BodyReader: FromRef<S>,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let (mut parts, body) = request.into_parts();
        let admission = Admission::from_request_parts(&mut parts, state).await?;
        let bearer = Bearer::from_request_parts(&mut parts, state).await?;
        let route = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
        let connection = parts.extensions.get::<Arc<Connection>>().cloned();
        let is_always_sent = Sending::of(&parts.method, route) == Sending::Always;
        Ok(Self {
            reader: BodyReader::from_ref(state),
            reports_write_of: is_always_sent.then(|| bearer.shop()),
            headers: parts.headers,
            admission,
            connection: connection.ok_or(ApiError::Internal)?,
            shop: bearer.shop(),
            body,
        })
    }
}

impl RequestBody {
    /// Receives and parses a JSON body. A body over the size limit is rejected before it has
    /// arrived.
    pub(crate) async fn json(self) -> Result<Value, ApiError> {
        json::parse(&self.bytes().await?)
    }

    /// Receives a body that is declared as JSON.
    pub(crate) async fn bytes(self) -> Result<Vec<u8>, ApiError> {
        let BodyReader { limits, admission, response_memory } = self.reader;
        if !is_json(&self.headers) {
            return Err(ApiError::UnsupportedMediaType);
        }
        let announced = content_length(&self.headers);
        if announced.is_some_and(|length| length > limits.bytes as u64) {
            return Err(ApiError::BodyTooLarge { limit: limits.bytes });
        }
        self.admission.begin_body(&admission)?;
        let pending = self.connection.begin_body(self.shop).map_err(|TooManyBodies| {
            ApiError::Unavailable("too many request bodies are arriving".to_owned())
        })?;
        let receiving = receive(self.body, limits.bytes, &self.admission, &pending);
        let bytes = tokio::select! {
            received = tokio::time::timeout(limits.read_time, receiving) => {
                received.unwrap_or(Err(ApiError::RequestTimeout))?
            }
            () = pending.cut_off() => return Err(ApiError::RequestTimeout),
        };
        drop(pending);
        self.admission.end_body(&admission)?;
        if let Some(shop) = self.reports_write_of {
            response_memory.check(shop)?;
        }
        Ok(bytes)
    }
}

/// All bytes of a body in one buffer: a list of many small chunks would take more memory.
async fn receive(
    mut body: Body,
    limit: usize,
    admission: &Admission,
    pending: &PendingBody,
) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| ApiError::MalformedJson(error.to_string()))?;
        let Ok(chunk) = frame.into_data() else { continue };
        if bytes.len() + chunk.len() > limit {
            return Err(ApiError::BodyTooLarge { limit });
        }
        admission.add_to_body(chunk.len())?;
        pending.received(chunk.len());
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
