//! The bulk builder: builds the index of a whole shop. The caller reads products on its thread;
//! other threads index them in batches.

use std::{
    mem,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
};

use catalog::product::{
    ProductId, attributes::Attributes, change::Seq, inferred::Inferred, price::Money,
};
use embed::StoredVectors;
use parking_lot::Mutex;

use super::ShopIndex;
use crate::{
    entry::{DocVectors, Entry, EntryVectors, IndexChange},
    segment::{LiveSegment, SegmentBuilder, merge},
};

/// Products of a batch.
const BATCH: usize = 2048;
/// Batches that may wait: bounds memory where reading is faster than indexing.
const WAITING_BATCHES: usize = 2;
/// The most indexing threads of one shop.
const MAX_THREADS: usize = 4;

/// Builds the index of a shop from all its products.
#[derive(Default)]
pub struct IndexBuilder {
    batch: Batch,
    last_id: Option<ProductId>,
    /// Products that were not added in ascending order of id.
    unordered: Batch,
    workers: Option<Workers>,
}

impl IndexBuilder {
    /// A builder without products.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a product. Fastest in ascending order of id. A product that is added again replaces the
    /// earlier one.
    pub fn add(&mut self, entry: Entry<'_>) {
        if self.last_id.is_some_and(|last| entry.id <= last) {
            self.unordered.push(entry);
            return;
        }
        self.last_id = Some(entry.id);
        self.batch.push(entry);
        if self.batch.entries.len() == BATCH {
            let full = mem::take(&mut self.batch);
            self.workers.get_or_insert_with(Workers::start).send(full);
        }
    }

    /// Builds the index, as of `seq`.
    pub fn finish(self, seq: Seq) -> ShopIndex {
        let segments = match self.workers {
            Some(workers) => {
                workers.send(self.batch);
                workers.finish()
            }
            // A single batch is indexed here.
            None => index_batches(std::iter::once(self.batch)),
        };
        let index = ShopIndex::with_segments(seq, segments);
        let unordered: Vec<_> = self.unordered.iter().map(IndexChange::Upsert).collect();
        if !unordered.is_empty() {
            index.apply(&unordered, seq);
        }
        index
    }
}

/// Owned products. Their texts share one allocation.
#[derive(Default)]
struct Batch {
    texts: String,
    entries: Vec<BatchEntry>,
}

struct BatchEntry {
    id: ProductId,
    version: Seq,
    hidden: bool,
    price: Option<Money>,
    title_end: usize,
    description_end: usize,
    key_end: Option<usize>,
    attributes: Attributes,
    inferred: Inferred,
    vectors: Option<StoredVectors>,
}

impl Batch {
    fn push(&mut self, entry: Entry<'_>) {
        let Entry { id, version, hidden, price, title, description, key, inferred, .. } = entry;
        self.texts.push_str(title);
        let title_end = self.texts.len();
        self.texts.push_str(description);
        let description_end = self.texts.len();
        let key_end = key.map(|key| {
            self.texts.push_str(key);
            self.texts.len()
        });
        self.entries.push(BatchEntry {
            id,
            version,
            hidden,
            price,
            title_end,
            description_end,
            key_end,
            attributes: entry.attributes.clone(),
            inferred,
            vectors: entry.vectors.known().cloned(),
        });
    }

    fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut start = 0;
        self.entries.iter().map(move |entry| {
            let title = &self.texts[start..entry.title_end];
            let description = &self.texts[entry.title_end..entry.description_end];
            let key = entry.key_end.map(|end| &self.texts[entry.description_end..end]);
            start = entry.key_end.unwrap_or(entry.description_end);
            let BatchEntry { id, version, hidden, price, inferred, .. } = *entry;
            let vectors = entry.vectors.as_ref();
            let vectors = vectors.map_or(EntryVectors::Missing, EntryVectors::Known);
            let attributes = &entry.attributes;
            Entry {
                id,
                version,
                hidden,
                price,
                title,
                description,
                key,
                attributes,
                inferred,
                vectors,
            }
        })
    }
}

/// Builds as few segments as possible from batches in ascending order of id.
fn index_batches(batches: impl Iterator<Item = Batch>) -> Vec<LiveSegment> {
    let mut segments = Vec::new();
    let mut builder = SegmentBuilder::default();
    for batch in batches {
        for entry in batch.iter() {
            if builder.is_full() {
                segments.push(ordered(mem::take(&mut builder)));
            }
            let vectors = entry.vectors.known().map_or_else(DocVectors::default, Into::into);
            builder.add(&entry, vectors);
        }
    }
    if builder.len() > 0 {
        segments.push(ordered(builder));
    }
    segments
}

/// The segment with its products in the order that searches profit from, if it is large.
fn ordered(builder: SegmentBuilder) -> LiveSegment {
    let is_large = builder.len() > BATCH;
    let segment = builder.finish();
    if is_large { merge(&[segment]) } else { segment }
}

struct Workers {
    queue: SyncSender<Batch>,
    threads: Vec<JoinHandle<Vec<LiveSegment>>>,
}

impl Workers {
    fn start() -> Self {
        let (queue, batches) = sync_channel(WAITING_BATCHES);
        let batches = Arc::new(Mutex::new(batches));
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
        let threads = (0..cores.min(MAX_THREADS))
            .map(|_| {
                let batches = Arc::clone(&batches);
                thread::spawn(move || index_batches(std::iter::from_fn(|| next_batch(&batches))))
            })
            .collect();
        Self { queue, threads }
    }

    fn send(&self, batch: Batch) {
        // Fails only if every worker has panicked; `finish` resumes the panic.
        let _ = self.queue.send(batch);
    }

    fn finish(self) -> Vec<LiveSegment> {
        drop(self.queue);
        let finished = self.threads.into_iter().map(JoinHandle::join);
        finished
            .flat_map(|made| made.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    }
}

fn next_batch(batches: &Mutex<Receiver<Batch>>) -> Option<Batch> {
    batches.lock().recv().ok()
}
