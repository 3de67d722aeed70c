//! Loads the configuration: flags override environment variables, which override a TOML file, which
//! overrides the defaults.
//!
//! `settings` is the table of all settings; to add one, add a line there. `flags` and `sources`
//! collect raw values, `resolve` parses each by its kind (`kinds`), [`Config::load`] checks the rules
//! between settings and reports all errors at once, `report` and `reference` print.

mod database;
mod fault;
mod flags;
mod jwt;
mod kinds;
mod model;
mod nearest;
mod raw;
mod reference;
mod report;
mod resolve;
mod secret;
mod section;
mod settings;
mod sources;
mod units;

#[cfg(test)]
mod tests;

use std::{
    ffi::OsString,
    io,
    net::SocketAddr,
    num::NonZeroU32,
    path::{Path, PathBuf},
};

pub use database::DatabaseConfig;
pub use fault::{ConfigErrors, Fault, Origin};
pub use flags::{Flags, arguments};
pub use jwt::{JwtConfig, JwtKeys, MIN_SECRET_BYTES, secret_in_file};
pub use kinds::Shown;
pub use model::ModelConfig;
pub use reference::reference_markdown;
pub use report::Report;
pub use resolve::InForce;
use resolve::{RawSettings, Resolver};
pub use secret::Secret;
pub use settings::{
    Cors, Index, JwtAlgorithm, Limits, Log, LogFormat, Metrics, Pages, Quota, Store, Telemetry,
};
use settings::{
    DatabaseSettings, General, JwtSettings, ModelSettings, RateLimitSettings, sections,
};
pub(crate) use units::parse_time;

/// The configuration in force, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The folder of the SQLite database.
    pub data: PathBuf,
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// Address and port of the admin listener: health and metrics only.
    pub admin_listen: Option<SocketAddr>,
    /// Limits on requests, connections and queues.
    pub limits: Limits,
    /// The rate limit of each token; `None` sets no limit.
    pub rate_limit: Option<RateLimit>,
    /// Cross-origin requests.
    pub cors: Cors,
    /// The HTML pages.
    pub pages: Pages,
    /// The search indexes held in memory.
    pub index: Index,
    /// How products are stored.
    pub store: Store,
    /// The most that each shop may store.
    pub quota: Quota,
    /// The PostgreSQL database; `None` means SQLite in the data folder.
    pub database: Option<DatabaseConfig>,
    /// The embedding model.
    pub model: ModelConfig,
    /// Concurrent searches above which queries are embedded by the instant encoder.
    pub query_budget: usize,
    /// Whether products get deep vectors in the background.
    pub embed_in_background: bool,
    /// The log on standard error.
    pub log: Log,
    /// The export of traces.
    pub telemetry: Telemetry,
    /// The Prometheus endpoint.
    pub metrics: Metrics,
    /// Signed tokens (JWT); `None` accepts none.
    pub jwt: Option<JwtConfig>,
    /// Every setting with its origin.
    pub report: Report,
}

/// The rate limit of one token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// Average requests per second.
    pub requests_per_second: NonZeroU32,
    /// Requests in a burst.
    pub burst: NonZeroU32,
}

impl Config {
    /// Loads the configuration from the given flags, the environment (`std::env::vars_os()`) and the file that
    /// one of them names, read with `read_file` (`|path| std::fs::read_to_string(path)`).
    ///
    /// # Errors
    /// Lists every unknown name, wrong type, value out of range and broken rule at once.
    pub fn load<N: Into<OsString>, V: Into<OsString>>(
        flags: &Flags,
        environment: impl IntoIterator<Item = (N, V)>,
        read_file: impl Fn(&Path) -> io::Result<String>,
    ) -> Result<Self, ConfigErrors> {
        let settings: Vec<_> =
            sections().into_iter().flat_map(|section| section.settings).collect();
        let environment = environment.into_iter().map(|(name, value)| (name.into(), value.into()));
        let raw = RawSettings::gather(&settings, flags, environment, &read_file);
        let mut resolver = Resolver::new(raw);
        let config = Self::resolve(&mut resolver, read_file);
        match config {
            Some(config) if resolver.faults.is_empty() => Ok(config),
            _ => Err(ConfigErrors(resolver.faults)),
        }
    }

