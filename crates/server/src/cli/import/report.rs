//! Reports invalid records: to a file of JSON Lines, or the first few to standard error. Warnings
//! go to standard error.

use std::{
    fs::File,
    io::{BufWriter, Seek, SeekFrom, Write},
    path::Path,
};

use anyhow::Context;
use serde::Serialize;
use serde_json::Value;

use super::{progress::Progress, record::RecordError};

/// Errors that are shown where there is no file for them, and warnings.
const SHOWN: u32 = 10;

/// Where errors go.
pub(super) struct Report {
    file: Option<BufWriter<File>>,
    bytes: u64,
    shown: u32,
    warned: u32,
}

#[derive(Serialize)]
struct Line<'a> {
    line: u64,
    #[serde(flatten)]
    error: &'a RecordError,
    original: &'a Value,
}

impl Report {
    /// A report that continues an earlier one after its first `after` bytes.
    pub(super) fn open(path: Option<&Path>, after: u64) -> anyhow::Result<Self> {
        let Some(path) = path else {
            return Ok(Self { file: None, bytes: after, shown: 0, warned: 0 });
        };
        let open = || -> std::io::Result<File> {
            let mut file = File::options().create(true).truncate(false).write(true).open(path)?;
            // Later lines belong to records that are imported again.
            file.set_len(after.min(file.metadata()?.len()))?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = open().with_context(|| format!("--errors {}", path.display()))?;
        Ok(Self { file: Some(BufWriter::new(file)), bytes: after, shown: 0, warned: 0 })
    }

    pub(super) fn add(
        &mut self,
        line: u64,
        error: &RecordError,
        original: &Value,
        progress: &Progress,
    ) -> anyhow::Result<()> {
        if let Some(file) = &mut self.file {
            let mut text = serde_json::to_vec(&Line { line, error, original })?;
            text.push(b'\n');
            file.write_all(&text)?;
            self.bytes += text.len() as u64;
            return Ok(());
        }
        self.shown += 1;
        if self.shown <= SHOWN {
            let field = error.field.as_ref().map(|field| format!("{field} ")).unwrap_or_default();
            progress.say(&format!("line {line}: {field}{}", error.message));
        } else if self.shown == SHOWN + 1 {
            progress.say("… further errors are only counted; --errors FILE keeps them all");
        }
        Ok(())
    }

    /// Warns of a record that was adapted.
    pub(super) fn warn(&mut self, line: u64, warning: &str, progress: &Progress) {
        self.warned += 1;
        if self.warned <= SHOWN {
            progress.say(&format!("line {line}: warning: {warning}"));
        } else if self.warned == SHOWN + 1 {
            progress.say("… further warnings are only counted");
        }
    }

    /// Makes what was written outlast us, and says how long it is.
    pub(super) fn sync(&mut self) -> anyhow::Result<u64> {
        if let Some(file) = &mut self.file {
            file.flush()?;
            file.get_ref().sync_data()?;
        }
        Ok(self.bytes)
    }
}
