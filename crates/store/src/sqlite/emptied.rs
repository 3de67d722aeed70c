//! A database file of 0 bytes: new, or emptied?

use std::{fs, io, path::Path};

use super::{
    super::StoreError,
    database_file::{FILE_NAME, WAL_FILE_NAME, length},
    folder::OpeningLock,
    index_files::INDEX_FOLDER,
    store::SqliteStore,
};

impl SqliteStore {
    /// Rejects an empty database file in a folder that had a store. A file without a store is empty
    /// too: SQLite creates it so, and the process may have been killed then. Checked before SQLite
    /// opens the file, because it would remove the WAL of an empty one.
    pub(super) fn check_not_emptied(folder: &Path, lock: &OpeningLock) -> Result<(), StoreError> {
        match fs::metadata(folder.join(FILE_NAME)) {
            Ok(file) if file.len() == 0 => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // It was removed in order to begin a new store.
                lock.forget_store();
                return Ok(());
            }
            _ => return Ok(()),
        }
        let has_index_files = || {
            let files = fs::read_dir(folder.join(INDEX_FOLDER));
            files.is_ok_and(|mut files| files.next().is_some())
        };
        if lock.knows_store() || length(&folder.join(WAL_FILE_NAME)) > 0 || has_index_files() {
            return Err(StoreError::damaged(format!(
                "{FILE_NAME} is empty, but there was a store in this folder; restore it from a \
                 backup, or remove it to begin a new store"
            )));
        }
        Ok(())
    }

    /// Whether the database in `folder` was not closed: closing it removes the WAL.
    pub fn was_left_open(folder: &Path) -> bool {
        length(&folder.join(WAL_FILE_NAME)) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{database_file::open_reader, folder::DataFolder},
        *,
    };
    use crate::{ErrorChain, StoreErrorKind};

    fn write(store: SqliteStore) {
        store.connection.execute("UPDATE counters SET product_id = 7", []).unwrap();
    }

    #[test]
    fn an_emptied_database_is_refused_and_its_wal_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (file, wal) = (folder.path().join(FILE_NAME), folder.path().join(WAL_FILE_NAME));
        let truncate = || fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(0);
        let assert_refused = || {
            let opened =
                [SqliteStore::open(folder.path()), SqliteStore::open_beside(folder.path())];
            for refused in opened.map(|opened| opened.err().unwrap()) {
                assert_eq!(refused.kind(), StoreErrorKind::Damaged);
                assert!(ErrorChain(&refused).to_string().contains("backup"), "{refused:?}");
            }
        };
        // Closed.
        write(SqliteStore::open(folder.path()).unwrap());
        assert!(!SqliteStore::was_left_open(folder.path()));
        truncate().unwrap();
        assert_refused();
        // Removed, in order to begin anew.
        fs::remove_file(&file).unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        store.connection.execute("UPDATE counters SET product_id = 7", []).unwrap();
        // Killed, and the folder was last used by a version that left no note.
        let log = fs::read(&wal).unwrap();
        drop(store);
        fs::write(&wal, &log).unwrap();
        fs::write(folder.path().join("shopkeeper.opening"), "").unwrap();
        assert!(SqliteStore::was_left_open(folder.path()));
        truncate().unwrap();
        assert_refused();
        assert!(open_reader(folder.path()).is_err());
        assert_eq!(fs::read(&wal).unwrap(), log);
        // Closed by such a version.
        fs::remove_file(&wal).unwrap();
        let index_file = folder.path().join(INDEX_FOLDER).join("1-0000000000000007.idx");
        fs::create_dir(index_file.parent().unwrap()).unwrap();
        fs::write(&index_file, "an index").unwrap();
        assert_refused();
    }

    #[test]
    fn an_empty_file_in_a_folder_without_a_store_becomes_a_database() {
        for version_before in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join(FILE_NAME), "").unwrap();
            // Killed while it created the database.
            drop(OpeningLock::wait(folder.path()).unwrap());
            drop(DataFolder::lock(folder.path()).unwrap());
            if version_before {
                write(SqliteStore::open_beside(folder.path()).unwrap());
            }
            write(SqliteStore::open(folder.path()).unwrap());
        }
    }
}
