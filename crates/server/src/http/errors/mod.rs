//! Errors of the API: one table from every error to its response, and what each one means.
//!
//! [`problem`] has the table and the response body, [`validation`] the errors of single fields,
//! [`codes`] and [`mod@reference`] the explanations that clients read, and [`responses`] the
//! description for the OpenAPI document.

pub(crate) mod codes;
pub mod problem;
pub(crate) mod reference;
pub(crate) mod responses;
pub mod validation;

pub use problem::ApiError;
pub use validation::{ValidationError, ValidationErrors};
