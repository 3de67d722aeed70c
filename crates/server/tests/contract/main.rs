//! Black-box tests of the API contract: the real binary, over a real socket.
//!
//! Every module tests one part of the contract. Shops are isolated, so most tests share a server and
//! take a shop of their own (`testkit::Shop`).
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
mod signed;
mod similar;
mod snapshot;
mod spelling;
mod status;
mod tokens;
mod versions;
