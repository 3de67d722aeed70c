//! How does the service run? It opens the folder, listens, warms up, and on SIGTERM finishes
//! what is in flight.

mod admin;
mod connections;
mod listen;
mod model;
mod open_files;
mod patience;
mod stop;

use std::{io::Write, net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context;
use engine::{
    Engine, Settings, WarmUp,
    embed::Embedder,
    store::{Postgres, PostgresSettings},
    writer::WriterSettings,
};
use jiff::{SignedDuration, Timestamp};
use metrics_exporter_prometheus::PrometheusHandle;
use ring::rand::{SecureRandom, SystemRandom};
use tokio::net::TcpListener;

use admin::AdminListener;
pub(crate) use model::embedder;
use stop::StopSignals;

use crate::{
    config::Config,
    demo::{self, DemoShop, PublicUrl},
    http, metrics,
    readiness::ReadinessFlag,
};

/// The pause before shops that could not be loaded are tried again; it doubles each time.
const FIRST_WARM_UP_PAUSE: Duration = Duration::from_millis(200);
/// The longest such pause.
const LONGEST_WARM_UP_PAUSE: Duration = Duration::from_secs(30);

/// How the service runs with a demo shop.
#[derive(Clone, Debug)]
pub struct Demo {
    /// The address under which browsers reach it, where that is not the one it listens on.
    pub public_url: Option<PublicUrl>,
}

/// Runs the service until it is told to stop, with a demo shop if asked for one.
pub fn serve(config: &Config, demo: Option<Demo>) -> anyhow::Result<()> {
    open_files::make_room(config.limits.connections);
    let metrics = metrics::install().context("figures cannot be kept")?;
    let embedder = embedder(&config.model)?;
    let engine = open(config, embedder)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("the runtime cannot be started")?;
    let engine = Arc::new(engine);
    let served = runtime.block_on(run(Arc::clone(&engine), config, demo, metrics));
    // Detached work first, then the engine: its writer stores what was queued.
    runtime.shutdown_timeout(Duration::from_secs(1));
    drop(engine);
    tracing::info!("the server has stopped");
    served
}

/// The engine on the database or the data folder, for a server: old tables are brought up to date.
fn open(config: &Config, embedder: Option<Arc<dyn Embedder>>) -> anyhow::Result<Engine> {
    let settings = engine_settings(config, embedder);
    let Some(database) = &config.database else {
        return Ok(Engine::open(&config.data, settings)?);
    };
    if database.migrate {
        migrate(&database.settings)?;
    }
    Ok(Engine::open_database(&database.settings, settings)?)
}

/// The engine without a model, for a command beside nodes that may be running on the database:
/// only an empty one gets tables. A data folder is taken as a server takes it.
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

/// Brings a database's tables up to date; says from which version to which.
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
    let router = http::router(Arc::clone(&app), config);
    let signals = StopSignals::new().context("signals cannot be awaited")?;
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
    let served = listen::serve(listener, router, &config.limits, stop);
    match admin {
        Some(admin) => admin.serve_during(app, served).await,
        None => served.await,
    }
    Ok(())
}

/// Opens the demo shop, where there is one, and says what to tell people about it.
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

/// Loads shops in the background; a search that comes before loads its own shop. The server is
/// ready once every shop was tried; those that cannot be loaded are tried again and again.
fn warm_up(engine: Arc<Engine>, readiness: Arc<ReadinessFlag>) {
    tokio::spawn(async move {
        let (mut state, mut pause) = (WarmUp::default(), FIRST_WARM_UP_PAUSE);
        while !state.is_done() {
            let engine = Arc::clone(&engine);
            let warmed = tokio::task::spawn_blocking(move || engine.warm_up(state)).await;
            // A load that panicked was reported by the panic hook; the shops are listed again.
            state = warmed.unwrap_or_default();
            if state.has_tried_all() {
                readiness.finish_warming_up();
            }
            if !state.is_done() {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_WARM_UP_PAUSE);
            }
        }
    });
}

/// The address, for people and scripts that wait for it on standard output.
fn announce(text: &str) {
    // Nobody may be reading; that is no reason not to serve.
    let _ = write!(std::io::stdout(), "{text}");
}

/// What an engine is told by the configuration.
pub(crate) fn engine_settings(config: &Config, embedder: Option<Arc<dyn Embedder>>) -> Settings {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    Settings {
        writer: WriterSettings {
            queue: config.limits.write_queue,
            group_products: config.store.group_max_products,
            response_retention: SignedDuration::try_from(config.store.idempotency_time)
                .unwrap_or(SignedDuration::MAX),
        },
        // Who waits for a database does not keep a processor busy, nor others from what is in memory.
        reader_threads: threads
            + config.database.as_ref().map_or(0, |database| database.settings.connections),
        reader_queue: config.limits.search_queue,
        index_memory: config.index.memory_bytes,
        cache_memory: config.index.answer_bytes,
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
        // The system's generator cannot fail once the system is up; a predictable secret would
        // be worse than none.
        SystemRandom::new().fill(bytes).unwrap_or_else(|_| panic!("no random numbers to be had"));
    })
}

fn random_number() -> u64 {
    let mut bytes = [0; 8];
    random_source()(&mut bytes);
    u64::from_ne_bytes(bytes)
}
