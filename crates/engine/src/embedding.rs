//! When do products get better vectors than those they were stored with? In the background,
//! after their writes were answered.
//!
//! Products without any vector of the model in force come first and get instant ones, so that
//! after a change of model all are soon found by meaning again; then all get deep ones.
//!
//! What is left to do is never kept in memory: it is what the rows say. So nothing is lost when
//! the process ends, when the outside model is down, or when another model is configured; then
//! the rows of the old one are what is left to do. Newest products go first, in small batches,
//! and whoever searches goes before all of them.

#[cfg(test)]
mod tests;

use std::{
    collections::HashSet,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use catalog::{
    change::Seq,
    product::{ProductId, ShopId},
};

use crate::{
    bell::Bell,
    embed::{EmbedError, Embedder, Embedding, Encoder, Text, Turn},
    store::{EmbeddingQueue, ErrorChain, StoreError, Unembedded, VectorRow},
    writer::{Entrance, WriteError},
    writes::StoreVectors,
};

/// Products embedded deeply and stored together: few, so that a stop or a newer product waits
/// little.
const BATCH: usize = 16;
/// Products embedded instantly and stored together.
const INSTANT_BATCH: usize = 512;
/// The wait after a first failure; each further one doubles it.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait after a failure that does not itself ask for more.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Texts that the model refuses are passed over until the next start; of so many at the most.
const MOST_PASSED_OVER: usize = 1000;
/// Batches between two counts of all that is left.
const COUNT_EVERY: u32 = 16;
/// How often a store that other processes write to is looked at when there was nothing to do.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// How long the end of the process waits for a batch that is under way.
const STOP_TIME: Duration = Duration::from_secs(2);

/// The background thread. It stops when this is dropped.
pub(crate) struct Background {
    bell: Arc<Bell>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Starts to embed whatever is not.
    pub(crate) fn start(
        embedder: Arc<dyn Embedder>,
        readers: Arc<dyn EmbeddingQueue>,
        writer: Entrance,
        bell: Arc<Bell>,
    ) -> io::Result<Self> {
        let desk = Desk {
            embedder,
            readers,
            writer,
            batches: 0,
            instant_left: true,
            failures: 0,
            passed_over: HashSet::new(),
        };
        let heard = Arc::clone(&bell);
        let thread = thread::Builder::new().name("embedding".to_owned());
        let thread = thread.spawn(move || desk.run(&heard))?;
        Ok(Self { bell, thread: Some(thread) })
    }
}

impl Drop for Background {
    /// Waits for the batch under way, but not for an outside model that takes its time: what is
    /// not stored is done again after the next start.
    fn drop(&mut self) {
        self.bell.stop();
        let Some(thread) = self.thread.take() else { return };
        let waiting_since = Instant::now();
        while !thread.is_finished() && waiting_since.elapsed() < STOP_TIME {
            thread::sleep(Duration::from_millis(5));
        }
        if thread.is_finished() {
            // A panic there was reported by the panic hook already.
            let _ = thread.join();
        }
    }
}

/// A batch could not be done.
enum Trouble {
    Model(EmbedError),
    Store(StoreError),
    Stopping,
}

/// The background thread's own things.
struct Desk {
    embedder: Arc<dyn Embedder>,
    readers: Arc<dyn EmbeddingQueue>,
    writer: Entrance,
    /// Batches since there was nothing to do.
    batches: u32,
    /// Whether there may be products without any vector of the model that it makes at once. New
    /// ones are stored with it, so once there are none there are none again.
    instant_left: bool,
    /// Batches that failed in a row.
    failures: u32,
    passed_over: HashSet<(ShopId, ProductId, Seq)>,
}

impl Desk {
    fn run(mut self, bell: &Bell) {
        loop {
            if bell.stopping() {
                return;
            }
            match self.batch_or_panic() {
                // Other processes are not heard, neither when they write nor when they die.
                Ok(0) if self.readers.is_shared() => {
                    if !bell.wait_at_most(LOOK_AGAIN) {
                        return;
                    }
                }
                Ok(0) => {
                    if !bell.wait() {
                        return;
                    }
                }
                Ok(_) => self.recovered(),
                Err(Trouble::Stopping) => return,
                Err(Trouble::Model(error)) => {
                    let wait = self.failed(&error, error.retry_after());
                    if !bell.pause(wait) {
                        return;
                    }
                }
                Err(Trouble::Store(error)) => {
                    let wait = self.failed(&error, None);
                    if !bell.pause(wait) {
                        return;
                    }
                }
            }
        }
    }

    /// A model that panics is a model that failed: the thread goes on.
    fn batch_or_panic(&mut self) -> Result<usize, Trouble> {
        catch_unwind(AssertUnwindSafe(|| self.batch())).unwrap_or_else(|_| {
            let panicked = EmbedError::Inference("it panicked".to_owned());
            Err(Trouble::Model(panicked))
        })
    }

    /// Embeds the newest products that are left and says how many it dealt with.
    fn batch(&mut self) -> Result<usize, Trouble> {
        if self.instant_left {
            let embedded = self.instant_batch()?;
            self.instant_left = embedded > 0;
            if self.instant_left {
                return Ok(embedded);
            }
        }
        let model = self.embedder.model().as_str();
        let most = BATCH + self.passed_over.len();
        let left = self.readers.lease_unembedded(model, Encoder::Deep, most);
        let mut products = left.map_err(Trouble::Store)?;
        products.retain(|product| !self.passed_over.contains(&as_seen(product)));
        products.truncate(BATCH);
        self.report_progress(products.is_empty()).map_err(Trouble::Store)?;
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

    /// Gives the newest products without any vector of the model instant ones, if it makes such,
    /// and says how many.
    fn instant_batch(&mut self) -> Result<usize, Trouble> {
        let model = self.embedder.model().as_str();
        let left = self.readers.lease_unembedded(model, Encoder::Instant, INSTANT_BATCH);
        let products = left.map_err(Trouble::Store)?;
        let embed = |product| Some(row((product, self.embedder.instant(text(product))?)));
        let vectors: Vec<_> = products.iter().filter_map(embed).collect();
        let embedded = vectors.len();
        if embedded > 0 {
            self.store(vectors)?;
        }
        Ok(embedded)
    }

    fn store(&self, vectors: Vec<VectorRow>) -> Result<(), Trouble> {
        let stored = vectors.len();
        self.writer.submit_waiting(StoreVectors { vectors }).map_err(|error| match error {
            WriteError::Store(error) => Trouble::Store(error),
            WriteError::QueueFull | WriteError::Down => Trouble::Stopping,
        })?;
        metrics::counter!("shopkeeper_vectors_stored_total").increment(stored as u64);
        Ok(())
    }

    /// Says how many products are left. Counting them takes time where they are many.
    fn report_progress(&mut self, all_done: bool) -> Result<(), StoreError> {
        if all_done || self.batches.is_multiple_of(COUNT_EVERY) {
            let model = self.embedder.model().as_str();
            let left = self.readers.unembedded_count(model, Encoder::Deep)?;
            metrics::gauge!("shopkeeper_vectors_waiting").set(left as f64);
        }
        self.batches = if all_done { 0 } else { self.batches.wrapping_add(1) };
        Ok(())
    }

    /// The vectors of the products, less those whose text the model refuses.
    fn embed(&mut self, products: &[Unembedded]) -> Result<Vec<VectorRow>, Trouble> {
        let texts: Vec<_> = products.iter().map(text).collect();
        match self.embedder.deep(&texts, Turn::Background) {
            Ok(vectors) => Ok(products.iter().zip(vectors).map(row).collect()),
            Err(error) if !error.blames_texts() => Err(Trouble::Model(error)),
            // One text may have spoilt it for the others: each gets a chance alone.
            Err(_) if products.len() > 1 => {
                let mut rows = Vec::new();
                for product in products {
                    rows.extend(self.embed(std::slice::from_ref(product))?);
                }
                Ok(rows)
            }
            Err(error) => {
                if self.passed_over.len() >= MOST_PASSED_OVER {
                    return Err(Trouble::Model(error));
                }
                let product = &products[0];
                tracing::warn!(product = %product.id, %error, "a product is found by its words only");
                self.passed_over.insert(as_seen(product));
                Ok(Vec::new())
            }
        }
    }

    /// Counts a failure and says how long to wait now.
    fn failed(
        &mut self,
        error: &(dyn std::error::Error + 'static),
        asked_for: Option<Duration>,
    ) -> Duration {
        if self.failures == 0 {
            let error = ErrorChain(error);
            tracing::warn!(%error, "products cannot be embedded now; they are found by their words");
        }
        metrics::counter!("shopkeeper_embed_failures_total").increment(1);
        let doubled = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(self.failures));
        self.failures = self.failures.saturating_add(1);
        doubled.min(LONGEST_WAIT).max(asked_for.unwrap_or_default())
    }

    fn recovered(&mut self) {
        if self.failures > 0 {
            tracing::info!(failures = self.failures, "products are embedded again");
            self.failures = 0;
        }
    }
}

/// The product with the text it has now.
fn as_seen(product: &Unembedded) -> (ShopId, ProductId, Seq) {
    (product.shop, product.id, product.version)
}

fn text(product: &Unembedded) -> Text<'_> {
    Text::Product { title: &product.title, description: &product.description }
}

fn row((product, embedding): (&Unembedded, Embedding)) -> VectorRow {
    VectorRow {
        shop: product.shop,
        product: product.id,
        version: product.version,
        model: embedding.model,
        encoder: embedding.encoder,
        vector: embedding.vector.stored(),
    }
}
