//! Bulk load of a whole catalog into an empty database, in chunks of one transaction each, so that
//! an interrupted load can be resumed.

use std::collections::HashMap;

use catalog::product::{Product, ProductId, ShopId, change::Seq};
use jiff::Timestamp;

use super::{
    super::{ShopCounts, ShopUsage, StoreError, StoredResponse, TokenRow, VectorRow, decoding},
    flush::{self, ShopChanges},
    rows::get,
    session::{Session, Value},
    statements,
};

/// This table exists while a bulk load is incomplete.
const MARK: &str = "CREATE TABLE move_in_progress ()";
const UNMARK: &str = "DROP TABLE move_in_progress";
const IS_MARKED: &str = "SELECT to_regclass('move_in_progress')";
const IS_USED: &str = "SELECT 1 FROM shops UNION ALL SELECT 1 FROM tokens LIMIT 1";

/// A bulk load in progress.
pub struct BulkLoad {
    session: Session,
}

/// Whether a bulk load was begun and not finished.
pub(super) fn is_incomplete(session: &mut Session) -> Result<bool, StoreError> {
    Ok(session.simple(IS_MARKED)?.is_some())
}

impl BulkLoad {
    /// Begins or resumes a bulk load; `None` if the database is in use.
    pub(super) fn begin(mut session: Session) -> Result<Option<Self>, StoreError> {
        if !is_incomplete(&mut session)? {
            if session.simple(IS_USED)?.is_some() {
                return Ok(None);
            }
            session.control(MARK)?;
        }
        Ok(Some(Self { session }))
    }

    /// The last loaded product of a shop. Products are loaded by ascending id.
    pub fn last_product(&mut self, shop: ShopId) -> Result<Option<ProductId>, StoreError> {
        let row = self.session.query_one(statements::LAST_PRODUCT, &[&number(shop)])?;
        let last = get::<Option<i64>>(&row, 0)?;
        Ok(last.and_then(|last| decoding::product_id(number(shop), last)))
    }

    /// Stores products and their vectors.
    pub fn put(
        &mut self,
        shop: ShopId,
        products: &[Product],
        vectors: &HashMap<ProductId, VectorRow>,
    ) -> Result<(), StoreError> {
        let mut state = ShopChanges::default();
        for product in products {
            let vector = vectors.get(&product.id);
            let version = vector.map_or(product.version, |row| row.version);
            state.vectors.insert(product.id, (version, vector.cloned()));
            state.rows.insert(product.id, Some(product.clone()));
        }
        self.session.begin()?;
        let sent = self.session.execute_all(&flush::statements_for(shop, &state));
        match sent {
            Ok(()) => self.session.commit(),
            Err(error) => {
                self.session.roll_back();
                Err(error)
            }
        }
    }

    /// Stores the counts and the position of a shop after its last product.
    pub fn finish_shop(
        &mut self,
        counts: ShopCounts,
        usage: ShopUsage,
        name_counts: &[(String, u64)],
        last: Seq,
    ) -> Result<(), StoreError> {
        let shop = number(counts.shop);
        self.session.execute(statements::CLEAR_NAMES, &[&shop])?;
        let names: Vec<_> = flush::name_statements(shop, name_counts).collect();
        self.session.execute_all(&names)?;
        let values: [Value<'_>; 6] = [
            &shop,
            &(counts.products as i64),
            &(counts.visible as i64),
            &last.0.cast_signed(),
            &usage.bytes.cast_signed(),
            &usage.attribute_names.cast_signed(),
        ];
        self.session.execute(statements::LOADED_SHOP, &values)?;
        let values: [Value<'_>; 2] = [&number(counts.shop), &last.0.cast_signed()];
        self.session.execute(statements::LOADED_CHANGES, &values).map(drop)
    }

    /// Stores tokens under their ids.
    pub fn put_tokens(&mut self, tokens: &[TokenRow]) -> Result<(), StoreError> {
        for row in tokens {
            let values: [Value<'_>; 8] = [
                &row.id.cast_signed(),
                &number(row.shop),
                &row.role.as_str(),
                &row.name,
                &row.secret_hash,
                &row.created_at.as_microsecond(),
                &row.expires_at.map(Timestamp::as_microsecond),
                &row.revoked_at.map(Timestamp::as_microsecond),
            ];
            self.session.execute(statements::LOADED_TOKEN, &values)?;
        }
        Ok(())
    }

    /// Stores responses to idempotency keys.
    pub fn put_keys(
        &mut self,
        keys: &[(ShopId, String, StoredResponse, Timestamp)],
    ) -> Result<(), StoreError> {
        for (shop, key, response, at) in keys {
            let values: [Value<'_>; 5] =
                [&number(*shop), key, &response.fingerprint, &response.body, &at.as_microsecond()];
            self.session.execute(statements::STORE_RESPONSE, &values)?;
        }
        Ok(())
    }

    /// Reserves all token ids up to this one.
    pub fn reserve_token_ids(&mut self, last: u64) -> Result<(), StoreError> {
        self.raise("token_ids", last)
    }

    /// Reserves all product ids up to this one.
    pub fn reserve_product_ids(&mut self, last: u64) -> Result<(), StoreError> {
        self.raise("product_id_blocks", last)
    }

    /// Marks the load as complete.
    pub fn finish(mut self) -> Result<(), StoreError> {
        self.session.control(UNMARK)
    }

    fn raise(&mut self, sequence: &str, last: u64) -> Result<(), StoreError> {
        let raise = format!(
            "SELECT setval('{sequence}', greatest({last}, (SELECT last_value FROM {sequence})))"
        );
        self.session.simple(&raise).map(drop)
    }
}

fn number(shop: ShopId) -> i64 {
    shop.get().cast_signed()
}
