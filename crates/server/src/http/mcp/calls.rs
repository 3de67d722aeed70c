//! Runs tools: reads their arguments like API requests, and calls the same actions.

use catalog::product::access::Caller;
use engine::writes::{Edit, Precondition};
use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use super::{
    results,
    tools::{IDEMPOTENCY_KEY, Tool},
};
use crate::http::{
    app::App,
    errors::{ApiError, ValidationError},
    handlers::actions,
    requests::{
        ObjectDefinition,
        fields::Invalid,
        headers::parse_key,
        listing::ListArguments,
        products::{NewProduct, ProductArgument, ProductEdit},
    },
    responses::products::{DeletedProduct, ProductBody},
};

/// Calls a tool.
pub(super) async fn call(
    app: &App,
    caller: Caller,
    tool: Tool,
    arguments: &Value,
) -> Result<CallToolResult, ApiError> {
    match tool {
        Tool::SearchProducts => {
            let found = actions::search(app, caller, arguments).await?;
            Ok(results::found(json!(found)))
        }
        Tool::GetProduct => {
            let id = ProductArgument::read(arguments).map_err(ApiError::Validation)?;
            let product = actions::get(app, caller.may_read(), id).await?;
            Ok(results::product(json!(ProductBody::from(&product))))
        }
        Tool::ListProducts => {
            let request = ListArguments::read(arguments).map_err(ApiError::Validation)?;
            let offset = request.offset;
            let page = actions::list(app, caller.may_read(), request).await?;
            Ok(results::listed(json!(page), offset))
        }
        Tool::CreateProduct => {
            let pass = caller.may_write()?;
            let (key, body) = split_key(arguments)?;
            let draft = NewProduct::read(&body).map_err(ApiError::Validation)?;
            let created = actions::create(app, pass, draft, &body, key.as_deref()).await?;
            let product = serde_json::from_slice(&created.text).map_err(|_| ApiError::Internal)?;
            Ok(results::created(product))
        }
        Tool::UpdateProduct => {
            let pass = caller.may_write()?;
            let (id, patch) = ProductEdit::read(arguments).map_err(ApiError::Validation)?;
            let edit = Edit { id, patch, precondition: Precondition::Exists };
            let product = actions::update(app, pass, edit).await?;
            Ok(results::updated(json!(ProductBody::from(&product))))
        }
        Tool::DeleteProduct => {
            let pass = caller.may_write()?;
            let id = ProductArgument::read(arguments).map_err(ApiError::Validation)?;
            actions::delete(app, pass, id, Precondition::Exists).await?;
            Ok(results::deleted(json!(DeletedProduct { id: id.get(), deleted: true })))
        }
    }
}

/// The idempotency key of a create, and the product without it.
fn split_key(arguments: &Value) -> Result<(Option<String>, Value), ApiError> {
    let mut body = arguments.clone();
    let Some(key) = body.as_object_mut().and_then(|fields| fields.remove(IDEMPOTENCY_KEY)) else {
        return Ok((None, body));
    };
    // A value that is not a string is invalid like the empty string.
    match parse_key(key.as_str().unwrap_or_default()) {
        Ok(key) => Ok((Some(key.to_owned()), body)),
        Err(Invalid { code, message, .. }) => {
            Err(ApiError::invalid(ValidationError::new(IDEMPOTENCY_KEY, code, message)))
        }
    }
}
