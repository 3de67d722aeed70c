//! Typesense, started here or running elsewhere. Version 0.24 searches words only: it has no model,
//! and its vector search takes vectors from the client and cannot fuse them with words.

use std::{
    fs::{self, File},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};
use bench::{
    catalog_file::Product,
    client::{Connection, Target},
    cpu,
    load::closed_loop,
};
use hyper::{StatusCode, body::Bytes};
use serde_json::{Value, json};

use crate::{
    process,
    system::{Answer, FILLING_CONNECTIONS, PAGE, Query, System, amount},
};

const KEY: &str = "benchmark";
/// Products in one import request.
const BATCH: usize = 1_000;
/// The thresholds make it look for typing errors and drop words until a page is full: of the settings
/// tried, the one with the best results. Highlighting is off; the others do not highlight either.
const SETTINGS: &str = "query_by=title,description&drop_tokens_threshold=10\
    &typo_tokens_threshold=10&highlight_fields=none&enable_highlight_v1=false";
const READY_TIMEOUT: Duration = Duration::from_secs(60);
const READY_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A server with its own process, or only its address.
pub(crate) struct Typesense {
    target: Target,
    local: Option<Local>,
}

struct Local {
    process: Child,
    folder: PathBuf,
}

impl Drop for Local {
    fn drop(&mut self) {
        // Its data is removed with the folder.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Typesense {
    /// Starts a server on a new folder.
    pub(crate) async fn start(binary: &Path, folder: &Path, name: &str) -> anyhow::Result<Self> {
        let folder = folder.join(name);
        fs::create_dir(&folder)?;
        let (port, peering_port) = (free_port()?, free_port()?);
        let process = Command::new(binary)
            .arg("--data-dir")
            .arg(&folder)
            .args(["--api-key", KEY, "--api-address", "127.0.0.1"])
            .args(["--peering-address", "127.0.0.1", "--api-port", &port.to_string()])
            .args(["--peering-port", &peering_port.to_string()])
            .stdout(File::create(folder.with_extension("log"))?)
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{} cannot be run", binary.display()))?;
        let target = Target { address: ([127, 0, 0, 1], port).into(), token: KEY.into() };
        let server = Self { target, local: Some(Local { process, folder }) };
        let started = Instant::now();
        while !server.is_healthy().await {
            ensure!(started.elapsed() < READY_TIMEOUT, "Typesense did not become ready");
            tokio::time::sleep(READY_POLL_INTERVAL).await;
        }
        Ok(server)
    }

    /// A server at an address, without a collection `products`.
    pub(crate) fn at(target: Target) -> Self {
        Self { target, local: None }
    }

    async fn is_healthy(&self) -> bool {
        let health = async { self.connect().await?.get("/health").await };
        health.await.is_ok_and(|answer: bench::client::Answer| answer.status == StatusCode::OK)
    }

    fn path(&self, path: &str) -> String {
        let and = if path.contains('?') { '&' } else { '?' };
        format!("{path}{and}x-typesense-api-key={}", self.target.token)
    }
}

impl System for Typesense {
    type Session = Connection;

    async fn version(&self) -> anyhow::Result<String> {
        let path = self.path("/debug");
        let state = self.connect().await?.get(&path).await?.json(StatusCode::OK)?;
        Ok(state["version"].as_str().unwrap_or("unknown").to_owned())
    }

    async fn load(&self, products: &[Product]) -> anyhow::Result<Duration> {
        let schema = json!({ "name": "products", "fields": [
            { "name": "title", "type": "string" },
            { "name": "description", "type": "string" },
            { "name": "price", "type": "float" },
        ]});
        let mut connection = self.connect().await?;
        let (path, schema) = (self.path("/collections"), schema.to_string().into());
        connection.post(&path, schema).await?.expect(StatusCode::CREATED)?;
        let batches: Vec<Bytes> = products
            .chunks(BATCH)
            .enumerate()
            .map(|(batch, products)| {
                let lines: Vec<_> = products
                    .iter()
                    .enumerate()
                    .map(|(at, product)| document(batch * BATCH + at, product).to_string())
                    .collect();
                lines.join("\n").into()
            })
            .collect();
        let path = self.path("/collections/products/documents/import?action=create");
        let mut open = Vec::new();
        for _ in 0..FILLING_CONNECTIONS {
            open.push(self.connect().await?);
        }
        let next = AtomicUsize::new(0);
        let batch = || batches.get(next.fetch_add(1, Ordering::Relaxed)).cloned();
        let started = Instant::now();
        closed_loop(open, Duration::MAX / 4, batch, async |connection: &mut Connection, body| {
            let answer = connection.post(&path, body).await?.expect(StatusCode::OK)?;
            if String::from_utf8_lossy(&answer).contains(r#""success":false"#) {
                bail!("Typesense rejected products");
            }
            Ok(())
        })
        .await?;
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
        let path = self.path("/collections/products/documents");
        let body = document(at, product).to_string().into();
        session.post(&path, body).await?.expect(StatusCode::CREATED)?;
        Ok(())
    }

    async fn search(&self, session: &mut Connection, query: &Query) -> anyhow::Result<Answer> {
        let path = self.path(&format!(
            "/collections/products/documents/search?q={}&per_page={PAGE}&{SETTINGS}",
            percent_encoded(&query.text)
        ));
        Ok(Answer::Json(session.get(&path).await?.expect(StatusCode::OK)?))
    }

    fn ranking(&self, answer: Answer) -> anyhow::Result<Vec<usize>> {
        let Answer::Json(body) = answer else { return Ok(Vec::new()) };
        let answer: Value = serde_json::from_slice(&body)?;
        let hits = answer["hits"].as_array().context("no hits")?;
        let position = |hit: &Value| hit["document"]["id"].as_str().and_then(|id| id.parse().ok());
        hits.iter().map(|hit| position(hit).context("a hit without id")).collect()
    }

    fn cpu(&self) -> anyhow::Result<Option<Duration>> {
        self.local.as_ref().map(|local| cpu::of_process(local.process.id())).transpose()
    }

    fn memory(&self) -> anyhow::Result<Option<u64>> {
        self.local.as_ref().map(|local| process::memory(local.process.id())).transpose()
    }

    fn disk(&self) -> anyhow::Result<Option<u64>> {
        self.local.as_ref().map(|local| process::folder_bytes(&local.folder)).transpose()
    }
}

fn document(at: usize, product: &Product) -> Value {
    json!({
        "id": at.to_string(),
        "title": product.title,
        "description": product.description,
        "price": amount(&product.price),
    })
}

fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn percent_encoded(text: &str) -> String {
    let encoded = text.bytes().map(|byte| match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    encoded.collect()
}
