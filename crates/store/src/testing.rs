//! What tests of stores share.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use crate::PostgresSettings;

/// Connection settings for tests.
pub fn settings(url: &str) -> PostgresSettings {
    PostgresSettings {
        address: url.parse().unwrap(),
        connections: 4,
        connect_time: Duration::from_secs(5),
        statement_time: Duration::from_secs(20),
        lock_time: Duration::from_secs(10),
        scratch: std::env::temp_dir(),
        search_above: usize::MAX,
    }
}
