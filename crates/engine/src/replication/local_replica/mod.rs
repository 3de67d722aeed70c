//! A replica of the rows of the shops in memory, in a temporary SQLite file of this process, for
//! reads without the database.
//!
//! The scan that builds a shop's index also copies its rows. A change is applied to the copy before
//! the index shows it, and the copy is dropped when the shop is evicted. The file is unlinked as
//! soon as it is open, so it disappears with the process however that ends, and it is written
//! without regard to power failures.
//!
//! A shop that is loaded again gets a new copy. Reads that are still using the old one finish
//! undisturbed; its rows are purged in small steps afterwards.

mod copy_builder;
mod file;
mod rows;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, atomic::AtomicU64},
};

use catalog::product::{
    Product, ProductId, ShopId,
    access::{ReadPass, Visibility},
    key::Key,
};
use parking_lot::{Condvar, Mutex};
use rusqlite::{Connection, params};
use store::{AppliedChange, ErrorChain, Page, ShopCounts, StoreError, sqlite_rows};

use self::rows::{ReplicaRow, ShopCopy, count, upsert, warn_not_replicated};

const DELETE: &str = "DELETE FROM rows WHERE copy = ?1 AND id = ?2";
const PURGE: &str = "
    DELETE FROM rows WHERE copy = ?1 AND id IN (SELECT id FROM rows WHERE copy = ?1 LIMIT ?2)";
/// Rows of a retired copy that are purged with each chunk that is written.
const PURGED_PER_CHUNK: usize = 1000;

/// The copies of all shops in memory.
///
/// `copies` and `retired` are locked for map operations only; `writer` is locked during SQL.
/// Lock order: `writer` before `copies` before `retired`.
pub(crate) struct LocalReplica {
    writer: Mutex<Connection>,
    /// Idle connections for reading.
    readers: Mutex<Vec<Connection>>,
    reader_returned: Condvar,
    /// The complete copy of each shop that has one.
    copies: Mutex<HashMap<ShopId, Arc<ShopCopy>>>,
    /// Copies that no new read gets. Running reads may still hold them.
    retired: Mutex<Vec<Arc<ShopCopy>>>,
    next_number: AtomicU64,
}

impl LocalReplica {
    /// Creates an empty replica in `folder`, which `readers` threads can read at once. Without a
    /// writable folder there is no replica: searches then fail while the database is down.
    pub(crate) fn create(folder: &Path, readers: usize) -> Option<Arc<Self>> {
        Self::try_create(folder, readers)
            .inspect_err(|error| {
                let error = ErrorChain(error);
                tracing::warn!(folder = %folder.display(), %error,
                    "no local replica of products; searches will fail while the database is down");
            })
            .ok()
    }

    fn try_create(folder: &Path, readers: usize) -> Result<Arc<Self>, StoreError> {
        let (writer, readers) = file::create(folder, readers)?;
        Ok(Arc::new(Self {
            writer: Mutex::new(writer),
            readers: Mutex::new(readers),
            reader_returned: Condvar::new(),
            copies: Mutex::default(),
            retired: Mutex::default(),
            next_number: AtomicU64::new(1),
        }))
    }

    fn publish(&self, copy: &Arc<ShopCopy>) {
        let replaced = self.copies.lock().insert(copy.shop, Arc::clone(copy));
        self.retired.lock().extend(replaced);
    }

    /// Lets the rows of a copy that was never published be purged.
    fn retire_unpublished(&self, copy: &Arc<ShopCopy>) {
        let is_published = self.copy_of(copy.shop).is_some_and(|held| Arc::ptr_eq(&held, copy));
        if !is_published {
            self.retired.lock().push(Arc::clone(copy));
        }
    }

    /// Applies changes of a shop, in order. A copy that cannot be updated is dropped.
    pub(super) fn apply(&self, shop: ShopId, changes: &[AppliedChange]) {
        let Some(copy) = self.copy_of(shop) else { return };
        let applied = self.write(|connection| {
            for change in changes {
                match change {
                    AppliedChange::Upserted { product, .. } => {
                        upsert(connection, &copy, &ReplicaRow::from(product))?;
                    }
                    AppliedChange::Deleted { id, .. } => {
                        connection
                            .prepare_cached(DELETE)?
                            .execute(params![copy.number, id.get()])?;
                    }
                    AppliedChange::Embedded { .. } => {}
                }
            }
            Ok(())
        });
        if let Err(error) = applied {
            warn_not_replicated(shop, &error);
            self.drop_copy(shop);
        }
    }

    /// Drops a shop's copy. Does no I/O.
    pub(super) fn drop_copy(&self, shop: ShopId) {
        let dropped = self.copies.lock().remove(&shop);
        self.retired.lock().extend(dropped);
    }

    /// Whether there is a copy of any shop.
    pub(super) fn is_empty(&self) -> bool {
        self.copies.lock().is_empty()
    }

