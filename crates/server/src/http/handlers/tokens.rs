//! The endpoints of a shop's tokens.

use axum::{Json, extract::State, http::StatusCode};

use crate::http::{
    app::App,
    caller::Bearer,
    errors::{
        ApiError,
        responses::{ApiProblems, BodyProblems, IdProblems, RoleProblems},
    },
    openapi::tags::TOKENS,
    requests::{
        ObjectDefinition,
        body::RequestBody,
        headers::{PathText, token_id},
        parameters::TokenIdParameter,
        tokens::TokenRequest,
    },
    responses::tokens::{NewToken, TokenBody, TokenIssued, TokenList, TokenRevoked},
};

/// Issue a token
///
/// For the caller's own shop. The token itself is in the answer and nowhere else.
#[utoipa::path(
    post,
    path = "/tokens",
    operation_id = "issue_token",
    tag = TOKENS,
    request_body = TokenRequest,
    responses(TokenIssued, ApiProblems, RoleProblems, BodyProblems),
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
    let issued = app.engine.issue_token(pass, options.role, options.name, expires_at).await?;
    Ok((StatusCode::CREATED, Json(issued.into())))
}

/// List tokens
///
/// All tokens of the caller's shop, never the secrets themselves.
#[utoipa::path(
    get,
    path = "/tokens",
    operation_id = "list_tokens",
    tag = TOKENS,
    responses(TokenList, ApiProblems, RoleProblems),
    security(("bearer" = [])),
    extensions(("x-required-role" = json!("ADMIN")))
)]
pub(crate) async fn list(
    State(app): State<App>,
    caller: Bearer,
) -> Result<Json<Vec<TokenBody>>, ApiError> {
    let pass = caller.may_administer()?;
    let tokens = app.engine.tokens(pass).await?;
    Ok(Json(tokens.into_iter().map(TokenBody::from).collect()))
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
