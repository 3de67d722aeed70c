//! A running server as the place to import into: its bulk requests, a hundred products each.

use std::sync::Arc;

use anyhow::{Context, bail};
use serde_json::{Value, json};
use ureq::http::{Method, StatusCode};

use super::{
    record::RecordError,
    sink::{Sink, Stored},
};
use crate::cli::remote::{Answer, Remote};

const BULK: &str = "/api/v1/products/bulk";
const UPSERT: &str = "/api/v1/products/upsert";

/// The shop of a token on a server.
pub(super) struct ServerSink {
    remote: Arc<Remote>,
}

impl ServerSink {
    pub(super) fn new(remote: Arc<Remote>) -> Self {
        Self { remote }
    }

    /// Sends a bulk request, in halves if the server finds it too large.
    fn send(
        &self,
        method: &Method,
        key: Option<&str>,
        products: &[&Value],
        hoped: StatusCode,
        ids: &str,
    ) -> anyhow::Result<Vec<Stored>> {
        let body = json!({ "products": products });
        let answer = self.remote.send(method, BULK, key, Some(&body))?;
        match answer.status {
            StatusCode::PAYLOAD_TOO_LARGE if products.len() > 1 => {
                let (first, second) = products.split_at(products.len() / 2);
                let part = |n: u8| key.map(|key| format!("{key}.{n}"));
                let mut taken = self.send(method, part(0).as_deref(), first, hoped, ids)?;
                taken.extend(self.send(method, part(1).as_deref(), second, hoped, ids)?);
                Ok(taken)
            }
            StatusCode::CONFLICT => bail!("the file is not the one that this import began with"),
            _ => results(answer.expect(hoped)?, ids, products.len()),
        }
    }
}

/// What an answer says of each product: those without an error have the ids, in order.
fn results(answer: Answer, ids: &str, count: usize) -> anyhow::Result<Vec<Stored>> {
    let unexpected = || format!("the server's answer is not understood: {}", answer.body);
    let refused = errors(&answer.body, count).with_context(unexpected)?;
    let mut ids = answer.body[ids].as_array().with_context(unexpected)?.iter();
    let taken: Vec<Stored> = refused
        .into_iter()
        .map(|refused| match refused {
            Some(error) => Ok(Err(error)),
            None => ids.next().and_then(Value::as_u64).with_context(unexpected).map(Ok),
        })
        .collect::<anyhow::Result<_>>()?;
    Ok(taken)
}

/// The first error of each of `count` products; `None` if the answer has no such errors.
fn errors(answer: &Value, count: usize) -> Option<Vec<Option<RecordError>>> {
    let mut refused: Vec<Option<RecordError>> = vec![None; count];
    for error in answer["errors"].as_array()? {
        let text = |name: &str| error[name].as_str().map(str::to_owned);
        let index = error["index"].as_u64()? as usize;
        let (code, message) = (text("code")?.into(), text("message")?);
        let error = RecordError { code, field: text("field"), message };
        refused.get_mut(index)?.get_or_insert(error);
    }
    Some(refused)
}

impl Sink for ServerSink {
    fn create(&self, key: &str, products: &[&Value]) -> anyhow::Result<Vec<Stored>> {
        // The id of what is gone is of no consequence to a create: the interface ignores it.
        self.send(&Method::POST, Some(key), products, StatusCode::CREATED, "created_ids")
    }

    fn update(&self, products: &[&Value]) -> anyhow::Result<Vec<Stored>> {
        self.send(&Method::PUT, None, products, StatusCode::OK, "updated_ids")
    }
    fn upsert(&self, products: &[&Value]) -> anyhow::Result<Vec<Result<(), RecordError>>> {
        let body = json!({ "products": products });
        let answer = self.remote.send(&Method::POST, UPSERT, None, Some(&body))?;
        if answer.status == StatusCode::PAYLOAD_TOO_LARGE && products.len() > 1 {
            let (first, second) = products.split_at(products.len() / 2);
            let mut stored = self.upsert(first)?;
            stored.extend(self.upsert(second)?);
            return Ok(stored);
        }
        let answer = answer.expect(StatusCode::OK)?.body;
        let unexpected = || format!("the server's answer is not understood: {answer}");
        let refused = errors(&answer, products.len()).with_context(unexpected)?;
        Ok(refused.into_iter().map(|error| error.map_or(Ok(()), Err)).collect())
    }

    fn delete(&self, ids: &[u64]) -> anyhow::Result<()> {
        let body = json!({ "product_ids": ids });
        let answer = self.remote.send(&Method::DELETE, BULK, None, Some(&body))?;
        answer.expect(StatusCode::OK).map(drop)
    }
}
