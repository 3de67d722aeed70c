//! Read-only statistics of a database for its operator.

use std::collections::BTreeMap;

use super::{
    super::{ShopUsage, StoreError, StoreInfo, StoreState, VectorCount, decoding},
    database::Postgres,
    rows::get,
    schema, statements,
};

impl Postgres {
    /// Statistics of the catalog. A schema that is not up to date gets its version and size only.
    pub fn state(&self) -> Result<StoreState, StoreError> {
        let mut session = self.connector.connect()?;
        let (schema, known_schema) = schema::versions(&mut session)?;
        let size: i64 = get(&session.query_one(statements::SIZE, &[])?, 0)?;
        let mut state = StoreState {
            schema,
            known_schema,
            bytes: size.cast_unsigned(),
            shops: Vec::new(),
            usage: BTreeMap::new(),
            vectors: Vec::new(),
        };
        if schema == known_schema {
            state.shops = self.readers().shops()?;
            for row in session.query(statements::USAGE, &[])? {
                let count = |at| Ok::<_, StoreError>(decoding::count(get(&row, at)?) as u64);
                let (products, bytes) = (count(1)?, count(2)?);
                let usage = ShopUsage { products, bytes, attribute_names: count(3)? };
                state.usage.extend(decoding::shop_id(get(&row, 0)?).map(|shop| (shop, usage)));
            }
            for row in session.query(statements::VECTOR_COUNTS, &[])? {
                let products = decoding::count(get(&row, 2)?);
                let (model, encoder) = (get(&row, 0)?, get(&row, 1)?);
                state.vectors.push(VectorCount { model, encoder, products });
            }
        }
        Ok(state)
    }
}
