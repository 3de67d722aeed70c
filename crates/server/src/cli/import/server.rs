//! A running server as the place to import into: its bulk requests, a hundred products each.

use std::sync::Arc;

use anyhow::{Context, bail};
use serde_json::{Value, json};
use ureq::http::{Method, StatusCode};

use super::{
    record::RecordError,
    sink::{Sink, Stored},
};
use crate::cli::remote::Remote;

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
        path: &str,
        key: Option<&str>,
        products: &[&Value],
    ) -> anyhow::Result<Vec<Stored>> {
        let body = json!({ "products": products });
        let answer = self.remote.send(method, path, key, Some(&body))?;
        match answer.status {
            StatusCode::PAYLOAD_TOO_LARGE if products.len() > 1 => {
                let (first, second) = products.split_at(products.len() / 2);
                let part = |n: u8| key.map(|key| format!("{key}.{n}"));
                let mut stored = self.send(method, path, part(0).as_deref(), first)?;
                stored.extend(self.send(method, path, part(1).as_deref(), second)?);
                Ok(stored)
            }
            StatusCode::CONFLICT => bail!("the file is not the one that this import began with"),
            StatusCode::CREATED => each_stored(&answer.body, products.len()),
            _ => each_stored(&answer.expect(StatusCode::OK)?.body, products.len()),
        }
    }
}

/// What an answer says of each of `count` products: its first error, if it has one.
fn each_stored(answer: &Value, count: usize) -> anyhow::Result<Vec<Stored>> {
    let read = || {
        let mut stored = vec![Ok(()); count];
        for error in answer["errors"].as_array()? {
            let text = |name: &str| error[name].as_str().map(str::to_owned);
            let (code, message) = (text("code")?.into(), text("message")?);
            let refused = RecordError { code, field: text("field"), message };
            let stored = stored.get_mut(error["index"].as_u64()? as usize)?;
            if stored.is_ok() {
                *stored = Err(refused);
            }
        }
        Some(stored)
    };
    read().with_context(|| format!("the server's answer is not understood: {answer}"))
}

impl Sink for ServerSink {
    fn create(&self, key: &str, products: &[&Value]) -> anyhow::Result<Vec<Stored>> {
        self.send(&Method::POST, BULK, Some(key), products)
    }

    fn update(&self, products: &[&Value]) -> anyhow::Result<Vec<Stored>> {
        self.send(&Method::PUT, BULK, None, products)
    }

    fn upsert(&self, products: &[&Value]) -> anyhow::Result<Vec<Stored>> {
        self.send(&Method::POST, UPSERT, None, products)
    }

    fn delete(&self, ids: &[u64]) -> anyhow::Result<()> {
        let body = json!({ "product_ids": ids });
        let answer = self.remote.send(&Method::DELETE, BULK, None, Some(&body))?;
        answer.expect(StatusCode::OK).map(drop)
    }
}
