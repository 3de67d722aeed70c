//! Which products have which vectors? Every product has a row for its vector from the moment it
//! is written; the row is empty until somebody embeds the text.

use catalog::{
    change::Seq,
    product::{ProductId, ShopId},
};
use rusqlite::{Connection, params};

use super::{Readers, StoreError, WriteTransaction, rows};
use crate::embed::{Encoder, ModelId, StoredVector};

/// A product whose text waits to be embedded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unembedded {
    /// The product.
    pub id: ProductId,
    /// The change that gave it this text.
    pub version: Seq,
    /// Its title.
    pub title: String,
    /// Its description, or nothing.
    pub description: String,
}

/// A vector and what it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorRow {
    /// The product.
    pub product: ProductId,
    /// The change that gave the product the text it was made of.
    pub version: Seq,
    /// The space it lies in.
    pub model: ModelId,
    /// How it was made.
    pub encoder: Encoder,
    /// The vector.
    pub vector: StoredVector,
}

impl Readers {
    /// The newest products that have no vector of this model and encoder.
    pub fn unembedded(
        &self,
        model: &str,
        encoder: Encoder,
        limit: usize,
    ) -> Result<Vec<Unembedded>, StoreError> {
        self.read(|connection| {
            let mut newest: Vec<(i64, i64)> = Vec::new();
            for state in other_states(connection, model, encoder)? {
                let mut waiting = connection.prepare_cached(
                    "SELECT version, product_id FROM vectors WHERE model IS ?1 AND encoder IS ?2
                     ORDER BY version DESC LIMIT ?3",
                )?;
                let mut found = waiting.query(params![state.0, state.1, limit as i64])?;
                while let Some(row) = found.next()? {
                    newest.push((row.get(0)?, row.get(1)?));
                }
            }
            newest.sort_unstable_by(|a, b| b.cmp(a));
            newest.truncate(limit);
            let mut text = connection
                .prepare_cached("SELECT title, description FROM products WHERE id = ?1")?;
            let products = newest.into_iter().map(|(version, id)| {
                let (title, description) =
                    text.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
                let id = rows::read_product_id(id)?;
                Ok(Unembedded { id, version: Seq(version.cast_unsigned()), title, description })
            });
            products.collect()
        })
    }

    /// How many products have no vector of this model and encoder.
    pub fn unembedded_count(&self, model: &str, encoder: Encoder) -> Result<usize, StoreError> {
        self.read(|connection| {
            let mut count = connection.prepare_cached(
                "SELECT count(*) FROM vectors WHERE model IS ?1 AND encoder IS ?2",
            )?;
            let mut total = 0;
            for state in other_states(connection, model, encoder)? {
                total += count.query_row(params![state.0, state.1], |row| row.get::<_, u32>(0))?;
            }
            Ok(total as usize)
        })
    }

    /// Hands every vector of a shop to `visit`, by ascending product.
    pub fn scan_vectors(
        &self,
        shop: ShopId,
        mut visit: impl FnMut(VectorRow),
    ) -> Result<(), StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT product_id, version, model, encoder, vector FROM vectors
                 WHERE shop_id = ?1 AND vector IS NOT NULL ORDER BY product_id",
            )?;
            let mut found = statement.query([shop.get()])?;
            while let Some(row) = found.next()? {
                let text = |column| row.get_ref(column)?.as_str().map_err(rows::unexpected);
                let encoder = text(3)?;
                let vector = row.get_ref(4)?.as_blob().map_err(rows::unexpected)?;
                visit(VectorRow {
                    product: rows::read_product_id(row.get(0)?)?,
                    version: Seq(row.get::<_, i64>(1)?.cast_unsigned()),
                    model: ModelId::new(text(2)?),
                    encoder: Encoder::parse(encoder)
                        .ok_or_else(|| StoreError::damaged(format!("the encoder {encoder}")))?,
                    vector: StoredVector::from_bytes(vector)
                        .ok_or_else(|| StoreError::damaged("a vector"))?,
                });
            }
            Ok(())
        })
    }
}

type State = (Option<String>, Option<String>);

/// The pairs of model and encoder that rows have, all but the one asked for. There are few; each
/// step of the recursion jumps to the next pair in the index instead of reading all rows.
fn other_states(
    connection: &Connection,
    model: &str,
    encoder: Encoder,
) -> Result<Vec<State>, StoreError> {
    let mut states = Vec::new();
    let empty: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM vectors WHERE model IS NULL)")?
        .query_row([], |row| row.get(0))?;
    if empty {
        states.push((None, None));
    }
    let mut next = connection.prepare_cached(
        "SELECT model, encoder FROM vectors WHERE (model, encoder) > (?1, ?2)
         ORDER BY model, encoder LIMIT 1",
    )?;
    let mut last = (String::new(), String::new());
    loop {
        let mut found = next.query(params![last.0, last.1])?;
        let Some(row) = found.next()? else { return Ok(states) };
        last = (row.get(0)?, row.get(1)?);
        if (last.0.as_str(), last.1.as_str()) != (model, encoder.as_str()) {
            states.push((Some(last.0.clone()), Some(last.1.clone())));
        }
    }
}

impl WriteTransaction<'_> {
    /// Makes room for the vector of a new text; one of an older text is forgotten.
    pub(super) fn expect_vector(
        &mut self,
        product: ProductId,
        shop: ShopId,
        version: Seq,
    ) -> Result<(), StoreError> {
        self.sql
            .prepare_cached("INSERT OR REPLACE INTO vectors VALUES (?1, ?2, ?3, NULL, NULL, NULL)")?
            .execute(params![product.get(), shop.get(), version.0])?;
        Ok(())
    }

    /// Keeps a vector; `false` if the product is gone or has another text by now.
    pub fn put_vector(&mut self, row: &VectorRow) -> Result<bool, StoreError> {
        let changed = self
            .sql
            .prepare_cached(
                "UPDATE vectors SET model = ?3, encoder = ?4, vector = ?5
                 WHERE product_id = ?1 AND version = ?2",
            )?
            .execute(params![
                row.product.get(),
                row.version.0,
                row.model.as_str(),
                row.encoder.as_str(),
                row.vector.to_bytes(),
            ])?;
        Ok(changed > 0)
    }
}
