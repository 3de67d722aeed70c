//! The state of a running service, which every handler shares.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::extract::FromRef;
use engine::Engine;
use metrics_exporter_prometheus::PrometheusHandle;

use super::{
    admission::{AdmissionControl, RateLimits, ResponseMemory},
    auth::{Authenticator, cors::Origins, jwt, jwt::SignedTokens},
    page_policy::PagePolicy,
    request_log::{RequestIds, RequestLog},
    requests::body::{BodyLimits, BodyReader},
    traffic::Traffic,
};
use crate::{config::Config, demo::DemoShop, readiness::ReadinessFlag};

/// The shared state of handlers.
pub type App = Arc<AppState>;

/// The parts of a running service.
pub struct AppState {
    pub(crate) engine: Arc<Engine>,
    pub(crate) admission: Arc<AdmissionControl>,
    pub(crate) authenticator: Arc<Authenticator>,
    pub(crate) body_reader: BodyReader,
    pub(crate) request_log: Arc<RequestLog>,
    /// The longest time that a search may take.
    pub(crate) search_time: Duration,
    pub(crate) readiness: Arc<ReadinessFlag>,
    pub(crate) metrics: PrometheusHandle,
    /// Whether metrics are served without a token by the main listener.
    pub(crate) public_metrics: bool,
    /// Whether metrics are served without a token by the admin listener.
    pub(crate) public_admin_metrics: bool,
    /// The demo shop; `None` outside `shopkeeper demo`.
    pub(crate) demo: Option<DemoShop>,
    pub(crate) page_policy: PagePolicy,
    pub(crate) origins: Origins,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) started: Instant,
}

impl AppState {
    /// Builds the state from the configuration. `process` is a number that distinguishes the
    /// request ids of this process from those of others.
    pub fn new(
        engine: Arc<Engine>,
        config: &Config,
        readiness: Arc<ReadinessFlag>,
        metrics: PrometheusHandle,
        process: u64,
    ) -> anyhow::Result<Self> {
        let limits = &config.limits;
        let admission = Arc::new(AdmissionControl::new(limits));
        let response_memory = Arc::new(ResponseMemory::new(limits.response_memory));
        let traffic = Arc::new(Traffic::default());
        let is_local = config.listen.ip().to_canonical().is_loopback();
        let signed_tokens = config.jwt.as_ref().map(SignedTokens::new).transpose()?;
        Ok(Self {
            authenticator: Arc::new(Authenticator {
                engine: Arc::clone(&engine),
                signed_tokens: signed_tokens.map(Arc::new),
                rate_limits: config.rate_limit.map(RateLimits::new),
                admission: Arc::clone(&admission),
                traffic: Arc::clone(&traffic),
            }),
            body_reader: BodyReader {
                limits: BodyLimits { bytes: limits.body_bytes, read_time: limits.body_read_time },
                admission: Arc::clone(&admission),
                response_memory: Arc::clone(&response_memory),
            },
            request_log: Arc::new(RequestLog {
                ids: RequestIds::new(process),
                time_limit: limits.request_time,
                response_memory,
                readiness: Arc::clone(&readiness),
            }),
            engine,
            admission,
            search_time: limits.search_time,
            readiness,
            metrics,
            public_metrics: config.metrics.public.unwrap_or(is_local),
            public_admin_metrics: config.metrics.public.unwrap_or(true),
            demo: None,
            page_policy: PagePolicy::new(&config.pages),
            origins: Origins::new(&config.cors),
            traffic,
            started: Instant::now(),
        })
    }

    /// Watches the files that the keys of signed tokens come from, until the runtime stops.
    pub(crate) fn watch_keys(&self) {
        self.authenticator.signed_tokens.iter().cloned().for_each(jwt::watch_keys);
    }

    /// The same state with a demo shop.
    pub(crate) fn with_demo(self, demo: Option<DemoShop>) -> Self {
        Self { demo, ..self }
    }
}

impl FromRef<App> for BodyReader {
    fn from_ref(app: &App) -> Self {
        app.body_reader.clone()
    }
}
