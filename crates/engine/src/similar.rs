//! Which products are like another one? The shop's index compares their vectors, the store hands
//! out their rows.

use catalog::{
    access::{ReadPass, Visibility},
    product::{Product, ProductId},
};

use crate::{
    index::Snapshot,
    store::{SearchReads, StoreError},
};

/// What is asked about a product.
#[derive(Clone, Copy, Debug)]
pub struct SimilarRequest {
    /// The product.
    pub product: ProductId,
    /// How many others to return at most.
    pub limit: usize,
    /// Whether hidden products may be among them, where the reader gets to see any.
    pub include_hidden: bool,
}

/// The nearest products, nearest first; `None` if the product itself is not there for the reader.
pub(crate) fn similar(
    snapshot: &Snapshot,
    readers: &dyn SearchReads,
    pass: &ReadPass,
    request: &SimilarRequest,
) -> Result<Option<Vec<Product>>, StoreError> {
    let SimilarRequest { product, limit, include_hidden } = *request;
    let visibility = if include_hidden { pass.visibility() } else { Visibility::VisibleOnly };
    let hits = snapshot.similar(product, visibility, limit);
    // The product itself is read with the others: the store says whether it is there, whatever the
    // index has seen.
    let others = hits.iter().map(|hit| hit.product);
    let ids: Vec<ProductId> = std::iter::once(product).chain(others).collect();
    let mut products = readers.hits(pass, &ids)?;
    if products.first().is_none_or(|first| first.id != product) {
        return Ok(None);
    }
    products.remove(0);
    // A write that commits between comparing and reading may hide a product.
    products.retain(|other| include_hidden || !other.hidden);
    Ok(Some(products))
}
