//! Reads, each from one snapshot, on a pool of connections.

use std::{collections::HashMap, ops::ControlFlow, sync::Arc};

use catalog::product::{
    Product, ProductId, ShopId,
    access::{ReadPass, Visibility},
    change::{ChangeKind, Seq},
    key::Key,
};
use embed::{Encoder, ModelId, inference::stored_or_inferred};

use super::{
    super::{
        AppliedChange, ChangeEntry, ChangeReads, ChangesExpired, ChangesPage, EmbeddingQueue,
        FeedResult, FullScan, IndexSource, Page, Position, ProductReads, ScannedProduct,
        SearchReads, ShopCounts, StoreError, StoreInfo, TokenBatch, TokenPage, TokenReads,
        TokenRow, TxStamp, Unembedded, UnindexedColumns, VectorChange, VectorRow,
        columns::attributes_from_column, decoding,
    },
    connector::Connector,
    embedding_leases::{self, EmbeddingLeases},
    pool::Pool,
    rows::{self, get},
    session::Session,
    statements,
};

/// Streams a scan from a merge join of two primary keys, instead of sorting the result in a
/// temporary file before the first row. Scans of large shops exceed the usual time limit.
const STREAM: &str = "SET LOCAL statement_timeout = 0; SET LOCAL enable_hashjoin = off;
                      SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off";

/// A pool of connections for reading.
pub struct PostgresReaders {
    pub(super) pool: Pool,
    leases: EmbeddingLeases,
}

impl PostgresReaders {
    pub(super) fn new(connector: Arc<Connector>, connections: usize) -> Self {
        let leases = EmbeddingLeases::new(Arc::clone(&connector));
        Self { pool: Pool::new(connector, connections), leases }
    }

    /// Runs `work` in one transaction, so that all its queries see one snapshot.
    fn in_snapshot<T>(
        &self,
        work: impl FnOnce(&mut Session) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.pool.with_ready(Session::begin_reading, |session| {
            let result = work(session);
            session.roll_back();
            result
        })
    }
}

impl StoreInfo for PostgresReaders {
    fn is_shared(&self) -> bool {
        true
    }

    fn is_local(&self) -> bool {
        false
    }

    fn check(&self) -> Result<(), StoreError> {
        self.pool.with(|session| session.query_one(statements::CHECK, &[]).map(drop))
    }

    fn shops(&self) -> Result<Vec<ShopCounts>, StoreError> {
        let found = self.pool.with(|session| session.query(statements::SHOPS, &[]))?;
        found.iter().filter_map(|row| rows::read_counts(row).transpose()).collect()
    }

    fn counts(&self, shop: ShopId) -> Result<ShopCounts, StoreError> {
        let found =
            self.pool.with(|session| session.query_opt(statements::SHOP, &[&number(shop)]))?;
        let Some(row) = found else { return Ok(ShopCounts { shop, products: 0, visible: 0 }) };
        let count = |at| get(&row, at).map(decoding::count);
        Ok(ShopCounts { shop, products: count(1)?, visible: count(2)? })
    }
}

impl ProductReads for PostgresReaders {
    fn products(&self, pass: &ReadPass, ids: &[ProductId]) -> Result<Vec<Product>, StoreError> {
        let shop = number(pass.shop());
        let numbers: Vec<i64> = ids.iter().map(|id| id.get().cast_signed()).collect();
        let found =
            self.pool.with(|session| session.query(statements::PRODUCTS, &[&shop, &numbers]))?;
        let mut by_id = HashMap::with_capacity(found.len());
        for row in &found {
            if let Some(product) = rows::read(row, 0)?
                && (pass.visibility() == Visibility::All || !product.hidden)
            {
                by_id.insert(product.id, product);
            }
        }
        // An id may be requested twice.
        Ok(ids.iter().filter_map(|id| by_id.get(id).cloned()).collect())
    }

