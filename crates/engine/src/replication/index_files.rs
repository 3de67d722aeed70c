//! The index files of a data folder: which one of a shop is valid, and when it is written.
//!
//! The database names the valid file of each shop. A new file is written under a name of its own,
//! synced, then named by the database, and only then is the old one removed: whenever the process
//! ends, the database names a complete file or none. A file lacks the changes that came after it,
//! which a load reads from the change records. Whatever does not fit, a file is discarded, and the
//! shop is indexed from its rows.

use std::{
    fs::{self, DirBuilder, DirEntry, File},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use catalog::product::ShopId;
use embed::ModelId;
use index::{
    ShopIndex, Snapshot,
    file::{self, FileKey},
};
use jiff::{SignedDuration, Timestamp};
use store::{ErrorChain, INDEX_FOLDER as FOLDER, SqliteReaders, SqliteStore, StoreError};
use thiserror::Error;

use crate::system::{Clock, RandomSource};

const EXTENSION: &str = "idx";
/// A file that lacks a tenth of the products is written again, but not more often than this.
const MIN_AGE: SignedDuration = SignedDuration::from_mins(10);
const MAX_UNSAVED_SHARE: usize = 10;
/// A file that lacks any change is written again after this time, so that what was deleted does not
/// stay in it; the file of a shop that is not in memory is removed.
pub(super) const MAX_AGE: SignedDuration = SignedDuration::from_hours(24);
/// At shutdown, a file is written again if it lacks more than one product in this many.
const MAX_UNSAVED_SHARE_AT_STOP: usize = 100;

/// What a shop's index file lacks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileState {
    /// When the file was written; `None` without a file.
    pub(super) written_at: Option<Timestamp>,
    /// Changes since then.
    pub(super) unsaved: usize,
}

impl FileState {
    /// No file has any of these products.
    pub(super) fn unsaved(products: usize) -> Self {
        Self { written_at: None, unsaved: products }
    }

    pub(super) fn is_due(self, products: usize, now: Timestamp, is_stopping: bool) -> bool {
        let age = self.written_at.map_or(SignedDuration::MAX, |at| now.duration_since(at));
        let lacks_one_in = |share| self.unsaved > 0 && self.unsaved >= products / share;
        (is_stopping && lacks_one_in(MAX_UNSAVED_SHARE_AT_STOP))
            || (age >= MIN_AGE && lacks_one_in(MAX_UNSAVED_SHARE))
            || (age >= MAX_AGE && self.unsaved > 0)
    }
}

/// Why a file was not written.
#[derive(Debug, Error)]
pub(super) enum SaveError {
    #[error("the index file cannot be written")]
    File(#[from] io::Error),
    #[error("the database cannot name the index file")]
    Store(#[from] StoreError),
}

/// The index files of a data folder.
pub(crate) struct IndexFiles {
    data: PathBuf,
    pub(super) readers: Arc<SqliteReaders>,
    /// Shops with fewer products are indexed from their rows, which takes a moment.
    pub(super) min_products: usize,
    pub(super) clock: Clock,
    random: RandomSource,
}

impl IndexFiles {
    /// The files of the data folder `data`, which this process has locked. Removes files that the
    /// database does not name.
    pub(crate) fn open(
        data: &Path,
        readers: Arc<SqliteReaders>,
        min_products: usize,
        (clock, random): (Clock, RandomSource),
    ) -> Self {
        let files = Self { data: data.to_owned(), readers, min_products, clock, random };
        files.remove_where(|shop, id, _| {
            files.readers.index_file(shop).is_ok_and(|n| n != Some(id))
        });
        files
    }

    fn path(&self, shop: ShopId, id: u64) -> PathBuf {
        self.data.join(FOLDER).join(format!("{shop}-{id:016x}.{EXTENSION}"))
    }

    /// The index that the file of a shop contains; `None` without a valid file.
    pub(super) fn load(
        &self,
        shop: ShopId,
        model: Option<&ModelId>,
    ) -> Option<(ShopIndex, FileState)> {
        let id = self.readers.index_file(shop).ok()??;
        match file::read(&self.path(shop, id), FileKey { shop, id, model }) {
            Ok((index, written_at)) => {
                Some((index, FileState { written_at: Some(written_at), unsaved: 0 }))
            }
            Err(rejected) => {
                self.discard(shop, &ErrorChain(&rejected).to_string());
                None
            }
        }
    }

    /// Removes the file of a shop.
    pub(super) fn discard(&self, shop: ShopId, reason: &str) {
        tracing::info!(%shop, reason, "index file discarded");
        if let Err(error) = SqliteStore::set_index_file(&self.data, shop, None) {
            let error = ErrorChain(&error);
            tracing::warn!(%shop, %error, "the index file cannot be discarded");
        }
        self.remove_where(|other, _, _| other == shop);
    }

    /// Writes the file of a shop; `None` if `is_cancelled`.
    pub(super) fn save(
        &self,
        shop: ShopId,
        model: Option<&ModelId>,
        snapshot: &Snapshot,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<Timestamp>, SaveError> {
        let (started, written_at) = (Instant::now(), (self.clock)());
        let folder = self.data.join(FOLDER);
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
            _ => {}
        }
        let mut random = [0; 8];
        (self.random)(&mut random);
        let id = u64::from_le_bytes(random) ^ written_at.as_microsecond().cast_unsigned();
        let path = self.path(shop, id);
        let write = || -> Result<Option<u64>, SaveError> {
            let key = FileKey { shop, id, model };
            let Some(bytes) = file::write(&path, key, written_at, snapshot, is_cancelled)? else {
                return Ok(None);
            };
            File::open(&folder)?.sync_all()?;
            SqliteStore::set_index_file(&self.data, shop, Some(id))?;
            Ok(Some(bytes))
        };
        let written = write();
        match &written {
            Ok(Some(bytes)) => {
                self.remove_where(|other, old, _| other == shop && old != id);
                let (products, elapsed_ms) = (snapshot.product_count(), millis(started));
                tracing::info!(%shop, products, bytes, elapsed_ms, "index file written");
            }
            // The database may name it if the outcome of the commit is unknown: then the next load
            // finds no file.
            _ => drop(fs::remove_file(&path)),
        }
        Ok(written?.map(|_| written_at))
    }

    /// Removes files by shop, id and age.
    pub(super) fn remove_where(&self, is_unwanted: impl Fn(ShopId, u64, Duration) -> bool) {
        let Ok(entries) = fs::read_dir(self.data.join(FOLDER)) else { return };
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name();
            let named = name.to_str().and_then(parse_name);
            let age = entry.metadata().and_then(|file| file.modified());
            let age = age.ok().and_then(|at| at.elapsed().ok()).unwrap_or_default();
            if named.is_some_and(|(shop, id)| is_unwanted(shop, id, age))
                && let Err(error) = remove(&entry)
            {
                tracing::warn!(file = ?name, %error, "an old index file cannot be removed");
            }
        }
    }
}

/// Removes what has the name of a file of ours, even a folder with that name.
fn remove(entry: &DirEntry) -> io::Result<()> {
    match entry.file_type()?.is_dir() {
        true => fs::remove_dir_all(entry.path()),
        false => fs::remove_file(entry.path()),
    }
}

fn parse_name(name: &str) -> Option<(ShopId, u64)> {
    let (shop, rest) = name.split_once('-')?;
    let id = rest.strip_suffix(EXTENSION)?.strip_suffix('.')?;
    Some((ShopId::new(shop.parse().ok()?)?, u64::from_str_radix(id, 16).ok()?))
}

fn millis(since: Instant) -> u64 {
    since.elapsed().as_millis() as u64
}
