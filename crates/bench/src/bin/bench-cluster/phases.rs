//! The phases of the benchmark: the same catalog under one, two and four nodes: searches, writes
//! to one shop and to many, both together, and the delay until other nodes find a write.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Context;
use bench::{
    client::Target,
    cpu,
    load::{Kind, Measured, drive_all},
    products::Products,
    queries,
    report::{Aim, Figure},
};
use hyper::{StatusCode, body::Bytes};
use serde_json::json;

use crate::{
    database::{Database, Work},
    fleet::Fleet,
    visibility,
};

const CREATE: Kind = Kind { path: "/api/v1/products", status: StatusCode::CREATED };
const BULK_CREATE: Kind = Kind { path: "/api/v1/products/bulk", status: StatusCode::CREATED };
const SEARCH: Kind = Kind { path: "/api/v1/search", status: StatusCode::OK };

/// Products in one bulk request: as many as the service takes.
const BULK: usize = 100;
/// Connections of each kind of load, distributed over the nodes.
const SEARCHING: usize = 8;
const CREATING: usize = 16;
const CREATING_IN_BULK: usize = 4;
/// The writes among the searches of mixed load.
const CREATING_BESIDE: usize = 2;
/// The number of distinct searches: more than a measurement sends.
const DIFFERENT: usize = 200_000;
/// The stages of a search, in memory and in the database, as named in the metrics.
const STAGES: [&str; 5] = ["understand", "encode", "candidates", "score", "fetch"];
/// The target of the replication delay.
const MOST_BEHIND_MS: f64 = 1000.0;
/// The database that all measurements begin with.
const FILLED: &str = "filled";

/// What is to be measured.
pub(crate) struct Bench {
    pub(crate) binary: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) nodes: Vec<usize>,
    pub(crate) shops: u64,
    pub(crate) products: usize,
    pub(crate) catalog: Vec<PathBuf>,
    pub(crate) queries: Vec<PathBuf>,
    pub(crate) seed: u64,
    pub(crate) time: Duration,
    pub(crate) search_above: Option<usize>,
}

impl Bench {
    pub(crate) async fn run(&self) -> anyhow::Result<Vec<Figure>> {
        let products = Arc::new(match self.catalog.is_empty() {
            true => Products::make(self.products, self.seed),
            false => Products::read(&self.catalog, self.products, self.seed)?,
        });
        let database = Database::start();
        database.make(FILLED);
        self.fill(&database, &products).await?;
        let all = self.shops as f64 * self.products.max(1) as f64;
        let how = "pg_database_size after the products were created, with vectors and changes";
        let size = database.size(FILLED)? / all;
        let mut figures = vec![Figure::new("database", size, "B/product", how)];
        for nodes in &self.nodes {
            let name = format!("nodes_{nodes}");
            database.copy(FILLED, &name);
            figures.extend(self.measure(&database, &name, *nodes, &products).await?);
            database.drop(&name);
        }
        Ok(figures)
    }

