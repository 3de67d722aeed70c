//! The export formats.

use std::{io::Write, path::Path};

use anyhow::{Context, bail};
use clap::ValueEnum;

use super::{
    packing::{Output, Packing},
    product::{COLUMNS, Exported},
};

/// The formats that can be written; import reads them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// One JSON object a line
    Jsonl,
    /// One JSON array of objects
    Json,
    /// Comma-separated, the first row names the columns
    Csv,
    /// Tab-separated, the first row names the columns
    Tsv,
}

/// What a file's name says of its format and packing.
pub(super) fn by_name(path: &Path) -> (Option<Format>, Packing) {
    let extension = |path: &Path| path.extension()?.to_str().map(str::to_lowercase);
    let (packing, inner) = match extension(path).as_deref() {
        Some("gz") => (Packing::Gz, path.with_extension("")),
        Some("zst") => (Packing::Zst, path.with_extension("")),
        _ => (Packing::None, path.to_owned()),
    };
    let format = match extension(&inner).as_deref() {
        Some("jsonl" | "ndjson") => Some(Format::Jsonl),
        Some("json") => Some(Format::Json),
        Some("csv") => Some(Format::Csv),
        Some("tsv" | "tab") => Some(Format::Tsv),
        _ => None,
    };
    (format, packing)
}

/// Writes products one after the other.
pub(super) enum Products {
    Lines(Output),
    Array { output: Output, begun: bool },
    Table(Box<csv::Writer<Output>>),
}

impl Products {
    pub(super) fn begin(output: Output, format: Format) -> anyhow::Result<Self> {
        let delimiter = match format {
            Format::Jsonl => return Ok(Self::Lines(output)),
            Format::Json => return Ok(Self::Array { output, begun: false }),
            Format::Csv => b',',
            Format::Tsv => b'\t',
        };
        let mut table = csv::WriterBuilder::new().delimiter(delimiter).from_writer(output);
        table.write_record(COLUMNS)?;
        Ok(Self::Table(Box::new(table)))
    }

    pub(super) fn add(&mut self, product: &Exported) -> anyhow::Result<()> {
        match self {
            Self::Lines(output) => {
                let mut line = serde_json::to_vec(product)?;
                line.push(b'\n');
                output.write_all(&line)?;
            }
            Self::Array { output, begun } => {
                output.write_all(if *begun { b",\n" } else { b"[\n" })?;
                *begun = true;
                output.write_all(&serde_json::to_vec(product)?)?;
            }
            Self::Table(table) => {
                // A table has no room for what kind a picture is.
                if product.media.iter().any(|picture| picture.kind != "image") {
                    bail!("product {} has media other than images; export JSON", product.id);
                }
                table.write_record(product.cells())?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> anyhow::Result<()> {
        let output = match self {
            Self::Lines(output) => output,
            Self::Array { mut output, begun } => {
                output.write_all(if begun { b"\n]\n" } else { b"[]\n" })?;
                output
            }
            Self::Table(table) => {
                table.into_inner().map_err(|error| error.into_error()).context("the table's end")?
            }
        };
        output.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_format_and_packing() {
        for (name, expected) in [
            ("a.jsonl", (Some(Format::Jsonl), Packing::None)),
            ("shop.v2.CSV.gz", (Some(Format::Csv), Packing::Gz)),
            ("a.tsv.zst", (Some(Format::Tsv), Packing::Zst)),
            ("a.json", (Some(Format::Json), Packing::None)),
            ("a.gz", (None, Packing::Gz)),
            ("-", (None, Packing::None)),
        ] {
            assert_eq!(by_name(Path::new(name)), expected, "{name}");
        }
    }
}
