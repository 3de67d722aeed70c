//! The data folder: locked by at most one server, and released when the process ends.
//!
//! A server locks a file in the folder, as all versions do, and the folder itself, so that deleting
//! the file lets no second server in. It does not lock the database file, because a process that closes
//! a file loses all locks that SQLite holds on it in this process, through any other descriptor.
//! `flock` works on a folder as on a file, and the folder is as hard to replace as the database.
//!
//! The folder holds hidden products and the hashes of tokens, so it and its files are created
//! readable by their owner only.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use thiserror::Error;

const LOCK_NAME: &str = "shopkeeper.lock";
/// The file whose lock serializes opening the database.
const TURN_NAME: &str = "shopkeeper.opening";
/// Mode of a folder that only its owner may access.
const PRIVATE_FOLDER: u32 = 0o700;
/// Mode of a file that only its owner may access.
const PRIVATE_FILE: u32 = 0o600;
/// The mode bits that let other users of the machine list or enter a folder.
const OPEN_TO_OTHERS: u32 = 0o005;

/// A data folder, locked by this process until it is dropped or the process ends.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    _lock: File,
    /// `None` where folders cannot be locked, as on network file systems.
    _own_lock: Option<File>,
}

/// Why the folder could not be locked.
#[derive(Debug, Error)]
pub enum FolderInUse {
    /// Another server has locked it.
    #[error(
        "another shopkeeper server is running on the data folder {}; \
         stop it first, or choose another folder with --data",
        .0.display()
    )]
    ByAnotherServer(PathBuf),
    /// It cannot be created or written.
    #[error("the data folder {} cannot be used", .path.display())]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl DataFolder {
    /// Creates the folder if necessary, without locking it: for commands that run beside a server.
    pub fn prepare(path: &Path) -> Result<(), FolderInUse> {
        make(path).map_err(|source| unusable(path, source))
    }

    /// Locks the folder for a server, and creates it if necessary.
    pub fn lock(path: &Path) -> Result<Self, FolderInUse> {
        Self::prepare(path)?;
        warn_if_accessible_to_others(path);
        match Self::try_lock(path) {
            // A command that migrates the schema locks the folder for a moment, and holds the
            // opening lock meanwhile.
            Err(FolderInUse::ByAnotherServer(_)) => {
                let _lock = OpeningLock::wait(path).map_err(|source| unusable(path, source))?;
                Self::try_lock(path)
            }
            taken => taken,
        }
    }

    /// Locks an existing folder, unless another process has locked it.
    pub(super) fn try_lock(path: &Path) -> Result<Self, FolderInUse> {
        let in_use = || FolderInUse::ByAnotherServer(path.to_owned());
        let lock = private_file(&path.join(LOCK_NAME)).map_err(|source| unusable(path, source))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use()),
            Err(TryLockError::Error(source)) => return Err(unusable(path, source)),
        }
        let own_lock = match File::open(path).map(|folder| (folder.try_lock(), folder)) {
            Ok((Ok(()), folder)) => Some(folder),
            Ok((Err(TryLockError::WouldBlock), _)) => return Err(in_use()),
            // A folder that may be entered but not read cannot be opened.
            Ok((Err(TryLockError::Error(_)), _)) | Err(_) => None,
        };
        Ok(Self { path: path.to_owned(), _lock: lock, _own_lock: own_lock })
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// What the file of the [`OpeningLock`] says of a folder with a store.
const STORE_NOTE: &str = "A store was created in this folder.\n";

/// The lock for opening the database of a folder or changing its schema. Processes hold it for
/// moments; a server locks the folder itself for as long as it runs. Its file tells whether there was
/// a store in the folder.
pub(super) struct OpeningLock(File);

impl OpeningLock {
    pub(super) fn wait(folder: &Path) -> io::Result<Self> {
        let file = private_file(&folder.join(TURN_NAME))?;
        file.lock()?;
        Ok(Self(file))
    }

    /// Whether a store was created in the folder.
    pub(super) fn knows_store(&self) -> bool {
        self.0.metadata().is_ok_and(|file| file.len() > 0)
    }