    async fn fleet(
        &self,
        database: &Database,
        name: &str,
        nodes: usize,
        search_above: Option<usize>,
    ) -> anyhow::Result<Fleet> {
        // Leaked: settings live as long as the program.
        let above = search_above.map(|above| above.to_string().leak() as &'static str);
        let url = database.url(name);
        let folder = self.folder.join(name);
        std::fs::create_dir(&folder)?;
        Fleet::start(&self.binary, &folder, &url, nodes, self.shops, above).await
    }

    /// Writes the same products to every shop.
    async fn fill(&self, database: &Database, products: &Arc<Products>) -> anyhow::Result<()> {
        let fleet = self.fleet(database, FILLED, 1, None).await?;
        for shop in 0..self.shops {
            let targets: Vec<_> =
                (0..CREATING_IN_BULK).map(|_| fleet.target(0, shop as usize)).collect();
            let (source, next, last) = (Arc::clone(products), AtomicUsize::new(0), products.len());
            let body = move || {
                let from = next.fetch_add(BULK, Ordering::Relaxed);
                (from < last).then(|| source.bulk(from, BULK.min(last - from)))
            };
            drive_all(&targets, BULK_CREATE, Duration::MAX / 4, body).await?;
        }
        fleet.stop()
    }

    /// All phases with this number of nodes.
    async fn measure(
        &self,
        database: &Database,
        name: &str,
        nodes: usize,
        products: &Arc<Products>,
    ) -> anyhow::Result<Vec<Figure>> {
        let fleet = self.fleet(database, name, nodes, self.search_above).await?;
        let row = Row { database, name, fleet: &fleet, time: self.time };
        let queries = Arc::new(self.searches(products)?);
        let mut figures = self.prepare(&row, &queries).await?;
        let (search, create) = (searches(&queries), singles(products));
        figures.extend(self.separate_loads(&row, search.clone(), create.clone(), products).await?);
        if nodes > 1 {
            let seen = visibility::measure(&fleet, self.seed, self.time).await?;
            figures.extend(row.visible("found elsewhere, alone", &seen, "nothing else happens"));
        }
        figures.extend(self.mixed_load(&row, search, create).await?);
        let how = "pg_stat_activity at the end, all nodes together";
        let connections = database.connections(name)?;
        figures.push(Figure::new(row.named("database connections"), connections, "", how));
        let retries = fleet.metric("shopkeeper_write_retries_total").await?;
        let how = "shopkeeper_write_retries_total: groups that met another node's";
        figures.push(Figure::new(row.named("write retries"), retries, "", how));
        fleet.stop()?;
        Ok(figures)
    }

    /// The bodies of all searches.
    fn searches(&self, products: &Products) -> anyhow::Result<Vec<Bytes>> {
        let queries = match self.queries.is_empty() {
            true => products.queries(DIFFERENT, self.seed + 1),
            false => queries::read(&self.queries)?,
        };
        Ok(queries.into_iter().map(|query| json!({ "query": query }).to_string().into()).collect())
    }

    /// Loads every shop on every node, or waits until all are searched inside the database.
    async fn prepare(&self, row: &Row<'_>, queries: &[Bytes]) -> anyhow::Result<Vec<Figure>> {
        let mut figures = Vec::new();
        if self.search_above.is_some() {
            let started = Instant::now();
            row.database.until_all_are_searched_here(row.name).await;
            let how = "from the nodes' start until every shop is searched in the database";
            let seconds = started.elapsed().as_secs_f64();
            figures.push(Figure::new(row.named("getting ready"), seconds, "s", how));
        }
        row.fleet.warm_up(queries.first().context("there are no queries")?).await?;
        if self.search_above.is_some() {
            row.fleet.search_until_in_database(queries).await?;
        }
        Ok(figures)
    }

    /// Searches, single creates and bulk creates, one kind at a time.
    async fn separate_loads(
        &self,
        row: &Row<'_>,
        search: impl Source,
        create: impl Source,
        products: &Arc<Products>,
    ) -> anyhow::Result<Vec<Figure>> {
        let fleet = row.fleet;
        let stages_before = stages(fleet).await?;
        let measured = row.drive(fleet.targets(1), SEARCH, search.clone()).await?;
        let how = means(&stages_before, &stages(fleet).await?);
        let alone =
            Figure::new(row.named("a search alone"), measured.per_second(), "searches/s", how);
        let mut figures = vec![alone.with_latency(&measured)];

        let how = format!("{SEARCHING} connections, all different");
        let phase = Phase { what: "searches", unit: "searches/s", each: 1, how };
        figures.extend(row.measure(phase, fleet.targets(SEARCHING), SEARCH, search).await?);

        let how = format!("{CREATING} connections, {} shops", self.shops);
        let phase = Phase { what: "creates", unit: "products/s", each: 1, how };
        figures.extend(row.measure(phase, fleet.targets(CREATING), CREATE, create.clone()).await?);

        let how = format!("{CREATING} connections, one shop");
        let phase = Phase { what: "creates, one shop", unit: "products/s", each: 1, how };
        let targets = fleet.targets_of_one_shop(CREATING);
        figures.extend(row.measure(phase, targets, CREATE, create).await?);

        let how = format!("{BULK} a request, {CREATING_IN_BULK} connections");
        let phase = Phase { what: "bulk", unit: "products/s", each: BULK, how };
        let targets = fleet.targets(CREATING_IN_BULK);
        figures.extend(row.measure(phase, targets, BULK_CREATE, bulks(products)).await?);
        Ok(figures)
    }

    /// Searches beside creates, and the delay until other nodes find the created products.
    async fn mixed_load(
        &self,
        row: &Row<'_>,
        search: impl Source,
        create: impl Source,
    ) -> anyhow::Result<Vec<Figure>> {
        let fleet = row.fleet;
        let before = row.usage()?;
        let searching = row.drive(fleet.targets(SEARCHING), SEARCH, search);
        let creating = row.drive(fleet.targets(CREATING_BESIDE), CREATE, create);
        let polling = async {
            match fleet.len() > 1 {
                true => visibility::measure(fleet, self.seed + 2, self.time).await.map(Some),
                false => Ok(None),
            }
        };
        let (searched, created, seen) = tokio::try_join!(searching, creating, polling)?;
        let how = format!(
            "{SEARCHING} connections, while {CREATING_BESIDE} create {:.0} products/s",
            created.per_second()
        );
        let phase = Phase { what: "mixed", unit: "searches/s", each: 1, how };
        let mut figures = row.figures(&phase, &searched, before)?;
        let how = format!("{CREATING_BESIDE} connections");
        let name = row.named("creates among searches");
        let creates = Figure::new(name, created.per_second(), "products/s", how);
        figures.push(creates.with_latency(&created));
        let how = "beside the mixed load";
        figures
            .extend(seen.iter().flat_map(|seen| row.visible("found elsewhere, busy", seen, how)));
        Ok(figures)
    }
}

/// The search stage histograms of all nodes: the sum in seconds and the count of each stage.
async fn stages(fleet: &Fleet) -> anyhow::Result<Vec<(f64, f64)>> {
    let mut read = Vec::with_capacity(STAGES.len());
    for stage in STAGES {
        let name = |part| format!("shopkeeper_search_stage_seconds_{part}{{stage=\"{stage}\"}}");
        read.push((fleet.metric(&name("sum")).await?, fleet.metric(&name("count")).await?));
    }
    Ok(read)
}

/// The mean time of each stage since `before`.
fn means(before: &[(f64, f64)], after: &[(f64, f64)]) -> String {
    let means = STAGES.iter().zip(before).zip(after).filter_map(|((stage, before), after)| {
        let (seconds, count) = (after.0 - before.0, after.1 - before.1);
        (count > 0.0).then(|| format!("{stage} {:.2}", seconds / count * 1000.0))
    });
    format!("1 connection; mean ms by stage: {}", means.collect::<Vec<_>>().join(", "))
}

/// The measurements with one number of nodes.
struct Row<'a> {
    database: &'a Database,
    name: &'a str,
    fleet: &'a Fleet,
    time: Duration,
}

