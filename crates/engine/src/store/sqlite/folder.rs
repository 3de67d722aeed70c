//! Is this data folder ours alone? One server per folder; the lock goes with the process.
//!
//! The folder holds hidden products and the hashes of tokens, so it and its files are made
//! readable by their owner alone.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use thiserror::Error;

const LOCK_NAME: &str = "shopkeeper.lock";
/// Whose turn it is to open the database.
const TURN_NAME: &str = "shopkeeper.opening";
/// A folder for its owner alone.
const PRIVATE_FOLDER: u32 = 0o700;
/// A file for its owner alone.
const PRIVATE_FILE: u32 = 0o600;
/// The permissions of a folder that let other users of the machine list or enter it.
const OPEN_TO_OTHERS: u32 = 0o005;

/// A data folder held by this process until it is dropped or the process ends, however it ends.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    _lock: File,
}

/// The folder could not be taken.
#[derive(Debug, Error)]
pub enum FolderInUse {
    /// Another server has it.
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
        /// What the operating system said.
        source: io::Error,
    },
}

impl DataFolder {
    /// Makes sure the folder exists, without taking it: for command lines beside a server.
    pub fn prepare(path: &Path) -> Result<(), FolderInUse> {
        make(path).map_err(|source| unusable(path, source))
    }

    /// Takes the folder for a server, creating it where needed.
    pub fn take(path: &Path) -> Result<Self, FolderInUse> {
        Self::prepare(path)?;
        warn_if_open_to_others(path);
        match Self::try_take(path) {
            // A command line that brings the tables up to date has the folder for a moment, and
            // the turn with it.
            Err(FolderInUse::ByAnotherServer(_)) => {
                let _turn = Turn::wait(path).map_err(|source| unusable(path, source))?;
                Self::try_take(path)
            }
            taken => taken,
        }
    }

    /// Takes an existing folder, if no other process has it.
    pub(super) fn try_take(path: &Path) -> Result<Self, FolderInUse> {
        let lock = private_file(&path.join(LOCK_NAME)).map_err(|source| unusable(path, source))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(FolderInUse::ByAnotherServer(path.to_owned())),
            Err(TryLockError::Error(source)) => Err(unusable(path, source)),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The turn to open the database of a folder or to change its tables. Processes wait for each
/// other here for moments; a server has the folder itself for as long as it runs.
pub(super) struct Turn(#[expect(dead_code, reason = "holds the lock")] File);

impl Turn {
    pub(super) fn wait(folder: &Path) -> io::Result<Self> {
        let file = private_file(&folder.join(TURN_NAME))?;
        file.lock()?;
        Ok(Self(file))
    }
}

/// Opens a file for writing, made for its owner alone where it is not there.
fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).mode(PRIVATE_FILE).open(path)
}

/// Makes an empty file for its owner alone where there is none. An existing one is not even
/// opened: closing it would release the locks that SQLite holds on it in this process.
pub(super) fn make_private_file(path: &Path) -> io::Result<()> {
    match OpenOptions::new().create_new(true).write(true).mode(PRIVATE_FILE).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

/// An existing folder keeps its mode, which is the operator's business; a careless one is logged.
fn warn_if_open_to_others(path: &Path) {
    let Ok(metadata) = fs::metadata(path) else { return };
    let mode = metadata.permissions().mode() & 0o777;
    if mode & OPEN_TO_OTHERS != 0 {
        let (folder, mode) = (path.display(), format!("{mode:o}"));
        tracing::warn!(%folder, mode, "other users of this machine may read the data folder; set its mode to 700");
    }
}

/// Makes a folder, for its owner alone, and those above it, so that they outlast a power cut: a
/// database is no more durable than the way to it.
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
    // Those above are not ours alone: they are made as `mkdir -p` makes them.
    make_with(above, 0o777)?;
    match DirBuilder::new().mode(mode).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        made => made?,
    }
    // A folder that may be passed but not read cannot be synced by us.
    File::open(above).map_or(Ok(()), |above| above.sync_all())
}

fn unusable(path: &Path, source: io::Error) -> FolderInUse {
    FolderInUse::Unusable { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_taken_by_one_and_free_again_after() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/shop");
        let taken = DataFolder::take(&path).unwrap();
        assert!(matches!(DataFolder::take(&path), Err(FolderInUse::ByAnotherServer(_))));
        drop(taken);
        DataFolder::take(&path).unwrap();
    }

    #[test]
    fn a_new_folder_is_for_its_owner_alone_and_an_existing_one_keeps_its_mode() {
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("above/shop");
        drop(DataFolder::take(&path).unwrap());
        assert_eq!(mode(&path), 0o700);
        assert_ne!(mode(&folder.path().join("above")), 0o700);
        assert_eq!(mode(&path.join(LOCK_NAME)), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        drop(DataFolder::take(&path).unwrap());
        assert_eq!(mode(&path), 0o755);
    }

    #[test]
    fn a_server_waits_for_a_command_that_changes_the_tables() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let turn = Turn::wait(path).unwrap();
        let held = DataFolder::try_take(path).unwrap();
        std::thread::scope(|scope| {
            let server = scope.spawn(|| DataFolder::take(path).map(drop));
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert!(!server.is_finished());
            drop((held, turn));
            server.join().unwrap().unwrap();
        });
    }

    #[test]
    fn a_file_in_the_place_of_the_folder_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "not a folder").unwrap();
        for path in [path.clone(), path.join("below")] {
            assert!(matches!(DataFolder::take(&path), Err(FolderInUse::Unusable { .. })));
        }
    }
}
