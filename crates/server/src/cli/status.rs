//! `shopkeeper status`: describes a store. Reads only; a server may be running on it.

use std::{
    io::{self, Write},
    sync::Arc,
};

use anyhow::{Context, bail};
use clap::Args;
use embed::Encoder;
use serde_json::{Value, json};
use store::{EmbeddingQueue, Postgres, SqliteReaders, SqliteStore, StoreState};

use super::target;
use crate::{
    config::{Config, Flags},
    serving,
};

#[derive(Args)]
pub(super) struct StatusCommand {
    /// Print JSON
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
        let in_store = || target::name_of_store(config);
        let (state, readers): (_, Arc<dyn EmbeddingQueue>) = match &config.database {
            Some(database) => {
                let postgres = Postgres::new(&database.settings).with_context(in_store)?;
                (postgres.state().with_context(in_store)?, Arc::new(postgres.readers()))
            }
            None => {
                if !SqliteStore::is_in(&config.data) {
                    bail!("there is no catalog in {}", in_store());
                }
                let readers = SqliteReaders::new(config.data.clone());
                (readers.state().with_context(in_store)?, Arc::new(readers))
            }
        };
        let waiting = waiting(config, &*readers, &state).with_context(in_store)?;
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
    readers: &dyn EmbeddingQueue,
    state: &StoreState,
) -> anyhow::Result<Option<usize>> {
    let Some(embedder) = serving::embedder(&config.model)? else { return Ok(None) };
    if state.schema < state.known_schema {
        return Ok(None);
    }
    Ok(Some(readers.unembedded_count(embedder.model().as_str(), Encoder::Deep)?))
}

/// What kind of store it is, and where.
fn place(config: &Config) -> (&'static str, String) {
    match &config.database {
        Some(database) => ("database", database.settings.address.to_string()),
        None => ("data", config.data.display().to_string()),
    }
}

fn in_json(config: &Config, state: &StoreState, waiting: Option<usize>) -> Value {
    let shops = state.shops.iter().map(|shop| {
        let hidden = shop.products - shop.visible;
        let taken = state.usage.get(&shop.shop).copied().unwrap_or_default();
        json!({"shop_id": shop.shop.get(), "visible": shop.visible, "hidden": hidden,
            "bytes": taken.bytes, "attribute_names": taken.attribute_names})
    });
    let vectors = state.vectors.iter().map(
        |made| json!({"model": made.model, "encoder": made.encoder, "products": made.products}),
    );
    let (kind, place) = place(config);
    json!({
        kind: place,
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
    state: &StoreState,
    waiting: Option<usize>,
) -> io::Result<()> {
    let (schema, known) = (state.schema, state.known_schema);
    match &config.database {
        Some(database) => writeln!(out, "database     {}", database.settings.address)?,
        None => writeln!(out, "data folder  {}", config.data.display())?,
    }
    match schema < known {
        true => writeln!(out, "schema       version {schema}; a server makes it {known}")?,
        false => writeln!(out, "schema       version {schema}")?,
    }
    writeln!(out, "size         {} bytes", state.bytes)?;
    writeln!(
        out,
        "\n{:>8}  {:>10}  {:>10}  {:>14}  {:>6}",
        "SHOP", "VISIBLE", "HIDDEN", "BYTES", "NAMES"
    )?;
    for shop in &state.shops {
        let hidden = shop.products - shop.visible;
        let taken = state.usage.get(&shop.shop).copied().unwrap_or_default();
        let (bytes, names) = (taken.bytes, taken.attribute_names);
        writeln!(
            out,
            "{:>8}  {:>10}  {hidden:>10}  {bytes:>14}  {names:>6}",
            shop.shop, shop.visible
        )?;
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
