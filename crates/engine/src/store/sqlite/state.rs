//! Read-only statistics of a data folder for its operator.

use std::{cmp::Ordering, fs};

use rusqlite::Connection;

use super::{
    super::{StoreError, StoreInfo, StoreState, VectorCount},
    FILE_NAME, SqliteReaders, WAL_FILE_NAME, schema,
};

impl SqliteReaders {
    /// Statistics of the catalog in the folder.
    pub fn state(&self) -> Result<StoreState, StoreError> {
        let (schema, vectors) = self.read(|connection| {
            let schema = schema::version(connection)?;
            match schema.cmp(&schema::KNOWN) {
                Ordering::Less => Ok((schema, Vec::new())),
                Ordering::Equal => Ok((schema, count(connection)?)),
                Ordering::Greater => Err(StoreError::too_new()),
            }
        })?;
        let shops = self.shops()?;
        let size = |name| fs::metadata(self.folder().join(name)).map_or(0, |file| file.len());
        let bytes = size(FILE_NAME) + size(WAL_FILE_NAME);
        Ok(StoreState { schema, known_schema: schema::KNOWN, bytes, shops, vectors })
    }
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
