//! Which products have which vectors? Every product has a row for its vector from the moment it
//! is written: with the instant vector, or empty where the model makes none at once.

use catalog::{change::Seq, product::ShopId};
use rusqlite::{Connection, params};

use super::super::{StoreError, Unembedded, VectorRow, columns};
use crate::embed::{Encoder, ModelId, StoredVector};

/// The newest products that have no vector of this model by this encoder or a better one.
pub(super) fn unembedded(
    connection: &Connection,
    model: &str,
    encoder: Encoder,
    limit: usize,
) -> Result<Vec<Unembedded>, StoreError> {
    let mut newest: Vec<(i64, i64, i64)> = Vec::new();
    for state in lesser_states(connection, model, encoder)? {
        let mut waiting = connection.prepare_cached(
            "SELECT version, product_id, shop_id FROM vectors
             WHERE model IS ?1 AND encoder IS ?2 ORDER BY version DESC LIMIT ?3",
        )?;
        let mut found = waiting.query(params![state.0, state.1, limit as i64])?;
        while let Some(row) = found.next()? {
            newest.push((row.get(0)?, row.get(1)?, row.get(2)?));
        }
    }
    newest.sort_unstable_by(|a, b| b.cmp(a));
    newest.truncate(limit);
    let mut text = connection
        .prepare_cached("SELECT title, description FROM products WHERE id = ?1 AND shop_id = ?2")?;
    let products = newest.into_iter().map(|(version, id, shop)| {
        let (title, description) =
            text.query_row([id, shop], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Unembedded {
            shop: columns::read_shop_id(shop)?,
            id: columns::read_product_id(id)?,
            version: Seq(version.cast_unsigned()),
            title,
            description,
        })
    });
    products.collect()
}

/// How many products have no vector of this model by this encoder or a better one.
pub(super) fn unembedded_count(
    connection: &Connection,
    model: &str,
    encoder: Encoder,
) -> Result<usize, StoreError> {
    let mut count = connection
        .prepare_cached("SELECT count(*) FROM vectors WHERE model IS ?1 AND encoder IS ?2")?;
    let mut total = 0;
    for state in lesser_states(connection, model, encoder)? {
        total += count.query_row(params![state.0, state.1], |row| row.get::<_, u32>(0))?;
    }
    Ok(total as usize)
}

/// Hands every vector of a shop to `visit`, by ascending product.
pub(super) fn scan(
    connection: &Connection,
    shop: ShopId,
    visit: &mut dyn FnMut(VectorRow),
) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT product_id, version, model, encoder, vector FROM vectors
         WHERE shop_id = ?1 AND vector IS NOT NULL ORDER BY product_id",
    )?;
    let mut found = statement.query([shop.get()])?;
    while let Some(row) = found.next()? {
        let text = |column| row.get_ref(column)?.as_str().map_err(columns::unexpected);
        let encoder = text(3)?;
        let vector = row.get_ref(4)?.as_blob().map_err(columns::unexpected)?;
        visit(VectorRow {
            shop,
            product: columns::read_product_id(row.get(0)?)?,
            version: Seq(row.get::<_, i64>(1)?.cast_unsigned()),
            model: ModelId::new(text(2)?),
            encoder: Encoder::parse(encoder)
                .ok_or_else(|| StoreError::damaged(format!("the encoder {encoder}")))?,
            vector: StoredVector::from_bytes(vector)
                .ok_or_else(|| StoreError::damaged("a vector"))?,
        });
    }
    Ok(())
}

type State = (Option<String>, Option<String>);

/// The pairs of model and encoder that rows have, all but the one asked for and better ones. There
/// are few; each step jumps to the next pair in the index instead of reading all rows.
fn lesser_states(
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
        let good = last.0 == model && Encoder::parse(&last.1).is_some_and(|found| found >= encoder);
        if !good {
            states.push((Some(last.0.clone()), Some(last.1.clone())));
        }
    }
}