/// Resources used up to a moment.
#[derive(Clone, Copy)]
struct Usage {
    nodes: Duration,
    client: Duration,
    work: Work,
}

/// A load whose throughput and cost are measured.
struct Phase {
    what: &'static str,
    unit: &'static str,
    /// Products or searches per request.
    each: usize,
    /// A description of the load.
    how: String,
}

impl Row<'_> {
    /// Drives a load and returns its throughput and cost.
    async fn measure(
        &self,
        phase: Phase,
        targets: Vec<Target>,
        kind: Kind,
        next: impl Source,
    ) -> anyhow::Result<Vec<Figure>> {
        let before = self.usage()?;
        let measured = self.drive(targets, kind, next).await?;
        self.figures(&phase, &measured, before)
    }

    /// The name of a value, by which earlier reports are compared.
    fn named(&self, what: &str) -> String {
        format!("{} nodes: {what}", self.fleet.len())
    }

    fn usage(&self) -> anyhow::Result<Usage> {
        let work = self.database.work(self.name)?;
        Ok(Usage { nodes: self.fleet.cpu()?, client: cpu::of_process(std::process::id())?, work })
    }

    async fn drive(
        &self,
        targets: Vec<Target>,
        kind: Kind,
        next: impl Source,
    ) -> anyhow::Result<Measured> {
        drive_all(&targets, kind, self.time, next).await
    }

    /// The throughput of a phase, and its cost for the nodes and the database.
    fn figures(
        &self,
        phase: &Phase,
        measured: &Measured,
        before: Usage,
    ) -> anyhow::Result<Vec<Figure>> {
        let Phase { what, unit, each, how } = phase;
        let each = *each;
        // The processes first, so that the queries to the database are not counted.
        let nodes = self.fleet.cpu()?.saturating_sub(before.nodes);
        let client = cpu::of_process(std::process::id())?.saturating_sub(before.client);
        let work = self.database.work(self.name)?.since(before.work);
        let count = (measured.requests * each).max(1) as f64;
        let cost = |who: &str, value: f64, unit: &str, how: &str| {
            Figure::new(self.named(&format!("{what}, {who}")), value / count, unit, how)
        };
        let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
        let one = if each == 1 { "request" } else { "product" };
        let mut figures = vec![
            Figure::new(self.named(what), measured.per_second() * each as f64, unit, how.as_str())
                .with_latency(measured),
            cost("nodes' processor time", milliseconds(nodes), "ms", &format!("for each {one}")),
            cost(
                "database's processor time",
                milliseconds(work.cpu),
                "ms",
                &format!("for each {one}; the client took {:.3} ms", milliseconds(client) / count),
            ),
            cost(
                "statements",
                work.statements as f64,
                "",
                &format!(
                    "for each {one}; {:.0} commits/s",
                    work.commits as f64 / measured.elapsed.as_secs_f64()
                ),
            ),
        ];
        if work.commits > 0 {
            let how = format!("for each {one}, pg_current_wal_insert_lsn");
            figures.push(cost("database's log", work.log_bytes as f64, "B", &how));
        }
        Ok(figures)
    }

    fn visible(&self, what: &str, seen: &Measured, how: &str) -> Vec<Figure> {
        let milliseconds = |share| seen.percentile(share).as_secs_f64() * 1000.0;
        let how = format!("{} looks at other nodes, {how}", seen.requests);
        let aim = Aim::AtMost(MOST_BEHIND_MS);
        vec![
            Figure::new(self.named(what), milliseconds(0.99), "ms p99", how)
                .with_latency(seen)
                .with_aim(aim),
            Figure::new(
                self.named(&format!("{what}, at most")),
                milliseconds(1.0),
                "ms",
                "the longest of these",
            )
            .with_aim(aim),
        ]
    }
}

