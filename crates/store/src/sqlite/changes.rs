//! The changes of products that API clients follow.

use catalog::product::{
    ShopId,
    change::{ChangeKind, Seq},
    key::Key,
};
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    super::{ChangeEntry, ChangesExpired, ChangesPage, StoreError, decoding},
    rows,
};

/// How far the change records of a shop reach.
#[derive(Default)]
pub(super) struct History {
    /// The last change.
    pub(super) last: Seq,
    /// All records up to this one were removed.
    pub(super) truncated_to: Seq,
    /// The last change of a product whose record was removed.
    removed_to: Seq,
}

/// How far the change records of a shop reach; all zero for an unknown shop.
pub(super) fn history(connection: &Connection, shop: ShopId) -> Result<History, StoreError> {
    let found = connection
        .prepare_cached("SELECT last_seq, truncated_to, removed_to FROM shops WHERE id = ?1")?
        .query_row([shop.get()], |row| {
            let seq = |at| row.get(at).map(decoding::seq);
            Ok(History { last: seq(0)?, truncated_to: seq(1)?, removed_to: seq(2)? })
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}

/// The last change of a shop.
pub(super) fn last(connection: &Connection, shop: ShopId) -> Result<Seq, StoreError> {
    Ok(history(connection, shop)?.last)
}

/// The changes of a shop's products after `since`, unless records of such changes were removed or
/// the shop has no change `since`.
pub(super) fn page(
    connection: &Connection,
    shop: ShopId,
    since: Seq,
    limit: usize,
) -> Result<Result<ChangesPage, ChangesExpired>, StoreError> {
    let History { last, removed_to, .. } = history(connection, shop)?;
    if since < removed_to || since > last {
        return Ok(Err(ChangesExpired { last }));
    }
    // The index skips the records of vectors, which the planner does not expect to be many.
    let mut statement = connection.prepare_cached(
        "SELECT seq, product_id, deleted, iif(deleted, changes.key, products.key)
         FROM changes INDEXED BY product_changes
         LEFT JOIN products ON products.id = product_id
         WHERE changes.shop_id = ?1 AND seq > ?2 AND is_vector = 0 ORDER BY seq LIMIT ?3",
    )?;
    let since_number = i64::try_from(since.0).unwrap_or(i64::MAX);
    let at_most = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let mut found = statement.query(params![shop.get(), since_number, at_most])?;
    let mut changes = Vec::new();
    while let Some(row) = found.next()? {
        let number = shop.get().cast_signed();
        let Some(product) = decoding::product_id(number, row.get(1)?) else { continue };
        let kind = if row.get(2)? { ChangeKind::Deleted } else { ChangeKind::Upserted };
        let key = rows::read_optional_text(row, 3)?.map(|key| Key::from_stored(&key));
        changes.push(ChangeEntry { seq: decoding::seq(row.get(0)?), product, key, kind });
    }
    Ok(Ok(ChangesPage::new(changes, since, limit)))
}
