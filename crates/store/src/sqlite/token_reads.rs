//! Reads of tokens.

use catalog::product::ShopId;
use rusqlite::{Row, Rows, params};

use super::{
    super::{StoreError, TokenBatch, TokenPage, TokenReads, TokenRow, decoding},
    reader::SqliteReaders,
    rows,
};

const COLUMNS: &str = "id, shop_id, role, name, secret_hash, created_at, expires_at, revoked_at";

impl TokenReads for SqliteReaders {
    fn token(&self, id: u64) -> Result<Option<TokenRow>, StoreError> {
        let Ok(id) = i64::try_from(id) else { return Ok(None) };
        self.read_single(|connection| {
            let mut statement = connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM tokens WHERE id = ?1"))?;
            let mut rows = statement.query([id])?;
            rows.next()?.map_or(Ok(None), read)
        })
    }

    fn token_batch(
        &self,
        shop: Option<ShopId>,
        after: u64,
        limit: usize,
    ) -> Result<TokenBatch, StoreError> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        self.read_single(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM tokens
                 WHERE id > ?1 AND (?2 IS NULL OR shop_id = ?2) ORDER BY id LIMIT ?3"
            ))?;
            let found = statement.query(params![after, shop.map(ShopId::get), limit as i64])?;
            let (tokens, ids) = read_all(found)?;
            let last = ids.last().filter(|_| ids.len() == limit).copied();
            Ok(TokenBatch { tokens, last })
        })
    }

    fn token_page(
        &self,
        shop: ShopId,
        limit: usize,
        offset: usize,
    ) -> Result<TokenPage, StoreError> {
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        self.read(|connection| {
            let mut count =
                connection.prepare_cached("SELECT count(*) FROM tokens WHERE shop_id = ?1")?;
            let total = count.query_row([shop.get()], |row| row.get(0))?;
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM tokens WHERE shop_id = ?1 ORDER BY id LIMIT ?2 OFFSET ?3"
            ))?;
            let found = statement.query(params![shop.get(), limit as i64, offset])?;
            let (tokens, _) = read_all(found)?;
            Ok(TokenPage { tokens, total: decoding::count(total) })
        })
    }
}

/// The tokens that can be read, and the ids of all.
fn read_all(mut found: Rows<'_>) -> Result<(Vec<TokenRow>, Vec<u64>), StoreError> {
    let (mut tokens, mut ids) = (Vec::new(), Vec::new());
    while let Some(row) = found.next()? {
        ids.push(row.get::<_, i64>(0)?.cast_unsigned());
        tokens.extend(read(row)?);
    }
    Ok((tokens, ids))
}

/// A token; `None` without a valid shop, or with a role that this version does not know.
fn read(row: &Row<'_>) -> Result<Option<TokenRow>, StoreError> {
    let number: i64 = row.get(1)?;
    let role = rows::read_text(row, 2)?.parse().ok();
    let (Some(shop), Some(role)) = (decoding::shop_id(number), role) else {
        decoding::report(number, 0, "a token has an unknown role");
        return Ok(None);
    };
    Ok(Some(TokenRow {
        id: row.get::<_, i64>(0)?.cast_unsigned(),
        shop,
        role,
        name: rows::read_text(row, 3)?.into_owned(),
        secret_hash: row.get(4)?,
        created_at: decoding::time(row.get(5)?),
        expires_at: row.get::<_, Option<i64>>(6)?.map(decoding::time),
        revoked_at: row.get::<_, Option<i64>>(7)?.map(decoding::time),
    }))
}
