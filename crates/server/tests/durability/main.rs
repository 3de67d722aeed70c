//! Durability: the real binary is killed, stopped, runs out of disk space and loses write access
//! to its folder. No acknowledged write is lost, and no other write is applied in part.
//!
//! Random tests print their seed; `TEST_SEED=<seed>` repeats them.
#![allow(clippy::unwrap_used)]

mod crash;
mod damage;
mod disk;
mod folder;
mod open_files;
mod soak;
mod stop;
mod tokens;
mod workload;
mod writes;

/// The flag of a server without a model. Queries then match by words alone, so that totals can be
/// compared with what was written.
const NO_MODEL: [&str; 2] = ["--model-kind", "off"];
