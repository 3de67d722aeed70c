//! Starts what tests and benchmarks run against: the `shopkeeper` binary on a data folder or a
//! database ([`Installation`], [`Server`]), an HTTP client for it ([`Client`]), a PostgreSQL server
//! ([`Postgres`]), a proxy that fails like a network ([`Proxy`]) and certificates.
//!
//! Nothing is installed: tests that need PostgreSQL fail with the command that installs it.
#![allow(clippy::unwrap_used, reason = "a test without its fixtures fails")]

mod certificates;
mod client;
mod memory;
mod node;
mod postgres;
mod proxy;
mod role;
mod server;
mod shop;
mod socket;

use std::{
    thread,
    time::{Duration, Instant},
};

pub use certificates::{Authority, Certificate};
pub use client::{
    Answer, BULK, Client, PRODUCTS, RequestExt, SEARCH, TOKENS, UPSERT, product, product_named,
};
pub use memory::{growth_over_second_half, peak_resident_bytes, resident_bytes};
pub use node::{Node, age, bearer, ids, run_on, seed, seq, token, token_of};
pub use postgres::{Postgres, TableLock, postgres};
pub use proxy::{CutAt, Proxy};
pub use role::Role;
pub use server::{Installation, Server, printed, refused, run, shopkeeper};
pub use shop::{Shop, TestServer, editor, silent_model};
pub use socket::{RawAnswer, Socket};

/// The limit of every wait: longer than anything takes on a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// The ids of no products.
pub const NO_IDS: [u64; 0] = [];

/// Polls until the condition holds, for what no event announces. `what` names it in the failure.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < TIMEOUT, "{what} did not happen within {TIMEOUT:?}");
        thread::sleep(Duration::from_millis(10));
    }
}
