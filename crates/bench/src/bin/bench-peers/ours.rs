//! Shopkeeper, started here or running elsewhere.

use std::{
    cell::RefCell,
    collections::HashMap,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use anyhow::Context;
use bench::{
    catalog_file::Product,
    client::{Connection, Target},
    load::closed_loop,
    service::{Installation, Service},
};
use clap::ValueEnum;
use hyper::{StatusCode, body::Bytes};
use serde_json::{Value, json};

use crate::{
    process,
    system::{Answer, FILLING_CONNECTIONS, PAGE, Query, System},
};

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
    /// The positions of products by id. Keys would be simpler, but they are searched like words.
    positions: RefCell<HashMap<u64, usize>>,
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
        let target = service.target.clone();
        let local = Some((installation, service));
        Ok(Self { target, local, positions: RefCell::default() })
    }

    /// A service at an address, with an empty shop.
    pub(crate) fn at(target: Target) -> Self {
        Self { target, local: None, positions: RefCell::default() }
    }

    fn remember(&self, id: &Value, at: usize) -> anyhow::Result<()> {
        let id = id.as_u64().context("a product without an id")?;
        self.positions.borrow_mut().insert(id, at);
        Ok(())
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
            .map(|products| {
                let bodies: Vec<_> = products.iter().map(Product::body).collect();
                json!({ "products": bodies }).to_string().into()
            })
            .collect();
        let mut open = Vec::new();
        for _ in 0..FILLING_CONNECTIONS {
            open.push(self.connect().await?);
        }
        let (next, answers) = (AtomicUsize::new(0), RefCell::new(Vec::new()));
        let batch = || {
            let at = next.fetch_add(1, Ordering::Relaxed);
            Some((at, batches.get(at)?.clone()))
        };
        let create = async |connection: &mut Connection, (at, body): (usize, Bytes)| {
            let answer = connection.post("/api/v1/products/bulk", body).await?;
            answers.borrow_mut().push((at, answer.expect(StatusCode::CREATED)?));
            Ok(())
        };
        let started = Instant::now();
        closed_loop(open, Duration::MAX / 4, batch, create).await?;
        // The first search waits until the shop is in memory.
        let query = Query { text: "sofa".to_owned(), vector: None };
        self.search(&mut self.connect().await?, &query).await?;
        let elapsed = started.elapsed();
        for (batch, answer) in answers.into_inner() {
            let answer: Value = serde_json::from_slice(&answer)?;
            let ids = answer["created_ids"].as_array().context("no ids")?;
            for (at, id) in ids.iter().enumerate() {
                self.remember(id, batch * BULK + at)?;
            }
        }
        Ok(elapsed)
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
        let body = product.body().to_string().into();
        let created = session.post("/api/v1/products", body).await?.json(StatusCode::CREATED)?;
        self.remember(&created["id"], at)
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
        let positions = self.positions.borrow();
        let position = |product: &Value| positions.get(&product["id"].as_u64()?).copied();
        products.iter().map(|product| position(product).context("an unknown product")).collect()
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
