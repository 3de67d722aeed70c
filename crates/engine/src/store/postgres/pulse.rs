//! Asks the connection that listens twice a second whether the database still answers, and whether
//! it still takes writes.

use std::{pin::pin, sync::Arc, time::Duration};

use tokio_postgres::{Client, SimpleQueryMessage};

use super::outlook::Outlook;

/// The pause after an answer.
const PAUSE: Duration = Duration::from_millis(500);
/// How long one answer is waited for: so many ticks. They are counted, not timed: a process that
/// was itself stopped for a while has not waited for anybody.
const TICKS: usize = 20;
const TICK: Duration = Duration::from_millis(100);

/// Asks until there is no answer or the server was demoted, and says so. `generation` is that of
/// the connection.
pub(super) async fn keep_asking(
    client: Client,
    outlook: Arc<Outlook>,
    generation: u64,
    on_end: impl FnOnce(),
) {
    let mut took_writes = false;
    while outlook.generation() == generation {
        match takes_writes(&client).await {
            None => {
                outlook.lose();
                break;
            }
            Some(true) => took_writes = true,
            // One that never took any is what the operator chose.
            Some(false) if took_writes => {
                outlook.demoted(generation);
                break;
            }
            Some(false) => {}
        }
        outlook.answered();
        tokio::time::sleep(PAUSE).await;
    }
    on_end();
}

/// Whether the server takes writes; `None` if it does not answer.
async fn takes_writes(client: &Client) -> Option<bool> {
    let mut answer = pin!(client.simple_query("SHOW transaction_read_only"));
    for _ in 0..TICKS {
        tokio::select! {
            answered = &mut answer => return answered.ok().map(|messages| !says_on(&messages)),
            () = tokio::time::sleep(TICK) => {}
        }
    }
    None
}

fn says_on(messages: &[SimpleQueryMessage]) -> bool {
    messages.iter().any(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0) == Some("on"),
        _ => false,
    })
}
