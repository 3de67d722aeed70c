//! The endpoints of a shop's tokens.

use axum::{
    Json,
    extract::{RawQuery, State},
    http::{HeaderName, StatusCode},
};

use crate::http::{
    app::App,
    caller::Bearer,
    errors::{
        ApiError,
        responses::{
            ApiProblems, BodyProblems, CountProblems, IdProblems, ParameterProblems, RoleProblems,
        },
    },
    headers::TOTAL_COUNT,
    openapi::tags::TOKENS,
    requests::{
        ObjectDefinition,
        body::RequestBody,
        headers::{PathText, token_id},
        parameters::TokenIdParameter,
        tokens::{TokenListParameters, TokenRequest},
    },
    responses::tokens::{NewToken, TokenBody, TokenIssued, TokenList, TokenRevoked},
};

/// Issue a token
///
/// For the caller's own shop, of which 10,000 tokens can work at the same time. The token itself is
/// in the answer and nowhere else.
#[utoipa::path(
    post,
    path = "/tokens",
    operation_id = "issue_token",
    tag = TOKENS,
    request_body = TokenRequest,
    responses(TokenIssued, ApiProblems, RoleProblems, BodyProblems, CountProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("ADMIN")))
)]
pub(crate) async fn issue(
    State(app): State<App>,
    caller: Bearer,
    body: RequestBody,
) -> Result<(StatusCode, Json<NewToken>), ApiError> {
    let pass = caller.may_administer()?;
    let body = body.json().await?;
    let options = TokenRequest::read(&body).map_err(ApiError::Validation)?;
    let expires_at = options.lifetime.map(|lifetime| app.engine.now() + lifetime);
    let issued = app.engine.issue_token(pass, options.role, options.name, expires_at).await??;
    Ok((StatusCode::CREATED, Json(issued.into())))
}

/// List tokens
///
/// A page of the tokens of the caller's shop, oldest first, never the secrets themselves. Tokens that
/// expired or were revoked are listed for 30 days, the last 10,000 of them at the most.
#[utoipa::path(
    get,
    path = "/tokens",
    operation_id = "list_tokens",
    tag = TOKENS,
    params(TokenListParameters),
    responses(TokenList, ApiProblems, RoleProblems, ParameterProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("ADMIN")))
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Bearer,
    RawQuery(query): RawQuery,
) -> Result<([(HeaderName, String); 1], Json<Vec<TokenBody>>), ApiError> {
    let pass = caller.may_administer()?;
    let TokenListParameters { limit, offset } =
        TokenListParameters::read(query.as_deref()).map_err(ApiError::Validation)?;
    let page = app.engine.tokens(pass, limit, offset).await?;
    let tokens = page.tokens.into_iter().map(TokenBody::from).collect();
    Ok(([(TOTAL_COUNT, page.total.to_string())], Json(tokens)))
}

/// Revoke a token
///
/// It stops working at once. A token can revoke itself.
#[utoipa::path(
    delete,
    path = "/tokens/{token_id}",
    operation_id = "revoke_token",
    tag = TOKENS,
    params(TokenIdParameter),
    responses(TokenRevoked, ApiProblems, RoleProblems, IdProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("ADMIN")))
)]
pub(crate) async fn revoke(
    State(app): State<App>,
    caller: Bearer,
    PathText(id): PathText,
) -> Result<StatusCode, ApiError> {
    let pass = caller.may_administer()?;
    let id = token_id(&id)?;
    match app.engine.revoke_token(pass, id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::NotFound("token")),
    }
}
