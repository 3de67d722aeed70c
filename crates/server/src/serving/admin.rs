//! The admin listener: health and metrics for probes and scrapers, with connections that other
//! clients cannot exhaust.

use std::{future::Future, net::SocketAddr, time::Duration};

use anyhow::Context;
use tokio::{net::TcpListener, sync::oneshot};

use super::listen;
use crate::{
    config::{Config, Limits},
    http::{self, App, admission::ConnectionLimits},
};

/// The connection limit: more than probes and scrapers need.
const CONNECTIONS: usize = 64;
/// Time that requests in flight get to finish.
const SHUTDOWN_TIME: Duration = Duration::from_secs(1);

/// The listener for health and metrics.
pub(super) struct AdminListener {
    listener: TcpListener,
    address: SocketAddr,
    limits: Limits,
}

impl AdminListener {
    /// Binds the configured address; `None` if there is none.
    pub(super) async fn bind(config: &Config) -> anyhow::Result<Option<Self>> {
        let Some(address) = config.admin_listen else { return Ok(None) };
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address} for health and metrics"))?;
        let address = listener.local_addr()?;
        let limits = Limits { shutdown_time: SHUTDOWN_TIME, ..config.limits.clone() };
        Ok(Some(Self { listener, address, limits }))
    }

    /// The line that announces the address on standard output.
    pub(super) fn announcement(&self) -> String {
        tracing::info!(address = %self.address, "the admin listener is listening");
        format!("Health and metrics at http://{}\n", self.address)
    }

    /// Serves until the service has stopped, so that probes can observe the shutdown.
    pub(super) async fn serve_during(self, app: App, service: impl Future<Output = ()>) {
        let (stopped, stop) = oneshot::channel::<()>();
        let router = http::admin_router(app);
        let routes = listen::Routes { all: router.clone(), probes: router };
        let connections = ConnectionLimits::of_probes(CONNECTIONS);
        let stop = async {
            let _ = stop.await;
        };
        let answering = listen::serve(self.listener, routes, &self.limits, connections, stop);
        let serving = async {
            service.await;
            drop(stopped);
        };
        tokio::join!(serving, answering);
    }
}
