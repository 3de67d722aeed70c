//! The Content-Security-Policy of pages: own scripts and styles, requests to the own server, and
//! pictures from configured origins.

use axum::http::{HeaderName, HeaderValue};

use crate::config::Pages;

/// Isolates a page from windows of other sites.
pub(crate) const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// The Content-Security-Policy of every page.
pub(crate) struct PagePolicy(HeaderValue);

impl PagePolicy {
    pub(crate) fn new(pages: &Pages) -> Self {
        let mut pictures = String::from("'self'");
        for origin in &pages.image_origins {
            pictures.push(' ');
            pictures.push_str(if origin == "*" { "https: http:" } else { origin });
        }
        // No trusted type is allowed, so scripts cannot turn text into markup or code.
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

    pub(crate) fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}
