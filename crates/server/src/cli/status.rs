//! `shopkeeper status`: how is a data folder doing? Read beside a running server or without one;
//! nothing is written.

use std::io::{self, Write};

use anyhow::{Context, bail};
use clap::Args;
use engine::{
    embed::Encoder,
    store::{CatalogReads, FolderState, SqliteReaders, SqliteStore},
};
use serde_json::{Value, json};

use super::target;
use crate::{
    config::{Config, Flags},
    serving,
};

#[derive(Args)]
pub(super) struct StatusCommand {
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    flags: Flags,
}

impl StatusCommand {
    pub(super) fn flags(&self) -> &Flags {
        &self.flags
    }

    pub(super) fn run(&self, config: &Config) -> anyhow::Result<()> {
        let in_folder = || target::name_of_store(config);
        if config.database.is_some() {
            bail!("status looks into a data folder; {} is not one", in_folder());
        }
        if !SqliteStore::is_in(&config.data) {
            bail!("there is no catalog in {}", in_folder());
        }
        let readers = SqliteReaders::new(config.data.clone());
        let state = readers.state().with_context(in_folder)?;
        let waiting = waiting(config, &readers, &state).with_context(in_folder)?;
        let mut out = io::stdout().lock();
        match self.json {
            true => writeln!(out, "{:#}", in_json(config, &state, waiting))?,
            false => in_words(&mut out, config, &state, waiting)?,
        }
        Ok(())
    }
}

/// Products without the best vector of the configured model; `None` without a model, or where the
/// tables know of no vectors yet.
fn waiting(
    config: &Config,
    readers: &SqliteReaders,
    state: &FolderState,
) -> anyhow::Result<Option<usize>> {
    let Some(embedder) = serving::embedder(&config.model)? else { return Ok(None) };
    if state.schema < state.known_schema {
        return Ok(None);
    }
    Ok(Some(readers.unembedded_count(embedder.model().as_str(), Encoder::Deep)?))
}

fn in_json(config: &Config, state: &FolderState, waiting: Option<usize>) -> Value {
    let shops = state.shops.iter().map(|shop| {
        let hidden = shop.products - shop.visible;
        json!({"shop_id": shop.shop.get(), "visible": shop.visible, "hidden": hidden})
    });
    let vectors = state.vectors.iter().map(
        |made| json!({"model": made.model, "encoder": made.encoder, "products": made.products}),
    );
    json!({
        "data": config.data.display().to_string(),
        "schema": state.schema,
        "bytes": state.bytes,
        "shops": shops.collect::<Vec<_>>(),
        "vectors": vectors.collect::<Vec<_>>(),
        "waiting": waiting,
    })
}

fn in_words(
    out: &mut impl Write,
    config: &Config,
    state: &FolderState,
    waiting: Option<usize>,
) -> io::Result<()> {
    let (schema, known) = (state.schema, state.known_schema);
    writeln!(out, "data folder  {}", config.data.display())?;
    match schema < known {
        true => writeln!(out, "schema       version {schema}; a server makes it {known}")?,
        false => writeln!(out, "schema       version {schema}")?,
    }
    writeln!(out, "size         {} bytes", state.bytes)?;
    writeln!(out, "\n{:>8}  {:>10}  {:>10}", "SHOP", "VISIBLE", "HIDDEN")?;
    for shop in &state.shops {
        let hidden = shop.products - shop.visible;
        writeln!(out, "{:>8}  {:>10}  {hidden:>10}", shop.shop, shop.visible)?;
    }
    writeln!(out, "\n{:>8}  {:>10}  MODEL", "ENCODER", "VECTORS")?;
    for made in &state.vectors {
        writeln!(out, "{:>8}  {:>10}  {}", made.encoder, made.products, made.model)?;
    }
    match waiting {
        Some(waiting) => writeln!(out, "{:>8}  {waiting:>10}", "waiting"),
        None => Ok(()),
    }
}