    fn products_by_key(&self, pass: &ReadPass, keys: &[Key]) -> Result<Vec<Product>, StoreError> {
        let (shop, texts) = (number(pass.shop()), keys.iter().map(Key::as_str));
        let texts: Vec<&str> = texts.collect();
        let values: [super::session::Value<'_>; 2] = [&shop, &texts];
        let found =
            self.pool.with(|session| session.query(statements::PRODUCTS_BY_KEY, &values))?;
        let mut by_key = HashMap::with_capacity(found.len());
        for row in &found {
            if let Some(product) = rows::read(row, 0)?
                && (pass.visibility() == Visibility::All || !product.hidden)
            {
                by_key.insert(product.key.clone(), product);
            }
        }
        // A key may be requested twice.
        Ok(keys.iter().filter_map(|key| by_key.get(&Some(key.clone())).cloned()).collect())
    }

    fn changes(
        &self,
        shop: ShopId,
        since: Seq,
        limit: usize,
    ) -> Result<Result<ChangesPage, ChangesExpired>, StoreError> {
        let after = i64::try_from(since.0).unwrap_or(i64::MAX);
        let (shop, most) = (number(shop), as_bigint(limit).saturating_add(1));
        let values: [super::session::Value<'_>; 3] = [&shop, &after, &most];
        let found = self.pool.with(|session| session.query(statements::CHANGES, &values))?;
        let mut changes = Vec::with_capacity(found.len());
        for row in &found {
            let last = decoding::seq(get(row, 0)?);
            if since < decoding::seq(get(row, 1)?) || since > last {
                return Ok(Err(ChangesExpired { last }));
            }
            // A shop without changes has one row with nulls.
            if get::<Option<i64>>(row, 2)?.is_some() {
                changes.extend(read_entry(row, shop)?);
            }
        }
        Ok(Ok(ChangesPage::new(changes, since, limit)))
    }

    fn page(&self, pass: &ReadPass, limit: usize, offset: usize) -> Result<Page, StoreError> {
        let (sql, count) = match pass.visibility() {
            Visibility::All => (statements::PAGE, 0),
            Visibility::VisibleOnly => (statements::VISIBLE_PAGE, 1),
        };
        let (limit, offset) = (as_bigint(limit), as_bigint(offset));
        let shop = number(pass.shop());
        let found = self.pool.with(|session| session.query(sql, &[&shop, &limit, &offset]))?;
        let Some(first) = found.first() else { return Ok(Page { products: vec![], total: 0 }) };
        let total = decoding::count(get(first, count)?);
        // A page without products has one row with nulls.
        let is_product =
            |row: &&tokio_postgres::Row| get::<Option<i64>>(row, 2).is_ok_and(|id| id.is_some());
        let read = |row| rows::read(row, 2).transpose();
        let products = found.iter().filter(is_product).filter_map(read);
        Ok(Page { products: products.collect::<Result<_, _>>()?, total })
    }
}

impl FullScan for PostgresReaders {
    fn for_each_product(
        &self,
        pass: &ReadPass,
        visit: &mut dyn FnMut(Product) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.in_snapshot(|session| {
            session.control("SET LOCAL statement_timeout = 0")?;
            let shop = number(pass.shop());
            let mut has_stopped = false;
            let visited = session.for_each(statements::EVERY_PRODUCT, &[&shop], |row| {
                let Some(product) = rows::read(row, 0)? else { return Ok(()) };
                let is_visible = pass.visibility() == Visibility::All || !product.hidden;
                has_stopped = is_visible && visit(product).is_break();
                // Aborts the query; the connection is closed, because rows are still arriving.
                if has_stopped {
                    Err(StoreError::unexpected("the visitor stopped"))
                } else {
                    Ok(())
                }
            });
            if has_stopped { Ok(()) } else { visited }
        })
    }

    fn scan_vectors(
        &self,
        shop: ShopId,
        visit: &mut dyn FnMut(VectorRow),
    ) -> Result<(), StoreError> {
        self.in_snapshot(|session| {
            session.control("SET LOCAL statement_timeout = 0")?;
            session.for_each(statements::SCAN_VECTORS, &[&number(shop)], |row| {
                rows::read_vectors(row, shop)?.into_iter().for_each(&mut *visit);
                Ok(())
            })
        })
    }
}

impl SearchReads for PostgresReaders {
    fn hits(&self, pass: &ReadPass, ids: &[ProductId]) -> Result<Vec<Product>, StoreError> {
        self.products(pass, ids)
    }

    fn rejected_by_text(
        &self,
        shop: ShopId,
        ids: &[ProductId],
        allowed: &dyn Fn(&str, &str, &str) -> bool,
    ) -> Result<Vec<ProductId>, StoreError> {
        let shop = number(shop);
        let numbers: Vec<i64> = ids.iter().map(|id| id.get().cast_signed()).collect();
        self.pool.with(|session| {
            let mut refused = Vec::new();
            session.for_each(statements::TEXTS, &[&shop, &numbers], |row| {
                let (attributes, _) = attributes_from_column(get(row, 3)?);
                if !allowed(get(row, 1)?, get(row, 2)?, &attributes.text()) {
                    refused.extend(decoding::product_id(shop, get(row, 0)?));
                }
                Ok(())
            })?;
            Ok(refused)
        })
    }
}

impl ChangeReads for PostgresReaders {
    fn changes_since(
        &self,
        shop: ShopId,
        model: Option<&ModelId>,
        since: Position,
    ) -> Result<FeedResult, StoreError> {
        let (model, after) = (model.map(ModelId::as_str), since.seq.0.cast_signed());
        let values: [super::session::Value<'_>; 3] = [&number(shop), &after, &model];
        let found = self.pool.with(|session| session.query(statements::CHANGES_SINCE, &values))?;
        let (last, recorded) = match found.first() {
            Some(row) => {
                let last =
                    Position { seq: decoding::seq(get(row, 0)?), stamp: TxStamp(get(row, 22)?) };
                (last, TxStamp(get(row, 21)?))
            }
            None => Default::default(),
        };
        if last.seq < since.seq {
            return Ok(FeedResult::Diverged(last));
        }
        if recorded != since.stamp {
            // Another transaction made the change with this number, or its record was removed.
            return Ok(if recorded.is_some() {
                FeedResult::Diverged(last)
            } else {
                FeedResult::Truncated
            });
        }
        // A shop without changes has one row with nulls.
        let mut first = None;
        let mut changes = Vec::with_capacity(found.len());
        for row in &found {
            if let Some(seq) = get::<Option<i64>>(row, 2)? {
                first = Some(first.map_or(seq, |first: i64| first.min(seq)));
                changes.extend(read_change(row, shop)?);
            }
        }
        // Sequence numbers have no gaps: if the next one is missing, its record was removed.
        match first {
            None if last.seq > since.seq => Ok(FeedResult::Truncated),
            Some(first) if first > after + 1 => Ok(FeedResult::Truncated),
            _ => Ok(FeedResult::Changes(changes, last)),
        }
    }

    fn positions(&self, shops: &[ShopId]) -> Result<Vec<(ShopId, Position)>, StoreError> {
        self.pool.with(|session| positions(session, shops))
    }

    fn last_change(&self, shop: ShopId) -> Result<Seq, StoreError> {
        self.pool.with(|session| last_change(session, shop))
    }
}

impl IndexSource for PostgresReaders {
    fn scan(
        &self,
        shop: ShopId,
        model: Option<&ModelId>,
        visit: &mut dyn FnMut(ScannedProduct<'_>),
    ) -> Result<Position, StoreError> {
        self.in_snapshot(|session| {
            let read_at = positions(session, &[shop])?.pop();
            session.control(STREAM)?;
            let (model, shop) = (model.map(ModelId::as_str), number(shop));
            session.for_each(statements::SCAN, &[&shop, &model], |row| {
                let product = get(row, 0)?;
                let Some(id) = decoding::product_id(shop, product) else { return Ok(()) };
                let price = get(row, 3)?;
                let attributes = get(row, 13)?;
                let (title, description): (&str, &str) = (get(row, 4)?, get(row, 5)?);
                let named = decoding::attributes(shop, product, attributes);
                visit(ScannedProduct {
                    id,
                    version: decoding::seq(get(row, 1)?),
                    hidden: get(row, 2)?,
                    price: decoding::money(shop, product, price),
                    title,
                    description,
                    key: get(row, 12)?,
                    inferred: stored_or_inferred(get(row, 15)?, title, description, &named),
                    attributes: named,
                    vectors: rows::read_stored(row, 6, (shop, product))?,
                    unindexed: Some(UnindexedColumns {
                        price,
                        media: get(row, 9)?,
                        url: get(row, 14)?,
                        attributes,
                        created_at: get(row, 10)?,
                        updated_at: get(row, 11)?,
                    }),
                });
                Ok(())
            })?;
            // A shop without a row has never been written to.
            Ok(read_at.map(|(_, position)| position).unwrap_or_default())
        })
    }
}

impl PostgresReaders {
    /// The tokens with these ids, in any order.
    pub fn tokens_with_ids(&self, ids: &[u64]) -> Result<Vec<TokenRow>, StoreError> {
        let ids: Vec<i64> = ids.iter().filter_map(|id| i64::try_from(*id).ok()).collect();
        let found =
            self.pool.with(|session| session.query(statements::TOKENS_WITH_IDS, &[&ids]))?;
        found.iter().filter_map(|row| rows::read_token(row).transpose()).collect()
    }
}

impl TokenReads for PostgresReaders {
    fn token(&self, id: u64) -> Result<Option<TokenRow>, StoreError> {
        Ok(self.tokens_with_ids(&[id])?.pop())
    }

    fn token_batch(
        &self,
        shop: Option<ShopId>,
        after: u64,
        limit: usize,
    ) -> Result<TokenBatch, StoreError> {
        let (after, most) = (i64::try_from(after).unwrap_or(i64::MAX), as_bigint(limit));
        let found = self.pool.with(|session| match shop {
            Some(shop) => session.query(statements::TOKENS, &[&number(shop), &after, &most]),
            None => session.query(statements::ALL_TOKENS, &[&after, &most]),
        })?;
        let last = found.last().filter(|_| found.len() == limit);
        let last = last.map(|row| get::<i64>(row, 0)).transpose()?;
        Ok(TokenBatch { tokens: read_tokens(&found)?, last: last.map(i64::cast_unsigned) })
    }

    fn token_page(
        &self,
        shop: ShopId,
        limit: usize,
        offset: usize,
    ) -> Result<TokenPage, StoreError> {
        let (shop, limit, offset) = (number(shop), as_bigint(limit), as_bigint(offset));
        self.in_snapshot(|session| {
            let total = get(&session.query_one(statements::TOKEN_COUNT, &[&shop])?, 0)?;
            let found = session.query(statements::TOKEN_PAGE, &[&shop, &limit, &offset])?;
            Ok(TokenPage { tokens: read_tokens(&found)?, total: decoding::count(total) })
        })
    }
}

impl EmbeddingQueue for PostgresReaders {
    fn lease_unembedded(
        &self,
        model: &str,
        encoder: Encoder,
        limit: usize,
    ) -> Result<Vec<Unembedded>, StoreError> {
        self.leases.lease(model, encoder, limit)
    }

    fn unembedded_count(&self, model: &str, encoder: Encoder) -> Result<usize, StoreError> {
        self.pool.with(|session| embedding_leases::unembedded_count(session, model, encoder))
    }
}

/// The current state of a changed product.
fn read_change(
    row: &tokio_postgres::Row,
    shop: ShopId,
) -> Result<Option<AppliedChange>, StoreError> {
    let product = get(row, 1)?;
    let Some(id) = decoding::product_id(number(shop), product) else { return Ok(None) };
    let exists = get::<Option<i64>>(row, 7)?.is_some();
    let found = if exists { rows::read(row, 7)? } else { None };
    let Some(found) = found else {
        return Ok(Some(AppliedChange::Deleted { shop, id, seq: decoding::seq(get(row, 3)?) }));
    };
    let vectors = rows::read_stored(row, 4, (number(shop), product))?;
    let vectors = vectors.map_or(VectorChange::Pending, VectorChange::Set);
    Ok(Some(AppliedChange::Upserted { product: found, vectors }))
}

/// A change of a product; `None` without a valid id.
fn read_entry(row: &tokio_postgres::Row, shop: i64) -> Result<Option<ChangeEntry>, StoreError> {
    let Some(product) = decoding::product_id(shop, get(row, 3)?) else { return Ok(None) };
    let kind = if get(row, 4)? { ChangeKind::Deleted } else { ChangeKind::Upserted };
    let key = get::<Option<&str>>(row, 5)?.map(Key::from_stored);
    Ok(Some(ChangeEntry { seq: decoding::seq(get(row, 2)?), product, key, kind }))
}

/// The tokens that can be read.
fn read_tokens(found: &[tokio_postgres::Row]) -> Result<Vec<TokenRow>, StoreError> {
    found.iter().filter_map(|row| rows::read_token(row).transpose()).collect()
}

/// The current positions of these shops.
fn positions(
    session: &mut Session,
    shops: &[ShopId],
) -> Result<Vec<(ShopId, Position)>, StoreError> {
    let numbers: Vec<i64> = shops.iter().map(|shop| number(*shop)).collect();
    let found = session.query(statements::POSITIONS, &[&numbers])?;
    let read = |row: &tokio_postgres::Row| {
        let position = Position { seq: decoding::seq(get(row, 1)?), stamp: TxStamp(get(row, 2)?) };
        Ok(decoding::shop_id(get(row, 0)?).map(|shop| (shop, position)))
    };
    found.iter().filter_map(|row| read(row).transpose()).collect()
}

fn last_change(session: &mut Session, shop: ShopId) -> Result<Seq, StoreError> {
    let found = session.query_opt(statements::SHOP, &[&number(shop)])?;
    Ok(match found {
        Some(row) => decoding::seq(get(&row, 0)?),
        None => Seq::default(),
    })
}

fn number(shop: ShopId) -> i64 {
    shop.get().cast_signed()
}

fn as_bigint(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
