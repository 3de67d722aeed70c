//! The endpoints for a shop's tokens.

use axum::{
    Json,
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode},
};

use super::{
    App,
    auth::Bearer,
    json,
    path::PathText,
    problem::{ApiError, Fault},
    requests,
    wire::{NewToken, TokenBody},
};

pub(crate) async fn issue(
    State(app): State<App>,
    caller: Bearer,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<NewToken>), ApiError> {
    let pass = caller.may_administer()?;
    let body = json::read(&headers, body, app.body_limits).await?;
    let request = requests::token(&body, app.engine.now()).map_err(ApiError::Validation)?;
    let issued =
        app.engine.issue_token(pass, request.role, request.name, request.expires_at).await?;
    Ok((StatusCode::CREATED, Json(issued.into())))
}

pub(crate) async fn list(
    State(app): State<App>,
    caller: Bearer,
) -> Result<Json<Vec<TokenBody>>, ApiError> {
    let pass = caller.may_administer()?;
    let tokens = app.engine.tokens(pass).await?;
    Ok(Json(tokens.into_iter().map(TokenBody::from).collect()))
}

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
            return Err(ApiError::Validation(vec![fault]));
        }
    };
    match app.engine.revoke_token(pass, id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::NotFound("token")),
    }
}
