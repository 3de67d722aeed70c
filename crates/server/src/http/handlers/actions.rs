//! The work of requests that the API and the tools of [`crate::http::mcp`] share: one engine call
//! with a pass, and the response body.

use std::sync::Arc;

use catalog::{
    product::{
        Draft, Product, ProductId,
        access::{Caller, ReadPass, WritePass},
    },
    query::sort::Sort,
};
use engine::writes::{Created, Edit, IdempotencyRequest, Precondition, Refusal};
use serde_json::Value;

use crate::http::{
    app::App,
    errors::ApiError,
    requests::{
        ObjectDefinition,
        listing::{DEFAULT_PAGE, ListRequest},
        search::SearchRequest,
    },
    responses::{
        products::{ProductBody, ProductPage},
        search::SearchAnswer,
    },
};

/// Runs the search that a body describes.
pub(crate) async fn search(
    app: &App,
    caller: Caller,
    body: &Value,
) -> Result<SearchAnswer, ApiError> {
    let pass = caller.may_search(SearchRequest::includes_hidden(body))?;
    let mut request = SearchRequest::read(body).map_err(ApiError::Validation)?;
    request.time_limit = Some(app.search_time);
    let found = app.engine.search(pass, request).await?;
    let query = body.get("query").and_then(Value::as_str).unwrap_or_default();
    Ok(SearchAnswer::of(query, &found))
}

/// Reads one product.
pub(crate) async fn get(app: &App, pass: ReadPass, id: ProductId) -> Result<Product, ApiError> {
    app.engine.product(pass, id).await?.ok_or(ApiError::NotFound("product"))
}

/// Reads a page of the catalog, or products by id or key.
pub(crate) async fn list(
    app: &App,
    pass: ReadPass,
    request: ListRequest,
) -> Result<ProductPage, ApiError> {
    let ListRequest { ids, keys, sort, limit, offset } = request;
    let named = match (ids, keys) {
        (Some(ids), _) => Some(app.engine.products(pass, ids).await?),
        (None, Some(keys)) => Some(app.engine.products_by_key(pass, keys).await?),
        (None, None) => None,
    };
    let (products, total) = match named {
        Some(found) => {
            let total = found.len();
            let page = found.iter().skip(offset).take(limit.unwrap_or(total));
            (page.map(ProductBody::from).collect(), total)
        }
        None => page(app, pass, sort, limit.unwrap_or(DEFAULT_PAGE), offset).await?,
    };
    Ok(ProductPage { products, total })
}

/// A page of the whole catalog, and the number of products on all pages.
async fn page(
    app: &App,
    pass: ReadPass,
    sort: Option<Sort>,
    limit: usize,
    offset: usize,
) -> Result<(Vec<ProductBody>, usize), ApiError> {
    let bodies = |products: &[Product]| products.iter().map(ProductBody::from).collect();
    let Some(sort) = sort.filter(|sort| *sort != Sort::Relevance) else {
        let page = app.engine.page(pass, limit, offset).await?;
        return Ok((bodies(&page.products), page.total));
    };
    let time_limit = Some(app.search_time);
    let request =
        engine::SearchRequest { offset, time_limit, ..engine::SearchRequest::all(sort, limit) };
    let found = app.engine.search(pass, request).await?;
    Ok((bodies(&found.products), found.total))
}

/// A product that was created by this request, or earlier by one with the same key.
pub(crate) struct CreatedProduct {
    pub(crate) id: u64,
    /// The response body.
    pub(crate) text: Vec<u8>,
}

