//! Whose token is this? Every API request passes here first and leaves with a [`Bearer`].

use std::{ops::Deref, time::Instant};

use axum::{
    extract::{FromRequestParts, MatchedPath, Request, State},
    http::{HeaderMap, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use catalog::access::Caller;
use engine::tokens;

use super::{App, admission::Admission, problem::ApiError, traffic::Work};

/// The caller of an API request: proof that its token was checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bearer(Caller);

impl Deref for Bearer {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.0
    }
}

impl FromRequestParts<App> for Bearer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, ApiError> {
        // Absent only if a route was mounted outside the authenticating layer.
        parts.extensions.get().copied().ok_or(ApiError::MissingToken)
    }
}

/// What a token is counted by, for rate limits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TokenKey {
    /// One of our own, by its number.
    Opaque(u64),
    /// A signed one, by its shop and subject.
    Signed(u64, String),
}

/// The layer around every API route: token, then rate limit, then the request itself.
pub(crate) async fn authenticate(
    State(app): State<App>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let (caller, key) = identify(&app, request.headers()).await?;
    let admission = request.extensions().get::<Admission>().ok_or(ApiError::Internal)?;
    app.admissions.identify(admission, caller, &key)?;
    request.extensions_mut().insert(Bearer(caller));
    let Some(limits) = &app.rate_limits else {
        return Ok(answer(&app, caller, request, next).await);
    };
    let (mut response, allowance) = match limits.take(&key) {
        Ok(allowance) => (answer(&app, caller, request, next).await, allowance),
        Err(too_many) => (too_many.into_response(), limits.nothing_left()),
    };
    allowance.write_to(response.headers_mut());
    Ok(response)
}

/// Has the request answered, and counts it for the caller's shop.
async fn answer(app: &App, caller: Caller, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>();
    let work = route.and_then(|route| Work::of(request.method(), route.as_str()));
    let started = Instant::now();
    let mut response = next.run(request).await;
    if let Some(work) = work {
        app.traffic.record(caller.shop(), work, response.status(), started.elapsed());
    }
    // The layers that send the response account for its caller.
    response.extensions_mut().insert(Bearer(caller));
    response
}

/// The caller behind a request's token.
pub(crate) async fn identify(
    app: &App,
    headers: &HeaderMap,
) -> Result<(Caller, TokenKey), ApiError> {
    let token = bearer_token(headers)?;
    match &app.signed_tokens {
        Some(signed) if !tokens::looks_like_ours(token) => signed.verify(token),
        _ => {
            let (caller, id) = app.engine.authenticate(token).await??;
            Ok((caller, TokenKey::Opaque(id)))
        }
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
