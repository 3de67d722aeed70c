//! Which products answer a query? The shop's index scores them, the store hands out their rows.

use catalog::{
    access::ReadPass,
    change::Seq,
    product::{Product, ProductId},
    query::QueryText,
    words::QueryWords,
};

use crate::{
    shops::Shops,
    store::{Readers, StoreError},
};

/// A search as asked for.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The shopper's words.
    pub query: QueryText,
    /// How many products to return.
    pub limit: usize,
    /// How many of the best to skip first.
    pub offset: usize,
}

/// What was found.
#[derive(Debug)]
pub struct SearchResults {
    /// The asked-for part, best first.
    pub products: Vec<Product>,
    /// How many there are in all.
    pub total: usize,
    /// The change the search saw last.
    pub seq: Seq,
}

pub(crate) fn search(
    shops: &Shops,
    readers: &Readers,
    pass: &ReadPass,
    request: &SearchRequest,
) -> Result<SearchResults, StoreError> {
    let words = QueryWords::of(request.query.as_str());
    let snapshot = shops.index(pass.shop())?.snapshot();
    let matches = snapshot.search(&words, pass.sight(), request.offset, request.limit);
    let ids: Vec<ProductId> = matches.hits.iter().map(|hit| hit.product).collect();
    let products = readers.products(pass, &ids)?;
    // A write that commits between scoring and reading may take a product out of sight:
    // it is not shown, and not counted.
    let gone = ids.len() - products.len();
    Ok(SearchResults { products, total: matches.total - gone, seq: snapshot.seq() })
}
