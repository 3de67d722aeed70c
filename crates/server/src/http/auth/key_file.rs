//! Keys in a file that is watched for changes: a key that is removed from the file stops working
//! within seconds.
//!
//! While the file cannot be read or parsed, the keys of the last good read stay trusted for a grace
//! period and no longer: a damaged file must not keep a withdrawn key alive.

use std::{
    fs::{self, Metadata},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context;
use parking_lot::Mutex;

/// How often the file's metadata is compared.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// How often the file is read although its metadata is unchanged: some file systems store coarse
/// modification times.
const READ_INTERVAL: Duration = Duration::from_secs(30);
/// How often a file that stays unusable is logged.
const WARN_INTERVAL: Duration = Duration::from_secs(60);

/// Keys of type `K` in a watched file.
pub(crate) struct KeyFile<K> {
    path: PathBuf,
    parse: fn(&str) -> anyhow::Result<K>,
    grace: Duration,
    state: Mutex<State<K>>,
}

struct State<K> {
    keys: Arc<K>,
    /// The version of the file that `keys` were read from.
    version: FileVersion,
    read_at: Instant,
    /// When the file was last known to contain `keys`.
    confirmed_at: Instant,
    warned_at: Option<Instant>,
}

/// The metadata that distinguish versions of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileVersion {
    device: u64,
    inode: u64,
    bytes: u64,
    modified_ns: i128,
    changed_ns: i128,
}

