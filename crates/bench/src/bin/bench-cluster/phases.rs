//! What is measured, in which order? The same catalog under one, two and four nodes: searches, writes
//! to one shop and to many, all together, and how soon writes are found elsewhere.

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
    report::{Aim, Figure},
};
use hyper::{StatusCode, body::Bytes};

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
/// Connections of each kind of load, dealt to the nodes in turn.
const SEARCHING: usize = 8;
const CREATING: usize = 16;
const CREATING_IN_BULK: usize = 4;
/// The writes among the searches of mixed load.
const CREATING_BESIDE: usize = 2;
/// Searches that are all different: more than any measurement gets through.
const DIFFERENT: usize = 200_000;
/// What the service calls the steps of a search, in memory and in the database.
const STAGES: [&str; 6] = ["understand", "encode", "candidates", "read", "score", "fetch"];
/// Another node is behind by at most this.
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
    pub(crate) seed: u64,
    pub(crate) time: Duration,
    pub(crate) search_above: Option<usize>,
}

impl Bench {
    pub(crate) async fn run(&self) -> anyhow::Result<Vec<Figure>> {
        let products = Arc::new(Products::make(self.products, self.seed));
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
        // A setting lives as long as the program.
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

    /// Everything with so many nodes.
    async fn measure(
        &self,
        database: &Database,
        name: &str,
        nodes: usize,
        products: &Arc<Products>,
    ) -> anyhow::Result<Vec<Figure>> {
        let mut figures = Vec::new();
        let fleet = self.fleet(database, name, nodes, self.search_above).await?;
        if self.search_above.is_some() {
            let started = Instant::now();
            database.until_all_are_searched_here(name).await;
            let how = "from the nodes' start until every shop is searched in the database";
            let seconds = started.elapsed().as_secs_f64();
            figures.push(Figure::new(format!("{nodes} nodes: getting ready"), seconds, "s", how));
        }
        let queries = Arc::new(products.searches(DIFFERENT, self.seed + 1));
        fleet.warm_up(queries.first().context("there is nothing to search for")?).await?;
        if self.search_above.is_some() {
            fleet.search_until_in_database(&queries).await?;
        }
        let row = Row { database, name, fleet: &fleet, time: self.time };
        let (search, create, bulk) = (searches(&queries), singles(products), bulks(products));

        let stages_before = stages(&fleet).await?;
        let measured = row.drive(fleet.targets(1), SEARCH, search.clone()).await?;
        let how = means(&stages_before, &stages(&fleet).await?);
        figures.push(
            Figure::new(row.named("a search alone"), measured.per_second(), "searches/s", how)
                .with_latency(&measured),
        );

        let before = row.moment()?;
        let measured = row.drive(fleet.targets(SEARCHING), SEARCH, search.clone()).await?;
        let how = format!("{SEARCHING} connections, all different");
        figures.extend(row.figures("searches", "searches/s", 1, &measured, before, &how)?);

        let before = row.moment()?;
        let measured = row.drive(fleet.targets(CREATING), CREATE, create.clone()).await?;
        let how = format!("{CREATING} connections, {} shops", self.shops);
        figures.extend(row.figures("creates", "products/s", 1, &measured, before, &how)?);

        let before = row.moment()?;
        let targets = fleet.targets_of_one_shop(CREATING);
        let measured = row.drive(targets, CREATE, create.clone()).await?;
        let how = format!("{CREATING} connections, one shop");
        figures.extend(row.figures(
            "creates, one shop",
            "products/s",
            1,
            &measured,
            before,
            &how,
        )?);

        let before = row.moment()?;
        let measured = row.drive(fleet.targets(CREATING_IN_BULK), BULK_CREATE, bulk).await?;
        let how = format!("{BULK} a request, {CREATING_IN_BULK} connections");
        figures.extend(row.figures("bulk", "products/s", BULK, &measured, before, &how)?);

        if nodes > 1 {
            let seen = visibility::measure(&fleet, self.seed, self.time).await?;
            figures.extend(row.visible("found elsewhere, alone", &seen, "nothing else happens"));
        }

        // A search in the middle of writes, and how soon these are found.
        let before = row.moment()?;
        let searching = row.drive(fleet.targets(SEARCHING), SEARCH, search);
        let creating = row.drive(fleet.targets(CREATING_BESIDE), CREATE, create);
        let looking = async {
            match nodes > 1 {
                true => visibility::measure(&fleet, self.seed + 2, self.time).await.map(Some),
                false => Ok(None),
            }
        };
        let (searched, created, seen) = tokio::try_join!(searching, creating, looking)?;
        let how = format!(
            "{SEARCHING} connections, while {CREATING_BESIDE} create {:.0} products/s",
            created.per_second()
        );
        figures.extend(row.figures("mixed", "searches/s", 1, &searched, before, &how)?);
        figures.push(
            Figure::new(
                row.named("creates among searches"),
                created.per_second(),
                "products/s",
                format!("{CREATING_BESIDE} connections"),
            )
            .with_latency(&created),
        );
        let how = "beside the mixed load";
        figures
            .extend(seen.iter().flat_map(|seen| row.visible("found elsewhere, busy", seen, how)));
        let how = "pg_stat_activity at the end, all nodes together";
        let connections = database.connections(name)?;
        figures.push(Figure::new(row.named("database connections"), connections, "", how));
        let retries = fleet.metric("shopkeeper_write_retries_total").await?;
        let how = "shopkeeper_write_retries_total: groups that met another node's";
        figures.push(Figure::new(row.named("write retries"), retries, "", how));
        fleet.stop()?;
        Ok(figures)
    }
}

/// What the nodes say of the steps of their searches: seconds and how often, each.
async fn stages(fleet: &Fleet) -> anyhow::Result<Vec<(f64, f64)>> {
    let mut read = Vec::with_capacity(STAGES.len());
    for stage in STAGES {
        let name = |part| format!("shopkeeper_search_stage_seconds_{part}{{stage=\"{stage}\"}}");
        read.push((fleet.metric(&name("sum")).await?, fleet.metric(&name("count")).await?));
    }
    Ok(read)
}

/// What each step took since, on average.
fn means(before: &[(f64, f64)], after: &[(f64, f64)]) -> String {
    let means = STAGES.iter().zip(before).zip(after).filter_map(|((stage, before), after)| {
        let (seconds, count) = (after.0 - before.0, after.1 - before.1);
        (count > 0.0).then(|| format!("{stage} {:.2}", seconds / count * 1000.0))
    });
    format!("1 connection; mean ms by stage: {}", means.collect::<Vec<_>>().join(", "))
}

/// One number of nodes.
struct Row<'a> {
    database: &'a Database,
    name: &'a str,
    fleet: &'a Fleet,
    time: Duration,
}

