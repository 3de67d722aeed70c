//! The changes of products that API clients follow.

use catalog::{
    change::{ChangeKind, Seq},
    key::Key,
    product::ShopId,
};
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    super::{ChangeEntry, ChangesPage, StoreError, decoding},
    rows,
};

/// The changes of a shop's products after `since`; `None` if records of such changes were removed.
pub(super) fn page(
    connection: &Connection,
    shop: ShopId,
    since: Seq,
    limit: usize,
) -> Result<Option<ChangesPage>, StoreError> {
    let removed_to: Option<i64> = connection
        .prepare_cached("SELECT removed_to FROM shops WHERE id = ?1")?
        .query_row([shop.get()], |row| row.get(0))
        .optional()?;
    if since < decoding::seq(removed_to.unwrap_or_default()) {
        return Ok(None);
    }
    let mut statement = connection.prepare_cached(
        "SELECT seq, product_id, deleted, iif(deleted, changes.key, products.key)
         FROM changes LEFT JOIN products ON products.id = product_id
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
    Ok(Some(ChangesPage::new(changes, since, limit)))
}