    /// Resolves all sections before it fails, so that all errors are reported.
    fn resolve(
        resolver: &mut Resolver,
        read_file: impl Fn(&Path) -> io::Result<String>,
    ) -> Option<Self> {
        let general = General::resolve(resolver);
        let limits = Limits::resolve(resolver);
        let rate_limit = RateLimitSettings::resolve(resolver);
        let cors = Cors::resolve(resolver);
        let pages = Pages::resolve(resolver);
        let index = Index::resolve(resolver);
        let store = Store::resolve(resolver);
        let quota = Quota::resolve(resolver);
        let database = DatabaseSettings::resolve(resolver);
        let model = ModelSettings::resolve(resolver);
        let log = Log::resolve(resolver);
        let telemetry = Telemetry::resolve(resolver);
        let metrics = Metrics::resolve(resolver);
        let jwt = JwtSettings::resolve(resolver);
        if resolver.is_incomplete() {
            return None;
        }

        limits.iter().for_each(|limits| check_limits(limits, resolver));
        cors.iter().for_each(|cors| check_origins("cors.origins", &cors.origins, resolver));
        pages.iter().for_each(|pages| {
            check_origins("pages.image_origins", &pages.image_origins, resolver);
        });
        let rate_limit = rate_limit.map(|settings| resolve_rate_limit(&settings, resolver));
        let query_budget = model.as_ref().map(|settings| settings.query_budget);
        let database = database.map(|settings| database::resolve(settings, resolver, &read_file));
        let embed_in_background = model.as_ref().map(|settings| settings.background);
        let model = model.and_then(|settings| model::resolve(settings, resolver, &read_file));
        let jwt = jwt.map(|settings| jwt::resolve(settings, resolver, read_file));

        let General { data, listen, admin_listen } = general?;
        Some(Self {
            data,
            listen,
            admin_listen,
            limits: limits?,
            rate_limit: rate_limit?,
            cors: cors?,
            pages: pages?,
            index: index?,
            store: store?,
            quota: quota?,
            database: database?,
            model: model?,
            query_budget: query_budget?,
            embed_in_background: embed_in_background?,
            log: log?,
            telemetry: telemetry?,
            metrics: metrics?,
            jwt: jwt?,
            report: Report(resolver.in_force.clone()),
        })
    }
}

impl Default for Config {
    fn default() -> Self {
        let nothing: [(OsString, OsString); 0] = [];
        Self::load(&Flags::default(), nothing, |_| Err(io::ErrorKind::NotFound.into()))
            .expect("the defaults are valid")
    }
}

fn check_limits(limits: &Limits, resolver: &mut Resolver) {
    if limits.uri_bytes > limits.header_bytes {
        resolver.refuse(
            "limits.uri_bytes",
            "must not exceed limits.header_bytes, which counts the address too",
        );
    }
}

fn check_origins(key: &'static str, origins: &[String], resolver: &mut Resolver) {
    if origins.len() > 1 && origins.iter().any(|origin| origin == "*") {
        resolver.refuse(key, "* stands for every origin and must stand alone");
    }
}

fn resolve_rate_limit(settings: &RateLimitSettings, resolver: &mut Resolver) -> Option<RateLimit> {
    match (NonZeroU32::new(settings.requests_per_second), NonZeroU32::new(settings.burst)) {
        (Some(rate), burst) => {
            Some(RateLimit { requests_per_second: rate, burst: burst.unwrap_or(rate) })
        }
        (None, None) => None,
        (None, Some(_)) => {
            if resolver.origin("rate_limit.requests_per_second") == Origin::Default {
                resolver.refuse(
                    "rate_limit.burst",
                    "has no effect without rate_limit.requests_per_second",
                );
            }
            None
        }
    }
}
