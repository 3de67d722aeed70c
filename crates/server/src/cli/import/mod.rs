//! `shopkeeper import`: reads products from a file.
//!
//! [`source`] opens and decompresses the file, [`detect`] chooses a reader, [`mapping`] parses the
//! cells of each record, [`plan`] validates them and forms batches, [`run`] sends batches to a
//! [`sink`] and records the results. [`sync`] compares with what the shop has.

mod attributes;
mod bounded;
mod cells;
mod columns;
mod destination;
mod detect;
mod feed;
mod fields;
mod folder;
mod html;
mod inflate;
mod json_array;
mod json_lines;
mod mapped_record;
mod mapping;
mod names;
mod plan;
mod progress;
mod reading;
mod record;
mod report;
mod run;
mod server;
mod shopify;
mod sink;
mod source;
mod state;
mod summary;
mod sync;
mod table;
mod windows1252;
mod work;

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context, bail};
use catalog::product::currency::Currency;
use clap::Args;
use serde_json::Value;

use self::{
    destination::{Catalog, Destination},
    detect::{Format, Opened},
    fields::{Column, Field, Mapped, Shape},
    mapping::Mapping,
    progress::{Progress, say},
    report::Report,
    run::{Finished, Import, hex},
    source::Source,
    state::State,
    summary::describe,
    sync::{Missing, Removal, Share, SyncPlan},
};
use super::target::{Environment, Target};
use crate::{
    config::{Config, Flags},
    serving,
};

/// The exit code of an import that refused some records.
const SOME_REFUSED: u8 = 3;

#[derive(Args, Debug)]
pub(super) struct ImportCommand {
    /// File to import, or - for standard input; may be compressed with gzip or zstd
    file: PathBuf,
    /// Format [default: detected from the content]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Columns to read, such as title=Name,attributes.color=Colour,attributes.width:number=Width
    #[arg(long, value_name = "FIELD=COLUMN,…", value_delimiter = ',')]
    map: Vec<Mapped>,
    /// Currency of prices that are plain numbers, such as EUR
    #[arg(long, value_name = "CODE", value_parser = currency)]
    currency: Option<String>,
    /// Update existing products: `id`, or the column with the products' keys
    #[arg(long, value_name = "COLUMN")]
    key: Option<String>,
    /// Make the shop equal to the file, by the products' keys
    #[arg(long, conflicts_with_all = ["key", "state", "restart"])]
    sync: bool,
    /// What --sync does with products whose key is not in the file
    #[arg(long, value_enum, default_value_t = Missing::Hide, requires = "sync")]
    missing: Missing,
    /// The largest share of the products with a key that --sync may hide or delete
    #[arg(long, value_name = "SHARE", default_value = "20%", requires = "sync")]
    max_removed: Share,
    /// Drop unknown fields of JSON objects instead of refusing the object
    #[arg(long)]
    ignore_unknown: bool,
    /// Write errors of refused records to this file, as JSON Lines
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
    /// Validate every record, show the first products, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// File with the progress of the import [default: FILE.import]
    #[arg(long, value_name = "FILE", visible_alias = "resume")]
    state: Option<PathBuf>,
    /// Start over, ignoring the progress of an earlier import of this file
    #[arg(long)]
    restart: bool,
    /// Number of concurrent batches
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    parallel: u8,
    #[command(flatten)]
    target: Target,
}

fn currency(raw: &str) -> Result<String, &'static str> {
    let currency = Currency::from_code(raw).ok_or("must be an ISO 4217 code, such as EUR")?;
    Ok(currency.to_string())
}

impl ImportCommand {
    pub(super) fn run(
        &self,
        load: impl FnOnce(&Flags) -> anyhow::Result<Config>,
        environment: &Environment,
    ) -> anyhow::Result<ExitCode> {
        if self.file == Path::new("-") && self.target.reads_standard_input() {
            bail!("the file and the token cannot both come from standard input");
        }
        let source = Source::open(&self.file)?;
        let (taken, total) = (Arc::clone(&source.taken), source.total);
        let Opened { records, shape, names, description } = detect::open(source, self.format)?;
        let mapping = self.mapping(shape, names.as_deref())?;
        say(&describe(description, &mapping, names.as_deref()));

        let compares = self.sync || (self.key.is_some() && !mapping.by_id);
        let destination =
            Destination::open(&self.target, self.dry_run, compares, load, environment)?;
        let options = self.options(shape, &mapping, &destination);
        let state_file = self.state_file(compares);
        let state = self.open_state(state_file.as_deref(), options)?;
        let import = Import {
            records,
            mapping: &mapping,
            sink: destination.sink.as_deref(),
            parallel: self.parallel.into(),
            sync: self.open_sync(destination.catalog.as_ref().filter(|_| compares))?,
            report: Report::open(self.errors.as_deref(), state.report_bytes)?,
            progress: Progress::new(taken, total, state.counts.records),
            state,
            state_file: state_file.clone(),
        };
        let finished = import.run().with_context(|| match &state_file {
            Some(_) => "the import stopped; the same command goes on from here",
            None if compares => "the import stopped; the same command completes it",
            None => "the import stopped",
        })?;
        if let Some(path) = &state_file {
            fs::remove_file(path).with_context(|| path.display().to_string())?;
        }
        self.end(&finished, &destination)
    }

