//! The phases of the benchmark: single writes on one data folder; bulk writes, memory, restart and
//! searches on another.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use bench::{
    client::{Connection, Target},
    disk,
    load::{Kind, Measured, drive},
    products::Products,
    report::{Aim, Figure},
    service::{Installation, Service},
};
use clap::ValueEnum;
use hyper::StatusCode;

const CREATE: Kind = Kind { path: "/api/v1/products", status: StatusCode::CREATED };
const BULK_CREATE: Kind = Kind { path: "/api/v1/products/bulk", status: StatusCode::CREATED };
const SEARCH: Kind = Kind { path: "/api/v1/search", status: StatusCode::OK };

/// Connections that create products one by one.
const SINGLE_CONNECTIONS: [usize; 3] = [1, 8, 64];
/// Connections that create products in bulk.
const BULK_CONNECTIONS: [usize; 3] = [1, 4, 8];
/// Products in one bulk request: as many as the service takes.
const BULK: usize = 100;
/// Different searches.
const SEARCHES: usize = 1000;
/// The wait for background work before memory is read.
const REST: Duration = Duration::from_secs(2);
/// The interval at which readiness is polled.
const READY_POLL_INTERVAL: Duration = Duration::from_millis(2);
/// The service must be ready within this time.
const READY_TIMEOUT: Duration = Duration::from_secs(60);

const LEAST_GAIN: f64 = 20.0;
const LEAST_BULK: f64 = 8_000.0;
const MOST_BYTES_PER_PRODUCT: f64 = 2_048.0;
const MOST_RESTART_SECONDS: f64 = 2.0;

/// A phase that can be measured alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Phase {
    /// Products created one by one
    Single,
    /// Products created in bulk, and what they cost in memory and on the disk
    Bulk,
    /// Time to the first answer after a restart (fills the catalog first)
    Restart,
    /// Searches, alone and beside writes (fills the catalog first)
    Search,
}

/// The options of the benchmark.
pub(crate) struct Bench {
    binary: PathBuf,
    folder: PathBuf,
    products: Arc<Products>,
    time: Duration,
    slow_flush: Duration,
}

impl Bench {
    pub(crate) fn new(
        binary: PathBuf,
        folder: PathBuf,
        products: Products,
        time: Duration,
        slow_flush: Duration,
    ) -> Self {
        Self { binary, folder, products: Arc::new(products), time, slow_flush }
    }

    /// Measures the selected phases, or all.
    pub(crate) async fn run(&self, only: &[Phase]) -> anyhow::Result<Vec<Figure>> {
        let wanted = |phase: Phase| only.is_empty() || only.contains(&phase);
        let mut figures = Vec::new();
        if wanted(Phase::Single) {
            figures.extend(self.single_creates(Duration::ZERO).await?);
            if !self.slow_flush.is_zero() {
                figures.extend(self.single_creates(self.slow_flush).await?);
            }
        }
        if [Phase::Bulk, Phase::Restart, Phase::Search].into_iter().any(wanted) {
            let mut installation = self.install("bulk", Duration::ZERO)?;
            // Without the query cache.
            installation.configure(&[("SHOPKEEPER_INDEX_QUERY_CACHE_BYTES", "0")]);
            let service = installation.start()?;
            let filled = self.fill(&installation, &service).await?;
            if wanted(Phase::Bulk) {
                figures.extend(filled);
            }
            let (service, restarted) = self.restart(&installation, service).await?;
            if wanted(Phase::Restart) {
                figures.extend(restarted);
            }
            if wanted(Phase::Search) {
                figures.extend(self.searches(&service).await?);
            }
            service.stop()?;
        }
        Ok(figures)
    }

    fn install(&self, name: &str, slow_flush: Duration) -> anyhow::Result<Installation> {
        Installation::new(&self.binary, &self.folder, name, slow_flush)
    }

    /// Loads the shop by a first search, so that writes update its index, too.
    async fn bring_into_memory(&self, target: &Target) -> anyhow::Result<()> {
        ready(target).await?;
        self.ask(target).await.map(drop)
    }

    /// The answer to a fixed search.
    async fn ask(&self, target: &Target) -> anyhow::Result<serde_json::Value> {
        let search = self.products.searches(1, 1).pop().context("there are no queries")?;
        Connection::open(target).await?.post(SEARCH.path, search).await?.json(SEARCH.status)
    }

