//! What clients may send: request bodies, query parameters and headers, each defined once for
//! reading and for the OpenAPI document.
//!
//! [`body`] receives a body and [`json`] parses it strictly; [`fields`] reads its fields as
//! [`products`], [`search`] and [`tokens`] define them. [`parameters`] and [`headers`] read the
//! rest of a request.

pub(crate) mod body;
pub mod fields;
pub(crate) mod headers;
pub mod json;
pub mod parameters;
pub mod products;
pub mod search;
#[cfg(test)]
mod tests;
pub mod tokens;

pub use fields::ObjectDefinition;
pub use products::{MAX_BULK, MAX_PAGE};
