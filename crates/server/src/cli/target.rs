//! Which catalog does a command work on? A shop in a data folder, or the shop of a token on a
//! running server. Tokens come from the environment or a file: arguments can be seen by others.

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
use engine::store::{CatalogReads, Postgres, SqliteReaders, SqliteStore};

use super::remote::Remote;
use crate::config::{Config, Flags};

/// Where the products are.
#[derive(Args, Debug)]
pub(super) struct Target {
    /// The shop in the data folder; with --server the token says which
    #[arg(long, value_name = "NUMBER")]
    pub(super) shop: Option<ShopId>,
    /// A running server, such as http://127.0.0.1:7700, instead of a data folder
    #[arg(long, value_name = "URL", conflicts_with = "shop")]
    pub(super) server: Option<String>,
    /// The environment variable that holds the token for --server
    #[arg(long, value_name = "NAME", default_value = "TOKEN")]
    pub(super) token_env: String,
    /// A file that holds the token for --server, or - for standard input
    #[arg(long, value_name = "FILE")]
    pub(super) token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) flags: Flags,
}

/// The environment as it was handed in.
pub(super) type Environment = [(OsString, OsString)];

impl Target {
    /// The server, where one is meant.
    pub(super) fn remote(&self, environment: &Environment) -> anyhow::Result<Option<Remote>> {
        let Some(server) = &self.server else { return Ok(None) };
        Ok(Some(Remote::new(server, &self.token(environment)?)?))
    }

    /// The shop, where a folder is meant.
    pub(super) fn shop(&self) -> anyhow::Result<ShopId> {
        self.shop.context("say which shop with --shop NUMBER, or which server with --server URL")
    }

    /// Whether standard input is where the token is.
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
                        "there is no token: put one into the environment variable {}, or name \
                         another with --token-env, or a file with --token-file",
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

/// What to call the store that the configuration names.
pub(super) fn name_of_store(config: &Config) -> String {
    match &config.database {
        Some(database) => format!("the database {}", database.settings.address),
        None => format!("the data folder {}", config.data.display()),
    }
}

/// The store that the configuration names, for reading, whether or not a server runs on it.
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
    // Brings old tables up to date where no server uses them.
    drop(SqliteStore::open_beside(&config.data).with_context(in_store)?);
    Ok(Arc::new(SqliteReaders::new(config.data.clone())))
}
