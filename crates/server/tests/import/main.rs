//! Does every kind of file become the right products, once, and come back out as it went in? The
//! real binary imports into folders and into real servers, is killed, and goes on.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../durability/client.rs"]
mod client;
mod export;
mod formats;
mod keys;
mod memory;
mod place;
mod refusals;
mod resume;
#[allow(dead_code)]
#[path = "../durability/server.rs"]
mod server;
