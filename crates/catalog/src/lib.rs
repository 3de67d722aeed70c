//! The domain of Shopkeeper: products, prices, access, query parsing, text analysis, ranking.
//!
//! Architecture invariant: nothing here does I/O, is async, or knows HTTP, JSON or SQL. Time and
//! randomness are parameters. Everything is deterministic and can be tested in isolation.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod access;
pub mod analysis;
pub mod attributes;
pub mod change;
pub mod currency;
pub mod explanation;
pub mod facets;
pub mod filter;
mod fnv;
pub mod fusion;
pub mod http_url;
pub mod id;
pub mod inference;
pub mod key;
mod lexer;
pub mod media;
pub mod price;
pub mod product;
pub mod query;
pub mod query_parser;
pub mod ranking;
pub mod reranking;
pub mod sort;
pub mod spelling;
pub mod text;
pub mod tuning;
pub mod word_forms;
mod word_hash;