/// Returns the bodies of requests, shared by all connections; `None` at the end.
trait Source: Fn() -> Option<Bytes> + Clone + Send + Sync + 'static {}

impl<S: Fn() -> Option<Bytes> + Clone + Send + Sync + 'static> Source for S {}

fn searches(queries: &Arc<Vec<Bytes>>) -> impl Source + use<> {
    let (queries, next) = (Arc::clone(queries), AtomicUsize::new(0));
    shared(move || {
        let at = next.fetch_add(1, Ordering::Relaxed);
        Some(queries[at % queries.len()].clone())
    })
}

fn singles(products: &Arc<Products>) -> impl Source + use<> {
    let (products, next) = (Arc::clone(products), AtomicUsize::new(0));
    shared(move || Some(products.single(next.fetch_add(1, Ordering::Relaxed))))
}

fn bulks(products: &Arc<Products>) -> impl Source + use<> {
    let (products, next) = (Arc::clone(products), AtomicUsize::new(0));
    shared(move || Some(products.bulk(next.fetch_add(BULK, Ordering::Relaxed), BULK)))
}

/// A source that can be cloned.
fn shared(next: impl Fn() -> Option<Bytes> + Send + Sync + 'static) -> impl Source {
    let next = Arc::new(next);
    move || next()
}
