//! Do many nodes on one database behave like one service? Real servers, a real PostgreSQL, and
//! what can happen to them: a node killed, a node paused, the database gone and back, or silent, or
//! replaced by its replica.
//!
//! `TEST_SEED=<seed>` repeats a run; `TEST_ROUNDS=<number>` makes the faults longer.
#![allow(clippy::unwrap_used)]

mod commands;
mod commits;
mod embedding;
mod encryption;
mod failover;
mod faults;
mod moving;
mod node;
mod outage;
mod pool;
mod visibility;
