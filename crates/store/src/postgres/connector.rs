//! Opens connections with their time limits, and drives them on threads that all connections of
//! this process share.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{StreamExt, stream};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::{Builder, Runtime},
    task::JoinHandle,
};
use tokio_postgres::{AsyncMessage, Client, Connection, NoTls, Notification, config::Config};

use super::{
    super::{ErrorChain, StoreError, StoreErrorKind},
    address::Encryption,
    availability::Availability,
    heartbeat,
    session::Session,
    settings::PostgresSettings,
    tls::Tls,
};

/// How long connection attempts fail at once after several failures in a row, instead of each
/// waiting for its own timeout while the database is unavailable.
const SUSPENSION: Duration = Duration::from_millis(250);
/// Failures in a row from which on attempts are suspended: a single one may be a coincidence.
const FAILURES_TO_SUSPEND: u32 = 2;
/// A node that stalls inside a transaction loses its locks after this time.
const IDLE_IN_TRANSACTION: Duration = Duration::from_secs(10);
/// Added to the database's own time limits for the network.
const NETWORK_ALLOWANCE: Duration = Duration::from_secs(5);

/// Opens connections to one database.
pub(super) struct Connector {
    config: Config,
    tls: Option<Tls>,
    connect_time: Duration,
    statement_time: Duration,
    limits: String,
    /// Consecutive failed attempts, and the time of the last.
    failures: Mutex<(u32, Option<Instant>)>,
    availability: Arc<Availability>,
    runtime: Option<Runtime>,
}

/// The handler of notifications.
pub(super) type OnNotification = Box<dyn FnMut(Notification) + Send>;

impl Connector {
    pub(super) fn new(settings: &PostgresSettings) -> Result<Self, StoreError> {
        let tls = match &settings.address.encryption {
            Encryption::None => None,
            Encryption::Verified { roots } => Some(Tls::new(roots.as_deref())?),
        };
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("database")
            .enable_all()
            .build()?;
        let mut config = settings.address.config.clone();
        // Leaves time for the next host of the address if one does not respond.
        let hosts = u32::try_from(config.get_hosts().len()).unwrap_or(u32::MAX).max(1);
        config.connect_timeout(settings.connect_time / hosts);
        Ok(Self {
            config,
            tls,
            connect_time: settings.connect_time,
            statement_time: settings.statement_time,
            limits: format!(
                "SET statement_timeout = {}; SET lock_timeout = {};
                 SET idle_in_transaction_session_timeout = {}; SET client_min_messages = warning",
                settings.statement_time.as_millis(),
                settings.lock_time.as_millis(),
                IDLE_IN_TRANSACTION.as_millis(),
            ),
            failures: Mutex::new((0, None)),
            availability: Arc::new(Availability::new()),
            runtime: Some(runtime),
        })
    }

    /// The limit for opening a connection, and for waiting for an idle one.
    pub(super) fn connect_time(&self) -> Duration {
        self.connect_time
    }

    /// The availability of the database as this process sees it.
    pub(super) fn availability(&self) -> &Arc<Availability> {
        &self.availability
    }

    /// Opens a connection. Blocks, but fails at once while the database is known to be unavailable.
    pub(super) fn connect(&self) -> Result<Session, StoreError> {
        if self.availability.is_down() {
            return Err(StoreError::unavailable("the heartbeat failed"));
        }
        let (count, last) = *self.failures.lock();
        let is_recent = last.is_some_and(|at| at.elapsed() < SUSPENSION);
        if count >= FAILURES_TO_SUSPEND && is_recent {
            return Err(StoreError::unavailable("recent connection attempts failed"));
        }
        let generation = self.availability.generation();
        let opened = self.runtime().block_on(async {
            let mut lost = self.availability.watch();
            tokio::select! {
                biased;
                opened = self.open(Box::new(|_| {})) => opened,
                Ok(_) = lost.wait_for(|is_lost| *is_lost) => {
                    Err(StoreError::unavailable("the heartbeat failed"))
                }
            }
        });
        let mut failures = self.failures.lock();
        *failures = match &opened {
            Err(error) if error.kind() == StoreErrorKind::Unavailable => {
                (failures.0.saturating_add(1), Some(Instant::now()))
            }
            _ => (0, None),
        };
        let handle = self.runtime().handle().clone();
        let limit = self.statement_time + NETWORK_ALLOWANCE;
        Ok(Session::new(opened?, handle, limit, Arc::clone(&self.availability), generation))
    }

