//! Black-box tests of docs/reliability.md: hostile callers, noisy neighbours, damaged rows and lost
//! commits, against the real binary. `HARDENING=long` runs the long forms (`make test-hardening`).
#![allow(clippy::unwrap_used)]

mod admission;
mod bounds;
mod conditions;
mod exclusions;
mod loading;
mod operation;
mod overload;
mod recovery;
mod visibility;
mod writes;

#[path = "../contract/provider.rs"]
#[allow(dead_code)]
mod provider;
