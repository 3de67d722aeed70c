//! The phases of the benchmark: a catalog is written and searched with each encoder: one search at
//! a time, at saturation, beside writes, and with repeated queries.

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
    load::{Kind, Measured, drive, drive_at},
    products::Products,
    queries,
    report::{Aim, Figure},
    service::{Installation, Service},
};
use clap::ValueEnum;
use hyper::{StatusCode, body::Bytes};
use serde_json::json;

use crate::{inside::Inside, memory_limit::MemoryLimit};

const CREATE: Kind = Kind { path: "/api/v1/products", status: StatusCode::CREATED };
const BULK_CREATE: Kind = Kind { path: "/api/v1/products/bulk", status: StatusCode::CREATED };
const SEARCH: Kind = Kind { path: "/api/v1/search", status: StatusCode::OK };

/// Products in one bulk request: as many as the service takes.
const BULK: usize = 100;
/// Connections that fill the catalog.
const FILLING_CONNECTIONS: usize = 4;
/// Connections that search at once: more than there are cores to answer them.
pub(crate) const SATURATION: usize = 8;
/// The searches per second beside single creates.
const BESIDE_CREATES: u32 = 500;
/// The number of distinct searches: more than a measurement sends.
const DIFFERENT: usize = 200_000;
/// The number of repeated searches.
const REPEATED: usize = 100;
/// The interval at which readiness is polled.
const READY_POLL_INTERVAL: Duration = Duration::from_millis(2);
/// The service must be ready within this time.
const READY_TIMEOUT: Duration = Duration::from_secs(180);

/// The catalog size from which the targets for memory and restart apply.
const AIMED_AT: usize = 1_000_000;
const MOST_CREATE_MS: f64 = 1.0;
const MOST_BYTES_PER_PRODUCT: f64 = 1_600.0;
const MOST_RESTART_SECONDS: f64 = 15.0;

/// The encoder of the queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Encoder {
    /// A table look-up
    Instant,
    /// The transformer
    Deep,
    /// None: lexical search only
    Off,
}

impl Encoder {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Instant => "instant",
            Self::Deep => "deep",
            Self::Off => "words alone",
        }
    }

    /// The settings of the service for this encoder. Products keep their instant vectors: deep ones
    /// cost a search the same, and `bench-embed` measures their computation.
    fn settings(self) -> Vec<(&'static str, &'static str)> {
        let (kind, budget) = match self {
            Self::Instant => ("built-in", "0"),
            Self::Deep => ("built-in", "1000000"),
            Self::Off => ("off", "0"),
        };
        vec![
            ("SHOPKEEPER_MODEL_KIND", kind),
            ("SHOPKEEPER_MODEL_QUERY_BUDGET", budget),
            ("SHOPKEEPER_MODEL_BACKGROUND", "false"),
        ]
    }
}

/// One size of catalog.
pub(crate) struct Bench {
    pub(crate) binary: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) count: usize,
    pub(crate) seed: u64,
    /// Files of products; generated ones if there are none.
    pub(crate) catalog: Vec<PathBuf>,
    /// Files of queries; derived ones if there are none.
    pub(crate) queries: Vec<PathBuf>,
    pub(crate) encoders: Vec<Encoder>,
    pub(crate) time: Duration,
}

impl Bench {
    pub(crate) async fn run(&self) -> anyhow::Result<Vec<Figure>> {
        let products = self.products()?;
        let queries = self.texts(&products)?;
        let limit = MemoryLimit::new(&products, &queries)?;
        let queries = Queries::new(&queries);
        let mut installation = Installation::new(
            &self.binary,
            &self.folder,
            &format!("shop-{}", self.count),
            Duration::ZERO,
        )?;
        let mut figures = Vec::new();
        for (at, encoder) in self.encoders.iter().enumerate() {
            installation.configure(&self.settings(*encoder));
            if at == 0 {
                figures.extend(self.fill(&installation, &products).await?);
            }
            figures
                .extend(self.search(&installation, &products, (&queries, &limit), *encoder).await?);
        }
        Ok(figures)
    }

    pub(crate) fn products(&self) -> anyhow::Result<Arc<Products>> {
        Ok(Arc::new(match self.catalog.is_empty() {
            true => Products::make(self.count, self.seed),
            false => Products::read(&self.catalog, self.count, self.seed)?,
        }))
    }

    /// The settings of the service.
    pub(crate) fn settings(&self, encoder: Encoder) -> Vec<(&'static str, &'static str)> {
        let mut settings = encoder.settings();
        if self.repeats_queries() {
            settings.push(("SHOPKEEPER_INDEX_QUERY_CACHE_BYTES", "0"));
        }
        settings
    }

    /// The queries: those of the files, or as many as a measurement sends at most, derived from the
    /// titles of a catalog or, simpler and shorter, from generated ones.
    pub(crate) fn texts(&self, products: &Products) -> anyhow::Result<Vec<String>> {
        let seed = self.seed + 1;
        match (self.queries.is_empty(), self.catalog.is_empty()) {
            (false, _) => queries::read(&self.queries),
            (true, false) => Ok(queries::derive(products.titles(), DIFFERENT, seed)),
            (true, true) => Ok(products.queries(DIFFERENT, seed)),
        }
    }

