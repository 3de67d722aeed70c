//! Is an answered write ever lost, whatever happens to the process or its disk? The real binary
//! is killed, stopped, starved of space and shut out of its folder, and must neither lose what
//! it answered nor show half of what it did not.
//!
//! Random parts print their seed; `TEST_SEED=<seed>` repeats them.
#![allow(clippy::unwrap_used)]

mod client;
mod crash;
mod disk;
mod folder;
mod open_files;
mod server;
mod soak;
mod stop;
mod tokens;
mod workload;
