//! How well does the service do, seen from outside? Load, measurements and reports.
//!
//! A measurement makes its [`products`] from a [`vocabulary`], starts the release binary as a
//! [`service`], drives it over [`client`] connections by [`load`], and writes a [`report`] that
//! names the [`machine`] and its [`disk`]. [`cpu`] tells who took the processor's time.
//!
//! Architecture invariant: no other crate depends on this one, and this one depends on none of
//! them: it knows the service by its binary and its HTTP interface alone.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod client;
pub mod cpu;
pub mod disk;
pub mod load;
pub mod machine;
pub mod products;
pub mod random;
pub mod report;
pub mod service;
pub mod vocabulary;
