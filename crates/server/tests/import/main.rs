//! Imports and exports of every file format by the real binary, into data folders and running
//! servers, with restarts after a kill.
#![allow(clippy::unwrap_used)]

mod export;
mod formats;
mod keys;
mod limits;
mod memory;
mod merchant_data;
mod refusals;
mod resume;
mod sync;
mod target;
