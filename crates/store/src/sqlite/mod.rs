//! The SQLite store: one database file per data folder.
//!
//! Write-ahead logging with `synchronous=FULL`: a committed transaction survives a killed process
//! and a power failure. One connection writes products (that of the writer, or
//! of a command), another removes expired rows; any number of connections read, each from its own
//! snapshot.

mod changes;
mod cleanup;
mod damage;
mod database_file;
mod emptied;
mod folder;
mod index_files;
mod reader;
pub mod rows;
mod schema;
mod state;
mod store;
mod token_reads;
mod tokens;
mod transaction;
mod vectors;

pub use damage::Damage;
pub use folder::{DataFolder, FolderInUse};
pub use index_files::INDEX_FOLDER;
pub use reader::SqliteReaders;
pub use store::SqliteStore;