    /// The products with these ids, in this order; `None` without a copy of the shop.
    pub(super) fn products(
        &self,
        pass: &ReadPass,
        ids: &[ProductId],
    ) -> Result<Option<Vec<Product>>, StoreError> {
        self.read(pass.shop(), |connection, copy| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {columns} FROM rows WHERE copy = ?1 AND id = ?2",
                columns = sqlite_rows::COLUMNS
            ))?;
            let mut found = Vec::with_capacity(ids.len());
            for id in ids {
                let mut row = statement.query(params![copy.number, id.get()])?;
                if let Some(row) = row.next()?
                    && let Some(product) = sqlite_rows::read(row)?
                    && (pass.visibility() == Visibility::All || !product.hidden)
                {
                    found.push(product);
                }
            }
            Ok(found)
        })
    }

    /// The products with these keys, in this order; `None` without a copy of the shop.
    pub(super) fn products_by_key(
        &self,
        pass: &ReadPass,
        keys: &[Key],
    ) -> Result<Option<Vec<Product>>, StoreError> {
        self.read(pass.shop(), |connection, copy| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {columns} FROM rows WHERE copy = ?1 AND key = ?2",
                columns = sqlite_rows::COLUMNS
            ))?;
            let mut found = Vec::with_capacity(keys.len());
            for key in keys {
                let mut row = statement.query(params![copy.number, key.as_str()])?;
                found.extend(row.next()?.map_or(Ok(None), sqlite_rows::read)?);
            }
            found.retain(|product| pass.visibility() == Visibility::All || !product.hidden);
            Ok(found)
        })
    }

    /// The products among `ids` whose title, description and strings of attributes `allowed`
    /// rejects; `None` without a copy of the shop.
    pub(super) fn rejected_by_text(
        &self,
        shop: ShopId,
        ids: &[ProductId],
        allowed: &dyn Fn(&str, &str, &str) -> bool,
    ) -> Result<Option<Vec<ProductId>>, StoreError> {
        self.read(shop, |connection, copy| {
            let mut statement = connection.prepare_cached(
                "SELECT title, description, attributes FROM rows WHERE copy = ?1 AND id = ?2",
            )?;
            let mut rejected = Vec::new();
            for id in ids {
                let mut row = statement.query(params![copy.number, id.get()])?;
                if let Some(row) = row.next()?
                    && !allowed(
                        &sqlite_rows::read_text(row, 0)?,
                        &sqlite_rows::read_text(row, 1)?,
                        &sqlite_rows::read_attribute_text(row, 2)?,
                    )
                {
                    rejected.push(*id);
                }
            }
            Ok(rejected)
        })
    }

    /// A page of the catalog by ascending id; `None` without a copy of the shop.
    pub(super) fn page(
        &self,
        pass: &ReadPass,
        limit: usize,
        offset: usize,
    ) -> Result<Option<Page>, StoreError> {
        self.read(pass.shop(), |connection, copy| {
            let counts = count(connection, copy)?;
            let (filter, total) = match pass.visibility() {
                Visibility::All => ("", counts.products),
                Visibility::VisibleOnly => ("AND hidden = 0", counts.visible),
            };
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {columns} FROM rows WHERE copy = ?1 {filter}
                 ORDER BY id LIMIT ?2 OFFSET ?3",
                columns = sqlite_rows::COLUMNS
            ))?;
            let offset = i64::try_from(offset).unwrap_or(i64::MAX);
            let mut found = statement.query(params![copy.number, limit as i64, offset])?;
            let mut products = Vec::with_capacity(limit.min(total));
            while let Some(row) = found.next()? {
                products.extend(sqlite_rows::read(row)?);
            }
            Ok(Page { products, total })
        })
    }

    /// The number of products of a shop; `None` without a copy of it.
    pub(super) fn counts(&self, shop: ShopId) -> Result<Option<ShopCounts>, StoreError> {
        self.read(shop, count)
    }

    fn copy_of(&self, shop: ShopId) -> Option<Arc<ShopCopy>> {
        self.copies.lock().get(&shop).cloned()
    }

    /// Runs `work` on a shop's copy in one transaction, so that all its queries see one state.
    fn read<T>(
        &self,
        shop: ShopId,
        work: impl FnOnce(&Connection, &ShopCopy) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        // Holding the copy keeps its rows from being purged.
        let Some(copy) = self.copy_of(shop) else { return Ok(None) };
        let mut readers = self.readers.lock();
        let connection = loop {
            match readers.pop() {
                Some(connection) => break connection,
                None => self.reader_returned.wait(&mut readers),
            }
        };
        drop(readers);
        let result = connection
            .unchecked_transaction()
            .map_err(StoreError::from)
            .and_then(|transaction| work(&transaction, &copy));
        self.readers.lock().push(connection);
        self.reader_returned.notify_one();
        result.map(Some)
    }

    /// Runs `work` in one transaction.
    fn write<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut writer = self.writer.lock();
        let transaction = writer.transaction()?;
        let result = work(&transaction)?;
        transaction.commit()?;
        Ok(result)
    }

    /// Purges some rows of a retired copy that no read holds any more.
    fn purge_retired(&self, connection: &Connection) -> Result<(), StoreError> {
        let mut retired = self.retired.lock();
        let Some(at) = retired.iter().position(|copy| Arc::strong_count(copy) == 1) else {
            return Ok(());
        };
        let copy = retired.swap_remove(at);
        // Evictions lock this list and must not wait for the disk.
        drop(retired);
        let purged = connection
            .prepare_cached(PURGE)
            .and_then(|mut purge| purge.execute(params![copy.number, PURGED_PER_CHUNK]));
        if !matches!(purged, Ok(rows) if rows < PURGED_PER_CHUNK) {
            self.retired.lock().push(copy);
        }
        purged?;
        Ok(())
    }
}
