//! The domain of Shopkeeper: products, prices, access, query parsing, text analysis, ranking.
//!
//! The folders, each of which uses only those above it:
//!
//! | folder | question |
//! |---|---|
//! | [`text`] | which words does a text have, and which did the writer mean? |
//! | [`product`] | what is a product, what does it cost, who may see it? |
//! | [`inference`] | which category and attributes does a text state? |
//! | [`query`] | which conditions and words does a query state? |
//! | [`ranking`] | which product comes first, and why? |
//!
//! Architecture invariant: nothing here does I/O, is async, or knows HTTP, JSON or SQL. Time and
//! randomness are parameters. Everything is deterministic and can be tested in isolation.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod inference;
pub mod product;
pub mod query;
pub mod ranking;
pub mod text;
