//! Errors of a store, classified by how a caller can react.

use std::{fmt, io, sync::Arc};

use rusqlite::{
    ErrorCode,
    ffi::{SQLITE_IOERR_CORRUPTFS, SQLITE_IOERR_DATA, SQLITE_IOERR_READ},
};

/// The kind of failure, as far as a caller can react to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// No space is left on the disk.
    DiskFull,
    /// The folder or file cannot be written.
    ReadOnly,
    /// Another process held the write lock for too long, or all connections are in use.
    Busy,
    /// The transaction conflicted with one of another node; a retry may succeed at once.
    Conflict,
    /// The database cannot be reached, or closed the connection.
    Unavailable,
    /// The connection was lost during a commit, whose outcome is unknown.
    CommitUnknown,
    /// A search exceeded its time limit.
    SearchTimeout,
    /// The operating system failed to read or write.
    Io,
    /// The database file is damaged, or cannot be read.
    Damaged,
    /// The database returned or rejected something that it should not; also bugs, such as a write
    /// that panicked.
    Unexpected,
    /// The schema is newer than this program.
    TooNew,
    /// The schema is older than this program: other processes may be using it, or it is from before
    /// the first release.
    TooOld,
}

impl StoreErrorKind {
    /// Whether the same call may succeed later.
    pub fn is_transient(self) -> bool {
        match self {
            Self::DiskFull
            | Self::ReadOnly
            | Self::Busy
            | Self::Conflict
            | Self::Unavailable
            | Self::CommitUnknown
            | Self::SearchTimeout
            | Self::Io => true,
            Self::Damaged | Self::Unexpected | Self::TooNew | Self::TooOld => false,
        }
    }
}

impl fmt::Display for StoreErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DiskFull => "the disk is full",
            Self::ReadOnly => "the store cannot be written",
            Self::Busy => "the store is busy",
            Self::Conflict => "the transaction conflicted with one of another node",
            Self::Unavailable => "the database cannot be reached",
            Self::CommitUnknown => {
                "the connection was lost during a commit, whose outcome is unknown"
            }
            Self::SearchTimeout => "the search took too long",
            Self::Io => "the disk failed",
            Self::Damaged => "the database file is damaged",
            Self::Unexpected => "unexpected failure of the store",
            Self::TooNew => "the store was written by a newer version of shopkeeper",
            Self::TooOld => "the tables are of an older version",
        })
    }
}

/// A failure of a store. The call had no effect, except perhaps for
/// [`CommitUnknown`](StoreErrorKind::CommitUnknown).
#[derive(Clone, Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    /// Shared, because a failed commit is reported to every write of its group.
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// The kind of failure.
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    pub(super) fn new(
        kind: StoreErrorKind,
        why: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { kind, source: Some(Arc::from(why.into())) }
    }

    /// A failure that no other kind describes.
    pub fn unexpected(what: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Unexpected, what.into())
    }

    /// While a shop was scanned, its history advanced past the change records that are kept, or
    /// diverged.
    pub fn changed_while_read() -> Self {
        Self::new(StoreErrorKind::Conflict, "the shop changed too much during its scan")
    }

    /// Too much is under way.
    pub fn busy(why: &str) -> Self {
        Self::new(StoreErrorKind::Busy, why)
    }

    /// The database cannot be used for now.
    pub fn unavailable(why: &str) -> Self {
        Self::new(StoreErrorKind::Unavailable, why)
    }

    /// A lookup that others waited for has panicked, or its thread was stopped.
    pub fn lookup_ended() -> Self {
        Self::unavailable("the lookup of the token ended early")
    }

    /// A search took too long.
    pub fn search_timeout() -> Self {
        Self { kind: StoreErrorKind::SearchTimeout, source: None }
    }

    /// The same failure, if it happened during a commit.
    pub(super) fn during_commit(self) -> Self {
        match self.kind {
            StoreErrorKind::Unavailable => Self { kind: StoreErrorKind::CommitUnknown, ..self },
            // The database rejected the commit.
            _ => self,
        }
    }

    /// What is wrong with the database file.
    pub(super) fn damaged(what: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Damaged, what.into())
    }

    pub(super) fn too_new() -> Self {
        Self { kind: StoreErrorKind::TooNew, source: None }
    }

    /// Tables with schema version `found`, which no release has written.
    pub(super) fn unreleased(found: usize) -> Self {
        Self::new(
            StoreErrorKind::TooOld,
            format!(
                "they have version {found}, from before the first release, and cannot be upgraded; \
                 export the products with the program that wrote them and import them into an \
                 empty store, or start with an empty one (docs/upgrade.md)"
            ),
        )
    }

    /// Tables with schema version `found`, which this command may not migrate to `needed`.
    pub(super) fn too_old(found: usize, needed: usize) -> Self {
        Self::new(
            StoreErrorKind::TooOld,
            format!(
                "they have version {found} and this program needs {needed}; a server that uses \
                 them may be running, so use the program that it runs, or upgrade it first"
            ),
        )
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|e| e as _)
    }
}

/// Displays an error with its source chain on one line, including the SQLSTATE of PostgreSQL.
pub struct ErrorChain<'a>(pub &'a (dyn std::error::Error + 'static));

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = self.0.to_string();
        f.write_str(&last)?;
        let mut next = Some(self.0);
        while let Some(error) = next {
            let text = error.to_string();
            // Some errors repeat their cause in their own text.
            if !last.ends_with(&text) {
                write!(f, ": {text}")?;
                last = text;
            }
            if let Some(database) = error.downcast_ref::<tokio_postgres::error::DbError>() {
                write!(f, " (SQLSTATE {})", database.code().code())?;
            }
            next = error.source();
        }
        Ok(())
    }
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, StorageFull};
        let kind = match error.kind() {
            StorageFull => StoreErrorKind::DiskFull,
            PermissionDenied | ReadOnlyFilesystem => StoreErrorKind::ReadOnly,
            _ => StoreErrorKind::Io,
        };
        Self { kind, source: Some(Arc::new(error)) }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreErrorKind::DiskFull,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreErrorKind::ReadOnly,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreErrorKind::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreErrorKind::Damaged,
            Some(ErrorCode::SystemIoFailure) if is_of_a_read(&error) => StoreErrorKind::Damaged,
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => StoreErrorKind::Io,
            _ => StoreErrorKind::Unexpected,
        };
        Self { kind, source: Some(Arc::new(error)) }
    }
}

/// Whether the disk failed to return what was written, rather than to take it.
fn is_of_a_read(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(code, Some(SQLITE_IOERR_READ | SQLITE_IOERR_CORRUPTFS | SQLITE_IOERR_DATA))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_shows_each_source_once() {
        let disk = io::Error::new(io::ErrorKind::StorageFull, "no space left");
        let error = StoreError::from(disk);
        assert_eq!(ErrorChain(&error).to_string(), "the disk is full: no space left");
        let alone = StoreError::too_new();
        assert_eq!(ErrorChain(&alone).to_string(), alone.to_string());
    }
}