    /// Opens a connection whose notifications go to `on_notification`, and which carries the
    /// heartbeat. Blocks.
    pub(super) fn connect_and_listen(
        &self,
        channel: &str,
        on_notification: OnNotification,
        on_disconnect: impl FnOnce() + Send + 'static,
    ) -> Result<JoinHandle<()>, StoreError> {
        let generation = self.availability.generation();
        let listen = format!("LISTEN {channel}");
        let client = self.runtime().block_on(async {
            let client = self.open(on_notification).await?;
            tokio::time::timeout(self.connect_time, client.batch_execute(&listen))
                .await
                .map_err(|_| StoreError::unavailable("the connection timed out"))??;
            Ok::<_, StoreError>(client)
        });
        let client = client.inspect_err(|error| {
            if error.kind() == StoreErrorKind::Unavailable && self.availability.is_suspect() {
                self.availability.mark_down();
            }
        })?;
        self.availability.mark_up();
        let availability = Arc::clone(&self.availability);
        Ok(self.runtime().spawn(heartbeat::run(client, availability, generation, on_disconnect)))
    }

    async fn open(&self, on_notification: OnNotification) -> Result<Client, StoreError> {
        tokio::time::timeout(self.connect_time, self.handshake(on_notification))
            .await
            .map_err(|_| StoreError::unavailable("connecting timed out"))?
    }

    async fn handshake(&self, on_notification: OnNotification) -> Result<Client, StoreError> {
        let client = match &self.tls {
            None => {
                let (client, connection) = self.config.connect(NoTls).await?;
                self.drive(connection, on_notification);
                client
            }
            Some(tls) => {
                let (client, connection) = self.config.connect(tls.clone()).await?;
                self.drive(connection, on_notification);
                client
            }
        };
        client.batch_execute(&self.limits).await?;
        Ok(client)
    }

    /// Drives the connection until its client is dropped or the connection is lost.
    fn drive<S, T>(&self, mut connection: Connection<S, T>, mut on_notification: OnNotification)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        self.runtime().spawn(async move {
            let mut messages = stream::poll_fn(move |cx| connection.poll_message(cx));
            while let Some(message) = messages.next().await {
                match message {
                    Ok(AsyncMessage::Notification(notification)) => on_notification(notification),
                    Ok(AsyncMessage::Notice(notice)) => {
                        tracing::debug!(%notice, "notice of the database");
                    }
                    Ok(_) => {}
                    // The client reports the loss to its next user.
                    Err(error) => {
                        let error = ErrorChain(&error);
                        tracing::debug!(%error, "connection to the database lost");
                        return;
                    }
                }
            }
        });
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().unwrap_or_else(|| unreachable!("present until dropped"))
    }
}

impl Drop for Connector {
    fn drop(&mut self) {
        // This may be dropped inside of another runtime, where blocking is not allowed.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        let kind = match error.code() {
            Some(code) => kind_of(code.code()),
            None if is_encoding_error(&error) => StoreErrorKind::Unexpected,
            None => StoreErrorKind::Unavailable,
        };
        Self::new(kind, error)
    }
}

/// Errors of encoding and decoding values, for which a retry is of no use.
fn is_encoding_error(error: &tokio_postgres::Error) -> bool {
    use std::error::Error;
    !error.is_closed()
        && !error.source().is_some_and(|source| source.is::<io::Error>())
        && error.to_string().contains("serializing")
}

/// Classifies an SQLSTATE.
fn kind_of(code: &str) -> StoreErrorKind {
    match code {
        // Serialization failure, deadlock, lock not available: a retry may succeed.
        "40001" | "40P01" | "55P03" => StoreErrorKind::Conflict,
        // Disk full.
        "53100" => StoreErrorKind::DiskFull,
        // Read-only transaction: this server accepts no writes, or no longer.
        "25006" => StoreErrorKind::ReadOnly,
        // Statement timeout.
        "57014" => StoreErrorKind::Busy,
        // Connection, authorization, resources, operator intervention; no such database.
        _ if ["08", "28", "53", "57", "58"].contains(&&code[..2]) => StoreErrorKind::Unavailable,
        "3D000" | "25P03" | "25P04" => StoreErrorKind::Unavailable,
        _ => StoreErrorKind::Unexpected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlstates_are_classified() {
        for (code, kind) in [
            ("40P01", StoreErrorKind::Conflict),
            ("57P01", StoreErrorKind::Unavailable),
            ("53300", StoreErrorKind::Unavailable),
            ("53100", StoreErrorKind::DiskFull),
            ("28P01", StoreErrorKind::Unavailable),
            ("25006", StoreErrorKind::ReadOnly),
            ("57014", StoreErrorKind::Busy),
            ("42703", StoreErrorKind::Unexpected),
        ] {
            assert_eq!(kind_of(code), kind, "{code}");
        }
    }
}
