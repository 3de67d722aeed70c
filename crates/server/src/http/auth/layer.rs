//! The authentication layer: verifies the token of a request, counts the request against its
//! caller's admission slots and rate limit, and passes the caller on as a [`Bearer`].

use std::{sync::Arc, time::Instant};

use axum::{
    Extension,
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use catalog::product::access::Caller;
use engine::{Engine, tokens};

use super::jwt::SignedTokens;
use crate::http::{
    admission::{Admission, AdmissionControl, Connection, RateLimits},
    caller::{Bearer, TokenKey},
    errors::ApiError,
    traffic::{RequestKind, Traffic},
};

/// Verifies tokens and accounts for the requests of their callers.
pub(crate) struct Authenticator {
    pub(crate) engine: Arc<Engine>,
    pub(crate) signed_tokens: Option<Arc<SignedTokens>>,
    pub(crate) rate_limits: Option<RateLimits>,
    pub(crate) admission: Arc<AdmissionControl>,
    pub(crate) traffic: Arc<Traffic>,
}

/// The layer around every API route: token, then rate limit, then the request itself.
pub(crate) async fn authenticate(
    State(authenticator): State<Arc<Authenticator>>,
    Extension(connection): Extension<Arc<Connection>>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let (caller, key) = authenticator.identify(request.headers()).await?;
    connection.identify();
    let admission = request.extensions().get::<Admission>().ok_or(ApiError::Internal)?;
    authenticator.admission.identify(admission, caller, &key)?;
    request.extensions_mut().insert(Bearer(caller));
    let Some(limits) = &authenticator.rate_limits else {
        return Ok(authenticator.respond(caller, request, next).await);
    };
    let (mut response, allowance) = match limits.take(&key) {
        Ok(allowance) => (authenticator.respond(caller, request, next).await, allowance),
        Err(too_many) => (too_many.into_response(), limits.nothing_left()),
    };
    allowance.write_to(response.headers_mut());
    Ok(response)
}

impl Authenticator {
    /// The caller of a request, from its token.
    pub(crate) async fn identify(
        &self,
        headers: &HeaderMap,
    ) -> Result<(Caller, TokenKey), ApiError> {
        let token = bearer_token(headers)?;
        match &self.signed_tokens {
            Some(signed) if !tokens::looks_like_ours(token) => signed.verify(token),
            _ => {
                let _lookup = match self.engine.is_unknown_token(token) {
                    true => Some(self.admission.begin_lookup()?),
                    false => None,
                };
                let (caller, id) = self.engine.authenticate(token).await??;
                Ok((caller, TokenKey::Opaque(id)))
            }
        }
    }

    /// Runs the request and records it in the traffic of the caller's shop.
    async fn respond(&self, caller: Caller, request: Request, next: Next) -> Response {
        let route = request.extensions().get::<MatchedPath>();
        let kind = route.and_then(|route| RequestKind::of(request.method(), route.as_str()));
        let started = Instant::now();
        let mut response = next.run(request).await;
        if let Some(kind) = kind {
            self.traffic.record(caller.shop(), kind, response.status(), started.elapsed());
        }
        // The outer layers account for the response by its caller.
        response.extensions_mut().insert(Bearer(caller));
        response
    }
}

fn bearer_token(headers: &HeaderMap) -> Result<&str, ApiError> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next().ok_or(ApiError::MissingToken)?;
    if values.next().is_some() {
        return Err(ApiError::InvalidToken);
    }
    let value = value.to_str().map_err(|_| ApiError::InvalidToken)?;
    let (scheme, token) = value.split_once(' ').ok_or(ApiError::MissingToken)?;
    if !scheme.eq_ignore_ascii_case("bearer") || token.trim().is_empty() {
        return Err(ApiError::MissingToken);
    }
    Ok(token.trim())
}
