//! What does a request come down to? A pass, one engine call, and the body of the answer: the same
//! for the addresses of the API and for the tools of [`super::mcp`].

use std::sync::Arc;

use catalog::{
    access::{Caller, ReadPass, WritePass},
    product::{Draft, Product, ProductId},
};
use engine::writes::{Created, Edit, Once, Precondition, Refusal};
use serde_json::Value;

use super::{
    App,
    problem::ApiError,
    requests::{self, DEFAULT_PAGE, ListRequest},
    wire::{ProductBody, ProductPage, SearchAnswer},
};

/// A search, as its body asks for it.
pub(crate) async fn search(
    app: &App,
    caller: Caller,
    body: &Value,
) -> Result<SearchAnswer, ApiError> {
    // Asking for hidden products without the role is 403 even where other fields are at fault.
    let asks_for_hidden = body.get("include_hidden") == Some(&true.into());
    let pass = caller.may_search(asks_for_hidden)?;
    let request = requests::search(body).map_err(ApiError::Validation)?;
    let query = request.query.as_str().to_owned();
    let found = app.engine.search(pass, request).await?;
    Ok(SearchAnswer::of(&query, &found))
}

/// One product.
pub(crate) async fn get(app: &App, pass: ReadPass, id: ProductId) -> Result<Product, ApiError> {
    app.engine.product(pass, id).await?.ok_or(ApiError::NotFound("product"))
}

/// A page of the catalog, or products by id.
pub(crate) async fn list(
    app: &App,
    pass: ReadPass,
    request: ListRequest,
) -> Result<ProductPage, ApiError> {
    let (products, total) = match request.ids {
        None => {
            let limit = request.limit.unwrap_or(DEFAULT_PAGE);
            let page = app.engine.page(pass, limit, request.offset).await?;
            (page.products, page.total)
        }
        Some(ids) => {
            let found = app.engine.products(pass, ids).await?;
            let total = found.len();
            let limit = request.limit.unwrap_or(total);
            (found.into_iter().skip(request.offset).take(limit).collect(), total)
        }
    };
    Ok(ProductPage { products: products.iter().map(ProductBody::from).collect(), total })
}

/// A product that was created, now or by the same request before.
pub(crate) struct CreatedProduct {
    pub(crate) id: u64,
    /// The body of the answer.
    pub(crate) text: Vec<u8>,
}

/// Creates a product; once, where `key` names the request, which `body` holds as it was sent.
pub(crate) async fn create(
    app: &App,
    pass: WritePass,
    draft: Draft,
    body: &Value,
    key: Option<&str>,
) -> Result<CreatedProduct, ApiError> {
    let answer = |products: &[Product]| to_json(&products.first().map(ProductBody::from));
    let once = once("create", key, body, answer);
    match app.engine.create(pass, vec![draft], once).await? {
        Created::Now(products) => {
            let id = products.first().ok_or(ApiError::Internal)?.id.get();
            Ok(CreatedProduct { id, text: answer(&products) })
        }
        Created::Before(text) => Ok(CreatedProduct { id: id_in(&text)?, text }),
        Created::KeyTaken => Err(ApiError::KeyTaken),
    }
}

/// Changes a product.
pub(crate) async fn update(app: &App, pass: WritePass, edit: Edit) -> Result<Product, ApiError> {
    let outcome = app.engine.update(pass, vec![edit]).await?.pop();
    outcome.ok_or(ApiError::Internal)?.map_err(refused)
}

/// Deletes a product.
pub(crate) async fn delete(
    app: &App,
    pass: WritePass,
    id: ProductId,
    precondition: Precondition,
) -> Result<(), ApiError> {
    let outcome = app.engine.delete(pass, vec![id], precondition).await?.pop();
    outcome.ok_or(ApiError::Internal)?.map_err(refused)?;
    Ok(())
}

/// What makes a create safe to repeat, if its sender has named it.
pub(crate) fn once(
    endpoint: &str,
    key: Option<&str>,
    body: &Value,
    answer: impl Fn(&[Product]) -> Vec<u8> + Send + Sync + 'static,
) -> Option<Once> {
    key.map(|key| {
        let said = format!("{endpoint}\n{body}");
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, said.as_bytes());
        Once {
            key: key.to_owned(),
            fingerprint: digest.as_ref().to_vec(),
            answer: Arc::new(answer),
        }
    })
}

/// The id of the product in a remembered answer.
fn id_in(answer: &[u8]) -> Result<u64, ApiError> {
    let body: Value = serde_json::from_slice(answer).map_err(|_| ApiError::Internal)?;
    body.get("id").and_then(Value::as_u64).ok_or(ApiError::Internal)
}

fn refused(refusal: Refusal) -> ApiError {
    match refusal {
        Refusal::NotFound => ApiError::NotFound("product"),
        Refusal::Changed => ApiError::PreconditionFailed,
    }
}

/// A body as it is sent.
pub(crate) fn to_json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|_| unreachable!("wire types always serialise"))
}