impl FileVersion {
    fn of(metadata: &Metadata) -> Self {
        let ns = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

impl<K> KeyFile<K> {
    /// Reads the file for the first time, at `now`. The keys of a good read stay trusted for
    /// `grace` while the file cannot be used.
    pub(crate) fn open(
        path: &Path,
        grace: Duration,
        parse: fn(&str) -> anyhow::Result<K>,
        now: Instant,
    ) -> anyhow::Result<Self> {
        let (keys, version) = read(path, parse)?;
        let state = State {
            keys: Arc::new(keys),
            version,
            read_at: now,
            confirmed_at: now,
            warned_at: None,
        };
        Ok(Self { path: path.to_owned(), parse, grace, state: Mutex::new(state) })
    }

    /// The keys to trust at `now`; `None` once the file has been unusable for the grace period.
    pub(crate) fn keys(&self, now: Instant) -> Option<Arc<K>> {
        let state = self.state.lock();
        // A check that is due or in progress does not mean that the file is unusable.
        let limit = self.grace + CHECK_INTERVAL * 2;
        (now.saturating_duration_since(state.confirmed_at) <= limit)
            .then(|| Arc::clone(&state.keys))
    }

    /// Reads the file again if it has changed or was not read for a while. Blocks on the file
    /// system without holding the lock that [`keys`](Self::keys) takes.
    pub(crate) fn refresh(&self, now: Instant) {
        let (known, read_at) = {
            let state = self.state.lock();
            (state.version, state.read_at)
        };
        let unchanged = fs::metadata(&self.path)
            .is_ok_and(|metadata| FileVersion::of(&metadata) == known)
            && now.saturating_duration_since(read_at) < READ_INTERVAL;
        if unchanged {
            self.state.lock().confirmed_at = now;
            return;
        }
        match read(&self.path, self.parse) {
            Ok((keys, version)) => {
                let mut state = self.state.lock();
                if version != known {
                    tracing::info!(file = %self.path.display(), "key file reloaded");
                }
                *state = State {
                    keys: Arc::new(keys),
                    version,
                    read_at: now,
                    confirmed_at: now,
                    warned_at: None,
                };
            }
            Err(error) => self.warn(&error, now),
        }
    }

    fn warn(&self, error: &anyhow::Error, now: Instant) {
        let mut state = self.state.lock();
        let recent = |at: Instant| now.saturating_duration_since(at) < WARN_INTERVAL;
        if state.warned_at.is_some_and(recent) {
            return;
        }
        state.warned_at = Some(now);
        let unconfirmed = now.saturating_duration_since(state.confirmed_at);
        let left_s = self.grace.saturating_sub(unconfirmed).as_secs();
        if left_s > 0 {
            tracing::warn!(
                left_s,
                "key file unusable; its last keys stay trusted for a while: {error:#}"
            );
        } else {
            tracing::error!("key file unusable; signed tokens are rejected: {error:#}");
        }
    }
}

/// Reads the keys in a file. The metadata are read first, so that the next check notices a change
/// during the read.
fn read<K>(path: &Path, parse: fn(&str) -> anyhow::Result<K>) -> anyhow::Result<(K, FileVersion)> {
    let version = fs::metadata(path).map(|metadata| FileVersion::of(&metadata));
    let text = version.and_then(|version| Ok((fs::read_to_string(path)?, version)));
    let (text, version) =
        text.with_context(|| format!("the key file {} cannot be read", path.display()))?;
    let keys = parse(&text).with_context(|| format!("the key file {}", path.display()))?;
    Ok((keys, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(300);

    fn number(text: &str) -> anyhow::Result<u32> {
        Ok(text.parse()?)
    }

    /// A file with this text, watched since the returned instant.
    fn watch(text: &str) -> (tempfile::TempDir, PathBuf, KeyFile<u32>, Instant) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        fs::write(&path, text).unwrap();
        let now = Instant::now();
        let file = KeyFile::open(&path, GRACE, number, now).unwrap();
        (folder, path, file, now)
    }

    fn replace(path: &Path, text: &str) {
        let draft = path.with_extension("new");
        fs::write(&draft, text).unwrap();
        fs::rename(draft, path).unwrap();
    }

    #[test]
    fn a_replaced_file_is_read_at_the_next_check() {
        let (_folder, path, file, start) = watch("1");
        replace(&path, "2");
        assert_eq!(file.keys(start).as_deref(), Some(&1));
        file.refresh(start + CHECK_INTERVAL);
        assert_eq!(file.keys(start + CHECK_INTERVAL).as_deref(), Some(&2));
    }

    #[test]
    fn a_change_without_new_metadata_is_read_within_a_minute() {
        let (_folder, path, file, start) = watch("1");
        fs::write(&path, "2").unwrap();
        let version = FileVersion::of(&fs::metadata(&path).unwrap());
        file.state.lock().version = version;
        file.refresh(start + CHECK_INTERVAL);
        assert_eq!(file.keys(start).as_deref(), Some(&1));
        let later = start + READ_INTERVAL;
        assert!(later + CHECK_INTERVAL < start + Duration::from_secs(60));
        file.refresh(later);
        assert_eq!(file.keys(later).as_deref(), Some(&2));
    }

    #[test]
    fn an_unusable_file_keeps_its_keys_for_the_grace_period_and_no_longer() {
        for damage in [
            |path: &Path| fs::remove_file(path).unwrap(),
            |path: &Path| {
                fs::write(path, "not a number").unwrap();
            },
        ] {
            let (_folder, path, file, start) = watch("1");
            damage(&path);
            let mut now = start;
            while now < start + GRACE {
                now += CHECK_INTERVAL;
                file.refresh(now);
                assert_eq!(file.keys(now).as_deref(), Some(&1));
            }
            now += CHECK_INTERVAL * 3;
            file.refresh(now);
            assert_eq!(file.keys(now), None);
            replace(&path, "3");
            file.refresh(now);
            assert_eq!(file.keys(now).as_deref(), Some(&3));
        }
    }

    #[test]
    fn keys_that_are_no_longer_checked_expire() {
        let (_folder, _path, file, start) = watch("1");
        assert!(file.keys(start + GRACE).is_some());
        assert!(file.keys(start + GRACE + CHECK_INTERVAL * 3).is_none());
    }

    #[test]
    fn a_file_that_is_unusable_at_startup_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        assert!(KeyFile::open(&path, GRACE, number, Instant::now()).is_err());
        fs::write(&path, "x").unwrap();
        assert!(KeyFile::open(&path, GRACE, number, Instant::now()).is_err());
    }
}
