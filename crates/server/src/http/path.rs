//! What does the variable part of a path say?

use std::convert::Infallible;

use axum::{
    RequestPartsExt,
    extract::{FromRequestParts, Path},
    http::request::Parts,
};

/// The variable part as text, for the handler to read after its other checks. What is not
/// UTF-8 says nothing, and is refused there like everything else that is not a number.
pub(crate) struct PathText(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for PathText {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let path = parts.extract::<Path<String>>().await;
        Ok(Self(path.map_or_else(|_| String::new(), |Path(text)| text)))
    }
}
