//! The progress of an import, saved to a small file from time to time and after every stop, so
//! that the next run resumes there.
//!
//! The file names a position that lies at the end of a batch. Batches after it may have been
//! stored already: they are sent again under the same key, and stored once.

use std::{
    fs::{self, File},
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

const VERSION: u32 = 2;

/// What an import has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counts {
    /// Records of the file, good or bad.
    pub(super) records: u64,
    pub(super) created: u64,
    pub(super) updated: u64,
    /// Products that were as their records say.
    pub(super) unchanged: u64,
    /// Records that were refused.
    pub(super) refused: u64,
    /// Products with more pictures than are kept.
    pub(super) pictures_left_out: u64,
    /// Products with values that were cut or left out.
    pub(super) cut: u64,
    /// Products with characters of Windows-1252 that were repaired.
    pub(super) repaired: u64,
}

/// How far an import got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    version: u32,
    /// The import's own name, part of the keys of its requests.
    pub(super) run: String,
    /// Everything that decides what the records become.
    pub(super) options: String,
    /// Batches that are done.
    pub(super) batches: u64,
    /// A digest of the records that are done.
    pub(super) digest: String,
    pub(super) counts: Counts,
    /// How long the report of errors is.
    pub(super) report_bytes: u64,
}

impl State {
    pub(super) fn new(run: String, options: String) -> Self {
        Self {
            version: VERSION,
            run,
            options,
            batches: 0,
            digest: String::new(),
            counts: Counts::default(),
            report_bytes: 0,
        }
    }

    /// The state in a file, if there is one.
    pub(super) fn load(path: &Path, options: &str) -> anyhow::Result<Option<Self>> {
        let text = match fs::read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.with_context(|| path.display().to_string())?,
        };
        let again = format!(
            "begin anew with --restart (what was imported stays), or delete {}",
            path.display()
        );
        let state: Self = serde_json::from_slice(&text).with_context(|| {
            format!("{} is not the state of an import; {again}", path.display())
        })?;
        if state.version != VERSION {
            bail!("{} was written by another version; {again}", path.display());
        }
        if state.options != options {
            bail!(
                "an import of this file was begun with other options ({}); repeat those, or {again}",
                state.options
            );
        }
        Ok(Some(state))
    }

    /// Writes the state in place of the one before, whole or not at all.
    pub(super) fn save(&self, path: &Path) -> anyhow::Result<()> {
        let beside = PathBuf::from(format!("{}.new", path.display()));
        let write = || -> anyhow::Result<()> {
            let mut file = File::options()
                .create(true)
                .truncate(true)
                .write(true)
                .mode(0o600)
                .open(&beside)?;
            file.write_all(&serde_json::to_vec_pretty(self)?)?;
            file.sync_data()?;
            Ok(fs::rename(&beside, path)?)
        };
        write().with_context(|| {
            format!(
                "the state of the import cannot be kept in {}; name another file with --state",
                path.display()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_found_again_and_other_options_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        assert_eq!(State::load(&path, "x").unwrap(), None);
        let state = State { batches: 7, ..State::new("run".to_owned(), "x".to_owned()) };
        state.save(&path).unwrap();
        state.save(&path).unwrap();
        assert_eq!(State::load(&path, "x").unwrap(), Some(state));
        let error = State::load(&path, "y").unwrap_err().to_string();
        assert!(error.contains("other options") && error.contains("--restart"), "{error}");
        fs::write(&path, "{").unwrap();
        assert!(State::load(&path, "x").is_err());
    }
}
