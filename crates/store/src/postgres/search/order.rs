//! Pages of the products that pass a filter, in an order other than by relevance.

use catalog::{
    product::ProductId,
    query::sort::{Direction, Sort},
};

use super::{
    row_filter::RowFilter,
    snapshot::{SearchSnapshot, bigint},
};
use crate::StoreError;

/// At most `limit` products after the first `offset`. Without scores, the newest are the most
/// relevant.
pub(super) fn page(
    snapshot: &SearchSnapshot<'_>,
    filter: &RowFilter,
    order: &Sort,
    offset: usize,
    limit: usize,
) -> Result<Vec<ProductId>, StoreError> {
    let page = (bigint(limit), bigint(offset));
    match order {
        Sort::Relevance | Sort::Newest => snapshot.by_id(filter, Direction::Descending, page),
        Sort::Oldest => snapshot.by_id(filter, Direction::Ascending, page),
        Sort::Attribute(name, direction) => snapshot.by_attribute(filter, name, *direction, page),
        Sort::Price(direction) => by_price(snapshot, filter, *direction, offset, limit),
    }
}

/// By price within each currency, the most frequent one first, and then the products without a
/// price.
fn by_price(
    snapshot: &SearchSnapshot<'_>,
    filter: &RowFilter,
    direction: Direction,
    mut offset: usize,
    limit: usize,
) -> Result<Vec<ProductId>, StoreError> {
    let mut currencies = snapshot.count_currencies(filter)?;
    // Stable: the others stay in their order.
    currencies.sort_by_key(|(currency, _)| currency.is_empty());
    let mut found = Vec::new();
    for (currency, count) in currencies {
        if found.len() == limit {
            break;
        }
        if offset >= count {
            offset -= count;
            continue;
        }
        let page = (bigint(limit - found.len()), bigint(offset));
        found.extend(snapshot.by_price(&filter.in_currency(currency), direction, page)?);
        offset = 0;
    }
    Ok(found)
}
