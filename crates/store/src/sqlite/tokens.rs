//! The statements that count tokens and remove ended ones.

use catalog::product::ShopId;
use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::super::{StoreError, decoding};

/// When a token ended or will end; null if it does not. Two indexes are over this expression.
macro_rules! end {
    () => {
        "coalesce(min(revoked_at, expires_at), revoked_at, expires_at)"
    };
}

/// Tokens that a removal of ended ones beyond a number removes at most: more than one is issued.
const REMOVED_AT_A_TIME: i64 = 10;

/// The number of tokens of a shop that work at this time; `limit` if there are more.
pub(super) fn working(
    connection: &Connection,
    shop: ShopId,
    at: Timestamp,
    limit: usize,
) -> Result<usize, StoreError> {
    let mut count = connection.prepare_cached(concat!(
        "SELECT count(*) FROM (
             SELECT 1 FROM tokens WHERE shop_id = ?1 AND ",
        end!(),
        " IS NULL UNION ALL SELECT 1 FROM tokens WHERE shop_id = ?1 AND ",
        end!(),
        " > ?2 LIMIT ?3)"
    ))?;
    let values = params![shop.get(), at.as_microsecond(), limit as i64];
    Ok(decoding::count(count.query_row(values, |row| row.get(0))?))
}

/// Removes a few of the tokens of a shop that no longer work, the oldest, beyond the newest `keep`.
pub(super) fn remove_ended(
    connection: &Connection,
    shop: ShopId,
    at: Timestamp,
    keep: usize,
) -> Result<(), StoreError> {
    let mut remove = connection.prepare_cached(concat!(
        "DELETE FROM tokens WHERE id IN (SELECT id FROM tokens WHERE shop_id = ?1 AND ",
        end!(),
        " <= ?2 ORDER BY ",
        end!(),
        " DESC LIMIT ?3 OFFSET ?4)"
    ))?;
    remove.execute(params![shop.get(), at.as_microsecond(), REMOVED_AT_A_TIME, keep as i64])?;
    Ok(())
}

/// Whether a token of any shop ended before this time.
pub(super) const HAS_ENDED: &str =
    concat!("SELECT EXISTS (SELECT 1 FROM tokens WHERE ", end!(), " < ?1)");
/// Removes at most `?2` tokens that ended before `?1`.
pub(super) const REMOVE_ENDED: &str = concat!(
    "DELETE FROM tokens WHERE id IN (SELECT id FROM tokens WHERE ",
    end!(),
    " < ?1 LIMIT ?2)"
);
