//! How does a copy come to be? Chunk by chunk, while the shop is scanned, on a thread of its own: who
//! waits for the shop waits for its index, not for a disk.

use std::{
    mem,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
};

use catalog::product::Product;
use rusqlite::{Connection, params};

use super::{Copy, Nearby, warn};
use crate::store::{StoreError, columns::media_column};

const PUT: &str = "
    INSERT OR REPLACE INTO rows (copy, id, shop_id, title, description, price, hidden, media,
                                 created_at, updated_at, version)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

/// Rows written together while a shop is filled: few, so that others who write wait little.
const CHUNK: usize = 500;
/// Chunks that may wait to be written: enough to even out the two sides, little beside the index.
const WAITING_CHUNKS: usize = 16;

/// A row as the database has it.
pub(in super::super) struct RawRow {
    pub(in super::super) id: i64,
    pub(in super::super) title: String,
    pub(in super::super) description: String,
    pub(in super::super) price: String,
    pub(in super::super) hidden: bool,
    pub(in super::super) media: String,
    pub(in super::super) created_at: i64,
    pub(in super::super) updated_at: i64,
    pub(in super::super) version: i64,
}

impl RawRow {
    pub(super) fn of(product: &Product) -> Self {
        Self {
            id: product.id.get().cast_signed(),
            title: product.title.as_str().to_owned(),
            description: product.description.as_str().to_owned(),
            price: product.price.text().to_owned(),
            hidden: product.hidden,
            media: media_column(&product.media),
            created_at: product.created_at.as_microsecond(),
            updated_at: product.updated_at.as_microsecond(),
            version: product.version.0.cast_signed(),
        }
    }
}

/// A copy that is being made. It counts for nothing until it is finished.
pub(in super::super) struct Filling {
    nearby: Arc<Nearby>,
    copy: Arc<Copy>,
    rows: Vec<RawRow>,
    writing: Option<Writing>,
}

/// The thread that writes.
struct Writing {
    chunks: SyncSender<Vec<RawRow>>,
    thread: JoinHandle<Result<(), StoreError>>,
}

impl Filling {
    pub(super) fn new(nearby: Arc<Nearby>, copy: Arc<Copy>) -> Self {
        Self { nearby, copy, rows: Vec::with_capacity(CHUNK), writing: None }
    }

    /// One more row.
    pub(in super::super) fn add(&mut self, row: RawRow) {
        self.rows.push(row);
        if self.rows.len() >= CHUNK {
            let full = mem::replace(&mut self.rows, Vec::with_capacity(CHUNK));
            let writing = self.writing.get_or_insert_with(|| start(&self.nearby, &self.copy));
            // A copy that cannot be made is no reason not to load the shop; the thread says why.
            let _ = writing.chunks.send(full);
        }
    }

    /// From now on this is the shop's copy.
    pub(in super::super) fn finish(mut self) {
        let written = self.end().and_then(|()| write(&self.nearby, &self.copy, &self.rows));
        match written {
            Ok(()) => {
                let copy = Arc::clone(&self.copy);
                let before = self.nearby.held.lock().insert(copy.shop, copy);
                self.nearby.forgotten.lock().extend(before);
            }
            Err(error) => warn(self.copy.shop, &error),
        }
    }

    /// Waits until all chunks are written.
    fn end(&mut self) -> Result<(), StoreError> {
        let Some(Writing { chunks, thread }) = self.writing.take() else { return Ok(()) };
        drop(chunks);
        thread.join().unwrap_or_else(|_| Err(StoreError::unexpected("a copy's thread panicked")))
    }
}

impl Drop for Filling {
    fn drop(&mut self) {
        // Whatever went wrong, nobody gets to see this copy.
        let _ = self.end();
        let is_held = |copy: &Arc<Copy>| Arc::ptr_eq(copy, &self.copy);
        if !self.nearby.held.lock().get(&self.copy.shop).is_some_and(is_held) {
            self.nearby.forgotten.lock().push(Arc::clone(&self.copy));
        }
    }
}

fn start(nearby: &Arc<Nearby>, copy: &Arc<Copy>) -> Writing {
    let (chunks, waiting): (_, Receiver<Vec<RawRow>>) = sync_channel(WAITING_CHUNKS);
    let (nearby, copy) = (Arc::clone(nearby), Arc::clone(copy));
    let thread =
        thread::spawn(move || waiting.iter().try_for_each(|rows| write(&nearby, &copy, &rows)));
    Writing { chunks, thread }
}

/// Writes a chunk, and sweeps out a little of what nobody needs.
fn write(nearby: &Nearby, copy: &Copy, rows: &[RawRow]) -> Result<(), StoreError> {
    nearby.write(|connection| {
        for row in rows {
            put(connection, copy, row)?;
        }
        nearby.sweep(connection)
    })
}

pub(super) fn put(connection: &Connection, copy: &Copy, row: &RawRow) -> Result<(), StoreError> {
    connection.prepare_cached(PUT)?.execute(params![
        copy.number,
        row.id,
        copy.shop.get(),
        row.title,
        row.description,
        row.price,
        row.hidden,
        row.media,
        row.created_at,
        row.updated_at,
        row.version,
    ])?;
    Ok(())
}
