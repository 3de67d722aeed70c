//! Admission control: connections are bounded, every request takes a slot, and the memory of bodies
//! and responses is bounded, for all callers together, for each shop and for each token.
//!
//! [`connections`] bounds open connections and [`pending_bodies`] those that wait for a body;
//! [`connection_state`] knows which of them wait for their clients. [`layer`] checks the size of a request's head and takes a slot from [`control`], which also
//! accounts for the memory of request bodies. [`rate_limit`] bounds the requests of a token over
//! time, [`response_memory`] the memory of responses that are not sent yet. [`pool`] is the counter
//! that they share.

mod connection_state;
pub(crate) mod connections;
pub(crate) mod control;
pub(crate) mod layer;
pub(crate) mod pending_bodies;
pub(crate) mod pool;
pub(crate) mod rate_limit;
pub(crate) mod response_memory;

pub(crate) use connections::{Address, Connection, ConnectionLimits, Connections};
pub(crate) use control::{Admission, AdmissionControl};
pub(crate) use rate_limit::RateLimits;
pub(crate) use response_memory::ResponseMemory;