    /// Hides or deletes what is missing, and sums up.
    fn end(&self, finished: &Finished, destination: &Destination) -> anyhow::Result<ExitCode> {
        let removal = finished.sync.as_ref().map(|sync| {
            let removal = sync.removed()?;
            if let (Removal::Of(ids), Some(sink)) = (&removal, &destination.sink) {
                sync.remove(sink.as_ref(), ids)
                    .context("the import stopped; the same command completes it")?;
            }
            Ok::<_, anyhow::Error>(removal)
        });
        let done = removal.as_ref().and_then(|removal| removal.as_ref().ok());
        summary::print(finished, done, self.dry_run, self.errors.as_deref())?;
        let withheld = matches!(removal.transpose()?, Some(Removal::Withheld { .. }));
        Ok(match finished.state.counts.refused {
            0 if !withheld => ExitCode::SUCCESS,
            _ => ExitCode::from(SOME_REFUSED),
        })
    }

    /// The state to begin with: that of an earlier import of this file, or a new one.
    fn open_state(&self, file: Option<&Path>, options: String) -> anyhow::Result<State> {
        let found = match file {
            Some(path) if !self.restart => State::load(path, &options)?,
            _ => None,
        };
        if let Some(state) = &found {
            say(&format!("going on after {} records", state.counts.records));
        }
        let state = found.unwrap_or_else(|| State::new(run_name(), options));
        if let Some(path) = file {
            state.save(path)?;
        }
        Ok(state)
    }

    /// Reads what the shop has, to compare.
    fn open_sync(&self, catalog: Option<&Catalog>) -> anyhow::Result<Option<SyncPlan>> {
        let Some(catalog) = catalog else { return Ok(None) };
        let missing = if self.sync { self.missing } else { Missing::Keep };
        let mut sync = SyncPlan::new(missing, self.max_removed);
        catalog
            .read(|product| {
                if let Ok(Value::Object(product)) = serde_json::to_value(product) {
                    sync.add_known(&product);
                }
            })
            .context("the products to compare with cannot be read")?;
        say(&format!("comparing with {} products that have a key", sync.known()));
        Ok(Some(sync))
    }

    /// How records are read, or why these columns will not do.
    fn mapping(&self, shape: Shape, names: Option<&[String]>) -> anyhow::Result<Mapping> {
        let mut mapping = Mapping {
            mapped: self.map.clone(),
            currency: self.currency.clone(),
            // In a Merchant feed the id is the merchant's own.
            by_id: self.key.as_deref() == Some("id") && shape != Shape::Merchant,
            ignore_unknown: self.ignore_unknown,
            ..Mapping::new(shape)
        };
        if let Some(column) = self.key.clone().filter(|_| !mapping.by_id) {
            mapping.mapped.retain(|part| part.field != Field::Key);
            mapping.mapped.push(Mapped { field: Field::Key, column });
        }
        if let Some(names) = names {
            mapping.columns = Some(self.columns(&mapping, names)?);
        }
        Ok(mapping)
    }

    /// The columns of a table that are read, or why they will not do.
    fn columns(&self, mapping: &Mapping, names: &[String]) -> anyhow::Result<Vec<Column>> {
        let all = || names.iter().map(String::as_str);
        let columns = mapping.choose(all());
        let known = || format!("the columns are {}", names.join(", "));
        let is_read = |field: &Field| columns.iter().any(|column| column.field == *field);
        if let Some(key) = &self.key {
            let is_there = match mapping.by_id {
                true => mapping.id_column(all()).is_some(),
                false => is_read(&Field::Key),
            };
            if !is_there {
                bail!("--key {key}: there is no such column; {}", known());
            }
        }
        for part in &mapping.mapped {
            let found = |column: &Column| !column.guessed && column.field == part.field;
            if !part.column.is_empty() && !columns.iter().any(found) {
                bail!("--map {part}: there is no such column; {}", known());
            }
        }
        let needed = match (self.sync, &self.key) {
            (true, _) => &[Field::Key][..],
            (false, None) => &[Field::Title, Field::Price],
            (false, Some(_)) => &[],
        };
        for name in needed {
            if !is_read(name) {
                bail!("no column is the {name}; say which with --map {name}=COLUMN; {}", known());
            }
        }
        Ok(columns)
    }

    /// Everything that decides what the records become, as the state remembers it.
    fn options(&self, shape: Shape, mapping: &Mapping, destination: &Destination) -> String {
        let mut options = format!("{shape:?} into {}", destination.name);
        for part in &mapping.mapped {
            let _ = write!(options, " --map {part}");
        }
        let said = [("--currency", &self.currency), ("--key", &self.key)];
        for (flag, value) in said {
            if let Some(value) = value {
                let _ = write!(options, " {flag} {value}");
            }
        }
        if self.ignore_unknown {
            options.push_str(" --ignore-unknown");
        }
        options
    }

    fn state_file(&self, compares: bool) -> Option<PathBuf> {
        // A comparison needs none: what was done is found unchanged.
        if self.dry_run || compares {
            return None;
        }
        let beside = || PathBuf::from(format!("{}.import", self.file.display()));
        self.state.clone().or_else(|| (self.file != Path::new("-")).then(beside))
    }
}

/// A name that no other import has.
fn run_name() -> String {
    let mut bytes = [0; 12];
    serving::random_source()(&mut bytes);
    hex(bytes)
}