/// Who had taken how much by then.
#[derive(Clone, Copy)]
struct Moment {
    nodes: Duration,
    client: Duration,
    work: Work,
}

impl Row<'_> {
    /// The name of a figure: it is looked for by it in earlier reports.
    fn named(&self, what: &str) -> String {
        format!("{} nodes: {what}", self.fleet.len())
    }

    fn moment(&self) -> anyhow::Result<Moment> {
        let work = self.database.work(self.name)?;
        Ok(Moment { nodes: self.fleet.cpu()?, client: cpu::of_process(std::process::id())?, work })
    }

    async fn drive(
        &self,
        targets: Vec<Target>,
        kind: Kind,
        next: impl Fn() -> Option<Bytes> + Send + Sync + 'static,
    ) -> anyhow::Result<Measured> {
        drive_all(&targets, kind, self.time, next).await
    }

    /// How often it was done in a second, and what each time cost nodes and database.
    fn figures(
        &self,
        what: &str,
        unit: &str,
        each: usize,
        measured: &Measured,
        before: Moment,
        how: &str,
    ) -> anyhow::Result<Vec<Figure>> {
        // First the processes, so that asking the database is not counted.
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
            Figure::new(self.named(what), measured.per_second() * each as f64, unit, how)
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

type Next = Arc<dyn Fn() -> Option<Bytes> + Send + Sync>;

fn searches(
    queries: &Arc<Vec<Bytes>>,
) -> impl Fn() -> Option<Bytes> + Clone + Send + Sync + 'static {
    let (queries, next) = (Arc::clone(queries), AtomicUsize::new(0));
    shared(move || {
        let at = next.fetch_add(1, Ordering::Relaxed);
        Some(queries[at % queries.len()].clone())
    })
}

fn singles(products: &Arc<Products>) -> impl Fn() -> Option<Bytes> + Clone + Send + Sync + 'static {
    let (products, next) = (Arc::clone(products), AtomicUsize::new(0));
    shared(move || Some(products.single(next.fetch_add(1, Ordering::Relaxed))))
}

fn bulks(products: &Arc<Products>) -> impl Fn() -> Option<Bytes> + Clone + Send + Sync + 'static {
    let (products, next) = (Arc::clone(products), AtomicUsize::new(0));
    shared(move || Some(products.bulk(next.fetch_add(BULK, Ordering::Relaxed), BULK)))
}

/// One source for all who take from it.
fn shared(
    next: impl Fn() -> Option<Bytes> + Send + Sync + 'static,
) -> impl Fn() -> Option<Bytes> + Clone + Send + Sync + 'static {
    let next: Next = Arc::new(next);
    move || next()
}
