//! The measurements of one system, the same for all: the catalog is written, single writes are
//! awaited until a search shows them, and searches are sent over 1, 8 and 64 connections.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use anyhow::ensure;
use bench::{
    catalog_file::Product,
    judgments::JudgedQueries,
    load::{Measured, closed_loop},
    random::Random,
    report::Figure,
};

use crate::system::{Query, System};

const CONNECTIONS: [usize; 3] = [1, 8, 64];
/// Searches before the first measurement.
const WARM_UP: Duration = Duration::from_secs(1);
/// Writes that are awaited.
const WRITES: usize = 50;
/// Letters of the made-up word that only one product has.
const WORD_LETTERS: usize = 12;
/// A write must be visible within this time.
const VISIBLE_TIMEOUT: Duration = Duration::from_secs(30);
const MIB: f64 = (1_u64 << 20) as f64;

/// What is sent to every system.
pub(crate) struct Workload {
    pub(crate) products: Vec<Product>,
    pub(crate) queries: Vec<Query>,
    /// Products whose writes are awaited, each with a word of its own as the query.
    pub(crate) writes: Vec<(Product, Query)>,
    pub(crate) time: Duration,
}

impl Workload {
    /// The products to write later: those of the catalog, with a made-up word each.
    pub(crate) fn writes(
        products: &[Product],
        seed: u64,
        prepare: impl Fn(&[String]) -> anyhow::Result<Vec<Query>>,
    ) -> anyhow::Result<Vec<(Product, Query)>> {
        let mut random = Random::new(seed);
        let mut letter = || char::from(b'a' + random.below(26) as u8);
        let words: Vec<String> =
            (0..WRITES).map(|_| (0..WORD_LETTERS).map(|_| letter()).collect()).collect();
        let with_word = |(at, query): (usize, Query)| {
            let mut product = products[at % products.len()].clone();
            product.title = format!("{} {}", query.text, product.title);
            (product, query)
        };
        Ok(prepare(&words)?.into_iter().enumerate().map(with_word).collect())
    }
}

/// Loads the catalog and measures writes and searches.
pub(crate) async fn load_and_search<S: System>(
    system: &S,
    workload: &Workload,
    name: impl Fn(&str) -> String,
) -> anyhow::Result<Vec<Figure>> {
    let loaded = system.load(&workload.products).await?;
    let rate = workload.products.len() as f64 / loaded.as_secs_f64();
    let how = "until all products can be searched";
    let mut figures = vec![Figure::new(name("ingest"), rate, "products/s", how)];

    search(system, workload, 1, WARM_UP).await?;
    for connections in CONNECTIONS {
        let before = system.cpu()?;
        let measured = search(system, workload, connections, workload.time).await?;
        let plural = if connections == 1 { "" } else { "s" };
        let (value, how) = (measured.per_second(), format!("{connections} connection{plural}"));
        let what = format!("searches, {how}");
        figures.push(Figure::new(name(&what), value, "/s", how).with_latency(&measured));
        if let (Some(before), Some(after)) = (before, system.cpu()?) {
            let each = after.saturating_sub(before).as_secs_f64() * 1e3 / measured.requests as f64;
            let what = format!("processor time, {connections} connection{plural}");
            let how = "user and system time of the server processes";
            figures.push(Figure::new(name(&what), each, "ms/search", how));
        }
    }
    let bytes = [("memory", system.memory()?), ("disk", system.disk()?)];
    figures.extend(bytes.into_iter().filter_map(|(what, bytes)| {
        Some(Figure::new(name(what), bytes? as f64 / MIB, "MiB", "after the searches"))
    }));
    let visible = visibility(system, workload).await?;
    let median = visible.percentile(0.5).as_secs_f64() * 1e3;
    let how = format!("{WRITES} single writes, until a search shows them");
    figures.push(Figure::new(name("write to visible"), median, "ms", how).with_latency(&visible));
    Ok(figures)
}

/// Searches in a closed loop. The queries are repeated in order.
async fn search<S: System>(
    system: &S,
    workload: &Workload,
    connections: usize,
    time: Duration,
) -> anyhow::Result<Measured> {
    let mut sessions = Vec::new();
    for _ in 0..connections {
        sessions.push(system.connect().await?);
    }
    let (queries, at) = (&workload.queries, AtomicUsize::new(0));
    let next = || queries.get(at.fetch_add(1, Ordering::Relaxed) % queries.len());
    let measured = closed_loop(sessions, time, next, async |session: &mut S::Session, query| {
        system.search(session, query).await?;
        Ok(())
    });
    measured.await
}

/// From sending each write to the response of the first search that shows it.
async fn visibility<S: System>(system: &S, workload: &Workload) -> anyhow::Result<Measured> {
    let mut session = system.connect().await?;
    let begun = Instant::now();
    let mut times = Vec::new();
    for (number, (product, query)) in workload.writes.iter().enumerate() {
        let at = workload.products.len() + number;
        let started = Instant::now();
        system.insert(&mut session, at, product).await?;
        loop {
            let answer = system.search(&mut session, query).await?;
            let elapsed = started.elapsed();
            if system.ranking(answer)?.contains(&at) {
                times.push(elapsed);
                break;
            }
            ensure!(elapsed < VISIBLE_TIMEOUT, "a write did not become visible");
        }
    }
    Ok(Measured::of(times, begun.elapsed()))
}

/// The mean NDCG@10 of judged queries over the loaded catalog.
pub(crate) async fn quality<S: System>(
    system: &S,
    judged: &JudgedQueries,
    queries: &[Query],
) -> anyhow::Result<f64> {
    let mut session = system.connect().await?;
    let mut rankings = Vec::with_capacity(queries.len());
    for query in queries {
        let answer = system.search(&mut session, query).await?;
        rankings.push(system.ranking(answer)?);
    }
    Ok(judged.mean_ndcg(&rankings))
}