    /// Products created one by one, on a disk whose flushes take at least `slow_flush`.
    async fn single_creates(&self, slow_flush: Duration) -> anyhow::Result<Vec<Figure>> {
        let on_disk = match slow_flush.as_micros() {
            0 => String::new(),
            us => format!(", flush ≥ {} ms", us as f64 / 1000.0),
        };
        let flush = disk::flush_per_write(&self.folder, self.time, slow_flush)?;
        let installation =
            self.install(&format!("single-{}", slow_flush.as_micros()), slow_flush)?;
        let service = installation.start()?;
        self.bring_into_memory(&service.target).await?;
        let mut figures = vec![
            Figure::new(
                format!("one flush per write, nothing else{on_disk}"),
                flush.per_second(),
                "/s",
                format!("write 6 log pages, fdatasync, {} s", self.time.as_secs()),
            )
            .with_latency(&flush),
        ];
        let mut rates = Vec::new();
        for connections in SINGLE_CONNECTIONS {
            let before = Commits::read(&service.target).await?;
            let created = self.create_singly(&service.target, connections).await?;
            let commits = Commits::read(&service.target).await?.since(before);
            rates.push(created.per_second());
            figures.push(
                Figure::new(
                    format!("creates, {connections} connections{on_disk}"),
                    created.per_second(),
                    "/s",
                    format!(
                        "POST {}, {} s, {:.1} writes a commit",
                        CREATE.path,
                        self.time.as_secs(),
                        commits.writes / commits.groups
                    ),
                )
                .with_latency(&created),
            );
        }
        if let [alone, .., together] = rates[..] {
            // With one connection, every write waits for its own flush.
            let gain =
                Figure::new(format!("64 connections : 1{on_disk}"), together / alone, "x", "rates");
            // If flushes are free, group commit gains nothing.
            let gain = match slow_flush {
                Duration::ZERO => gain,
                _ => gain.with_aim(Aim::AtLeast(LEAST_GAIN)),
            };
            figures.push(gain);
            figures.push(Figure::new(
                format!("64 connections : bare flushes{on_disk}"),
                together / flush.per_second(),
                "x",
                "rates",
            ));
        }
        service.stop()?;
        Ok(figures)
    }

    async fn create_singly(&self, target: &Target, connections: usize) -> anyhow::Result<Measured> {
        let (products, next) = (Arc::clone(&self.products), AtomicUsize::new(0));
        let body = move || Some(products.single(next.fetch_add(1, Ordering::Relaxed)));
        drive(target, CREATE, connections, self.time, body).await
    }

    /// Creates all products in bulk, a third of them with each number of connections.
    async fn fill(
        &self,
        installation: &Installation,
        service: &Service,
    ) -> anyhow::Result<Vec<Figure>> {
        self.bring_into_memory(&service.target).await?;
        let empty_bytes = service.resident_bytes();
        let mut figures = Vec::new();
        let requests = self.products.len().div_ceil(BULK);
        let mut first = 0;
        for (at, connections) in BULK_CONNECTIONS.into_iter().enumerate() {
            let last = requests * (at + 1) / BULK_CONNECTIONS.len();
            let created = self.create_in_bulk(&service.target, connections, first..last).await?;
            let products = (created.requests * BULK) as f64;
            figures.push(
                Figure::new(
                    format!("bulk creates, {connections} connections"),
                    products / created.elapsed.as_secs_f64(),
                    "products/s",
                    format!("POST {}, {BULK} each, {products} products", BULK_CREATE.path),
                )
                .with_latency(&created)
                .with_aim(Aim::AtLeast(LEAST_BULK)),
            );
            first = last;
        }

        tokio::time::sleep(REST).await;
        figures.extend(self.space(installation, service, empty_bytes, requests * BULK).await?);
        Ok(figures)
    }

    /// Memory and disk space per product.
    async fn space(
        &self,
        installation: &Installation,
        service: &Service,
        empty_bytes: u64,
        products: usize,
    ) -> anyhow::Result<Vec<Figure>> {
        let count = products as f64;
        let per_product = |bytes: u64| bytes as f64 / count;
        let resident = service.resident_bytes().saturating_sub(empty_bytes);
        let index = metric(&service.target, "shopkeeper_index_bytes").await?;
        Ok(vec![
            Figure::new(
                "memory of the empty service",
                empty_bytes as f64 / (1 << 20) as f64,
                "MiB",
                "VmRSS",
            ),
            Figure::new(
                "memory after the writes",
                per_product(resident),
                "B/product",
                "VmRSS above the empty service's",
            )
            .with_aim(Aim::AtMost(MOST_BYTES_PER_PRODUCT)),
            Figure::new(
                "peak memory during the writes",
                per_product(service.peak_resident_bytes().saturating_sub(empty_bytes)),
                "B/product",
                "VmHWM above the empty service's",
            ),
            Figure::new("index", index / count, "B/product", "shopkeeper_index_bytes"),
            Figure::new(
                "database and its log",
                per_product(installation.stored_bytes()?),
                "B/product",
                "size of shopkeeper.db*",
            ),
        ])
    }

