//! Shopkeeper, started here or running elsewhere.

use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use anyhow::Context;
use bench::{
    catalog_file::Product,
    client::{Connection, Target},
    load::{Kind, drive},
    service::{Installation, Service},
};
use clap::ValueEnum;
use hyper::{StatusCode, body::Bytes};
use serde_json::{Value, json};

use crate::{
    process,
    system::{Answer, FILLING_CONNECTIONS, PAGE, Query, System},
};

const BULK_CREATE: Kind = Kind { path: "/api/v1/products/bulk", status: StatusCode::CREATED };
/// Products in one bulk request: as many as the service takes.
const BULK: usize = 100;

/// The encoder of the queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Encoder {
    Instant,
    Deep,
}

/// A service with its own process, or only its address.
pub(crate) struct Ours {
    target: Target,
    local: Option<(Installation, Service)>,
}

impl Ours {
    /// Starts a service on a new data folder. Products keep their instant vectors, and the query
    /// cache is off.
    pub(crate) fn start(
        binary: &Path,
        folder: &Path,
        name: &str,
        encoder: Encoder,
    ) -> anyhow::Result<Self> {
        let mut installation = Installation::new(binary, folder, name, Duration::ZERO)?;
        let budget = match encoder {
            Encoder::Instant => "0",
            Encoder::Deep => "1000000",
        };
        installation.configure(&[
            ("SHOPKEEPER_MODEL_QUERY_BUDGET", budget),
            ("SHOPKEEPER_MODEL_BACKGROUND", "false"),
            ("SHOPKEEPER_INDEX_ANSWER_BYTES", "0"),
        ]);
        let service = installation.start()?;
        Ok(Self { target: service.target.clone(), local: Some((installation, service)) })
    }

    /// A service at an address, with an empty shop.
    pub(crate) fn at(target: Target) -> Self {
        Self { target, local: None }
    }

    fn body(&self, at: usize, product: &Product) -> Value {
        product.body(Some(at.to_string()))
    }
}

impl System for Ours {
    type Session = Connection;

    async fn version(&self) -> anyhow::Result<String> {
        let document = self.connect().await?.get("/openapi.json").await?.json(StatusCode::OK)?;
        Ok(document["info"]["version"].as_str().unwrap_or("unknown").to_owned())
    }

    async fn load(&self, products: &[Product]) -> anyhow::Result<Duration> {
        let batches: Vec<Bytes> = products
            .chunks(BULK)
            .enumerate()
            .map(|(batch, products)| {
                let numbered = products.iter().enumerate();
                let bodies: Vec<_> =
                    numbered.map(|(at, product)| self.body(batch * BULK + at, product)).collect();
                json!({ "products": bodies }).to_string().into()
            })
            .collect();
        let next = AtomicUsize::new(0);
        let body = || batches.get(next.fetch_add(1, Ordering::Relaxed)).cloned();
        let started = Instant::now();
        drive(&self.target, BULK_CREATE, FILLING_CONNECTIONS, Duration::MAX / 4, body).await?;
        // The first search waits until the shop is in memory.
        let query = Query { text: "sofa".to_owned(), vector: None };
        self.search(&mut self.connect().await?, &query).await?;
        Ok(started.elapsed())
    }

    async fn connect(&self) -> anyhow::Result<Connection> {
        Connection::open(&self.target).await
    }

    async fn insert(
        &self,
        session: &mut Connection,
        at: usize,
        product: &Product,
    ) -> anyhow::Result<()> {
        let body = self.body(at, product).to_string().into();
        session.post("/api/v1/products", body).await?.expect(StatusCode::CREATED)?;
        Ok(())
    }

    async fn search(&self, session: &mut Connection, query: &Query) -> anyhow::Result<Answer> {
        let body = json!({ "query": query.text, "limit": PAGE }).to_string().into();
        let answer = session.post("/api/v1/search", body).await?;
        Ok(Answer::Json(answer.expect(StatusCode::OK)?))
    }

    fn ranking(&self, answer: Answer) -> anyhow::Result<Vec<usize>> {
        let Answer::Json(body) = answer else { return Ok(Vec::new()) };
        let answer: Value = serde_json::from_slice(&body)?;
        let products = answer["products"].as_array().context("no products")?;
        let position = |product: &Value| product["key"].as_str().and_then(|key| key.parse().ok());
        products.iter().map(|product| position(product).context("a product without key")).collect()
    }

    fn cpu(&self) -> anyhow::Result<Option<Duration>> {
        self.local.as_ref().map(|(_, service)| service.cpu()).transpose()
    }

    fn memory(&self) -> anyhow::Result<Option<u64>> {
        self.local.as_ref().map(|(_, service)| process::memory(service.process_id())).transpose()
    }

    fn disk(&self) -> anyhow::Result<Option<u64>> {
        self.local.as_ref().map(|(installation, _)| installation.stored_bytes()).transpose()
    }
}
