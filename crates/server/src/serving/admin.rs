//! Where do probes and scrapers ask, however busy the service is? At a listener of their own, with
//! connections that no other client can take.

use std::{future::Future, net::SocketAddr, time::Duration};

use anyhow::Context;
use tokio::{net::TcpListener, sync::oneshot};

use super::listen;
use crate::{
    config::{Config, Limits},
    http::{self, App},
};

/// Connections open at once: more than probes and scrapers need.
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
    /// Listens where the configuration says, if it does.
    pub(super) async fn bind(config: &Config) -> anyhow::Result<Option<Self>> {
        let Some(address) = config.admin_listen else { return Ok(None) };
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address} for health and metrics"))?;
        let address = listener.local_addr()?;
        let limits = Limits {
            connections: CONNECTIONS,
            shutdown_time: SHUTDOWN_TIME,
            ..config.limits.clone()
        };
        Ok(Some(Self { listener, address, limits }))
    }

    /// What to tell people and scripts.
    pub(super) fn announcement(&self) -> String {
        tracing::info!(address = %self.address, "health and metrics are answered here too");
        format!("Health and metrics at http://{}\n", self.address)
    }

    /// Answers until the service has stopped, so that probes see it stop.
    pub(super) async fn serve_during(self, app: App, service: impl Future<Output = ()>) {
        let (stopped, stop) = oneshot::channel::<()>();
        let router = http::admin_router(app);
        let answering = listen::serve(self.listener, router, &self.limits, async {
            let _ = stop.await;
        });
        let serving = async {
            service.await;
            drop(stopped);
        };
        tokio::join!(serving, answering);
    }
}
