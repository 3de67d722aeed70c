//! The destination of an import: a shop in a data folder or database, the shop of a token on a
//! server, or none for a dry run.

use std::{fs, ops::ControlFlow, sync::Arc};

use anyhow::Context;
use catalog::product::{
    ShopId,
    access::{Caller, Role},
};
use store::SqliteStore;

use super::{folder::FolderSink, server::ServerSink, sink::Sink};
use crate::{
    cli::{
        export::{Exported, pages},
        remote::Remote,
        target::{self, Environment, Target},
    },
    config::{Config, Flags},
};

/// The destination of an import.
pub(super) struct Destination {
    /// The sink; `None` in a dry run.
    pub(super) sink: Option<Box<dyn Sink>>,
    /// Its name in the state file.
    pub(super) name: String,
    /// The products that are there; `None` in a dry run that compares nothing.
    pub(super) catalog: Option<Catalog>,
}

impl Destination {
    pub(super) fn open(
        target: &Target,
        dry_run: bool,
        compares: bool,
        load: impl FnOnce(&Flags) -> anyhow::Result<Config>,
        environment: &Environment,
    ) -> anyhow::Result<Self> {
        if dry_run && !compares {
            return Ok(Self { sink: None, name: "nowhere".to_owned(), catalog: None });
        }
        if let Some(remote) = target.remote(environment)? {
            let name = target.server.clone().unwrap_or_default();
            let remote = Arc::new(remote);
            let sink: Box<dyn Sink> = Box::new(ServerSink::new(Arc::clone(&remote)));
            let catalog = Some(Catalog::OfServer(remote));
            return Ok(Self { sink: Some(sink).filter(|_| !dry_run), name, catalog });
        }
        let shop = target.shop()?;
        let mut config = load(&target.flags)?;
        let sink: Option<Box<dyn Sink>> = match dry_run {
            true => None,
            false => Some(Box::new(FolderSink::open(&config, shop)?)),
        };
        let name = match &config.database {
            Some(database) => format!("{} shop {shop}", database.settings.address),
            None => {
                config.data = fs::canonicalize(&config.data).unwrap_or(config.data);
                format!("{} shop {shop}", config.data.display())
            }
        };
        let catalog = Some(Catalog::OfStore(Box::new(config), shop));
        Ok(Self { sink, name, catalog })
    }
}

/// The products of a destination.
pub(super) enum Catalog {
    OfServer(Arc<Remote>),
    OfStore(Box<Config>, ShopId),
}

impl Catalog {
    /// Hands every product to `visit`, hidden ones included.
    pub(super) fn read(&self, mut visit: impl FnMut(&Exported)) -> anyhow::Result<()> {
        match self {
            Self::OfServer(remote) => {
                pages::check_visibility(remote)?;
                pages::read(remote, |product, _| {
                    visit(product);
                    Ok(())
                })
            }
            Self::OfStore(config, shop) => {
                if config.database.is_none() && !SqliteStore::is_in(&config.data) {
                    return Ok(());
                }
                let pass = Caller::new(*shop, Role::Viewer).may_read();
                target::readers(config)?
                    .for_each_product(&pass, &mut |product| {
                        visit(&Exported::from(&product));
                        ControlFlow::Continue(())
                    })
                    .with_context(|| target::name_of_store(config))
            }
        }
    }
}
