//! `bench-neighbors`: what a search of one shop costs its shopper while another shop is overloaded.
#![allow(clippy::print_stdout, reason = "a report is what this program is for")]

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use bench::{
    client::{Connection, Target},
    load::{Kind, Measured, closed_loop, drive},
    machine,
    products::Products,
    service::{Installation, Service},
};
use clap::Parser;
use hyper::{StatusCode, body::Bytes};

const CREATE: Kind = Kind { path: "/api/v1/products", status: StatusCode::CREATED };
const BULK_CREATE: Kind = Kind { path: "/api/v1/products/bulk", status: StatusCode::CREATED };
const SEARCH: Kind = Kind { path: "/api/v1/search", status: StatusCode::OK };
/// Products in one bulk request.
const BULK: usize = 100;
/// Distinct queries: more than are sent.
const QUERIES: usize = 200_000;
/// The processor does nothing but answer: no encoder runs, and no result is kept.
const SETTINGS: [(&str, &str); 3] = [
    ("SHOPKEEPER_MODEL_BACKGROUND", "false"),
    ("SHOPKEEPER_MODEL_QUERY_BUDGET", "0"),
    ("SHOPKEEPER_INDEX_QUERY_CACHE_BYTES", "0"),
];

/// Measures the searches of a shop, alone and beside a shop that many connections search and write to.
#[derive(Parser)]
#[command(name = "bench-neighbors")]
struct Arguments {
    /// The `shopkeeper` binary to measure
    #[arg(long, value_name = "FILE")]
    server: PathBuf,
    /// Folder on the disk to measure; what is written there is removed again
    #[arg(long, value_name = "FOLDER", default_value = "target/bench-neighbors")]
    data: PathBuf,
    /// Products of each of the two shops
    #[arg(long, default_value_t = 20_000)]
    products: usize,
    /// Connections that search the busy shop
    #[arg(long, default_value_t = 300)]
    searching: usize,
    /// Connections that write to the busy shop
    #[arg(long, default_value_t = 16)]
    writing: usize,
    /// Seconds for each measurement
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Measurements of each kind, in turn
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    fs::create_dir_all(&arguments.data)?;
    let folder = tempfile::tempdir_in(&arguments.data)?;
    let mut installation =
        Installation::new(&arguments.server, folder.path(), "shops", Duration::ZERO)?;
    installation.configure(&SETTINGS);
    let service = installation.start()?;
    let token = |shop| Target { token: installation.token(shop), address: service.target.address };
    let shops = Shops { quiet: token(1), busy: [token(2), token(2)] };
    let products = Products::make(arguments.products, 1);
    let queries = products.searches(QUERIES, 2);
    let bench = Bench { service, products, queries, next_query: AtomicUsize::new(0), arguments };
    bench.fill(&[&shops.quiet, &shops.busy[0]])?;
    bench.report(&shops)
}

/// The neighbor, and the busy shop with two tokens: one may not use all of a shop's slots.
struct Shops {
    quiet: Target,
    busy: [Target; 2],
}

struct Bench {
    arguments: Arguments,
    service: Service,
    products: Products,
    queries: Vec<Bytes>,
    next_query: AtomicUsize,
}

/// What the connections of the busy shop got.
#[derive(Default)]
struct Busy {
    is_over: AtomicBool,
    answered: AtomicUsize,
    /// Answered 503.
    refused: AtomicUsize,
}

impl Bench {
    fn fill(&self, shops: &[&Target]) -> anyhow::Result<()> {
        for shop in shops {
            let next = AtomicUsize::new(0);
            let body = || {
                let from = next.fetch_add(BULK, Ordering::Relaxed);
                let left = self.products.len().saturating_sub(from);
                (left > 0).then(|| self.products.bulk(from, BULK.min(left)))
            };
            runtime()?.block_on(drive(shop, BULK_CREATE, 4, Duration::MAX / 4, body))?;
        }
        Ok(())
    }

