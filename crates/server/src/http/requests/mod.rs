//! What clients may send: request bodies, query parameters and headers, each defined once for
//! reading and for the OpenAPI document.
//!
//! [`body`] receives a body and [`json`] parses it strictly; [`fields`] reads its fields as
//! [`products`] with [`merchant_data`], [`search`] with [`filter`], and [`tokens`] define them.
//! [`parameters`] and [`headers`] read the rest of a request, for [`listing`] and others.

pub(crate) mod body;
pub(crate) mod changes;
pub mod fields;
pub(crate) mod filter;
pub(crate) mod headers;
pub mod json;
pub mod listing;
pub(crate) mod merchant_data;
pub mod parameters;
pub mod products;
pub mod search;
#[cfg(test)]
mod tests;
pub mod tokens;

pub use fields::ObjectDefinition;
pub use listing::MAX_PAGE;
pub use products::MAX_BULK;
