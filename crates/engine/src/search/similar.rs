//! Similar products, the same steps for every source.

use catalog::product::{Product, ProductId, access::Visibility};
use store::StoreError;

use super::{SearchSource, SimilarRequest};

/// The products most similar to another one, most similar first; `None` if the caller may not see
/// that product or it does not exist.
pub(crate) fn similar(
    source: &dyn SearchSource,
    request: &SimilarRequest,
) -> Result<Option<Vec<Product>>, StoreError> {
    let SimilarRequest { product, limit, include_hidden } = *request;
    let visibility = if include_hidden { source.visibility() } else { Visibility::VisibleOnly };
    let hits = source.most_similar(product, visibility, limit)?;
    // The product itself is fetched with the others: its row decides whether it exists.
    let others = hits.iter().map(|hit| hit.product);
    let ids: Vec<ProductId> = std::iter::once(product).chain(others).collect();
    let mut products = source.products(&ids)?;
    if products.first().is_none_or(|first| first.id != product) {
        return Ok(None);
    }
    products.remove(0);
    // A write that committed after the source's state may have hidden a product.
    products.retain(|other| include_hidden || !other.hidden);
    Ok(Some(products))
}
