//! What can go wrong with the store, and is it the disk's fault or ours?

use std::{fmt, io, sync::Arc};

use rusqlite::ErrorCode;

/// The kind of trouble, as far as a caller can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No space left.
    DiskFull,
    /// The folder or file may not be written.
    ReadOnly,
    /// Another process holds the write lock for too long, or everything is in use.
    Busy,
    /// Another node wrote to the same rows at the same moment; the same call may succeed at once.
    Contended,
    /// The database cannot be reached, or ended the connection.
    Away,
    /// The database went away while it was told to commit: nobody here knows whether it did.
    Unconfirmed,
    /// A search took longer than it may.
    OutOfTime,
    /// The operating system failed to read or write.
    Io,
    /// The database says something that cannot be, or refuses what it should accept.
    Damaged,
    /// The database was written by a newer version of this program.
    TooNew,
    /// The tables are of an older version, which others may be using.
    TooOld,
}

impl Trouble {
    /// Whether the same call may succeed later, once the operator has mended the disk.
    pub fn may_pass(self) -> bool {
        match self {
            Self::DiskFull
            | Self::ReadOnly
            | Self::Busy
            | Self::Contended
            | Self::Away
            | Self::Unconfirmed
            | Self::OutOfTime
            | Self::Io => true,
            Self::Damaged | Self::TooNew | Self::TooOld => false,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DiskFull => "the disk is full",
            Self::ReadOnly => "the store cannot be written",
            Self::Busy => "the store is in use for too long",
            Self::Contended => "another node wrote at the same moment",
            Self::Away => "the database cannot be reached",
            Self::Unconfirmed => "the database was lost in a commit and may have done it",
            Self::OutOfTime => "the search took too long",
            Self::Io => "the disk failed",
            Self::Damaged => "the database holds something unexpected",
            Self::TooNew => "the store was written by a newer version of shopkeeper",
            Self::TooOld => "the tables are of an older version",
        })
    }
}

/// The store could not do what was asked. Nothing of it was done, unless it is
/// [unconfirmed](Trouble::Unconfirmed).
#[derive(Clone, Debug)]
pub struct StoreError {
    trouble: Trouble,
    /// Shared, because one failed commit answers every write of its group.
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// What kind of trouble it is.
    pub fn trouble(&self) -> Trouble {
        self.trouble
    }

    pub(super) fn new(
        trouble: Trouble,
        why: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { trouble, source: Some(Arc::from(why.into())) }
    }

    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::new(Trouble::Damaged, what.into())
    }

    /// A shop's history went on by more than its record of changes goes back to, or became another,
    /// while the shop was read.
    pub(crate) fn changed_while_read() -> Self {
        Self::new(Trouble::Contended, "the shop changed too much while it was read")
    }

    #[cfg(test)]
    pub(crate) fn busy(why: &str) -> Self {
        Self::new(Trouble::Busy, why)
    }

    pub(crate) fn away(why: &str) -> Self {
        Self::new(Trouble::Away, why)
    }

    pub(crate) fn out_of_time() -> Self {
        Self { trouble: Trouble::OutOfTime, source: None }
    }

    /// The same failure, met after the database was told to commit.
    pub(super) fn in_a_commit(self) -> Self {
        match self.trouble {
            Trouble::Away => Self { trouble: Trouble::Unconfirmed, ..self },
            // It said no.
            _ => self,
        }
    }

    pub(super) fn too_new() -> Self {
        Self { trouble: Trouble::TooNew, source: None }
    }

    /// Tables of version `found`, which this command may not bring to version `needed`.
    pub(super) fn too_old(found: usize, needed: usize) -> Self {
        Self::new(
            Trouble::TooOld,
            format!(
                "they have version {found} and this program needs {needed}; a server that uses \
                 them may be running, so use the program that it runs, or upgrade it first"
            ),
        )
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.trouble.fmt(f)
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|e| e as _)
    }
}

/// An error with all its causes, for one line of the log. A cause that the database named has its
/// SQLSTATE.
pub struct ErrorChain<'a>(pub &'a (dyn std::error::Error + 'static));

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = self.0.to_string();
        f.write_str(&said)?;
        let mut next = Some(self.0);
        while let Some(error) = next {
            let text = error.to_string();
            // Some errors repeat their cause in their own text.
            if !said.ends_with(&text) {
                write!(f, ": {text}")?;
                said = text;
            }
            if let Some(refusal) = error.downcast_ref::<tokio_postgres::error::DbError>() {
                write!(f, " (SQLSTATE {})", refusal.code().code())?;
            }
            next = error.source();
        }
        Ok(())
    }
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, StorageFull};
        let trouble = match error.kind() {
            StorageFull => Trouble::DiskFull,
            PermissionDenied | ReadOnlyFilesystem => Trouble::ReadOnly,
            _ => Trouble::Io,
        };
        Self { trouble, source: Some(Arc::new(error)) }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let trouble = match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Trouble::DiskFull,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Trouble::ReadOnly,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Trouble::Busy,
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => Trouble::Io,
            _ => Trouble::Damaged,
        };
        Self { trouble, source: Some(Arc::new(error)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_every_cause_once() {
        let disk = io::Error::new(io::ErrorKind::StorageFull, "no space left");
        let error = StoreError::from(disk);
        assert_eq!(ErrorChain(&error).to_string(), "the disk is full: no space left");
        let alone = StoreError::too_new();
        assert_eq!(ErrorChain(&alone).to_string(), alone.to_string());
    }
}
