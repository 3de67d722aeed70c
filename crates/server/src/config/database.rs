//! Which database, if any, and how is it reached?

use std::{env, io, path::Path};

use engine::store::{DatabaseAddress, PostgresSettings};

use super::{
    resolve::Resolver,
    secret::{Secret, without_final_line_break},
    settings::DatabaseSettings,
};

/// A database in place of the data folder.
#[derive(Debug, Clone, PartialEq)]
pub struct DatabaseConfig {
    /// How it is reached.
    pub settings: PostgresSettings,
    /// Whether a node brings its tables up to date at the start.
    pub migrate: bool,
}

/// Checks the rules between the settings; `None` where there is no database or something was refused.
pub(super) fn resolve(
    settings: DatabaseSettings,
    resolver: &mut Resolver,
    read_file: impl Fn(&Path) -> io::Result<String>,
) -> Option<DatabaseConfig> {
    let (key, url) = url(&settings, resolver, read_file)?;
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

/// The address, and the setting that says it.
fn url(
    settings: &DatabaseSettings,
    resolver: &mut Resolver,
    read_file: impl Fn(&Path) -> io::Result<String>,
) -> Option<(&'static str, Secret)> {
    match (&settings.url, &settings.url_file) {
        (Some(_), Some(_)) => {
            resolver.refuse("database.url_file", "set either this or database.url, not both");
            None
        }
        (Some(url), None) => Some(("database.url", url.clone())),
        (None, Some(file)) => match read_file(file) {
            Ok(text) => {
                let url = Secret::new(without_final_line_break(&text).to_owned());
                Some(("database.url_file", url))
            }
            Err(error) => {
                resolver.refuse("database.url_file", format!("cannot be read: {error}"));
                None
            }
        },
        (None, None) => None,
    }
}
