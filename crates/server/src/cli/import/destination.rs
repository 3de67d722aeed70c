//! The destination of an import: a shop in a data folder or database, the shop of a token on a
//! server, or none for a dry run.

use std::{fs, path::PathBuf};

use super::{folder::FolderSink, server::ServerSink, sink::Sink};
use crate::{
    cli::target::{Environment, Target},
    config::{Config, Flags},
};

/// The destination of an import.
pub(super) struct Destination {
    /// The sink; `None` in a dry run.
    pub(super) sink: Option<Box<dyn Sink>>,
    /// Its name in the state file.
    pub(super) name: String,
    /// The data folder and the shop; `None` if there is no data folder.
    pub(super) folder: Option<(PathBuf, u64)>,
}

impl Destination {
    pub(super) fn open(
        target: &Target,
        dry_run: bool,
        load: impl FnOnce(&Flags) -> anyhow::Result<Config>,
        environment: &Environment,
    ) -> anyhow::Result<Self> {
        if dry_run {
            let folder = match (&target.server, target.shop) {
                (None, Some(shop)) => {
                    let config = load(&target.flags)?;
                    config.database.is_none().then(|| (config.data, shop.get()))
                }
                _ => None,
            };
            return Ok(Self { sink: None, name: "nowhere".to_owned(), folder });
        }
        if let Some(remote) = target.remote(environment)? {
            let name = target.server.clone().unwrap_or_default();
            return Ok(Self { sink: Some(Box::new(ServerSink::new(remote))), name, folder: None });
        }
        let shop = target.shop()?;
        let config = load(&target.flags)?;
        let sink = FolderSink::open(&config, shop)?;
        if let Some(database) = &config.database {
            let name = format!("{} shop {shop}", database.settings.address);
            return Ok(Self { sink: Some(Box::new(sink)), name, folder: None });
        }
        let data = fs::canonicalize(&config.data).unwrap_or(config.data);
        let name = format!("{} shop {shop}", data.display());
        Ok(Self { sink: Some(Box::new(sink)), name, folder: Some((data, shop.get())) })
    }
}