    fn report(&self, Shops { quiet, busy }: &Shops) -> anyhow::Result<()> {
        println!("load average {:.2} before", machine::load_average());
        println!(
            "| neighbor | p50 ms | p99 ms | searches/s | 503 | busy shop: searches and writes/s, 503/s |"
        );
        println!("|---|---|---|---|---|---|");
        for _ in 0..self.arguments.rounds {
            let alone = self.neighbor(quiet)?;
            row("alone", &alone, "");
            let load = Busy::default();
            let beside = thread::scope(|scope| {
                let loading = scope.spawn(|| self.overload(busy, &load));
                let beside = self.neighbor(quiet);
                load.is_over.store(true, Ordering::Relaxed);
                loading.join().unwrap_or_else(|_| anyhow::bail!("the load failed"))?;
                beside
            })?;
            let per_second = |count: &AtomicUsize| {
                count.load(Ordering::Relaxed) as f64 / beside.0.elapsed.as_secs_f64()
            };
            let load =
                format!("{:.0}, {:.0}", per_second(&load.answered), per_second(&load.refused));
            row("beside", &beside, &load);
            let ratio = milliseconds(&beside.0, 0.5) / milliseconds(&alone.0, 0.5);
            println!("p50 beside ÷ alone: {ratio:.2}");
        }
        println!("{:.0} MB resident", self.service.resident_bytes() as f64 / 1e6);
        Ok(())
    }

    fn query(&self) -> Bytes {
        let number = self.next_query.fetch_add(1, Ordering::Relaxed);
        self.queries[number % self.queries.len()].clone()
    }

    /// The searches of one connection, and how many of them were refused.
    fn neighbor(&self, target: &Target) -> anyhow::Result<(Measured, usize)> {
        let refused = AtomicUsize::new(0);
        let body = || Some(self.query());
        let measured = runtime()?.block_on(async {
            let connection = Connection::open(target).await?;
            let time = Duration::from_secs(self.arguments.seconds);
            closed_loop(vec![connection], time, body, async |connection: &mut Connection, body| {
                if send(connection, SEARCH, body).await? == StatusCode::SERVICE_UNAVAILABLE {
                    refused.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            })
            .await
        })?;
        Ok((measured, refused.into_inner()))
    }

    /// Searches and writes on many connections until it is over. What is refused is sent again at once.
    fn overload(&self, tokens: &[Target; 2], load: &Busy) -> anyhow::Result<()> {
        let next = AtomicUsize::new(0);
        let Arguments { searching, writing, .. } = self.arguments;
        let kinds = [vec![SEARCH; searching], vec![CREATE; writing]].concat();
        let body = || {
            let number = next.fetch_add(1, Ordering::Relaxed);
            (!load.is_over.load(Ordering::Relaxed)).then_some(number)
        };
        runtime()?.block_on(async {
            let mut workers = Vec::new();
            for (kind, token) in kinds.into_iter().zip(tokens.iter().cycle()) {
                workers.push((Connection::open(token).await?, kind));
            }
            let act = async |(connection, kind): &mut (Connection, Kind), number: usize| {
                let body = match kind.path == SEARCH.path {
                    true => self.query(),
                    false => self.products.single(number),
                };
                let count = match send(connection, *kind, body).await? {
                    StatusCode::SERVICE_UNAVAILABLE => &load.refused,
                    _ => &load.answered,
                };
                count.fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            closed_loop(workers, Duration::MAX / 4, body, act).await
        })?;
        Ok(())
    }
}

/// Sends a request; another status than the expected one or 503 is an error.
async fn send(connection: &mut Connection, kind: Kind, body: Bytes) -> anyhow::Result<StatusCode> {
    let answer = connection.post(kind.path, body).await?;
    let status = answer.status;
    if status != StatusCode::SERVICE_UNAVAILABLE {
        answer.expect(kind.status)?;
    }
    Ok(status)
}

fn row(name: &str, (measured, refused): &(Measured, usize), load: &str) {
    println!(
        "| {name} | {:.2} | {:.2} | {:.0} | {refused} | {load} |",
        milliseconds(measured, 0.5),
        milliseconds(measured, 0.99),
        measured.per_second(),
    );
}

fn milliseconds(measured: &Measured, share: f64) -> f64 {
    measured.percentile(share).as_secs_f64() * 1e3
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}
