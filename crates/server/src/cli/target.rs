//! The target of a command: a shop in a data folder or database, or the shop of a token on a running
//! server. Tokens are read from the environment or a file, because other users of the machine can see
//! arguments.

use std::{
    ffi::OsString,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, bail};
use catalog::product::ShopId;
use clap::Args;
use store::{CatalogReads, Postgres, SqliteReaders, SqliteStore};

use super::remote::Remote;
use crate::config::{Config, Flags};

/// The target options.
#[derive(Args, Debug)]
pub(super) struct Target {
    /// Shop id; with --server, the token determines the shop
    #[arg(long, value_name = "NUMBER")]
    pub(super) shop: Option<ShopId>,
    /// URL of a running server, such as http://127.0.0.1:7700, instead of a data folder
    #[arg(long, value_name = "URL", conflicts_with = "shop")]
    pub(super) server: Option<String>,
    /// Environment variable with the token for --server
    #[arg(long, value_name = "NAME", default_value = "TOKEN")]
    pub(super) token_env: String,
    /// File with the token for --server, or - for standard input
    #[arg(long, value_name = "FILE")]
    pub(super) token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) flags: Flags,
}

/// The environment variables of the process.
pub(super) type Environment = [(OsString, OsString)];

impl Target {
    /// The server; `None` if the target is a store.
    pub(super) fn remote(&self, environment: &Environment) -> anyhow::Result<Option<Remote>> {
        let Some(server) = &self.server else { return Ok(None) };
        Ok(Some(Remote::new(server, &self.token(environment)?)?))
    }

    /// The shop, for a target that is a store.
    pub(super) fn shop(&self) -> anyhow::Result<ShopId> {
        self.shop.context("--shop NUMBER or --server URL is required")
    }

    /// Whether the token is read from standard input.
    pub(super) fn reads_standard_input(&self) -> bool {
        self.server.is_some() && self.token_file.as_deref() == Some(Path::new("-"))
    }

    fn token(&self, environment: &Environment) -> anyhow::Result<String> {
        let token = match &self.token_file {
            Some(path) if path == Path::new("-") => {
                let mut text = String::new();
                io::stdin().read_to_string(&mut text).context("--token-file -")?;
                text
            }
            Some(path) => fs::read_to_string(path)
                .with_context(|| format!("--token-file {}", path.display()))?,
            None => {
                let found = environment.iter().find(|(name, _)| *name == *self.token_env);
                let Some((_, token)) = found else {
                    bail!(
                        "no token: set the environment variable {}, or name another with --token-env, \
                         or a file with --token-file",
                        self.token_env
                    );
                };
                token.to_str().context("the token is not UTF-8")?.to_owned()
            }
        };
        let token = token.trim();
        if token.is_empty() {
            bail!("the token is empty");
        }
        Ok(token.to_owned())
    }
}

/// The configured store, for messages.
pub(super) fn name_of_store(config: &Config) -> String {
    match &config.database {
        Some(database) => format!("the database {}", database.settings.address),
        None => format!("the data folder {}", config.data.display()),
    }
}

/// Opens the configured store for reading; a server may be running on it.
pub(super) fn readers(config: &Config) -> anyhow::Result<Arc<dyn CatalogReads>> {
    let in_store = || name_of_store(config);
    if let Some(database) = &config.database {
        let postgres = Postgres::new(&database.settings).with_context(in_store)?;
        postgres.check_schema().with_context(in_store)?;
        return Ok(Arc::new(postgres.readers()));
    }
    if !SqliteStore::is_in(&config.data) {
        bail!("there is no catalog in {}", in_store());
    }
    // Migrates an old schema if no server is using it.
    drop(SqliteStore::open_beside(&config.data).with_context(in_store)?);
    Ok(Arc::new(SqliteReaders::new(config.data.clone())))
}
