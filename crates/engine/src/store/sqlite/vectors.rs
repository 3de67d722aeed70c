//! The vectors of products. Every product has a row for its vector as soon as it is written: with
//! its instant vector, or without one if the model has no instant encoder.

use catalog::product::ShopId;
use rusqlite::{Connection, params};

use super::{
    super::{StoreError, Unembedded, VectorRow, decoding},
    rows,
};
use crate::embed::{Encoder, ModelId};

/// The newest products without a vector of this model by this encoder or a better one.
pub(super) fn unembedded(
    connection: &Connection,
    model: &str,
    encoder: Encoder,
    limit: usize,
) -> Result<Vec<Unembedded>, StoreError> {
    let mut newest: Vec<(i64, i64, i64)> = Vec::new();
    for state in worse_states(connection, model, encoder)? {
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
        let mut found = text.query([id, shop])?;
        let (Some(row), Some(number), Some(shop)) =
            (found.next()?, decoding::product_id(shop, id), decoding::shop_id(shop))
        else {
            return Ok(None);
        };
        Ok(Some(Unembedded {
            shop,
            id: number,
            version: decoding::seq(version),
            title: rows::read_text(row, 0)?.into_owned(),
            description: rows::read_text(row, 1)?.into_owned(),
        }))
    });
    products.filter_map(Result::transpose).collect()
}

/// The number of products without a vector of this model by this encoder or a better one.
pub(super) fn unembedded_count(
    connection: &Connection,
    model: &str,
    encoder: Encoder,
) -> Result<usize, StoreError> {
    let mut count = connection
        .prepare_cached("SELECT count(*) FROM vectors WHERE model IS ?1 AND encoder IS ?2")?;
    let mut total = 0;
    for state in worse_states(connection, model, encoder)? {
        total += count.query_row(params![state.0, state.1], |row| row.get::<_, u32>(0))?;
    }
    Ok(total as usize)
}

/// Calls `visit` with every vector of a shop, by ascending product id.
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
        let (number, product): (i64, i64) = (shop.get().cast_signed(), row.get(0)?);
        let vector = rows::read_vector(row, 4, number, product)?;
        let encoder = Encoder::parse(&rows::read_text(row, 3)?);
        let (Some(vector), Some(encoder), Some(id)) =
            (vector, encoder, decoding::product_id(number, product))
        else {
            // A vector that cannot be decoded is made again.
            decoding::report(number, product, "the vector cannot be read");
            continue;
        };
        visit(VectorRow {
            shop,
            product: id,
            version: decoding::seq(row.get(1)?),
            model: ModelId::new(&rows::read_text(row, 2)?),
            encoder,
            vector,
        });
    }
    Ok(())
}

type State = (Option<String>, Option<String>);

/// The pairs of model and encoder in the table, without those that satisfy the request. There are
/// few; each step of the recursion jumps to the next pair in the index instead of reading all rows.
fn worse_states(
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
        let (by_model, by): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        let is_good = |by: &String| Encoder::parse(by).is_some_and(|found| found >= encoder);
        if by_model != model || !by.as_ref().is_some_and(is_good) {
            states.push((Some(by_model.clone()), by.clone()));
        }
        last = (by_model, by.unwrap_or_default());
    }
}
