//! Authentication: from a bearer token to the caller of a request.
//!
//! [`layer`] verifies the token of every API request, [`jwt`] those that an identity provider
//! signed, with the keys of [`key_file`] and [`jwt_signatures`]. [`cors`] decides which web pages may call the service.

pub(crate) mod cors;
pub(crate) mod jwt;
mod jwt_signatures;
mod key_file;
pub(crate) mod layer;

pub(crate) use layer::Authenticator;
