//! Accepts and serves connections, and closes them at shutdown.
//!
//! HTTP/1.1 only, which is what clients use without TLS. Every phase has a timeout (idle, head, body,
//! response), so that no client can hold a connection by doing nothing.

use std::{future::Future, io, sync::Arc, time::Duration};

use axum::Router;
use hyper::{
    Request,
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::net::{TcpListener, TcpStream};

use super::stall_timeout::{StallTimeoutStream, StallTimeouts};
use crate::{
    config::Limits,
    http::admission::{Address, ConnectionLimits, Connections, connections::ConnectionSlot},
};

/// The pause after `accept` failed, for example because file descriptors ran out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The read buffer is this many times the allowed head, so that a head that is somewhat too large
/// still gets a 431 response.
const HEAD_BUFFER_FACTOR: usize = 4;

/// What a listener serves.
pub(super) struct Routes {
    pub(super) all: Router,
    /// Served on connections that are accepted for health probes while all others are in use.
    pub(super) probes: Router,
}

/// Serves connections until `stop`, then waits for those in flight.
pub(super) async fn serve(
    listener: TcpListener,
    routes: Routes,
    limits: &Limits,
    connection_limits: ConnectionLimits,
    stop: impl Future<Output = ()>,
) {
    let connections = Connections::new(connection_limits);
    let graceful = GracefulShutdown::new();
    let server = Http1::new(limits);
    let mut stop = std::pin::pin!(stop);
    loop {
        let (stream, address) = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener) => accepted,
        };
        // Without a slot, the connection is closed.
        let Some(slot) = connections.acquire(address) else { continue };
        let router = if slot.0.is_probe() { &routes.probes } else { &routes.all };
        tokio::spawn(server.connection(stream, slot, router.clone(), &graceful));
    }
    drop(listener);
    if tokio::time::timeout(limits.shutdown_time, graceful.shutdown()).await.is_err() {
        tracing::warn!("requests still in flight at the end of the shutdown time were cut off");
    }
}

/// The next connection.
async fn accept(listener: &TcpListener) -> (TcpStream, Address) {
    loop {
        match listener.accept().await {
            Ok((stream, address)) => {
                // Responses are written at once; Nagle's algorithm would only delay them.
                let _ = stream.set_nodelay(true);
                return (stream, address.ip().into());
            }
            Err(error) if is_client_error(&error) => {}
            Err(error) => {
                tracing::error!(%error, "accept failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn is_client_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Serves HTTP/1.1 on accepted connections.
struct Http1 {
    server: http1::Builder,
    timeouts: StallTimeouts,
}

impl Http1 {
    fn new(limits: &Limits) -> Self {
        let mut server = http1::Builder::new();
        server
            .timer(TokioTimer::new())
            // Hyper counts from the end of the last response, so this is the idle timeout; the
            // timeout of the head itself is in `StallTimeoutStream`.
            .header_read_timeout(limits.idle_time)
            .max_buf_size(limits.header_bytes * HEAD_BUFFER_FACTOR);
        let timeouts =
            StallTimeouts { head: limits.header_read_time, write: limits.body_read_time };
        Self { server, timeouts }
    }

    /// Serves a connection until it ends or makes room for another.
    fn connection(
        &self,
        stream: TcpStream,
        slot: ConnectionSlot,
        router: Router,
        graceful: &GracefulShutdown,
    ) -> impl Future<Output = ()> + use<> {
        let connection = Arc::clone(&slot.0);
        let stream = StallTimeoutStream::new(stream, self.timeouts, Arc::clone(&connection));
        let routed = TowerToHyperService::new(router);
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Arc::clone(&connection));
            let begun = connection.begin_request().map(|guard| (guard, routed.call(request)));
            async move {
                match begun {
                    Some((_guard, answer)) => answer.await,
                    // The connection is being closed for another.
                    None => std::future::pending().await,
                }
            }
        });
        let serving = graceful.watch(self.server.serve_connection(TokioIo::new(stream), service));
        async move {
            let ended = tokio::select! {
                ended = serving => ended,
                () = slot.0.closed() => Ok(()),
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "connection failed");
            }
            drop(slot);
        }
    }
}