    async fn create_in_bulk(
        &self,
        target: &Target,
        connections: usize,
        requests: std::ops::Range<usize>,
    ) -> anyhow::Result<Measured> {
        // Built before the measurement starts.
        let bodies: Vec<_> = requests.map(|at| self.products.bulk(at * BULK, BULK)).collect();
        let next = AtomicUsize::new(0);
        let body = move || bodies.get(next.fetch_add(1, Ordering::Relaxed)).cloned();
        drive(target, BULK_CREATE, connections, Duration::MAX / 4, body).await
    }

    /// Restarts the service on the same data folder.
    async fn restart(
        &self,
        installation: &Installation,
        service: Service,
    ) -> anyhow::Result<(Service, Vec<Figure>)> {
        let expected = self.ask(&service.target).await?;
        let stopping = Instant::now();
        service.stop()?;
        let stopped = stopping.elapsed();

        let started = Instant::now();
        let service = installation.start()?;
        let listening = started.elapsed();
        let first_answer = async {
            let found = self.ask(&service.target).await?;
            let elapsed = started.elapsed();
            if found != expected {
                bail!("the service returns another answer after its restart");
            }
            Ok(elapsed)
        };
        let becomes_ready = async {
            ready(&service.target).await?;
            Ok(started.elapsed())
        };
        let (answered, is_ready) = tokio::try_join!(first_answer, becomes_ready)?;
        let resident = service.resident_bytes() as f64 / (1 << 20) as f64;
        let figures = vec![
            Figure::new("stop", stopped.as_secs_f64(), "s", "SIGTERM to the end of the process"),
            Figure::new("restart: listens", listening.as_secs_f64(), "s", "from its start"),
            Figure::new(
                "restart: first search answered",
                answered.as_secs_f64(),
                "s",
                "the same answer as before, from its start",
            )
            .with_aim(Aim::AtMost(MOST_RESTART_SECONDS)),
            Figure::new(
                "restart: ready",
                is_ready.as_secs_f64(),
                "s",
                "GET /health/ready, from its start",
            )
            .with_aim(Aim::AtMost(MOST_RESTART_SECONDS)),
            Figure::new("memory after the restart", resident, "MiB", "VmRSS"),
        ];
        Ok((service, figures))
    }

    async fn searches(&self, service: &Service) -> anyhow::Result<Vec<Figure>> {
        let alone = self.search(&service.target).await?;
        let mut figures = vec![
            Figure::new(
                "searches",
                alone.per_second(),
                "/s",
                format!("POST {}, 1 connection, {} s", SEARCH.path, self.time.as_secs()),
            )
            .with_latency(&alone),
        ];
        let (products, next) = (Arc::clone(&self.products), AtomicUsize::new(0));
        let body = move || Some(products.bulk(next.fetch_add(BULK, Ordering::Relaxed), BULK));
        let writes = drive(&service.target, BULK_CREATE, 1, self.time, body);
        let (beside, writes) = tokio::try_join!(self.search(&service.target), writes)?;
        figures.push(
            Figure::new(
                "searches beside bulk creates",
                beside.per_second(),
                "/s",
                format!(
                    "the same, while 1 connection creates {:.0} products/s",
                    writes.per_second() * BULK as f64
                ),
            )
            .with_latency(&beside),
        );
        Ok(figures)
    }

    async fn search(&self, target: &Target) -> anyhow::Result<Measured> {
        let (searches, next) = (self.products.searches(SEARCHES, 2), AtomicUsize::new(0));
        let body = move || searches.get(next.fetch_add(1, Ordering::Relaxed) % SEARCHES).cloned();
        drive(target, SEARCH, 1, self.time, body).await
    }
}

/// Waits until the service is ready.
async fn ready(target: &Target) -> anyhow::Result<()> {
    let mut connection = Connection::open(target).await?;
    let started = Instant::now();
    while connection.get("/health/ready").await?.status != StatusCode::OK {
        if started.elapsed() > READY_TIMEOUT {
            bail!("the service did not become ready");
        }
        tokio::time::sleep(READY_POLL_INTERVAL).await;
    }
    Ok(())
}

/// The commit metrics of the service.
#[derive(Clone, Copy)]
struct Commits {
    groups: f64,
    writes: f64,
}

impl Commits {
    async fn read(target: &Target) -> anyhow::Result<Self> {
        let figure = async |name| metric(target, name).await.unwrap_or(0.0);
        Ok(Self {
            groups: figure("shopkeeper_write_group_size_count").await,
            writes: figure("shopkeeper_write_group_size_sum").await,
        })
    }

    fn since(self, before: Self) -> Self {
        Self { groups: self.groups - before.groups, writes: self.writes - before.writes }
    }
}

/// The value of one metric.
async fn metric(target: &Target, name: &str) -> anyhow::Result<f64> {
    let page = Connection::open(target).await?.get("/metrics").await?.expect(StatusCode::OK)?;
    let page = String::from_utf8_lossy(&page);
    page.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
        .with_context(|| format!("the service does not keep {name}"))
}
