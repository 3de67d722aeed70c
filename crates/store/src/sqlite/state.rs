//! Read-only statistics of a data folder for its operator.

use std::{collections::BTreeMap, fs};

use catalog::product::ShopId;
use rusqlite::{Connection, Row};

use super::{
    super::{ShopUsage, StoreError, StoreInfo, StoreState, VectorCount, decoding},
    database_file::{FILE_NAME, WAL_FILE_NAME},
    reader::SqliteReaders,
    rows, schema,
};

impl SqliteReaders {
    /// Statistics of the catalog in the folder.
    pub fn state(&self) -> Result<StoreState, StoreError> {
        let (schema, vectors, usage) = self.read(|connection| {
            let schema = schema::version(connection)?;
            match schema::is_current(schema)? {
                true => Ok((schema, count(connection)?, usage(connection)?)),
                false => Ok((schema, Vec::new(), BTreeMap::new())),
            }
        })?;
        let shops = self.shops()?;
        let size = |name| fs::metadata(self.folder().join(name)).map_or(0, |file| file.len());
        let bytes = size(FILE_NAME) + size(WAL_FILE_NAME);
        Ok(StoreState { schema, known_schema: schema::KNOWN, bytes, shops, usage, vectors })
    }

    /// What every shop with products takes of its limits.
    pub fn usage(&self) -> Result<BTreeMap<ShopId, ShopUsage>, StoreError> {
        self.read(usage)
    }

    /// How many products of a shop have each of its attribute names.
    pub fn name_counts(&self, shop: ShopId) -> Result<Vec<(String, u64)>, StoreError> {
        self.read(|connection| {
            let mut statement = connection
                .prepare("SELECT name, products FROM attribute_names WHERE shop_id = ?1")?;
            let mut rows = statement.query([shop.get()])?;
            let mut counts = Vec::new();
            while let Some(row) = rows.next()? {
                counts.push((rows::read_text(row, 0)?.into_owned(), number(row, 1)?));
            }
            Ok(counts)
        })
    }
}

fn usage(connection: &Connection) -> Result<BTreeMap<ShopId, ShopUsage>, StoreError> {
    let mut statement = connection.prepare(
        "SELECT id, product_count, stored_bytes, attribute_names FROM shops
         WHERE product_count > 0",
    )?;
    let mut rows = statement.query([])?;
    let mut usage = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (products, bytes) = (number(row, 1)?, number(row, 2)?);
        let taken = ShopUsage { products, bytes, attribute_names: number(row, 3)? };
        usage.extend(decoding::shop_id(row.get(0)?).map(|shop| (shop, taken)));
    }
    Ok(usage)
}

fn number(row: &Row<'_>, at: usize) -> Result<u64, StoreError> {
    Ok(decoding::count(row.get(at)?) as u64)
}

fn count(connection: &Connection) -> Result<Vec<VectorCount>, StoreError> {
    let mut statement = connection.prepare(
        "SELECT model, encoder, count(*) FROM vectors WHERE model IS NOT NULL
         GROUP BY model, encoder ORDER BY model, encoder",
    )?;
    let mut rows = statement.query([])?;
    let mut counts = Vec::new();
    while let Some(row) = rows.next()? {
        let products = row.get::<_, u32>(2)? as usize;
        counts.push(VectorCount { model: row.get(0)?, encoder: row.get(1)?, products });
    }
    Ok(counts)
}
