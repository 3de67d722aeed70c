//! The rows of a copy, and their statements.

use catalog::product::{Product, ShopId, inferred::Inferred};
use rusqlite::{Connection, params};

use store::{ErrorChain, ScannedProduct, ShopCounts, StoreError, attributes_column, media_column};

const UPSERT: &str = "
    INSERT OR REPLACE INTO rows (copy, id, shop_id, title, description, price, hidden, media,
                                 created_at, updated_at, version, key, url, attributes, inferred)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";

/// One copy of one shop.
pub(super) struct ShopCopy {
    /// Identifies the copy's rows in the file.
    pub(super) number: u64,
    pub(super) shop: ShopId,
}

/// A product's row, encoded as in the database.
pub(super) struct ReplicaRow {
    id: i64,
    title: String,
    description: String,
    price: String,
    hidden: bool,
    media: String,
    created_at: i64,
    updated_at: i64,
    version: i64,
    key: Option<String>,
    url: Option<String>,
    attributes: Option<String>,
    inferred: Inferred,
}

impl From<&Product> for ReplicaRow {
    fn from(product: &Product) -> Self {
        Self {
            id: product.id.get().cast_signed(),
            title: product.title.as_str().to_owned(),
            description: product.description.as_str().to_owned(),
            price: product.price.text().to_owned(),
            hidden: product.hidden,
            media: media_column(&product.media),
            created_at: product.created_at.as_microsecond(),
            updated_at: product.updated_at.as_microsecond(),
            version: product.version.0.cast_signed(),
            key: product.key.as_ref().map(|key| key.as_str().to_owned()),
            url: product.url.as_ref().map(|url| url.as_str().to_owned()),
            attributes: attributes_column(&product.attributes),
            inferred: product.inferred,
        }
    }
}

impl ReplicaRow {
    /// `None` if the scan did not read all columns.
    pub(super) fn from_scan(row: &ScannedProduct<'_>) -> Option<Self> {
        let unindexed = row.unindexed?;
        Some(Self {
            id: row.id.get().cast_signed(),
            title: row.title.to_owned(),
            description: row.description.to_owned(),
            price: unindexed.price.to_owned(),
            hidden: row.hidden,
            media: unindexed.media.to_owned(),
            created_at: unindexed.created_at,
            updated_at: unindexed.updated_at,
            version: row.version.0.cast_signed(),
            key: row.key.map(str::to_owned),
            url: unindexed.url.map(str::to_owned),
            attributes: unindexed.attributes.map(str::to_owned),
            inferred: row.inferred,
        })
    }
}

pub(super) fn upsert(
    connection: &Connection,
    copy: &ShopCopy,
    row: &ReplicaRow,
) -> Result<(), StoreError> {
    connection.prepare_cached(UPSERT)?.execute(params![
        copy.number,
        row.id,
        copy.shop.get(),
        row.title,
        row.description,
        row.price,
        row.hidden,
        row.media,
        row.created_at,
        row.updated_at,
        row.version,
        row.key,
        row.url,
        row.attributes,
        row.inferred.to_bytes(),
    ])?;
    Ok(())
}

pub(super) fn count(connection: &Connection, copy: &ShopCopy) -> Result<ShopCounts, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT count(*), count(*) FILTER (WHERE hidden = 0) FROM rows WHERE copy = ?1",
    )?;
    let (products, visible) =
        statement.query_row([copy.number], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(ShopCounts { shop: copy.shop, products, visible })
}

pub(super) fn warn_not_replicated(shop: ShopId, error: &StoreError) {
    let error = ErrorChain(error);
    tracing::warn!(%shop, %error, "local replica of a shop dropped");
}
