//! `shopkeeper import`: reads products from a file.
//!
//! [`source`] opens and decompresses the file, [`detect`] chooses a reader, [`mapping`] parses the
//! cells of each record, [`plan`] validates them and forms batches, [`run`] sends batches to a
//! [`sink`] and records the results.

mod bounded;
mod cells;
mod columns;
mod destination;
mod detect;
mod feed;
mod folder;
mod html;
mod inflate;
mod json_array;
mod json_lines;
mod keys;
mod mapping;
mod plan;
mod progress;
mod record;
mod report;
mod run;
mod server;
mod shopify;
mod sink;
mod source;
mod state;
mod table;

use std::{
    fmt::Write as _,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context, bail};
use catalog::currency::Currency;
use clap::Args;

use self::{
    columns::{Column, Field, Mapped},
    destination::Destination,
    detect::{Format, Opened},
    keys::Keys,
    mapping::{Key, Mapping, Shape},
    progress::Progress,
    report::Report,
    run::Import,
    source::Source,
    state::State,
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
    /// Columns to read, such as title=Name,price=Cost
    #[arg(long, value_name = "FIELD=COLUMN,…", value_delimiter = ',')]
    map: Vec<Mapped>,
    /// Currency of prices that are plain numbers, such as EUR
    #[arg(long, value_name = "CODE", value_parser = currency)]
    currency: Option<String>,
    /// Update existing products by key: `id`, or a column with unique values
    #[arg(long, value_name = "COLUMN")]
    key: Option<String>,
    /// File that maps keys to products
    #[arg(long, value_name = "FILE", requires = "key")]
    keys: Option<PathBuf>,
    /// Drop unknown fields of JSON objects instead of refusing the object
    #[arg(long)]
    ignore_unknown: bool,
    /// Write errors of refused records to this file, as JSON Lines
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
    /// Validate every record and write nothing
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

        let destination = Destination::open(&self.target, self.dry_run, load, environment)?;
        let options = self.options(shape, &mapping, &destination);
        let state_file = self.state_file();
        let state = match &state_file {
            Some(path) if !self.restart => State::load(path, &options)?,
            _ => None,
        };
        if let Some(state) = &state {
            say(&format!("going on after {} records", state.counts.records));
        }
        let state = state.unwrap_or_else(|| State::new(run_name(), options));
        if let Some(path) = &state_file {
            state.save(path)?;
        }
        let keys = self.open_keys(&mapping, &destination, &state)?;
        let import = Import {
            records,
            mapping: &mapping,
            sink: destination.sink.as_deref(),
            parallel: self.parallel.into(),
            keys,
            report: Report::open(self.errors.as_deref(), state.report_bytes)?,
            progress: Progress::new(taken, total, state.counts.records),
            state,
            state_file: state_file.clone(),
        };
        let (state, elapsed) = import.run().with_context(|| match &state_file {
            Some(_) => "the import stopped; the same command goes on from here",
            None => "the import stopped",
        })?;
        if let Some(path) = &state_file {
            fs::remove_file(path).with_context(|| path.display().to_string())?;
        }
        self.sum_up(&state, elapsed.as_secs_f64())?;
        Ok(match state.counts.refused {
            0 => ExitCode::SUCCESS,
            _ => ExitCode::from(SOME_REFUSED),
        })
    }

    /// How records are read, or why these columns will not do.
    fn mapping(&self, shape: Shape, names: Option<&[String]>) -> anyhow::Result<Mapping> {
        let key = match self.key.as_deref() {
            None => Key::None,
            // In a Merchant feed the id is the merchant's own.
            Some("id") if shape != Shape::Merchant => Key::Id,
            Some(column) => Key::Column(column.to_owned()),
        };
        let mut mapping = Mapping {
            shape,
            mapped: self.map.clone(),
            currency: self.currency.clone(),
            key,
            ignore_unknown: self.ignore_unknown,
            columns: None,
        };
        let Some(names) = names else { return Ok(mapping) };
        let all = || names.iter().map(String::as_str);
        let columns = mapping.choose(all());
        let known = || format!("the columns are {}", names.join(", "));
        for part in &self.map {
            let found = |column: &Column| !column.guessed && column.field == part.field;
            if !columns.iter().any(found) {
                bail!("--map {part}: there is no such column; {}", known());
            }
        }
        if mapping.key != Key::None && mapping.key_column(all()).is_none() {
            let key = self.key.as_deref().unwrap_or_default();
            bail!("--key {key}: there is no such column; {}", known());
        }
        for field in [Field::Title, Field::Price] {
            let found = columns.iter().any(|column| column.field == field);
            if !found && mapping.key == Key::None {
                let name = field.as_str();
                bail!("no column is the {name}; say which with --map {name}=COLUMN; {}", known());
            }
        }
        mapping.columns = Some(columns);
        Ok(mapping)
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

    fn state_file(&self) -> Option<PathBuf> {
        if self.dry_run {
            return None;
        }
        let beside = || PathBuf::from(format!("{}.import", self.file.display()));
        self.state.clone().or_else(|| (self.file != Path::new("-")).then(beside))
    }

    fn open_keys(
        &self,
        mapping: &Mapping,
        destination: &Destination,
        state: &State,
    ) -> anyhow::Result<Option<Keys>> {
        let Key::Column(column) = &mapping.key else { return Ok(None) };
        let path = match (&self.keys, &destination.folder) {
            (Some(path), _) => path.clone(),
            (None, Some((data, shop))) => {
                let column = columns::simplified(column);
                data.join("import-keys").join(format!("shop-{shop}-{column}.jsonl"))
            }
            (None, None) if self.dry_run => return Ok(None),
            (None, None) => bail!(
                "with --key {column} say with --keys FILE where to remember which product each \
                 key stands for; use the same file next time"
            ),
        };
        Keys::open(&path, &state.run, state.batches, self.dry_run).map(Some)
    }

    fn sum_up(&self, state: &State, seconds: f64) -> anyhow::Result<()> {
        let counts = &state.counts;
        let would = if self.dry_run { "would be " } else { "" };
        let mut out = io::stdout().lock();
        writeln!(
            out,
            "{} records in {seconds:.1} s: {} {would}created, {} {would}updated, {} refused",
            counts.records, counts.created, counts.updated, counts.refused
        )?;
        if counts.pictures_left_out > 0 {
            let kept = catalog::media::MAX_ITEMS;
            writeln!(
                out,
                "{} products have more than {kept} pictures: the first {kept} are kept",
                counts.pictures_left_out
            )?;
        }
        if let (Some(path), 1..) = (&self.errors, counts.refused) {
            writeln!(out, "what was wrong is in {}", path.display())?;
        }
        Ok(())
    }
}

