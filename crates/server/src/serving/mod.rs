//! Runs the service: opens the store, listens, loads the indexes, and on SIGTERM completes the
//! requests in flight.

mod admin;
mod embedder;
mod listen;
mod open_files;
mod shutdown;
mod stall_timeout;

use std::{io::Write, net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context;
use embed::Embedder;
use engine::{Engine, Settings, WarmUp, writer::WriterSettings};
use jiff::{SignedDuration, Timestamp};
use metrics_exporter_prometheus::PrometheusHandle;
use ring::rand::{SecureRandom, SystemRandom};
use store::{Postgres, PostgresSettings, Quotas};
use tokio::net::TcpListener;

use admin::AdminListener;
pub(crate) use embedder::embedder;
use shutdown::ShutdownSignals;

use crate::{
    config::Config,
    demo::{self, DemoShop, PublicUrl},
    http::{self, admission::ConnectionLimits},
    metrics,
    readiness::ReadinessFlag,
};

/// The first pause before shops that failed to load are retried; it doubles each time.
const MIN_WARM_UP_BACKOFF: Duration = Duration::from_millis(200);
/// The longest such pause.
const MAX_WARM_UP_BACKOFF: Duration = Duration::from_secs(30);

/// After this many tasks, a worker of the runtime looks for requests that have arrived and for results
/// of other threads. Under load a task takes some 100 µs and tens of them are ready, so that with the
/// runtime's default of 61 a request waits for those of other shops twice.
const POLL_INTERVAL: u32 = 2;

/// Smaller shops are indexed from their rows in less than a quarter of a second.
const INDEX_FILES_FROM: usize = 10_000;

/// The options of a service with a demo shop.
#[derive(Clone, Debug)]
pub struct Demo {
    /// The URL under which browsers reach it; `None` means the address it listens on.
    pub public_url: Option<PublicUrl>,
}

/// Runs the service until a signal stops it, with a demo shop if `demo` is given.
pub fn serve(config: &Config, demo: Option<Demo>) -> anyhow::Result<()> {
    open_files::raise_limit(config.limits.connections);
    let metrics = metrics::install().context("cannot install the metrics recorder")?;
    let embedder = embedder(&config.model)?;
    let engine = open(config, embedder)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .event_interval(POLL_INTERVAL)
        .global_queue_interval(POLL_INTERVAL)
        .build()
        .context("cannot start the async runtime")?;
    let engine = Arc::new(engine);
    let served = runtime.block_on(run(Arc::clone(&engine), config, demo, metrics));
    // Background tasks end before the engine, whose writer then stores what is queued.
    runtime.shutdown_timeout(Duration::from_secs(1));
    drop(engine);
    tracing::info!("the server has stopped");
    served
}

/// Opens the engine of a server on the database or the data folder, and migrates its schema.
fn open(config: &Config, embedder: Option<Arc<dyn Embedder>>) -> anyhow::Result<Engine> {
    let settings =
        Settings { index_files_from: Some(INDEX_FILES_FROM), ..engine_settings(config, embedder) };
    let Some(database) = &config.database else {
        return Ok(Engine::open(&config.data, settings)?);
    };
    if database.migrate {
        migrate(&database.settings)?;
    }
    Ok(Engine::open_database(&database.settings, settings)?)
}

/// Opens the engine of a command, without a model. Nodes may be running on the database, so that the
/// schema is created only if there is none. A data folder is locked as by a server.
pub(crate) fn open_beside(config: &Config) -> anyhow::Result<Engine> {
    let settings = engine_settings(config, None);
    let Some(database) = &config.database else {
        return Ok(Engine::open(&config.data, settings)?);
    };
    if database.migrate {
        let created = Postgres::new(&database.settings).and_then(|new| new.create_tables());
        created.with_context(|| format!("the database {}", database.settings.address))?;
    }
    Ok(Engine::open_database(&database.settings, settings)?)
}

/// Migrates the schema of a database; returns the versions before and after.
pub(crate) fn migrate(database: &PostgresSettings) -> anyhow::Result<(usize, usize)> {
    let migrated = Postgres::new(database).and_then(|postgres| postgres.migrate());
    migrated.with_context(|| format!("the database {}", database.address))
}

async fn run(
    engine: Arc<Engine>,
    config: &Config,
    demo: Option<Demo>,
    metrics: PrometheusHandle,
) -> anyhow::Result<()> {
    let listener = TcpListener::bind(config.listen)
        .await
        .with_context(|| format!("cannot listen on {}", config.listen))?;
    let address = listener.local_addr()?;
    let admin = AdminListener::bind(config).await?;
    let readiness = Arc::new(ReadinessFlag::default());
    let state = http::AppState::new(
        Arc::clone(&engine),
        config,
        Arc::clone(&readiness),
        metrics,
        random_number(),
    )?;
    let (demo, welcome) = open_demo(&engine, demo, address).await?.unzip();
    let state = state.with_demo(demo);
    let app = Arc::new(state);
    app.watch_keys();
    let routes = listen::Routes {
        all: http::router(Arc::clone(&app), config),
        probes: http::probe_router(Arc::clone(&app)),
    };
    let connections = ConnectionLimits::of_clients(config.limits.connections);
    let signals = ShutdownSignals::new().context("cannot install signal handlers")?;
    let store = match &config.database {
        Some(database) => database.settings.address.to_string(),
        None => config.data.display().to_string(),
    };
    tracing::info!(%address, store, "the server is listening");
    let admin_address = admin.as_ref().map(AdminListener::announcement).unwrap_or_default();
    let welcome = welcome.unwrap_or_default();
    announce(&format!("Shopkeeper listens on http://{address}\n{admin_address}{welcome}"));
    tokio::spawn(metrics::run_upkeep(app.metrics.clone()));
    warm_up(engine, Arc::clone(&readiness));
    let stop = signals.drained(&readiness, config.limits.drain_time);
    let served = listen::serve(listener, routes, &config.limits, connections, stop);
    match admin {
        Some(admin) => admin.serve_during(app, served).await,
        None => served.await,
    }
    Ok(())
}

/// Opens the demo shop, if there is one; returns it with the text to print.
async fn open_demo(
    engine: &Engine,
    demo: Option<Demo>,
    address: SocketAddr,
) -> anyhow::Result<Option<(DemoShop, String)>> {
    let Some(Demo { public_url }) = demo else { return Ok(None) };
    let public_url = public_url.unwrap_or_else(|| PublicUrl::of_listener(address));
    let opened = demo::open(engine, &public_url).await?;
    let welcome = demo::welcome(&opened, &public_url);
    Ok(Some((opened.shop, welcome)))
}

/// Loads shops in the background; an earlier search loads its own shop. The server is ready once
/// every shop was tried; those that fail are retried with backoff.
fn warm_up(engine: Arc<Engine>, readiness: Arc<ReadinessFlag>) {
    tokio::spawn(async move {
        let (mut state, mut backoff) = (WarmUp::default(), MIN_WARM_UP_BACKOFF);
        while !state.is_done() {
            let engine = Arc::clone(&engine);
            let warmed = tokio::task::spawn_blocking(move || engine.warm_up(state)).await;
            // The panic hook has reported a panic; warm-up starts over.
            state = warmed.unwrap_or_default();
            if state.has_tried_all() {
                readiness.finish_warming_up();
            }
            if !state.is_done() {
                tokio::time::sleep(backoff).await;
                backoff = (backoff * 2).min(MAX_WARM_UP_BACKOFF);
            }
        }
    });
}

/// Prints the address for people and scripts that wait for it.
fn announce(text: &str) {
    // A closed standard output does not stop the service.
    let _ = write!(std::io::stdout(), "{text}");
}

/// The engine settings of this configuration.
pub(crate) fn engine_settings(config: &Config, embedder: Option<Arc<dyn Embedder>>) -> Settings {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    Settings {
        writer: WriterSettings {
            queue: config.limits.write_queue,
            group_products: config.store.group_max_products,
            response_retention: SignedDuration::try_from(config.store.idempotency_time)
                .unwrap_or(SignedDuration::MAX),
            quotas: Quotas {
                products: Some(config.quota.products).filter(|products| *products > 0),
                bytes: Some(config.quota.bytes as u64).filter(|bytes| *bytes > 0),
            },
        },
        kept_changes: Some(config.store.kept_changes).filter(|changes| *changes > 0),
        // Threads that wait for the database do not use a core.
        reader_threads: threads
            + config.database.as_ref().map_or(0, |database| database.settings.connections),
        reader_queue: config.limits.search_queue,
        index_memory: config.index.memory_bytes,
        index_files_from: None,
        cache_memory: config.index.query_cache_bytes,
        embedder,
        background: config.embed_in_background,
        query_budget: config.query_budget,
        clock: Arc::new(Timestamp::now),
        random: random_source(),
    }
}

/// The operating system's random numbers.
pub(crate) fn random_source() -> engine::system::RandomSource {
    Arc::new(|bytes| {
        // The system's generator does not fail once the system is up, and a predictable secret
        // would be worse than a crash.
        SystemRandom::new()
            .fill(bytes)
            .unwrap_or_else(|_| panic!("the system has no random numbers"));
    })
}

fn random_number() -> u64 {
    let mut bytes = [0; 8];
    random_source()(&mut bytes);
    u64::from_ne_bytes(bytes)
}
