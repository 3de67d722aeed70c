//! What can the binary do? One subcommand each, with exit codes that scripts can rely on.

mod export;
mod import;
mod remote;
mod search;
mod status;
mod target;
mod token;

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::Context;
use clap::{Parser, Subcommand};
use engine::{
    store::{DatabaseAddress, ErrorChain, PostgresSettings},
    store_migration::{self, Migrated},
};
use relevance::{EngineUnderTest, EvalOptions, TuneOptions};

use crate::{
    config::{Config, Flags},
    demo::PublicUrl,
    http,
    serving::{self, Demo},
    telemetry,
};

/// A product catalog and search service in one binary.
#[derive(Parser)]
#[command(name = "shopkeeper", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the service
    Serve {
        #[command(flatten)]
        flags: Flags,
    },
    /// Run the service with a demo shop to try: loads it once, prints its address and tokens
    Demo {
        /// Address under which browsers reach it, for the products' pictures; the one it listens on if left out
        #[arg(long, value_name = "URL")]
        public_url: Option<PublicUrl>,
        #[command(flatten)]
        flags: Flags,
    },
    /// Issue, list and revoke access tokens, whether or not a server runs
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Search a shop and show what was understood and why each product was found
    Search(Box<search::SearchCommand>),
    /// Tell what is in a data folder or database, whether or not a server runs: shops, products, vectors, size
    Status(status::StatusCommand),
    /// Measure search against judged queries: NDCG@10, precision, recall, and the worst queries
    Eval {
        #[command(flatten)]
        options: EvalOptions,
        #[command(flatten)]
        flags: Flags,
    },
    /// Find the numbers of the ranking that answer judged queries best
    Tune {
        #[command(flatten)]
        options: TuneOptions,
        #[command(flatten)]
        flags: Flags,
    },
    /// Import products from a file into a data folder or a running server
    Import(Box<import::ImportCommand>),
    /// Export all products of a shop to a file, whether or not a server runs
    Export(Box<export::ExportCommand>),
    /// Move a data folder's catalog into an empty database: numbers, times, vectors, tokens and all
    MigrateStore {
        /// The data folder; no server may run on it
        #[arg(long, value_name = "FOLDER")]
        from: PathBuf,
        /// The database; database.url if left out, which others on the machine do not see
        #[arg(long, value_name = "URL")]
        to: Option<DatabaseAddress>,
        #[command(flatten)]
        flags: Flags,
    },
    /// Bring the tables of the database up to date; nodes need not stop
    Migrate {
        #[command(flatten)]
        flags: Flags,
    },
    /// Print the OpenAPI document that the server hands out at /openapi.json
    Openapi,
    /// Print the configuration in force and where each value came from
    Config {
        #[command(flatten)]
        flags: Flags,
    },
}

/// Runs the command line and says how it went.
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    let environment: Vec<_> = environment.into_iter().collect();
    let load = |flags: &Flags| -> anyhow::Result<Config> {
        Ok(Config::load(flags, environment.clone(), |path| fs::read_to_string(path))?)
    };
    let well = |()| ExitCode::SUCCESS;
    let done = match arguments.command {
        Command::Serve { flags } => load(&flags).and_then(|config| serve(&config, None)).map(well),
        Command::Demo { public_url, flags } => {
            load(&flags).and_then(|config| serve(&config, Some(Demo { public_url }))).map(well)
        }
        Command::Token(command) => {
            load(command.flags()).and_then(|config| command.run(&config)).map(well)
        }
        Command::Search(command) => command.run(load, &environment),
        Command::Status(command) => {
            load(command.flags()).and_then(|config| command.run(&config)).map(well)
        }
        Command::Eval { options, flags } => {
            load(&flags).and_then(|config| options.run(engine_under_test(&config)?)).map(well)
        }
        Command::Tune { options, flags } => {
            load(&flags).and_then(|config| options.run(|| engine_under_test(&config))).map(well)
        }
        Command::Import(command) => command.run(load, &environment),
        Command::Export(command) => command.run(load, &environment),
        Command::MigrateStore { from, to, flags } => {
            load(&flags).and_then(|config| migrate_store(&from, to, &config)).map(well)
        }
        Command::Migrate { flags } => load(&flags).and_then(|config| migrate(&config)).map(well),
        Command::Openapi => openapi().map(well),
        Command::Config { flags } => load(&flags).and_then(|config| {
            write!(io::stdout().lock(), "{}", config.report)?;
            Ok(ExitCode::SUCCESS)
        }),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            // Standard error may be closed; the exit code still says it.
            let _ = writeln!(io::stderr(), "shopkeeper: {}", ErrorChain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

/// The engine that `eval` and `tune` measure: the configured one, on a store of their own.
fn engine_under_test(config: &Config) -> anyhow::Result<EngineUnderTest> {
    let embedder = serving::embedder(&config.model)?;
    Ok(EngineUnderTest {
        settings: serving::engine_settings(config, embedder),
        database: config.database.as_ref().map(|database| database.settings.clone()),
    })
}

fn migrate_store(from: &Path, to: Option<DatabaseAddress>, config: &Config) -> anyhow::Result<()> {
    let configured = config.database.as_ref().map(|database| database.settings.clone());
    let database = match to {
        Some(address) => PostgresSettings {
            address,
            connections: 2,
            connect_time: Duration::from_secs(10),
            statement_time: Duration::from_secs(600),
            lock_time: Duration::from_secs(60),
            scratch: std::env::temp_dir(),
            // Nobody searches meanwhile; a node gets large shops ready later.
            search_above: usize::MAX,
        },
        None => configured.context("--to is missing")?,
    };
    let started = Instant::now();
    let migrated = store_migration::migrate_store(from, &database, &mut |shop, products| {
        // Nobody may be looking.
        let _ = writeln!(io::stderr(), "shop {shop} has arrived, {products} products by now");
    });
    let migrated =
        migrated.with_context(|| format!("from {} to {}", from.display(), database.address))?;
    let Migrated { shops, products, vectors, tokens, keys } = migrated;
    let seconds = started.elapsed().as_secs_f64();
    writeln!(
        io::stdout(),
        "{products} products of {shops} shops, {vectors} vectors, {tokens} tokens and {keys} \
         idempotency keys moved in {seconds:.1} s; counts and checksums agree"
    )?;
    Ok(())
}

fn migrate(config: &Config) -> anyhow::Result<()> {
    let database = config.database.as_ref().context("--database-url is missing")?;
    let (from, to) = serving::migrate(&database.settings)?;
    let address = &database.settings.address;
    match from == to {
        true => writeln!(io::stdout(), "{address} is up to date")?,
        false => writeln!(io::stdout(), "{address} was brought from version {from} to {to}")?,
    }
    Ok(())
}

fn openapi() -> anyhow::Result<()> {
    writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&http::document())?)?;
    Ok(())
}

fn serve(config: &Config, demo: Option<Demo>) -> anyhow::Result<()> {
    let _telemetry = telemetry::init(&config.log, &config.telemetry)?;
    serving::serve(config, demo)
}
