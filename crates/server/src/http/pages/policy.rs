//! What may a page do in a browser? Run its own scripts, call its own server, show pictures from
//! where the operator says, and nothing else.

use axum::http::{HeaderName, HeaderValue};

use crate::config::Pages;

/// Keeps windows of other sites from holding on to a page.
pub(super) const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// The Content-Security-Policy of every page.
pub(crate) struct PagePolicy(HeaderValue);

impl PagePolicy {
    pub(crate) fn new(pages: &Pages) -> Self {
        let mut pictures = String::from("'self'");
        for origin in &pages.image_origins {
            pictures.push(' ');
            pictures.push_str(if origin == "*" { "https: http:" } else { origin });
        }
        // Scripts can't turn text into markup or code even by mistake: there is no trusted type.
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
             img-src {pictures}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
             require-trusted-types-for 'script'; trusted-types 'none'"
        );
        Self(
            HeaderValue::from_str(&policy).unwrap_or_else(|_| {
                unreachable!("origins were read as hosts, which are header text")
            }),
        )
    }

    pub(super) fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}
