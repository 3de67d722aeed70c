//! The tags that group operations in the OpenAPI document.

/// Operations on products.
pub(crate) const PRODUCTS: &str = "Products";
/// Search.
pub(crate) const SEARCH: &str = "Search";
/// Operations on tokens.
pub(crate) const TOKENS: &str = "Tokens";
/// Health, metrics and documentation, for operators.
pub(crate) const OPERATION: &str = "Operation";
/// Pages for people.
pub(crate) const PAGES: &str = "Pages";
