//! Is this data folder ours alone? One server per folder; the lock goes with the process.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use thiserror::Error;

const LOCK_NAME: &str = "shopkeeper.lock";

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
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join(LOCK_NAME))
            .map_err(|source| unusable(path, source))?;
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

/// Makes a folder and those above it, so that they outlast a power cut: a database is no more
/// durable than the way to it.
fn make(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let above = match path.parent() {
        Some(above) if !above.as_os_str().is_empty() => above,
        _ => Path::new("."),
    };
    make(above)?;
    match fs::create_dir(path) {
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
    fn a_file_in_the_place_of_the_folder_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "not a folder").unwrap();
        for path in [path.clone(), path.join("below")] {
            assert!(matches!(DataFolder::take(&path), Err(FolderInUse::Unusable { .. })));
        }
    }
}
