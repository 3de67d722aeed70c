//! Black-box tests of the API contract: the real binary, over a real socket.
//!
//! Every module tests one part of the contract. Shops are isolated, so most tests share a server and
//! take a shop of their own (`testkit::Shop`).
#![allow(clippy::unwrap_used)]

mod access;
mod bulk;
mod changes;
mod configuration;
mod constraints;
mod demo;
mod errors;
mod evaluation;
mod explaining;
mod facets;
mod figures;
mod filters;
mod heads;
mod inference;
mod languages;
mod limits;
mod listing;
mod mcp;
mod merchant_data;
mod operation;
mod pages;
mod paging;
mod products;
mod provider;
mod quotas;
mod repeating;
mod retries;
mod searching;
mod signed;
mod similar;
mod snapshot;
mod sorting;
mod spelling;
mod status;
mod tokens;
mod upsert;
mod versions;
