//! Everything between the network and the engine: HTTP, JSON, configuration, command line.
//!
//! Follow a request: [`serving`] accepts it, [`http`] routes, checks, reads and answers it.
//! Start at [`cli`] for what the binary can do.
//!
//! Architecture invariant: no SQL and no scoring here; a handler parses, gets a pass, makes one
//! engine call and writes the answer.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod cli;
pub mod config;
pub mod demo;
pub mod http;
pub mod metrics;
pub mod readiness;
pub mod serving;
pub mod telemetry;
