//! The rules between the settings of the database.

use std::{env, io, path::Path};

use store::{DatabaseAddress, PostgresSettings};

use super::{resolve::Resolver, settings::DatabaseSettings};

/// A database in place of the data folder.
#[derive(Debug, Clone, PartialEq)]
pub struct DatabaseConfig {
    /// The connection settings.
    pub settings: PostgresSettings,
    /// Whether a node migrates the schema when it starts.
    pub migrate: bool,
}

/// Checks the rules between the settings; `None` if there is no database or a rule is broken.
pub(super) fn resolve(
    settings: DatabaseSettings,
    resolver: &mut Resolver,
    read_file: impl Fn(&Path) -> io::Result<String>,
) -> Option<DatabaseConfig> {
    let (key, url) = resolver.secret_or_file(
        ("database.url", settings.url.as_ref()),
        ("database.url_file", settings.url_file.as_deref()),
        read_file,
    )??;
    let text = String::from_utf8_lossy(url.expose());
    let address = match text.parse::<DatabaseAddress>() {
        Ok(address) => address,
        Err(error) => {
            resolver.refuse(key, error.to_string());
            return None;
        }
    };
    Some(DatabaseConfig {
        settings: PostgresSettings {
            address,
            connections: settings.connections,
            connect_time: settings.connect_time,
            statement_time: settings.statement_time,
            lock_time: settings.lock_time,
            scratch: settings.scratch.unwrap_or_else(env::temp_dir),
            search_above: settings.search_above,
        },
        migrate: settings.migrate,
    })
}
