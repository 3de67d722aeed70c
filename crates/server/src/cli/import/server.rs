//! A running server as the place to import into: its bulk requests, a hundred products each.

use anyhow::{Context, bail};
use serde_json::{Value, json};
use ureq::http::{Method, StatusCode};

use super::{
    record::RecordError,
    sink::{Sink, Stored},
};
use crate::cli::remote::{Answer, Remote};

const BULK: &str = "/api/v1/products/bulk";

/// The shop of a token on a server.
pub(super) struct ServerSink {
    remote: Remote,
}

impl ServerSink {
    pub(super) fn new(remote: Remote) -> Self {
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
    let mut refused: Vec<Option<RecordError>> = vec![None; count];
    for error in answer.body["errors"].as_array().with_context(unexpected)? {
        let index = error["index"].as_u64().with_context(unexpected)? as usize;
        let text = |name: &str| error[name].as_str().map(str::to_owned);
        let error = RecordError {
            code: text("code").with_context(unexpected)?.into(),
            field: text("field"),
            message: text("message").with_context(unexpected)?,
        };
        refused.get_mut(index).with_context(unexpected)?.get_or_insert(error);
    }
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

impl Sink for ServerSink {
    fn create(&self, key: &str, products: &[&Value]) -> anyhow::Result<Vec<Stored>> {
        // The id of what is gone is of no consequence to a create: the interface ignores it.
        self.send(&Method::POST, Some(key), products, StatusCode::CREATED, "created_ids")
    }

    fn update(&self, products: &[&Value]) -> anyhow::Result<Vec<Stored>> {
        self.send(&Method::PUT, None, products, StatusCode::OK, "updated_ids")
    }
}
