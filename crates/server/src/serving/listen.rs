//! How are connections taken, bounded and let go?
//!
//! HTTP/1.1 alone: it is what clients speak without TLS, and every phase of it has a limit here
//! (idle, head, body, answer), so that no client can hold a connection by doing nothing.

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
    patience::{Patience, Patient},
};
use crate::config::Limits;

/// The pause after the system refused a connection, for want of file handles for example.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The read buffer is this many times the allowed head, so that a head that is somewhat too
/// large still gets an answer that says so.
const HEAD_BUFFER_FACTOR: usize = 4;

/// Serves connections until `stop`, then finishes those in flight.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: &Limits,
    stop: impl Future<Output = ()>,
) {
    let places = Connections::new(limits.connections);
    let connections = GracefulShutdown::new();
    let server = http1_server(limits);
    let patience = Patience { head: limits.header_read_time, answer: limits.body_read_time };
    let mut stop = std::pin::pin!(stop);
    loop {
        let stream = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener) => accepted,
        };
        let Some(place) = places.enter() else {
            // All connections are in use. Where this one tries again is for its client to choose.
            metrics::counter!("shopkeeper_connections_closed_total", "reason" => "refused")
                .increment(1);
            continue;
        };
        let activity = Arc::clone(&place.activity);
        let io = TokioIo::new(Patient::new(stream, patience, Arc::clone(&activity)));
        let routed = TowerToHyperService::new(router.clone());
        let service = service_fn(move |request| {
            let begun = activity.begin().map(|guard| (guard, routed.call(request)));
            async move {
                match begun {
                    Some((_guard, answer)) => answer.await,
                    // The connection is being closed to make room for another.
                    None => std::future::pending().await,
                }
            }
        });
        let connection = connections.watch(server.serve_connection(io, service));
        tokio::spawn(async move {
            let ended = tokio::select! {
                ended = connection => ended,
                () = place.activity.closed() => Ok(()),
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(limits.shutdown_time, connections.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time and were cut off");
    }
}

/// The next connection.
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Answers are small and whole: waiting to fill a packet only delays them.
                let _ = stream.set_nodelay(true);
                return stream;
            }
            Err(error) if is_the_clients_fault(&error) => {}
            Err(error) => {
                tracing::error!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn is_the_clients_fault(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

fn http1_server(limits: &Limits) -> http1::Builder {
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        // Hyper counts from the end of the last answer, so for it this is the idle time; the
        // head itself is watched by `Patient`.
        .header_read_timeout(limits.idle_time)
        .max_buf_size(limits.header_bytes * HEAD_BUFFER_FACTOR);
    server
}
