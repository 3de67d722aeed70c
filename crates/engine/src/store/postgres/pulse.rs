//! Does the database still answer? The connection that listens is asked twice a second.

use std::{pin::pin, sync::Arc, time::Duration};

use tokio_postgres::Client;

use super::outlook::Outlook;

/// The pause after an answer.
const PAUSE: Duration = Duration::from_millis(500);
/// How long one answer is waited for: so many ticks. They are counted, not timed: a process that
/// was itself stopped for a while has not waited for anybody.
const TICKS: usize = 20;
const TICK: Duration = Duration::from_millis(100);

/// Asks until there is no answer, and says so.
pub(super) async fn keep_asking(client: Client, outlook: Arc<Outlook>, on_silence: impl FnOnce()) {
    while answers(&client).await {
        outlook.answered();
        tokio::time::sleep(PAUSE).await;
    }
    outlook.lose();
    on_silence();
}

async fn answers(client: &Client) -> bool {
    let mut answer = pin!(client.simple_query("SELECT 1"));
    for _ in 0..TICKS {
        tokio::select! {
            answered = &mut answer => return answered.is_ok(),
            () = tokio::time::sleep(TICK) => {}
        }
    }
    false
}
