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
        fs::create_dir_all(path).map_err(|source| unusable(path, source))
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
}
