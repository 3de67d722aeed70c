//! How does a connection come to be? It is made, given its time limits, and driven by threads
//! that all connections of this process share.

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
    super::{ErrorChain, StoreError, Trouble},
    PostgresSettings,
    address::Encryption,
    outlook::Outlook,
    pulse,
    session::Session,
    tls::Tls,
};

/// After failures in a row nobody tries again for so long: while the database is away, all are
/// told so at once instead of waiting in turn.
const PAUSE_AFTER_FAILURES: Duration = Duration::from_millis(250);
/// One failure may be bad luck.
const FAILURES_IN_A_ROW: u32 = 2;
/// A node that stops in the middle of a transaction gives up its locks after this.
const IDLE_IN_TRANSACTION: Duration = Duration::from_secs(10);
/// What the network may take on top of what the database is given.
const NETWORK_TIME: Duration = Duration::from_secs(5);

/// Makes connections to one database.
pub(super) struct Connector {
    config: Config,
    tls: Option<Tls>,
    connect_time: Duration,
    statement_time: Duration,
    limits: String,
    /// How often in a row no connection could be made, and when last.
    failures: Mutex<(u32, Option<Instant>)>,
    outlook: Arc<Outlook>,
    runtime: Option<Runtime>,
}

/// What to do with what the database says unasked.
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
        // A machine that does not answer must leave time for the next one in the address.
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
            outlook: Arc::new(Outlook::new()),
            runtime: Some(runtime),
        })
    }

    /// How long a new or free connection is waited for.
    pub(super) fn connect_time(&self) -> Duration {
        self.connect_time
    }

    /// What is believed of the database.
    pub(super) fn outlook(&self) -> &Arc<Outlook> {
        &self.outlook
    }

    /// A new connection. Blocks, but not while the database is known to be away.
    pub(super) fn connect(&self) -> Result<Session, StoreError> {
        if self.outlook.is_lost() {
            return Err(StoreError::away("it does not answer"));
        }
        let (count, last) = *self.failures.lock();
        let is_recent = last.is_some_and(|at| at.elapsed() < PAUSE_AFTER_FAILURES);
        if count >= FAILURES_IN_A_ROW && is_recent {
            return Err(StoreError::away("it could not be reached a moment ago"));
        }
        let generation = self.outlook.generation();
        let made = self.runtime().block_on(async {
            let mut lost = self.outlook.watch();
            tokio::select! {
                biased;
                made = self.make(Box::new(|_| {})) => made,
                Ok(_) = lost.wait_for(|is_lost| *is_lost) => {
                    Err(StoreError::away("it does not answer"))
                }
            }
        });
        let mut failures = self.failures.lock();
        *failures = match &made {
            Err(error) if error.trouble() == Trouble::Away => {
                (failures.0.saturating_add(1), Some(Instant::now()))
            }
            _ => (0, None),
        };
        let handle = self.runtime().handle().clone();
        let limit = self.statement_time + NETWORK_TIME;
        Ok(Session::new(made?, handle, limit, Arc::clone(&self.outlook), generation))
    }

    /// A new connection whose notifications go to `hear`, and which finds out whether the database
    /// still answers. Blocks.
    pub(super) fn connect_and_hear(
        &self,
        channel: &str,
        hear: OnNotification,
        on_silence: impl FnOnce() + Send + 'static,
    ) -> Result<JoinHandle<()>, StoreError> {
        let generation = self.outlook.generation();
        let listen = format!("LISTEN {channel}");
        let client = self.runtime().block_on(async {
            let client = self.make(hear).await?;
            tokio::time::timeout(self.connect_time, client.batch_execute(&listen))
                .await
                .map_err(|_| StoreError::away("it did not answer in time"))??;
            Ok::<_, StoreError>(client)
        })?;
        self.outlook.answered();
        let outlook = Arc::clone(&self.outlook);
        let asking = pulse::keep_asking(client, outlook, generation, on_silence);
        Ok(self.runtime().spawn(asking))
    }

    async fn make(&self, hear: OnNotification) -> Result<Client, StoreError> {
        tokio::time::timeout(self.connect_time, self.handshake(hear))
            .await
            .map_err(|_| StoreError::away("it took too long to connect"))?
    }

    async fn handshake(&self, hear: OnNotification) -> Result<Client, StoreError> {
        let client = match &self.tls {
            None => {
                let (client, connection) = self.config.connect(NoTls).await?;
                self.drive(connection, hear);
                client
            }
            Some(tls) => {
                let (client, connection) = self.config.connect(tls.clone()).await?;
                self.drive(connection, hear);
                client
            }
        };
        client.batch_execute(&self.limits).await?;
        Ok(client)
    }

    /// Moves the connection's messages until its client is gone or the database is.
    fn drive<S, T>(&self, mut connection: Connection<S, T>, mut hear: OnNotification)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        self.runtime().spawn(async move {
            let mut messages = stream::poll_fn(move |cx| connection.poll_message(cx));
            while let Some(message) = messages.next().await {
                match message {
                    Ok(AsyncMessage::Notification(notification)) => hear(notification),
                    Ok(AsyncMessage::Notice(notice)) => {
                        tracing::debug!(%notice, "the database says");
                    }
                    Ok(_) => {}
                    // Whoever asks next is told so by the client.
                    Err(error) => {
                        let error = ErrorChain(&error);
                        tracing::debug!(%error, "a connection to the database was lost");
                        return;
                    }
                }
            }
        });
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().unwrap_or_else(|| unreachable!("it is there until the drop"))
    }
}

impl Drop for Connector {
    fn drop(&mut self) {
        // Whoever drops this may be part of another runtime, where nothing may wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        let trouble = match error.code() {
            Some(code) => trouble_of(code.code()),
            None if concerns_our_own_values(&error) => Trouble::Damaged,
            None => Trouble::Away,
        };
        Self::new(trouble, error)
    }
}

/// Errors of reading and writing values, which no other connection would mend.
fn concerns_our_own_values(error: &tokio_postgres::Error) -> bool {
    use std::error::Error;
    !error.is_closed()
        && !error.source().is_some_and(|source| source.is::<io::Error>())
        && error.to_string().contains("serializing")
}

/// What an SQLSTATE means for whoever waits.
fn trouble_of(code: &str) -> Trouble {
    match code {
        // Serialisation failure, deadlock, lock not available: the same again may succeed.
        "40001" | "40P01" | "55P03" => Trouble::Contended,
        // Disk full.
        "53100" => Trouble::DiskFull,
        // A read-only transaction: this server does not, or no longer, take writes.
        "25006" => Trouble::ReadOnly,
        // A statement took too long.
        "57014" => Trouble::Busy,
        // Connection, authorisation, resources, operator's intervention; no such database.
        _ if ["08", "28", "53", "57", "58"].contains(&&code[..2]) => Trouble::Away,
        "3D000" | "25P03" | "25P04" => Trouble::Away,
        _ => Trouble::Damaged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_told_from_what_will_not() {
        for (code, trouble) in [
            ("40P01", Trouble::Contended),
            ("57P01", Trouble::Away),
            ("53300", Trouble::Away),
            ("53100", Trouble::DiskFull),
            ("28P01", Trouble::Away),
            ("25006", Trouble::ReadOnly),
            ("57014", Trouble::Busy),
            ("42703", Trouble::Damaged),
        ] {
            assert_eq!(trouble_of(code), trouble, "{code}");
        }
    }
}