/// Creates a product. With an idempotency `key`, repeating the same `body` creates it once.
pub(crate) async fn create(
    app: &App,
    pass: WritePass,
    draft: Draft,
    body: &Value,
    key: Option<&str>,
) -> Result<CreatedProduct, ApiError> {
    let answer = |outcomes: &[Result<Product, Refusal>]| {
        let created = outcomes.first().and_then(|outcome| outcome.as_ref().ok());
        to_json(&created.map(ProductBody::from))
    };
    let once = once("create", key, body, answer);
    match app.engine.create(pass, vec![draft], once).await? {
        Created::New(outcomes) => {
            let created = outcomes.first().ok_or(ApiError::Internal)?;
            let id = created.as_ref().map_err(|refusal| refused(*refusal))?.id.get();
            Ok(CreatedProduct { id, text: answer(&outcomes) })
        }
        Created::Replayed(text) => Ok(CreatedProduct { id: id_in(&text)?, text }),
        Created::KeyReused => Err(ApiError::IdempotencyKeyReused),
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

/// The idempotency record of a request that has a key.
pub(crate) fn once<T>(
    endpoint: &str,
    key: Option<&str>,
    body: &Value,
    answer: impl Fn(&[T]) -> Vec<u8> + Send + Sync + 'static,
) -> Option<IdempotencyRequest<T>> {
    key.map(|key| {
        let said = format!("{endpoint}\n{body}");
        let digest = ring::digest::digest(&ring::digest::SHA256, said.as_bytes());
        IdempotencyRequest {
            key: key.to_owned(),
            fingerprint: digest.as_ref().to_vec(),
            response: Arc::new(answer),
        }
    })
}

/// The id of the product in a stored response.
fn id_in(answer: &[u8]) -> Result<u64, ApiError> {
    let body: Value = serde_json::from_slice(answer).map_err(|_| ApiError::Internal)?;
    body.get("id").and_then(Value::as_u64).ok_or(ApiError::Internal)
}

fn refused(refusal: Refusal) -> ApiError {
    match refusal {
        Refusal::NotFound => ApiError::NotFound("product"),
        Refusal::Changed => ApiError::PreconditionFailed,
        Refusal::KeyTaken(holder) => ApiError::KeyTaken(holder),
        Refusal::LimitExceeded(limit) => limit.into(),
    }
}

/// Serialises a response body.
pub(crate) fn to_json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|_| unreachable!("wire types always serialise"))
}

#[cfg(test)]
mod tests {
    use catalog::product::{
        self, Description, ShopId, Title,
        change::Seq,
        media::{self, Media, MediaKind},
        price::Price,
    };
    use jiff::Timestamp;

    use super::*;
    use crate::http::{
        errors::validation::{ElementError, ElementErrors, ValidationError},
        requests::MAX_BULK,
        responses::bulk::BulkCreated,
    };

    /// More than the largest response that is stored for an `Idempotency-Key`.
    const LARGEST_STORED_BYTES: usize = 512 << 10;
    /// A character of the largest size in JSON.
    const WIDE: &str = "\u{1F6CB}";

    #[test]
    fn the_response_to_a_create_is_bounded() {
        let url = format!("https://example.com/{}", WIDE.repeat(media::MAX_URL_CHARS - 20));
        let draft = Draft {
            description: Description::parse(&WIDE.repeat(product::MAX_DESCRIPTION_CHARS)).unwrap(),
            media: vec![Media::new(&url, MediaKind::Image).unwrap(); media::MAX_ITEMS],
            ..Draft::new(
                Title::parse(&WIDE.repeat(product::MAX_TITLE_CHARS)).unwrap(),
                Price::parse("$5").unwrap(),
            )
        };
        let (id, shop) = (ProductId::new(1).unwrap(), ShopId::new(1).unwrap());
        let product =
            Product::create(id, shop, draft, Default::default(), Timestamp::UNIX_EPOCH, Seq(1));
        let stored = to_json(&ProductBody::from(&product)).len();
        assert!((200 << 10..LARGEST_STORED_BYTES).contains(&stored), "{stored}");
    }

    #[test]
    fn the_response_to_a_bulk_create_is_bounded() {
        let mut invalid = ElementErrors::default();
        for index in 0..MAX_BULK {
            for _ in 0..2 {
                let long = WIDE.repeat(1 << 16);
                let error = ValidationError::new(long.clone(), "unknown_field", long);
                invalid.add(index, ElementError::new(index, None, error));
            }
        }
        let (errors, errors_omitted) = invalid.finish();
        let created_ids = vec![i64::MAX as u64; MAX_BULK];
        let stored =
            to_json(&BulkCreated { created_count: MAX_BULK, created_ids, errors, errors_omitted });
        assert!((100 << 10..LARGEST_STORED_BYTES).contains(&stored.len()), "{}", stored.len());
    }
}
