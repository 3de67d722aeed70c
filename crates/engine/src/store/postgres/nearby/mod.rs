//! Which products can be shown without the database? Those of the shops in memory: a copy of
//! their rows lies in a scratch file of this process.
//!
//! It is filled by the same scan that fills a shop's index, follows the same changes before the
//! index does, and goes when the index goes. Nobody else ever sees the file: it has no name any
//! more as soon as it is open, so that it is gone with the process, however that ends. It is
//! written without care for power cuts.

mod file;
mod filling;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use catalog::{
    access::{ReadPass, Visibility},
    product::{Product, ProductId, ShopId},
};
use parking_lot::{Condvar, Mutex};
use rusqlite::{Connection, params};

use super::super::{
    AppliedChange, ErrorChain, Page, ShopCounts, StoreError, decoding, sqlite::rows,
};
use filling::put;
pub(super) use filling::{Filling, RawRow};

const DELETE: &str = "DELETE FROM rows WHERE copy = ?1 AND id = ?2";
const SWEEP: &str = "
    DELETE FROM rows WHERE copy = ?1 AND id IN (SELECT id FROM rows WHERE copy = ?1 LIMIT ?2)";
/// Rows of copies that nobody needs any more, swept out with each chunk.
const SWEPT_WITH_A_CHUNK: usize = 1000;

/// The copies of all shops in memory.
pub(super) struct Nearby {
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
    returned: Condvar,
    /// The copy of each shop that has one, complete.
    held: Mutex<HashMap<ShopId, Arc<Copy>>>,
    /// Copies that nobody gets any more; some may still be reading them.
    forgotten: Mutex<Vec<Arc<Copy>>>,
    next: AtomicU64,
}

/// One copy of one shop. A shop that is loaded again gets another.
struct Copy {
    number: u64,
    shop: ShopId,
}

impl Nearby {
    /// A new, empty file in this folder, which so many may read at once.
    pub(super) fn new(folder: &Path, readers: usize) -> Result<Self, StoreError> {
        let (writer, readers) = file::make(folder, readers)?;
        Ok(Self {
            writer: Mutex::new(writer),
            readers: Mutex::new(readers),
            returned: Condvar::new(),
            held: Mutex::default(),
            forgotten: Mutex::default(),
            next: AtomicU64::new(1),
        })
    }

    /// Begins a copy of a shop.
    pub(super) fn fill(self: &Arc<Self>, shop: ShopId) -> Filling {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Filling::new(Arc::clone(self), Arc::new(Copy { number, shop }))
    }

    /// Follows changes of a shop, in order. A copy that cannot follow is let go.
    pub(super) fn keep_up(&self, shop: ShopId, changes: &[&AppliedChange]) {
        let Some(copy) = self.copy_of(shop) else { return };
        let followed = self.write(|connection| {
            for change in changes {
                match change {
                    AppliedChange::Upserted { product, .. } => {
                        put(connection, &copy, &RawRow::of(product))?;
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
        if let Err(error) = followed {
            warn(shop, &error);
            self.let_go(shop);
        }
    }

    /// Forgets a shop's copy.
    pub(super) fn let_go(&self, shop: ShopId) {
        let gone = self.held.lock().remove(&shop);
        self.forgotten.lock().extend(gone);
    }

    /// Whether any shop can be shown.
    pub(super) fn holds_any(&self) -> bool {
        !self.held.lock().is_empty()
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
                columns = rows::COLUMNS
            ))?;
            let mut found = Vec::with_capacity(ids.len());
            for id in ids {
                let mut row = statement.query(params![copy.number, id.get()])?;
                if let Some(row) = row.next()?
                    && let Some(product) = rows::read(row)?
                    && (pass.visibility() == Visibility::All || !product.hidden)
                {
                    found.push(product);
                }
            }
            Ok(found)
        })
    }

    /// Those of the products whose texts are not allowed; `None` without a copy of the shop.
    pub(super) fn refused(
        &self,
        shop: ShopId,
        ids: &[ProductId],
        allowed: &dyn Fn(&str, &str) -> bool,
    ) -> Result<Option<Vec<ProductId>>, StoreError> {
        self.read(shop, |connection, copy| {
            let mut statement = connection.prepare_cached(
                "SELECT id, title, description FROM rows WHERE copy = ?1 AND id = ?2",
            )?;
            let mut refused = Vec::new();
            for id in ids {
                let mut row = statement.query(params![copy.number, id.get()])?;
                if let Some(row) = row.next()?
                    && !allowed(&rows::read_text(row, 1)?, &rows::read_text(row, 2)?)
                {
                    refused.push(*id);
                }
            }
            Ok(refused)
        })
    }

    /// A page of the catalog; `None` without a copy of the shop.
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
                columns = rows::COLUMNS
            ))?;
            let offset = i64::try_from(offset).unwrap_or(i64::MAX);
            let mut found = statement.query(params![copy.number, limit as i64, offset])?;
            let mut products = Vec::with_capacity(limit.min(total));
            while let Some(row) = found.next()? {
                products.extend(rows::read(row)?);
            }
            Ok(Page { products, total })
        })
    }

    /// How many products a shop has; `None` without a copy of it.
    pub(super) fn counts(&self, shop: ShopId) -> Result<Option<ShopCounts>, StoreError> {
        self.read(shop, count)
    }

    fn copy_of(&self, shop: ShopId) -> Option<Arc<Copy>> {
        self.held.lock().get(&shop).cloned()
    }

    /// Runs `work` on a shop's copy: whatever it asks, it sees one state.
    fn read<T>(
        &self,
        shop: ShopId,
        work: impl FnOnce(&Connection, &Copy) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        // Held while it is read, so that it is not swept out meanwhile.
        let Some(copy) = self.copy_of(shop) else { return Ok(None) };
        let mut readers = self.readers.lock();
        let connection = loop {
            match readers.pop() {
                Some(connection) => break connection,
                None => self.returned.wait(&mut readers),
            }
        };
        drop(readers);
        let answer = connection
            .unchecked_transaction()
            .map_err(StoreError::from)
            .and_then(|transaction| work(&transaction, &copy));
        self.readers.lock().push(connection);
        self.returned.notify_one();
        answer.map(Some)
    }

    /// Runs `work` in one transaction.
    fn write<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut writer = self.writer.lock();
        let transaction = writer.transaction()?;
        let answer = work(&transaction)?;
        transaction.commit()?;
        Ok(answer)
    }

    /// Sweeps out a little of what nobody can be reading any more.
    fn sweep(&self, connection: &Connection) -> Result<(), StoreError> {
        let mut forgotten = self.forgotten.lock();
        let Some(at) = forgotten.iter().position(|copy| Arc::strong_count(copy) == 1) else {
            return Ok(());
        };
        let most = SWEPT_WITH_A_CHUNK;
        let mut sweep = connection.prepare_cached(SWEEP)?;
        if sweep.execute(params![forgotten[at].number, most])? < most {
            forgotten.swap_remove(at);
        }
        Ok(())
    }
}

fn warn(shop: ShopId, error: &StoreError) {
    let error = ErrorChain(error);
    tracing::warn!(%shop, %error, "a shop's products are not kept nearby");
}

fn count(connection: &Connection, copy: &Copy) -> Result<ShopCounts, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT count(*), count(*) FILTER (WHERE hidden = 0) FROM rows WHERE copy = ?1",
    )?;
    let (products, visible): (i64, i64) =
        statement.query_row([copy.number], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (products, visible) = (decoding::count(products), decoding::count(visible));
    Ok(ShopCounts { shop: copy.shop, products, visible })
}
