//! What does a tool do? It reads its arguments as the API reads a request, and does what the API does.

use catalog::access::Caller;
use engine::writes::{Edit, Precondition};
use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use super::{results, tools::Tool};
use crate::http::{
    App, actions,
    problem::{ApiError, Fault},
    requests,
    wire::{ProductBody, ProductGone},
};

/// The argument of a create that the product does not have.
const KEY: &str = "idempotency_key";

/// Has a tool do its work.
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
            let id = requests::sole_id(arguments).map_err(ApiError::Validation)?;
            let product = actions::get(app, caller.may_read(), id).await?;
            Ok(results::product(json!(ProductBody::from(&product))))
        }
        Tool::ListProducts => {
            let request = requests::list_object(arguments).map_err(ApiError::Validation)?;
            let offset = request.offset;
            let page = actions::list(app, caller.may_read(), request).await?;
            Ok(results::listed(json!(page), offset))
        }
        Tool::CreateProduct => {
            let pass = caller.may_write()?;
            let (key, body) = split_key(arguments)?;
            let draft = requests::draft(&body).map_err(ApiError::Validation)?;
            let created = actions::create(app, pass, draft, &body, key.as_deref()).await?;
            let product = serde_json::from_slice(&created.text).map_err(|_| ApiError::Internal)?;
            Ok(results::created(product))
        }
        Tool::UpdateProduct => {
            let pass = caller.may_write()?;
            let edit = requests::bulk_edit(arguments).edit;
            let (id, patch) = edit.map_err(ApiError::Validation)?;
            let edit = Edit { id, patch, precondition: Precondition::Exists };
            let product = actions::update(app, pass, edit).await?;
            Ok(results::updated(json!(ProductBody::from(&product))))
        }
        Tool::DeleteProduct => {
            let pass = caller.may_write()?;
            let id = requests::sole_id(arguments).map_err(ApiError::Validation)?;
            actions::delete(app, pass, id, Precondition::Exists).await?;
            Ok(results::deleted(json!(ProductGone { id: id.get(), deleted: true })))
        }
    }
}

/// The key that makes a create safe to repeat, and the product without it.
fn split_key(arguments: &Value) -> Result<(Option<String>, Value), ApiError> {
    let mut body = arguments.clone();
    let Some(key) = body.as_object_mut().and_then(|fields| fields.remove(KEY)) else {
        return Ok((None, body));
    };
    // Anything but a text is as little a key as an empty one.
    match requests::idempotency_key(key.as_str().unwrap_or_default()) {
        Ok(key) => Ok((Some(key.to_owned()), body)),
        Err(refused) => Err(ApiError::fault(Fault::new(KEY, refused.code, refused.message))),
    }
}
