//! Copies the rows of a shop while it is scanned. A thread of its own writes them, so that a load
//! waits for the index alone and not for the disk.

use std::{
    mem,
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
};

use catalog::product::ShopId;
use store::{ScannedProduct, StoreError};

use super::{
    LocalReplica,
    rows::{ReplicaRow, ShopCopy, upsert, warn_not_replicated},
};

/// Rows written in one transaction. Changes of other shops wait for it, so it is short.
const CHUNK_ROWS: usize = 500;
/// Chunks that may wait to be written: enough to smooth out differences in speed, and little
/// memory compared to the index.
const MAX_QUEUED_CHUNKS: usize = 16;

impl LocalReplica {
    /// Starts a new copy of a shop.
    pub(in crate::replication) fn start_copy(self: &Arc<Self>, shop: ShopId) -> CopyBuilder {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        CopyBuilder::new(Arc::clone(self), Arc::new(ShopCopy { number, shop }))
    }
}

/// A copy that is being written. Reads do not see it before [`publish`](Self::publish).
pub(in crate::replication) struct CopyBuilder {
    replica: Arc<LocalReplica>,
    copy: Arc<ShopCopy>,
    rows: Vec<ReplicaRow>,
    writing: Option<WriterThread>,
    /// Whether every row could be copied so far.
    is_complete: bool,
}

struct WriterThread {
    chunks: SyncSender<Vec<ReplicaRow>>,
    thread: JoinHandle<Result<(), StoreError>>,
}

impl CopyBuilder {
    pub(super) fn new(replica: Arc<LocalReplica>, copy: Arc<ShopCopy>) -> Self {
        Self {
            replica,
            copy,
            rows: Vec::with_capacity(CHUNK_ROWS),
            writing: None,
            is_complete: true,
        }
    }

    /// Adds a row of a scan.
    pub(in crate::replication) fn add_scanned(&mut self, row: &ScannedProduct<'_>) {
        match ReplicaRow::from_scan(row) {
            Some(row) => self.add(row),
            None => self.is_complete = false,
        }
    }

    pub(super) fn add(&mut self, row: ReplicaRow) {
        self.rows.push(row);
        if self.rows.len() >= CHUNK_ROWS {
            let full = mem::replace(&mut self.rows, Vec::with_capacity(CHUNK_ROWS));
            let writing =
                self.writing.get_or_insert_with(|| WriterThread::start(&self.replica, &self.copy));
            // A failure ends the thread, which reports it in `publish`. The load goes on.
            let _ = writing.chunks.send(full);
        }
    }

    /// Makes this the shop's copy. A copy that could not be written completely is dropped.
    pub(in crate::replication) fn publish(mut self) {
        match self.finish() {
            Ok(()) => self.replica.publish(&self.copy),
            Err(error) => warn_not_replicated(self.copy.shop, &error),
        }
    }

    fn finish(&mut self) -> Result<(), StoreError> {
        self.join_writer()?;
        if !self.is_complete {
            return Err(StoreError::unexpected("the scan did not read all columns"));
        }
        write(&self.replica, &self.copy, &self.rows)
    }

    /// Waits until all chunks are written.
    fn join_writer(&mut self) -> Result<(), StoreError> {
        let Some(WriterThread { chunks, thread }) = self.writing.take() else { return Ok(()) };
        drop(chunks);
        thread.join().unwrap_or_else(|_| Err(StoreError::unexpected("replica writer panicked")))
    }
}

impl Drop for CopyBuilder {
    fn drop(&mut self) {
        // The copy was never published, so its errors do not matter.
        let _ = self.join_writer();
        self.replica.retire_unpublished(&self.copy);
    }
}

impl WriterThread {
    fn start(replica: &Arc<LocalReplica>, copy: &Arc<ShopCopy>) -> Self {
        let (chunks, queued): (_, Receiver<Vec<ReplicaRow>>) = sync_channel(MAX_QUEUED_CHUNKS);
        let (replica, copy) = (Arc::clone(replica), Arc::clone(copy));
        let thread =
            thread::spawn(move || queued.iter().try_for_each(|rows| write(&replica, &copy, &rows)));
        Self { chunks, thread }
    }
}

/// Writes a chunk and purges some rows of retired copies.
fn write(replica: &LocalReplica, copy: &ShopCopy, rows: &[ReplicaRow]) -> Result<(), StoreError> {
    replica.write(|connection| {
        for row in rows {
            upsert(connection, copy, row)?;
        }
        replica.purge_retired(connection)
    })
}
