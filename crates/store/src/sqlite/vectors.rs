//! The vectors of products. Every product has a row for its vector as soon as it is written: with
//! its instant vector, or without one if the model has no instant encoder.

use catalog::product::ShopId;
use embed::{Encoder, ModelId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{
    super::{StoreError, Unembedded, VectorRow, decoding},
    rows,
};

/// The newest products without a vector of this model by this encoder or a better one.
pub(super) fn unembedded(
    connection: &Connection,
    model: &str,
    encoder: Encoder,
    limit: usize,
) -> Result<Vec<Unembedded>, StoreError> {
    let mut newest: Vec<[i64; 4]> = Vec::new();
    for state in worse_states(connection, model, encoder)? {
        let mut waiting = connection.prepare_cached(
            "SELECT coalesce(text_order, version), version, product_id, shop_id FROM vectors
             WHERE model IS ?1 AND encoder IS ?2
             ORDER BY coalesce(text_order, version) DESC LIMIT ?3",
        )?;
        let mut found = waiting.query(params![state.0, state.1, limit as i64])?;
        while let Some(row) = found.next()? {
            newest.push([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]);
        }
    }
    newest.sort_unstable_by(|a, b| b.cmp(a));
    newest.truncate(limit);
    let mut text = connection
        .prepare_cached("SELECT title, description FROM products WHERE id = ?1 AND shop_id = ?2")?;
    let products = newest.into_iter().map(|[_, version, id, shop]| {
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
        "SELECT product_id, version, model, encoder, vector, deep FROM vectors
         WHERE shop_id = ?1 AND vector IS NOT NULL ORDER BY product_id",
    )?;
    let mut found = statement.query([shop.get()])?;
    while let Some(row) = found.next()? {
        let (number, product): (i64, i64) = (shop.get().cast_signed(), row.get(0)?);
        let vectors = rows::read_vectors(row, 4, number, product)?;
        let encoder = Encoder::parse(&rows::read_text(row, 3)?);
        let (Some(vectors), Some(encoder), Some(id)) =
            (vectors, encoder, decoding::product_id(number, product))
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
            vectors,
        });
    }
    Ok(())
}

type State = (Option<String>, Option<String>);

/// The pairs of model and encoder in the table, without those that satisfy the request. There are
/// few; each step jumps to the next pair in the index instead of reading all rows.
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
    // Two statements: SQLite would look for the first column of `(model, encoder) > (?1, ?2)` alone, and
    // read all rows of the last model.
    let mut next_encoder = connection.prepare_cached(NEXT_ENCODER)?;
    let mut next_model = connection.prepare_cached(NEXT_MODEL)?;
    let pair = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let mut last = (String::new(), String::new());
    loop {
        let found = next_encoder.query_row([&last.0, &last.1], pair).optional()?;
        let found = match found {
            Some(found) => Some(found),
            None => next_model.query_row([&last.0], pair).optional()?,
        };
        let Some((by_model, by)): Option<(String, Option<String>)> = found else {
            return Ok(states);
        };
        let is_good = |by: &String| Encoder::parse(by).is_some_and(|found| found >= encoder);
        if by_model != model || !by.as_ref().is_some_and(is_good) {
            states.push((Some(by_model.clone()), by.clone()));
        }
        last = (by_model, by.unwrap_or_default());
    }
}

const NEXT_ENCODER: &str = "SELECT model, encoder FROM vectors WHERE model = ?1 AND encoder > ?2
     ORDER BY encoder LIMIT 1";
const NEXT_MODEL: &str =
    "SELECT model, encoder FROM vectors WHERE model > ?1 ORDER BY model, encoder LIMIT 1";

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::{super::schema, *};

    #[test]
    fn looking_for_vectors_to_replace_does_not_read_those_that_are_good() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::migrate(&mut connection).unwrap();
        connection
            .execute_batch(
                "PRAGMA foreign_keys = OFF;
                 INSERT INTO vectors (product_id, shop_id, version, model, encoder, vector) VALUES
                     (1, 1, 1, NULL, NULL, NULL), (2, 1, 2, 'l', 'deep', x'00'),
                     (3, 1, 3, 'm', 'instant', x'00');
                 WITH RECURSIVE n(at) AS (SELECT 4 UNION ALL SELECT at + 1 FROM n WHERE at < 5000)
                     INSERT INTO vectors (product_id, shop_id, version, model, encoder, vector)
                     SELECT at, 1, at, 'm', 'deep', x'00' FROM n;",
            )
            .unwrap();
        let state = |model: &str, encoder: &str| (Some(model.to_owned()), Some(encoder.to_owned()));
        let others = vec![(None, None), state("l", "deep")];
        let worse = |encoder| worse_states(&connection, "m", encoder).unwrap();
        assert_eq!(worse(Encoder::Instant), others);
        assert_eq!(worse(Encoder::Deep), [others, vec![state("m", "instant")]].concat());
        for (statement, of) in [(NEXT_ENCODER, &["m", "deep"][..]), (NEXT_MODEL, &["m"])] {
            let mut statement = connection.prepare(statement).unwrap();
            statement.exists(rusqlite::params_from_iter(of)).unwrap();
            let steps = statement.get_status(StatementStatus::VmStep);
            assert!((1..100).contains(&steps), "{steps} steps");
        }
    }
}
