//! Several nodes on one PostgreSQL database, under faults: a node killed or paused, the database
//! stopped, unresponsive, or replaced by its replica.
//!
//! `TEST_SEED=<seed>` repeats a run; `TEST_ROUNDS=<number>` injects more faults.
#![allow(clippy::unwrap_used)]

mod commands;
mod commits;
mod embedding;
mod encryption;
mod failover;
mod faults;
mod moving;
mod outage;
mod pool;
mod tokens;
mod visibility;

use std::{env, time::Duration};

/// The number of faults to inject: few in `make test`, many in `make test-faults`.
fn rounds() -> usize {
    env::var("TEST_ROUNDS").ok().map_or(2, |rounds| rounds.parse().unwrap())
}

/// How long the database stays unavailable.
fn outage() -> Duration {
    Duration::from_secs(if rounds() > 2 { 10 } else { 5 })
}
