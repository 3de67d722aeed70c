//! Queries the database twice a second, on the connection that listens for changes, to learn
//! whether it responds and accepts writes.

use std::{pin::pin, sync::Arc, time::Duration};

use tokio_postgres::{Client, SimpleQueryMessage};

use super::availability::Availability;

/// The pause after a reply.
const INTERVAL: Duration = Duration::from_millis(500);
/// A reply is awaited for this many ticks. Ticks are counted instead of measuring elapsed time: a
/// process that was itself suspended must not conclude that the database is down.
const TIMEOUT_TICKS: usize = 20;
const TICK: Duration = Duration::from_millis(100);

/// A reply to a heartbeat.
enum Reply {
    AcceptsWrites,
    ReadOnly,
    /// The connection is closed. The database may be up: a replica may have been promoted, to which
    /// other connections lead already. The attempt to listen again decides.
    Closed,
    TimedOut,
}

/// Runs until a heartbeat gets no reply or the server was demoted, and records either in
/// `availability`. `generation` is that of the connection.
pub(super) async fn run(
    client: Client,
    availability: Arc<Availability>,
    generation: u64,
    on_end: impl FnOnce(),
) {
    let mut accepted_writes = false;
    while availability.generation() == generation {
        match query(&client).await {
            Reply::Closed => {
                availability.suspect();
                break;
            }
            Reply::TimedOut => {
                availability.mark_down();
                break;
            }
            Reply::AcceptsWrites => accepted_writes = true,
            // A server that never accepted writes was configured by the operator, not demoted.
            Reply::ReadOnly if accepted_writes => {
                availability.report_demotion(generation);
                break;
            }
            Reply::ReadOnly => {}
        }
        availability.mark_up();
        tokio::time::sleep(INTERVAL).await;
    }
    on_end();
}

async fn query(client: &Client) -> Reply {
    let mut reply = pin!(client.simple_query("SHOW transaction_read_only"));
    for _ in 0..TIMEOUT_TICKS {
        tokio::select! {
            replied = &mut reply => return match replied {
                Ok(messages) if is_read_only(&messages) => Reply::ReadOnly,
                Ok(_) => Reply::AcceptsWrites,
                Err(_) => Reply::Closed,
            },
            () = tokio::time::sleep(TICK) => {}
        }
    }
    Reply::TimedOut
}

fn is_read_only(messages: &[SimpleQueryMessage]) -> bool {
    messages.iter().any(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0) == Some("on"),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::Duration;
    use crate::{Postgres, testing::settings};

    #[test]
    fn a_closed_connection_is_a_suspicion_that_listening_again_decides() {
        let server = testkit::postgres();
        let url = server.database();
        let (_, database) = url.rsplit_once('/').unwrap();
        let postgres = Postgres::new(&settings(&url)).unwrap();
        let availability = postgres.availability();
        let (on_end, ended) = channel();
        let listen = || {
            let on_end = on_end.clone();
            postgres.listen(|_, _| {}, move || on_end.send(()).unwrap())
        };
        let _listener = listen().unwrap();
        let close = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE datname = '{database}' AND pid <> pg_backend_pid()"
        );
        server.psql(database, &close);
        ended.recv_timeout(Duration::from_secs(30)).unwrap();
        assert!(availability.is_suspect() && !availability.is_down());
        let _listener = listen().unwrap();
        assert!(!availability.is_suspect());
    }
}
