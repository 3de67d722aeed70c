//! Does the service keep its contract? Asked from outside: the real binary, over a real socket.
//!
//! [`shop`] is the one module that knows how to start a server and ask it; every other module
//! holds one part of the contract as small tests. Shops do not see each other, so most tests
//! share a server and take a shop of their own.
#![allow(clippy::unwrap_used)]

mod access;
mod bulk;
mod configuration;
mod constraints;
mod demo;
mod errors;
mod evaluation;
mod explaining;
mod figures;
mod limits;
mod listing;
mod mcp;
mod operation;
mod pages;
mod paging;
mod products;
mod provider;
mod repeating;
mod retries;
mod searching;
mod shop;
mod signed;
mod similar;
mod socket;
mod spelling;
mod status;
mod tokens;
mod versions;
