//! Load benchmarks of the service, measured from outside.
//!
//! A benchmark generates [`products`] from a [`vocabulary`] or reads them from a [`catalog_file`],
//! takes or derives [`queries`], starts the release binary as a [`service`], drives it over [`client`]
//! connections with [`load`], and writes a [`report`] with the [`machine`] and its [`disk`]. [`cpu`]
//! measures the processor time of each process, [`bandwidth`] what memory allows.
//!
//! Architecture invariant: no other crate depends on this one.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod bandwidth;
pub mod catalog_file;
pub mod client;
pub mod cpu;
pub mod disk;
pub mod load;
pub mod machine;
pub mod products;
pub mod queries;
pub mod random;
pub mod report;
pub mod service;
pub mod vocabulary;
