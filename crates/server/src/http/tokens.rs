//! The endpoints for a shop's tokens.

use axum::{Json, extract::State, http::StatusCode};

use super::{
    App,
    auth::Bearer,
    json::Unread,
    openapi::{
        TOKENS,
        answers::{TokenIssued, TokenList, TokenRevoked},
        bodies::TokenRequest,
        parameters::TokenId,
        problems::{ApiProblems, BodyProblems, IdProblems, RoleProblems},
    },
    path::PathText,
    problem::{ApiError, Fault},
    requests,
    wire::{NewToken, TokenBody},
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
    body: Unread,
) -> Result<(StatusCode, Json<NewToken>), ApiError> {
    let pass = caller.may_administer()?;
    let body = body.json().await?;
    let request = requests::token(&body, app.engine.now()).map_err(ApiError::Validation)?;
    let issued =
        app.engine.issue_token(pass, request.role, request.name, request.expires_at).await?;
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
    params(TokenId),
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
    let id = match id.parse::<u64>() {
        Ok(id) => id,
        Err(_) if requests::is_integer(&id) => return Err(ApiError::NotFound("token")),
        Err(_) => {
            let fault = Fault::new("token_id", "wrong_type", "must be a positive integer");
            return Err(ApiError::fault(fault));
        }
    };
    match app.engine.revoke_token(pass, id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::NotFound("token")),
    }
}