/// The format, and which columns are read as what.
fn describe(format: &str, mapping: &Mapping, names: Option<&[String]>) -> String {
    let mut said = format!("reading {format}");
    let (Some(columns), Some(names)) = (&mapping.columns, names) else { return said };
    for column in columns {
        let guessed = if column.guessed { " (guessed)" } else { "" };
        let _ = write!(said, "\n  {} ← {}{guessed}", column.field.as_str(), column.name);
    }
    let key = mapping.key_column(names.iter().map(String::as_str));
    if let Some(key) = key {
        let _ = write!(said, "\n  key ← {key}");
    }
    let read = |name: &&String| {
        columns.iter().any(|column| column.name == **name) || key == Some(name.as_str())
    };
    let ignored: Vec<_> = names.iter().filter(|name| !name.is_empty() && !read(name)).collect();
    if !ignored.is_empty() {
        let ignored: Vec<_> = ignored.iter().map(|name| name.as_str()).collect();
        let _ = write!(said, "\n  not read: {}", ignored.join(", "));
    }
    said
}

fn say(line: &str) {
    // A closed standard error does not stop the import.
    let _ = writeln!(io::stderr(), "{line}");
}

/// A name that no other import has.
fn run_name() -> String {
    let mut bytes = [0; 12];
    serving::random_source()(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
