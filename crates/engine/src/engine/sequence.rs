//! Sequence numbers: which changes responses reflect, and waiting for one of them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use catalog::product::{ShopId, change::Seq};
use store::StoreError;
use tokio::time::timeout_at;

use super::{Engine, reads::run_blocking};

/// How long to wait for progress of a shop before asking the store again.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Outcome of waiting for a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitOutcome {
    /// Responses reflect the change.
    Reached,
    /// The change exists, and responses do not reflect it yet.
    TimedOut,
    /// The store has no such change.
    UnknownChange {
        /// The last change of the shop.
        last: Seq,
    },
}

impl Engine {
    /// The last change of a shop that all responses from now on reflect.
    pub async fn visible_seq(&self, shop: ShopId) -> Result<Seq, StoreError> {
        if self.shops.visible_seq(shop).is_none() {
            self.refresh_seq(shop).await?;
        }
        Ok(self.shops.visible_seq(shop).unwrap_or_default())
    }

    /// Waits at most `timeout` until responses reflect this change of the shop. The store commits
    /// a change before its number appears in a response, so an unknown number is an error of the
    /// caller.
    pub async fn wait_for_seq(
        &self,
        shop: ShopId,
        seq: Seq,
        timeout: Duration,
    ) -> Result<WaitOutcome, StoreError> {
        let deadline = Instant::now() + timeout;
        let mut progress = self.shops.progress();
        let is_visible = || self.shops.visible_seq(shop) >= Some(seq);
        while !is_visible() {
            match timeout_at(deadline.into(), self.refresh_seq(shop)).await {
                Ok(Ok(last)) if last < seq => return Ok(WaitOutcome::UnknownChange { last }),
                // A single node reflects every change that it has acknowledged.
                Ok(Ok(_)) if !self.readers.is_shared() => return Ok(WaitOutcome::Reached),
                // A transient error is not returned: the next attempt may succeed.
                Ok(Err(error))
                    if self.is_database_unavailable() || !error.kind().is_transient() =>
                {
                    return Err(error);
                }
                _ => {}
            }
            let next_poll = Instant::now() + POLL_INTERVAL;
            while !is_visible()
                && timeout_at(next_poll.min(deadline).into(), progress.changed()).await.is_ok()
            {
            }
            if Instant::now() >= deadline {
                break;
            }
        }
        Ok(if is_visible() { WaitOutcome::Reached } else { WaitOutcome::TimedOut })
    }

    /// Reads the last change of a shop from the store.
    async fn refresh_seq(&self, shop: ShopId) -> Result<Seq, StoreError> {
        let shops = Arc::clone(&self.shops);
        if self.readers.is_local() {
            return shops.refresh_last_change(shop);
        }
        run_blocking(move || shops.refresh_last_change(shop)).await
    }
}
