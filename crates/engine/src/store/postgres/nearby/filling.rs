//! How does a copy come to be? Chunk by chunk, while the shop is scanned.

use std::sync::Arc;

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
pub(in super::super) struct Filling<'a> {
    nearby: &'a Nearby,
    copy: Option<Arc<Copy>>,
    rows: Vec<RawRow>,
    trouble: Option<StoreError>,
}

impl<'a> Filling<'a> {
    pub(super) fn new(nearby: &'a Nearby, copy: Arc<Copy>) -> Self {
        Self { nearby, copy: Some(copy), rows: Vec::with_capacity(CHUNK), trouble: None }
    }
    /// One more row.
    pub(in super::super) fn add(&mut self, row: RawRow) {
        // A copy that cannot be made is no reason not to load the shop.
        if self.trouble.is_some() {
            return;
        }
        self.rows.push(row);
        if self.rows.len() >= CHUNK {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let Some(copy) = &self.copy else { return };
        let written = self.nearby.write(|connection| {
            for row in &self.rows {
                put(connection, copy, row)?;
            }
            self.nearby.sweep(connection)
        });
        self.rows.clear();
        self.trouble = written.err();
    }

    /// From now on this is the shop's copy.
    pub(in super::super) fn finish(mut self) {
        self.flush();
        let Some(copy) = self.copy.take() else { return };
        match &self.trouble {
            None => {
                let before = self.nearby.held.lock().insert(copy.shop, copy);
                self.nearby.forgotten.lock().extend(before);
            }
            Some(error) => {
                warn(copy.shop, error);
                self.copy = Some(copy);
            }
        }
    }
}

impl Drop for Filling<'_> {
    fn drop(&mut self) {
        self.nearby.forgotten.lock().extend(self.copy.take());
    }
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