    /// Notes that a store was created. The note may be missing, as when the disk is full.
    pub(super) fn note_store(&self) {
        if !self.knows_store() {
            let _ = (&self.0).write_all(STORE_NOTE.as_bytes());
        }
    }

    /// Notes that the store was removed.
    pub(super) fn forget_store(&self) {
        let _ = self.0.set_len(0);
    }
}

/// Opens a file for writing, and creates it with the mode of a private file.
fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).mode(PRIVATE_FILE).open(path)
}

/// Creates an empty private file. An existing one is not even opened, because closing it would
/// release the locks that SQLite holds on it in this process.
pub(super) fn make_private_file(path: &Path) -> io::Result<()> {
    match OpenOptions::new().create_new(true).write(true).mode(PRIVATE_FILE).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

/// An existing folder keeps its mode, which the operator chose; a permissive one is logged.
fn warn_if_accessible_to_others(path: &Path) {
    let Ok(metadata) = fs::metadata(path) else { return };
    let mode = metadata.permissions().mode() & 0o777;
    if mode & OPEN_TO_OTHERS != 0 {
        let (folder, mode) = (path.display(), format!("{mode:o}"));
        tracing::warn!(
            %folder, mode,
            "other users of this machine may read the data folder; set its mode to 700"
        );
    }
}

/// Creates a private folder and its parents, and syncs them: a database is no more durable than the
/// path to it.
fn make(path: &Path) -> io::Result<()> {
    make_with(path, PRIVATE_FOLDER)
}

fn make_with(path: &Path, mode: u32) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let above = match path.parent() {
        Some(above) if !above.as_os_str().is_empty() => above,
        _ => Path::new("."),
    };
    // Parents get the default mode, as `mkdir -p` does.
    make_with(above, 0o777)?;
    match DirBuilder::new().mode(mode).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        made => made?,
    }
    // A folder that may be entered but not read cannot be synced.
    File::open(above).map_or(Ok(()), |above| above.sync_all())
}

fn unusable(path: &Path, source: io::Error) -> FolderInUse {
    FolderInUse::Unusable { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_by_one_process_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/shop");
        let taken = DataFolder::lock(&path).unwrap();
        assert!(matches!(DataFolder::lock(&path), Err(FolderInUse::ByAnotherServer(_))));
        drop(taken);
        DataFolder::lock(&path).unwrap();
    }

    #[test]
    fn a_folder_stays_locked_when_the_lock_file_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let taken = DataFolder::lock(folder.path()).unwrap();
        fs::remove_file(folder.path().join(LOCK_NAME)).unwrap();
        assert!(matches!(DataFolder::lock(folder.path()), Err(FolderInUse::ByAnotherServer(_))));
        drop(taken);
        DataFolder::lock(folder.path()).unwrap();
    }

    #[test]
    fn a_new_folder_is_private_and_an_existing_one_keeps_its_mode() {
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("above/shop");
        drop(DataFolder::lock(&path).unwrap());
        assert_eq!(mode(&path), 0o700);
        assert_ne!(mode(&folder.path().join("above")), 0o700);
        assert_eq!(mode(&path.join(LOCK_NAME)), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        drop(DataFolder::lock(&path).unwrap());
        assert_eq!(mode(&path), 0o755);
    }

    #[test]
    fn a_server_waits_for_a_migrating_command() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let lock = OpeningLock::wait(path).unwrap();
        let held = DataFolder::try_lock(path).unwrap();
        std::thread::scope(|scope| {
            let server = scope.spawn(|| DataFolder::lock(path).map(drop));
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert!(!server.is_finished());
            drop((held, lock));
            server.join().unwrap().unwrap();
        });
    }

    #[test]
    fn a_file_in_place_of_the_folder_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "not a folder").unwrap();
        for path in [path.clone(), path.join("below")] {
            assert!(matches!(DataFolder::lock(&path), Err(FolderInUse::Unusable { .. })));
        }
    }
}
