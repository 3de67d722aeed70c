//! The time to load a shop from PostgreSQL: rows, vectors and terms, into the index and the local
//! replica, as at the start of a node.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context;
use bench::{cpu, machine, products::Products};
use catalog::product::{
    Description, Draft, ShopId, Title,
    access::{Caller, Role},
    price::Price,
};
use clap::Args;
use embed::{BuiltIn, Embedder, ModelFiles};
use engine::{Engine, Settings, WarmUp, writer::WriterSettings};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use store::{Postgres, PostgresSettings, Quotas};

/// Products that are created together.
const BULK: usize = 1000;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Products of the shop.
    #[arg(long, default_value_t = 100_000)]
    products: usize,
    /// How often it is loaded.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seed of the products.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let database = PostgresSettings {
        address: testkit::postgres().database().parse()?,
        connections: 4,
        connect_time: Duration::from_secs(5),
        statement_time: Duration::from_secs(60),
        lock_time: Duration::from_secs(10),
        scratch: std::env::temp_dir(),
        search_above: usize::MAX,
    };
    Postgres::new(&database)?.migrate()?;
    let model: Arc<dyn Embedder> = Arc::new(BuiltIn::new(ModelFiles::embedded(), 1)?);
    let open = || Engine::open_database(&database, settings(Arc::clone(&model)));
    fill(&open()?, &Products::make(arguments.products, arguments.seed))?;
    let server = testkit::postgres().process_id().context("the database is not running")?;
    let cpu = || anyhow::Ok((cpu::of_process(std::process::id())?, cpu::of_family(server)?));
    let (mut times, before, load_before) = (Vec::new(), cpu()?, machine::load_average());
    for _ in 0..arguments.rounds {
        let engine = open()?;
        let started = Instant::now();
        anyhow::ensure!(engine.warm_up(WarmUp::default()).is_done(), "a shop cannot be loaded");
        times.push(started.elapsed());
        anyhow::ensure!(engine.stats().products == arguments.products, "not all were loaded");
    }
    times.sort_unstable();
    let (first, median) = (times[0], times[times.len() / 2]);
    println!("{} products: {first:.2?} at best, {median:.2?} in the middle", arguments.products);
    let after = cpu()?;
    let rounds = u32::try_from(arguments.rounds.max(1))?;
    println!(
        "processor time of a load: {:.2?} of the node, {:.2?} of the database",
        (after.0 - before.0) / rounds,
        (after.1 - before.1) / rounds
    );
    println!("load average {load_before:.1} before, {:.1} after", machine::load_average());
    Ok(())
}

fn fill(engine: &Engine, products: &Products) -> anyhow::Result<()> {
    let pass = Caller::new(ShopId::new(1).context("a shop")?, Role::Editor).may_write()?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    for from in (0..products.len()).step_by(BULK) {
        let drafts = (from..products.len().min(from + BULK)).map(|n| draft(&products.single(n)));
        runtime.block_on(engine.create(pass, drafts.collect::<Result<_, _>>()?, None))?;
    }
    Ok(())
}

fn draft(body: &[u8]) -> anyhow::Result<Draft> {
    let body: Value = serde_json::from_slice(body)?;
    let text = |name: &str| body[name].as_str().unwrap_or_default();
    Ok(Draft {
        description: Description::parse(text("description"))?,
        ..Draft::new(Title::parse(text("title"))?, Price::parse(text("price"))?)
    })
}

fn settings(model: Arc<dyn Embedder>) -> Settings {
    Settings {
        writer: WriterSettings {
            queue: 100,
            group_products: 4096,
            response_retention: SignedDuration::from_hours(1),
            quotas: Quotas::default(),
        },
        reader_threads: 4,
        reader_queue: 100,
        index_memory: usize::MAX,
        cache_memory: 0,
        embedder: Some(model),
        background: false,
        index_files_from: None,
        kept_changes: None,
        query_budget: 0,
        clock: Arc::new(Timestamp::now),
        random: Arc::new(|bytes| bytes.fill(7)),
    }
}
