//! Which products of a large shop are like another one? The database names those nearest to it,
//! and they are compared like products in memory.

use std::collections::HashMap;

use catalog::{
    access::{ReadPass, Visibility},
    product::{Product, ProductId},
};

use super::{LargeShops, candidates::bigint, search::entry};
use crate::{
    index::{CandidateIndex, Entry},
    similar::SimilarRequest,
    store::{Conditions, Glance, SearchState, StoreError},
};

/// The nearest are looked for among so many times as many, and no fewer than the other number.
const TIMES: usize = 4;
const LEAST: usize = 200;

impl LargeShops {
    /// The nearest products; the outer `None` if the shop is not searched in the database, the inner
    /// if the product itself is not there for the reader.
    pub(crate) fn similar(
        &self,
        pass: &ReadPass,
        request: &SimilarRequest,
    ) -> Result<Option<Option<Vec<Product>>>, StoreError> {
        self.readers.glance(pass.shop(), |glance| {
            let shop = glance.shop()?.filter(|shop| shop.state == SearchState::InDatabase);
            let Some(shop) = shop else { return Ok(None) };
            let SimilarRequest { product, limit, include_hidden } = *request;
            let visibility =
                if include_hidden { pass.visibility() } else { Visibility::VisibleOnly };
            let ids = self.nearest_to(glance, product, visibility, limit)?;
            let rows = glance.candidates(&ids, self.model.as_ref())?;
            let entries: Vec<Entry<'_>> = rows.iter().map(entry).collect();
            let excerpt = CandidateIndex::new(&entries, shop.corpus(visibility), HashMap::new());
            let hits = excerpt.similar(product, visibility, limit);
            let others = hits.iter().map(|hit| hit.product);
            let shown: Vec<ProductId> = std::iter::once(product).chain(others).collect();
            let mut products = glance.products(&shown)?;
            let is_there = products.first().is_some_and(|first| {
                first.id == product && (pass.visibility() == Visibility::All || !first.hidden)
            });
            if !is_there {
                return Ok(Some(None));
            }
            products.remove(0);
            Ok(Some(Some(products)))
        })
    }

    /// A product and those that may be like it.
    fn nearest_to(
        &self,
        glance: &mut Glance<'_>,
        product: ProductId,
        visibility: Visibility,
        limit: usize,
    ) -> Result<Vec<ProductId>, StoreError> {
        let Some(model) = &self.model else { return Ok(vec![product]) };
        let Some(vector) = glance.vector(product, model)? else { return Ok(vec![product]) };
        let most = bigint((TIMES * limit).max(LEAST) + 1);
        let mut ids =
            glance.nearest(&Conditions::seen(visibility), model, vector.numbers(), most)?;
        if !ids.contains(&product) {
            ids.push(product);
        }
        Ok(ids)
    }
}
