//! Replaces the vectors that products were stored with by better ones, in the background.
//!
//! Products without any vector of the current model come first and get instant vectors, so that
//! semantic search covers them soon after an import or a change of model. Then all products get deep
//! vectors, if that is configured, newest first, in small batches that searches take precedence over.
//!
//! The work queue is derived from the rows, so nothing is lost when the process ends, when a remote
//! model is down, or when another model is configured.

#[cfg(test)]
mod tests;

use std::{
    collections::HashSet,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use catalog::product::{ProductId, ShopId, change::Seq};
use embed::{EmbedError, Embedder, Embedding, Encoder, Priority, Text};
use store::{
    EmbeddingQueue, ErrorChain, StoreError, Unembedded, VectorRow,
    background::{BackgroundThread, Next, Run, Wakeup},
};

use crate::{
    writer::{WeakWriter, WriteError},
    writes::StoreVectors,
};

/// Products per batch of deep vectors. Small, so that a stop or a newer product waits little.
const DEEP_BATCH: usize = 16;
/// Products per batch of instant vectors.
const INSTANT_BATCH: usize = 512;
/// How many texts that the model rejects are skipped until the next start.
const MAX_SKIPPED: usize = 1000;
/// Batches between two counts of the products that wait.
const COUNT_EVERY: u32 = 16;
/// How often the queue of a shared store is read while it is empty: the writes of other processes
/// cause no wake-up.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Starts the thread; without `deep`, only products without any vector get one. `wakeup` is notified
/// after every commit.
pub(crate) fn start(
    embedder: Arc<dyn Embedder>,
    deep: bool,
    queue: Arc<dyn EmbeddingQueue>,
    writer: WeakWriter,
    wakeup: Arc<Wakeup>,
) -> io::Result<BackgroundThread> {
    let mut worker = EmbeddingWorker {
        embedder,
        deep,
        queue,
        writer,
        batches: 0,
        instant_left: true,
        skipped: HashSet::new(),
    };
    BackgroundThread::start("embedding", wakeup, move |run| worker.step(run))
}

/// Why a batch was not finished.
enum Failure {
    Model(EmbedError),
    Store(StoreError),
    /// The writer has ended.
    Stopping,
}

struct EmbeddingWorker {
    embedder: Arc<dyn Embedder>,
    /// Whether products get deep vectors.
    deep: bool,
    queue: Arc<dyn EmbeddingQueue>,
    writer: WeakWriter,
    /// Batches since the queue was empty.
    batches: u32,
    /// Whether products without any vector of the model may be left. New products are stored with
    /// an instant vector, so once there are none left there will be none.
    instant_left: bool,
    /// Texts that the model rejected, by the version that introduced them.
    skipped: HashSet<(ShopId, ProductId, Seq)>,
}

impl EmbeddingWorker {
    fn step(&mut self, run: &Run<'_>) -> Next {
        let (error, retry_after) = match self.batch_or_panic() {
            Ok(0) if self.queue.is_shared() => return Next::WaitAtMost(POLL_INTERVAL),
            Ok(0) => return Next::Wait,
            Ok(_) => {
                if run.failures > 0 {
                    tracing::info!(failures = run.failures, "embedding resumed");
                }
                return Next::Continue;
            }
            Err(Failure::Stopping) => return Next::Stop,
            Err(Failure::Model(error)) => {
                let retry_after = error.retry_after();
                (ErrorChain(&error).to_string(), retry_after)
            }
            Err(Failure::Store(error)) => (ErrorChain(&error).to_string(), None),
        };
        if run.failures == 0 {
            tracing::warn!(error, "embedding failed; new products are found by their words only");
        }
        metrics::counter!("shopkeeper_embed_failures_total").increment(1);
        Next::Retry(run.backoff().max(retry_after.unwrap_or_default()))
    }

    /// Counts a panic of the model as one of its failures.
    fn batch_or_panic(&mut self) -> Result<usize, Failure> {
        catch_unwind(AssertUnwindSafe(|| self.batch())).unwrap_or_else(|_| {
            Err(Failure::Model(EmbedError::Inference("the model panicked".to_owned())))
        })
    }

    /// Embeds the newest waiting products. Returns how many it handled.
    fn batch(&mut self) -> Result<usize, Failure> {
        if self.instant_left {
            let embedded = self.instant_batch()?;
            self.instant_left = embedded > 0;
            if self.instant_left {
                return Ok(embedded);
            }
        }
        if !self.deep {
            return Ok(0);
        }
        let model = self.embedder.model().as_str();
        let limit = DEEP_BATCH + self.skipped.len();
        let leased = self.queue.lease_unembedded(model, Encoder::Deep, limit);
        let mut products = leased.map_err(Failure::Store)?;
        products.retain(|product| !self.skipped.contains(&text_version(product)));
        products.truncate(DEEP_BATCH);
        self.report_progress(products.is_empty()).map_err(Failure::Store)?;
        if products.is_empty() {
            return Ok(0);
        }
        let started = Instant::now();
        let vectors = self.embed(&products)?;
        metrics::histogram!("shopkeeper_embed_batch_seconds")
            .record(started.elapsed().as_secs_f64());
        self.store(vectors)?;
        Ok(products.len())
    }

    /// Stores instant vectors for the newest products without any vector of the model. Returns how
    /// many; none if the model has no instant encoder.
    fn instant_batch(&mut self) -> Result<usize, Failure> {
        let model = self.embedder.model().as_str();
        let leased = self.queue.lease_unembedded(model, Encoder::Instant, INSTANT_BATCH);
        let products = leased.map_err(Failure::Store)?;
        let embed = |product| Some(row((product, self.embedder.instant(text(product))?)));
        let vectors: Vec<_> = products.iter().filter_map(embed).collect();
        let embedded = vectors.len();
        if embedded > 0 {
            self.store(vectors)?;
        }
        Ok(embedded)
    }

    fn store(&self, vectors: Vec<VectorRow>) -> Result<(), Failure> {
        let stored = vectors.len();
        self.writer.submit_blocking(StoreVectors { vectors }).map_err(|error| match error {
            WriteError::Store(error) => Failure::Store(error),
            WriteError::QueueFull | WriteError::Down => Failure::Stopping,
        })?;
        metrics::counter!("shopkeeper_vectors_stored_total").increment(stored as u64);
        Ok(())
    }

    /// Updates the gauge of waiting products, at times only: counting many takes long.
    fn report_progress(&mut self, all_done: bool) -> Result<(), StoreError> {
        if all_done || self.batches.is_multiple_of(COUNT_EVERY) {
            let model = self.embedder.model().as_str();
            let left = self.queue.unembedded_count(model, Encoder::Deep)?;
            metrics::gauge!("shopkeeper_vectors_waiting").set(left as f64);
        }
        self.batches = if all_done { 0 } else { self.batches.wrapping_add(1) };
        Ok(())
    }

    /// The vectors of the products, without those whose text the model rejects.
    fn embed(&mut self, products: &[Unembedded]) -> Result<Vec<VectorRow>, Failure> {
        let texts: Vec<_> = products.iter().map(text).collect();
        match self.embedder.deep(&texts, Priority::Background) {
            Ok(vectors) => Ok(products.iter().zip(vectors).map(row).collect()),
            Err(error) if !error.blames_texts() => Err(Failure::Model(error)),
            // One text may be to blame: retry each alone.
            Err(_) if products.len() > 1 => {
                let mut rows = Vec::new();
                for product in products {
                    rows.extend(self.embed(std::slice::from_ref(product))?);
                }
                Ok(rows)
            }
            Err(error) => {
                if self.skipped.len() >= MAX_SKIPPED {
                    return Err(Failure::Model(error));
                }
                let product = &products[0];
                let (shop, id) = (product.shop, product.id);
                tracing::warn!(%shop, product = %id, %error, "the model rejected a product's text");
                self.skipped.insert(text_version(product));
                Ok(Vec::new())
            }
        }
    }
}

fn text_version(product: &Unembedded) -> (ShopId, ProductId, Seq) {
    (product.shop, product.id, product.version)
}

fn text(product: &Unembedded) -> Text<'_> {
    Text::Product { title: &product.title, description: &product.description }
}

fn row((product, embedding): (&Unembedded, Embedding)) -> VectorRow {
    VectorRow::new(product.shop, product.id, product.version, embedding)
}
