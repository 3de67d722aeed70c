//! Accepts and serves connections, and closes them at shutdown.
//!
//! HTTP/1.1 only, which is what clients use without TLS. Every phase has a timeout (idle, head, body,
//! response), so that no client can hold a connection by doing nothing.

use std::{future::Future, io, sync::Arc, time::Duration};

use axum::Router;
use hyper::{
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::net::{TcpListener, TcpStream};

use super::{
    connections::Connections,
    stall_timeout::{StallTimeoutStream, StallTimeouts},
};
use crate::config::Limits;

/// The pause after `accept` failed, for example because file descriptors ran out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The read buffer is this many times the allowed head, so that a head that is somewhat too large
/// still gets a 431 response.
const HEAD_BUFFER_FACTOR: usize = 4;

/// Serves connections until `stop`, then waits for those in flight.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: &Limits,
    stop: impl Future<Output = ()>,
) {
    let connections = Connections::new(limits.connections);
    let graceful = GracefulShutdown::new();
    let server = http1_server(limits);
    let timeouts = StallTimeouts { head: limits.header_read_time, write: limits.body_read_time };
    let mut stop = std::pin::pin!(stop);
    loop {
        let stream = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener) => accepted,
        };
        let Some(slot) = connections.acquire() else {
            // All connections are in use: this one is closed.
            metrics::counter!("shopkeeper_connections_closed_total", "reason" => "refused")
                .increment(1);
            continue;
        };
        let activity = Arc::clone(&slot.activity);
        let io = TokioIo::new(StallTimeoutStream::new(stream, timeouts, Arc::clone(&activity)));
        let routed = TowerToHyperService::new(router.clone());
        let service = service_fn(move |request| {
            let begun = activity.begin_request().map(|guard| (guard, routed.call(request)));
            async move {
                match begun {
                    Some((_guard, answer)) => answer.await,
                    // The connection is being closed for another.
                    None => std::future::pending().await,
                }
            }
        });
        let connection = graceful.watch(server.serve_connection(io, service));
        tokio::spawn(async move {
            let ended = tokio::select! {
                ended = connection => ended,
                () = slot.activity.closed() => Ok(()),
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "connection failed");
            }
            drop(slot);
        });
    }
    drop(listener);
    if tokio::time::timeout(limits.shutdown_time, graceful.shutdown()).await.is_err() {
        tracing::warn!("requests still in flight at the end of the shutdown time were cut off");
    }
}

/// The next connection.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Responses are written at once; Nagle's algorithm would only delay them.
                let _ = stream.set_nodelay(true);
                return stream;
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

fn http1_server(limits: &Limits) -> http1::Builder {
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        // Hyper counts from the end of the last response, so this is the idle timeout; the timeout
        // of the head itself is in `StallTimeoutStream`.
        .header_read_timeout(limits.idle_time)
        .max_buf_size(limits.header_bytes * HEAD_BUFFER_FACTOR);
    server
}