    /// Whether a measurement sends a query more than once, so that the query cache is switched off.
    fn repeats_queries(&self) -> bool {
        !self.queries.is_empty()
    }

    /// The name of a value, by which earlier reports are compared.
    pub(crate) fn named(&self, what: &str) -> String {
        format!("{} products: {what}", self.count)
    }

    /// Writes the catalog and restarts the service on it.
    pub(crate) async fn fill(
        &self,
        installation: &Installation,
        products: &Arc<Products>,
    ) -> anyhow::Result<Vec<Figure>> {
        let service = installation.start()?;
        ready(&service.target).await?;
        let empty = service.resident_bytes();
        let (source, next, last) = (Arc::clone(products), AtomicUsize::new(0), self.count);
        let body = move || {
            let from = next.fetch_add(BULK, Ordering::Relaxed);
            (from < last).then(|| source.bulk(from, BULK.min(last - from)))
        };
        let time = Duration::MAX / 4;
        let written = drive(&service.target, BULK_CREATE, FILLING_CONNECTIONS, time, body).await?;
        service.stop()?;

        let started = Instant::now();
        let service = installation.start()?;
        ready(&service.target).await?;
        let restart = started.elapsed();
        self.one_search(&service.target, products).await?;
        let resident = service.resident_bytes().saturating_sub(empty) as f64;
        let index = metric(&service.target, "shopkeeper_index_bytes").await?;
        let count = self.count as f64;
        let restart = Figure::new(
            self.named("restart"),
            restart.as_secs_f64(),
            "s",
            "from its start to GET /health/ready",
        );
        let memory = Figure::new(
            self.named("memory"),
            resident / count,
            "B/product",
            "VmRSS after the restart, above the empty service's",
        );
        let (restart, memory) = match self.count < AIMED_AT {
            true => (restart, memory),
            false => (
                restart.with_aim(Aim::AtMost(MOST_RESTART_SECONDS)),
                memory.with_aim(Aim::AtMost(MOST_BYTES_PER_PRODUCT)),
            ),
        };
        let written = Figure::new(
            self.named("written"),
            count / written.elapsed.as_secs_f64(),
            "products/s",
            format!("{BULK} a request, {FILLING_CONNECTIONS} connections"),
        );
        let index =
            Figure::new(self.named("index"), index / count, "B/product", "shopkeeper_index_bytes");
        let figures = vec![written, restart, memory, index];
        service.stop()?;
        Ok(figures)
    }

    /// All searches with one encoder.
    async fn search(
        &self,
        installation: &Installation,
        products: &Arc<Products>,
        (queries, limit): (&Queries, &MemoryLimit),
        encoder: Encoder,
    ) -> anyhow::Result<Vec<Figure>> {
        let service = installation.start()?;
        let target = &service.target;
        ready(target).await?;
        self.one_search(target, products).await?;

        let name = |what: &str| self.named(&format!("{}, {what}", encoder.name()));
        let mut figures = self.search_alone(&service, queries, encoder, &name).await?;

        let before = service.cpu()?;
        let together = self.drive(target, SATURATION, queries).await?;
        let cpu = service.cpu()?.saturating_sub(before);
        figures.push(
            Figure::new(
                name("saturated"),
                together.per_second(),
                "searches/s",
                format!("{SATURATION} connections, {}", queries.description()),
            )
            .with_latency(&together),
        );
        figures.push(cpu_figure(name("saturated, processor time"), cpu, &together));
        figures.extend(limit.figures(together.per_second(), encoder != Encoder::Off, name));

        let (source, next) = (Arc::clone(products), AtomicUsize::new(0));
        let body = move || Some(source.bulk(next.fetch_add(BULK, Ordering::Relaxed), BULK));
        let writes = drive(target, BULK_CREATE, 1, self.time, body);
        let (beside, writes) = tokio::try_join!(self.drive(target, 1, queries), writes)?;
        figures.push(
            Figure::new(
                name("beside writes"),
                milliseconds(beside.percentile(0.5)),
                "ms p50",
                format!(
                    "1 connection, while another creates {:.0} products/s",
                    writes.per_second() * BULK as f64
                ),
            )
            .with_latency(&beside),
        );
        figures
            .push(self.create_beside_searches(target, products, queries, name("a create")).await?);
        if !self.repeats_queries() {
            figures.push(self.search_repeatedly(target, queries, name("repeated")).await?);
        }
        service.stop()?;
        Ok(figures)
    }

