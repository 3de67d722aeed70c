//! The command line: one subcommand per task, with exit codes for scripts.

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
use engine::store_migration::{self, Migrated};
use relevance::{EngineUnderTest, EvalOptions};
use store::{DatabaseAddress, ErrorChain, PostgresSettings};

use crate::{
    config::{Config, Flags},
    demo::PublicUrl,
    http,
    serving::{self, Demo},
    telemetry,
};

/// Product catalog and semantic search service for online shops.
///
/// Stores the products of many shops and answers free-text queries over HTTP with hybrid lexical and
/// vector (semantic) ranking. Queries may contain price conditions, exclusions, a sort order and
/// spelling mistakes. Data is stored in a local folder (SQLite) or in PostgreSQL; the embedding model
/// is part of the binary. Includes a web UI, an OpenAPI document and an MCP endpoint for agents.
#[derive(Parser)]
#[command(name = "shopkeeper", version, about, long_about)]
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
    /// Run the service with a demo shop; prints its address and tokens
    Demo {
        /// URL under which browsers reach the service, for the product pictures [default: the address it listens on]
        #[arg(long, value_name = "URL")]
        public_url: Option<PublicUrl>,
        #[command(flatten)]
        flags: Flags,
    },
    /// Create, list and revoke access tokens; works while a server is running
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Search a shop; shows how the query was parsed and how each product was scored
    Search(Box<search::SearchCommand>),
    /// Show the shops, products, vectors and size of a data folder or database; works while a server is running
    Status(status::StatusCommand),
    /// Evaluate search relevance on judged queries: NDCG@10, precision, recall and the worst queries
    Eval {
        #[command(flatten)]
        options: EvalOptions,
        #[command(flatten)]
        flags: Flags,
    },
    /// Import products from a file into a data folder or a running server
    Import(Box<import::ImportCommand>),
    /// Export all products of a shop to a file; works while a server is running
    Export(Box<export::ExportCommand>),
    /// Copy a data folder into an empty database, with ids, timestamps, vectors, tokens and idempotency keys
    MigrateStore {
        /// Data folder to copy; no server may be running on it
        #[arg(long, value_name = "FOLDER")]
        from: PathBuf,
        /// Database to copy to [default: database.url, which other users of the machine cannot see]
        #[arg(long, value_name = "URL")]
        to: Option<DatabaseAddress>,
        #[command(flatten)]
        flags: Flags,
    },
    /// Migrate the schema of the database; nodes may keep running
    Migrate {
        #[command(flatten)]
        flags: Flags,
    },
    /// Print the OpenAPI document that the server serves at /openapi.json
    Openapi,
    /// Print the configuration in force with the origin of each value
    Config {
        #[command(flatten)]
        flags: Flags,
    },
}

/// Runs the command line and returns its exit code.
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
    let success = |()| ExitCode::SUCCESS;
    let result = match arguments.command {
        Command::Serve { flags } => {
            load(&flags).and_then(|config| serve(&config, None)).map(success)
        }
        Command::Demo { public_url, flags } => {
            load(&flags).and_then(|config| serve(&config, Some(Demo { public_url }))).map(success)
        }
        Command::Token(command) => {
            load(command.flags()).and_then(|config| command.run(&config)).map(success)
        }
        Command::Search(command) => command.run(load, &environment),
        Command::Status(command) => {
            load(command.flags()).and_then(|config| command.run(&config)).map(success)
        }
        Command::Eval { options, flags } => {
            load(&flags).and_then(|config| options.run(engine_under_test(&config)?)).map(success)
        }
        Command::Import(command) => command.run(load, &environment),
        Command::Export(command) => command.run(load, &environment),
        Command::MigrateStore { from, to, flags } => {
            load(&flags).and_then(|config| migrate_store(&from, to, &config)).map(success)
        }
        Command::Migrate { flags } => load(&flags).and_then(|config| migrate(&config)).map(success),
        Command::Openapi => openapi().map(success),
        Command::Config { flags } => load(&flags).and_then(|config| {
            write!(io::stdout().lock(), "{}", config.report)?;
            Ok(ExitCode::SUCCESS)
        }),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            // If standard error is closed, the exit code still reports the failure.
            let _ = writeln!(io::stderr(), "shopkeeper: {}", ErrorChain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

/// The engine that `eval` measures: the configured one, on a store of their own.
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
            // Large shops are prepared for search later, by a node.
            search_above: usize::MAX,
        },
        None => configured.context("--to is missing")?,
    };
    let started = Instant::now();
    let migrated = store_migration::migrate_store(from, &database, &mut |shop, products| {
        // A closed standard error does not stop the copy.
        let plural = if products == 1 { "" } else { "s" };
        let _ = writeln!(io::stderr(), "shop {shop} copied ({products} product{plural} in total)");
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
        false => writeln!(io::stdout(), "{address} was migrated from version {from} to {to}")?,
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
