//! Maps the keys of an import with `--key` to product ids: a file of JSON Lines in which the last
//! line of a key wins.
//!
//! In memory a key is a digest of 16 bytes, whatever its length.

use std::{
    collections::HashMap,
    fs::{DirBuilder, File, TryLockError},
    io::{BufRead, BufReader, BufWriter, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

use anyhow::{Context, bail};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    key: std::borrow::Cow<'a, str>,
    id: u64,
    /// The import and the batch that wrote it.
    #[serde(borrow)]
    run: std::borrow::Cow<'a, str>,
    batch: u64,
}

/// The keys that are known.
pub(super) struct Keys {
    ids: HashMap<Digest, u64>,
    file: Option<BufWriter<File>>,
}

/// A key in memory.
pub(super) type Digest = [u8; 16];

/// The digest of a key.
pub(super) fn digest_of(key: &str) -> Digest {
    let mut short = [0; 16];
    short.copy_from_slice(&digest(&SHA256, key.as_bytes()).as_ref()[..16]);
    short
}

impl Keys {
    /// Reads the file, if there is one, and keeps it to add to unless it is to be read only. Lines
    /// that import `run` wrote in batches it will do again are passed over: it must see what it
    /// saw the first time.
    pub(super) fn open(path: &Path, run: &str, from: u64, read_only: bool) -> anyhow::Result<Self> {
        let named = || format!("the file of keys {}", path.display());
        let mut ids = HashMap::new();
        if read_only {
            if path.exists() {
                let file = File::open(path).with_context(named)?;
                load(&file, run, from, &mut ids).with_context(named)?;
            }
            return Ok(Self { ids, file: None });
        }
        if let Some(folder) = path.parent() {
            let mut folders = DirBuilder::new();
            folders.recursive(true).mode(0o700).create(folder).with_context(named)?;
        }
        let file = File::options().create(true).append(true).read(true).mode(0o600).open(path);
        let file = file.with_context(named)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("{} is in use by another import", named()),
            Err(TryLockError::Error(error)) => return Err(error).with_context(named),
        }
        let whole = load(&file, run, from, &mut ids).with_context(named)?;
        // What is added must not become part of a half-written line.
        file.set_len(whole).with_context(named)?;
        Ok(Self { ids, file: Some(BufWriter::new(file)) })
    }

    /// The product of a key.
    pub(super) fn get(&self, key: &str) -> Option<u64> {
        self.ids.get(&digest_of(key)).copied()
    }

    /// Remembers a key. It is on disk after the next [`sync`](Self::sync).
    pub(super) fn put(&mut self, key: &str, id: u64, run: &str, batch: u64) -> anyhow::Result<()> {
        if self.ids.insert(digest_of(key), id) == Some(id) {
            return Ok(());
        }
        if let Some(file) = &mut self.file {
            serde_json::to_writer(
                &mut *file,
                &Line { key: key.into(), id, run: run.into(), batch },
            )?;
            file.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Makes what was remembered outlast us.
    pub(super) fn sync(&mut self) -> anyhow::Result<()> {
        if let Some(file) = &mut self.file {
            file.flush()?;
            file.get_ref().sync_data()?;
        }
        Ok(())
    }
}

/// Reads all lines and says where the last whole one ends: an import that was killed may leave half
/// a line, whose batch is done again.
fn load(file: &File, run: &str, from: u64, ids: &mut HashMap<Digest, u64>) -> anyhow::Result<u64> {
    let mut text = BufReader::new(file);
    let mut bytes = Vec::new();
    let mut whole = 0;
    for number in 1_u64.. {
        bytes.clear();
        let length = text.read_until(b'\n', &mut bytes)?;
        if !bytes.ends_with(b"\n") {
            break;
        }
        let line: Line<'_> =
            serde_json::from_slice(&bytes).with_context(|| format!("line {number}"))?;
        if line.run != run || line.batch < from {
            ids.insert(digest_of(&line.key), line.id);
        }
        whole += length as u64;
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn keys_outlast_the_import_and_the_last_word_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/keys.jsonl");
        let mut keys = Keys::open(&path, "a", 0, false).unwrap();
        keys.put("SKU \"1\"\n", 1, "a", 0).unwrap();
        keys.put("2", 2, "a", 1).unwrap();
        keys.put("2", 3, "a", 2).unwrap();
        keys.sync().unwrap();
        assert!(Keys::open(&path, "b", 0, false).is_err(), "it is in use");
        drop(keys);
        let found = |run, from| {
            let keys = Keys::open(&path, run, from, false).unwrap();
            [keys.get("SKU \"1\"\n"), keys.get("2"), keys.get("3")]
        };
        assert_eq!(found("b", 0), [Some(1), Some(3), None]);
        assert_eq!(found("a", 2), [Some(1), Some(2), None]);
        assert_eq!(found("a", 0), [None, None, None]);
    }

    #[test]
    fn a_half_written_last_line_is_passed_over_and_other_damage_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.jsonl");
        let good = r#"{"key":"1","id":1,"run":"a","batch":0}"#;
        fs::write(&path, format!("{good}\n{{\"key\":\"2\",\"i")).unwrap();
        assert_eq!(Keys::open(&path, "b", 0, true).unwrap().get("1"), Some(1));
        let mut keys = Keys::open(&path, "b", 0, false).unwrap();
        keys.put("3", 3, "b", 0).unwrap();
        keys.sync().unwrap();
        drop(keys);
        assert_eq!(Keys::open(&path, "c", 0, true).unwrap().get("3"), Some(3));
        fs::write(&path, format!("{{\"key\":\n{good}\n")).unwrap();
        assert!(Keys::open(&path, "b", 0, true).is_err());
    }
}