    /// Creates one after the other beside searches at a fixed rate.
    async fn create_beside_searches(
        &self,
        target: &Target,
        products: &Arc<Products>,
        queries: &Queries,
        name: String,
    ) -> anyhow::Result<Figure> {
        let (source, next) = (Arc::clone(products), AtomicUsize::new(0));
        let product = move || Some(source.single(next.fetch_add(1, Ordering::Relaxed)));
        let query = || Some(queries.next());
        let (created, searched) = tokio::try_join!(
            drive(target, CREATE, 1, self.time, product),
            drive_at(BESIDE_CREATES, target, SEARCH, SATURATION, self.time, query),
        )?;
        let median = milliseconds(created.percentile(0.5));
        let searches = searched.per_second();
        let how =
            format!("1 connection, beside {searches:.0} searches/s of {BESIDE_CREATES} wanted");
        let figure = Figure::new(name, median, "ms p50", how).with_latency(&created);
        Ok(if self.count < AIMED_AT {
            figure.with_aim(Aim::AtMost(MOST_CREATE_MS))
        } else {
            figure
        })
    }

    /// Searches that the query cache answers.
    async fn search_repeatedly(
        &self,
        target: &Target,
        queries: &Queries,
        name: String,
    ) -> anyhow::Result<Figure> {
        let repeated = self.drive(target, 1, &queries.first(REPEATED)).await?;
        let how = format!("1 connection, {REPEATED} queries over and over");
        let median = milliseconds(repeated.percentile(0.5));
        Ok(Figure::new(name, median, "ms p50", how).with_latency(&repeated))
    }

    /// One search at a time, with the times inside the server.
    async fn search_alone(
        &self,
        service: &Service,
        queries: &Queries,
        encoder: Encoder,
        name: &impl Fn(&str) -> String,
    ) -> anyhow::Result<Vec<Figure>> {
        let target = &service.target;
        let before = Inside::read(&figures_page(target).await?);
        let cpu_before = service.cpu()?;
        let alone = self.drive(target, 1, queries).await?;
        let cpu = service.cpu()?.saturating_sub(cpu_before);
        let inside = Inside::read(&figures_page(target).await?).since(&before);
        let how = format!("1 connection, {} searches, {}", alone.requests, queries.description());
        let median = milliseconds(alone.percentile(0.5));
        let outside = Figure::new(name("alone"), median, "ms p50", how).with_latency(&alone);
        let all = inside.all(name("alone, inside the server"));
        let all = match self.aim(encoder) {
            Some(aim) => all.with_aim(Aim::AtMost(aim)),
            None => all,
        };
        let cpu = cpu_figure(name("alone, processor time"), cpu, &alone);
        Ok([outside, all].into_iter().chain(inside.stages(name)).chain([cpu]).collect())
    }

    /// The target of the median search inside the server, in milliseconds.
    fn aim(&self, encoder: Encoder) -> Option<f64> {
        match (encoder, self.count) {
            (Encoder::Instant, ..=100_000) => Some(1.0),
            (Encoder::Instant, ..=1_000_000) => Some(8.0),
            _ => None,
        }
    }

    pub(crate) async fn drive(
        &self,
        target: &Target,
        connections: usize,
        queries: &Queries,
    ) -> anyhow::Result<Measured> {
        let queries = queries.clone();
        drive(target, SEARCH, connections, self.time, move || Some(queries.next())).await
    }

    /// The first search loads the shop.
    pub(crate) async fn one_search(
        &self,
        target: &Target,
        products: &Products,
    ) -> anyhow::Result<()> {
        let search = products.searches(1, 1).pop().context("there are no queries")?;
        Connection::open(target).await?.post(SEARCH.path, search).await?.expect(SEARCH.status)?;
        Ok(())
    }
}

/// Bodies of searches, repeated in order.
#[derive(Clone)]
pub(crate) struct Queries {
    bodies: Arc<[Bytes]>,
    next: Arc<AtomicUsize>,
}

impl Queries {
    pub(crate) fn new(texts: &[String]) -> Self {
        let body = |text: &String| json!({ "query": text }).to_string().into();
        Self { bodies: texts.iter().map(body).collect(), next: Arc::default() }
    }

    /// The first of them alone.
    fn first(&self, count: usize) -> Self {
        let bodies = self.bodies[..count.min(self.bodies.len())].into();
        Self { bodies, next: Arc::default() }
    }

    fn next(&self) -> Bytes {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        self.bodies[at % self.bodies.len()].clone()
    }

    fn description(&self) -> String {
        match self.bodies.len() {
            DIFFERENT => "all different".to_owned(),
            distinct => format!("{distinct} different, no query cache"),
        }
    }
}

/// The processor time of the service per search.
fn cpu_figure(name: String, cpu: Duration, searches: &Measured) -> Figure {
    let each = milliseconds(cpu) / searches.requests.max(1) as f64;
    Figure::new(name, each, "ms/search", "user and system time of the server process")
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Waits until the service is ready.
pub(crate) async fn ready(target: &Target) -> anyhow::Result<()> {
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

/// The metrics page.
async fn figures_page(target: &Target) -> anyhow::Result<String> {
    let page = Connection::open(target).await?.get("/metrics").await?.expect(StatusCode::OK)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// The value of one metric.
async fn metric(target: &Target, name: &str) -> anyhow::Result<f64> {
    let page = figures_page(target).await?;
    page.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
        .with_context(|| format!("the service does not keep {name}"))
}
