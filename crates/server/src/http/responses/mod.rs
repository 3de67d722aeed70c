//! Response bodies, each defined once: a type that is serialised and that gives the schema of the
//! OpenAPI document. Its response in the document, with an example, stands in the same file.
//!
//! [`describe`] builds the document's responses from these types. [`static_content`] serves content
//! that does not change while the process runs.

pub(crate) mod bulk;
pub(crate) mod changes;
pub(crate) mod describe;
pub mod explanation;
pub(crate) mod facets;
pub(crate) mod health;
pub(crate) mod inferred;
pub mod products;
pub mod search;
pub(crate) mod static_content;
pub(crate) mod stats;
pub mod tokens;
pub mod understood;
