//! The HTTP client for outbound requests: to an embedding endpoint, to the server that a command
//! names, to a trace collector.

use std::{sync::Arc, time::Duration};

use rustls::crypto::ring;
use ureq::{
    Agent,
    config::{AutoHeaderValue, ConfigBuilder},
    tls::{RootCerts, TlsConfig},
    typestate::AgentScope,
};

/// Settings of a client whose requests, responses included, may take `timeout` each.
///
/// Certificates are checked against the system's authorities. Redirects are not followed: a token
/// goes to the configured host only, and a redirected POST would become a GET. A response of any
/// status is returned as a response.
pub fn settings(timeout: Duration) -> ConfigBuilder<AgentScope> {
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()));
    Agent::config_builder()
        .timeout_global(Some(timeout))
        .max_redirects(0)
        .http_status_as_error(false)
        .user_agent(AutoHeaderValue::None)
        .tls_config(tls.build())
}
