//! Caches search results for as long as the shop does not change.
//!
//! The key includes the snapshot that was searched. A write or a new vector publishes another
//! snapshot, so entries are never invalidated: stale ones are not looked up again and are evicted
//! when their space is needed.

use std::{mem, sync::Arc};

use catalog::{
    product::{
        Product,
        access::Visibility,
        attributes::{AttributeName, AttributeValue, Attributes},
    },
    query::{
        QueryText,
        filter::{AttributeTest, Condition, ProductFilter},
        parser::ParseOptions,
        sort::Sort,
    },
    ranking::{
        explanation::{Explanation, TermPart},
        facets::{Bucket, Facet, FacetField, FacetValue, PriceFacet, ValueCount},
        tuning::TUNING,
    },
};
use index::SnapshotId;
use quick_cache::{Weighter, sync::Cache};

use super::{SearchRequest, SearchResults};

/// Bytes that every entry counts for: its key and its slot. Bounds the number of entries.
const MIN_ENTRY_BYTES: usize = 1024;

/// A cache of search results, bounded in bytes.
pub(crate) struct QueryCache {
    /// `None` if the capacity is too small for any entry.
    entries: Option<Cache<CacheKey, Entry, ByteWeighter>>,
}

/// Everything that the results of a search depend on. The snapshot stands for the shop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CacheKey {
    snapshot: SnapshotId,
    visibility: Visibility,
    query: Option<QueryText>,
    filter: ProductFilter,
    facets: Vec<FacetField>,
    facet_limit: usize,
    sort: Option<Sort>,
    limit: usize,
    offset: usize,
    parse_options: ParseOptions,
    explain: bool,
}

impl CacheKey {
    /// `None` for a request with its own tuning, which is unlikely to be repeated.
    pub(crate) fn of(
        snapshot: SnapshotId,
        visibility: Visibility,
        request: &SearchRequest,
    ) -> Option<Self> {
        let has_defaults = request.tuning == TUNING;
        has_defaults.then(|| Self {
            snapshot,
            visibility,
            query: request.query.clone(),
            filter: request.filter.clone(),
            facets: request.facets.clone(),
            facet_limit: request.facet_limit,
            sort: request.sort.clone(),
            limit: request.limit,
            offset: request.offset,
            parse_options: request.parse_options,
            explain: request.explain,
        })
    }
}

impl CacheKey {
    /// Memory beyond [`MIN_ENTRY_BYTES`].
    fn bytes(&self) -> usize {
        let query = self.query.as_ref().map_or(0, |query| query.as_str().len());
        let condition = |condition: &Condition| {
            let values = match condition {
                Condition::Attribute(_, AttributeTest::AnyOf(values)) => values.as_slice(),
                _ => &[],
            };
            let ranges = match condition {
                Condition::Category(ranges) => ranges.as_slice(),
                _ => &[],
            };
            let texts: usize = values.iter().map(|value| value.as_str().len()).sum();
            let values = mem::size_of_val(values) + mem::size_of_val(ranges) + texts;
            mem::size_of_val(condition) + values + condition.field().len()
        };
        let conditions = self.filter.all.iter().chain(&self.filter.none).map(condition);
        let facet = |facet: &FacetField| mem::size_of_val(facet) + facet.name().len();
        query + conditions.sum::<usize>() + self.facets.iter().map(facet).sum::<usize>()
    }
}

#[derive(Clone)]
struct Entry {
    results: Arc<SearchResults>,
    bytes: usize,
}

#[derive(Clone)]
struct ByteWeighter;

impl Weighter<CacheKey, Entry> for ByteWeighter {
    fn weight(&self, _: &CacheKey, entry: &Entry) -> u64 {
        entry.bytes as u64
    }
}

impl QueryCache {
    /// A cache of at most `capacity` bytes.
    pub(crate) fn new(capacity: usize) -> Self {
        let max_entries = capacity / MIN_ENTRY_BYTES;
        let cache = || Cache::with_weighter(max_entries, capacity as u64, ByteWeighter);
        Self { entries: (max_entries > 0).then(cache) }
    }

    /// Cached results.
    pub(crate) fn get(&self, key: &CacheKey) -> Option<Arc<SearchResults>> {
        let found = self.entries.as_ref()?.get(key);
        let outcome = if found.is_some() { "hit" } else { "miss" };
        metrics::counter!("shopkeeper_search_cache_total", "outcome" => outcome).increment(1);
        found.map(|entry| entry.results)
    }

    /// Caches results; others may be evicted for them.
    pub(crate) fn put(&self, key: CacheKey, results: &Arc<SearchResults>) {
        if let Some(cache) = &self.entries {
            let bytes = MIN_ENTRY_BYTES + key.bytes() + bytes_of(results) + facet_bytes(results);
            cache.insert(key, Entry { results: Arc::clone(results), bytes });
        }
    }

    /// Memory of all entries.
    pub(crate) fn bytes(&self) -> usize {
        self.entries.as_ref().map_or(0, |cache| cache.weight() as usize)
    }
}

/// Memory of results beyond [`MIN_ENTRY_BYTES`].
fn bytes_of(results: &SearchResults) -> usize {
    let texts = |product: &Product| {
        let media: usize = product.media.iter().map(|media| media.url().len()).sum();
        product.title.as_str().len()
            + product.description.as_str().len()
            + product.price.text().len()
            + mem::size_of_val(product.media.as_slice())
            + media
            + product.key.as_ref().map_or(0, |key| key.as_str().len())
            + product.url.as_ref().map_or(0, |url| url.as_str().len())
            + attribute_bytes(&product.attributes)
    };
    let products: usize = results.products.iter().map(texts).sum();
    let words = |explanation: &Explanation| {
        let term = |term: &TermPart| mem::size_of_val(term) + term.term.len() + term.found_as.len();
        mem::size_of_val(explanation) + explanation.lexical.terms.iter().map(term).sum::<usize>()
    };
    let explanations: usize = results.explanations.values().map(words).sum();
    let parsed = 2 * results.parsed.residual.len();
    mem::size_of_val(results.products.as_slice()) + products + explanations + parsed
}

fn attribute_bytes(attributes: &Attributes) -> usize {
    let one = |(name, value): (&AttributeName, &AttributeValue)| {
        let texts: usize = value.texts().iter().map(|text| text.len()).sum();
        let strings = mem::size_of_val(value.texts());
        mem::size_of_val(name) + mem::size_of_val(value) + name.as_str().len() + strings + texts
    };
    attributes.iter().map(one).sum()
}

/// Memory of the facets of results.
fn facet_bytes(results: &SearchResults) -> usize {
    let value = |one: &ValueCount| {
        let text = match &one.value {
            FacetValue::Text(text) => text.len(),
            FacetValue::Boolean(_) => 0,
        };
        mem::size_of_val(one) + text
    };
    let price =
        |one: &PriceFacet| mem::size_of_val(one) + mem::size_of_val(one.histogram.as_slice());
    let facet = |(field, facet): &(FacetField, Facet)| {
        let counts: usize = match facet {
            Facet::Attribute(counts) => {
                let buckets = counts.numbers.as_ref().map_or(0, |numbers| numbers.histogram.len());
                buckets * mem::size_of::<Bucket<f64>>()
                    + counts.values.iter().map(value).sum::<usize>()
            }
            Facet::Price(prices) => prices.iter().map(price).sum(),
            Facet::Category(facet) => mem::size_of_val(facet.values.as_slice()),
        };
        mem::size_of_val(field) + mem::size_of_val(facet) + field.name().len() + counts
    };
    results.facets.0.iter().map(facet).sum()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use catalog::{
        product::change::Seq,
        query::{filter::FoldedText, parser::ParsedQuery},
        ranking::{
            bm25f,
            facets::{AttributeFacet, Facets},
            tuning::Tuning,
        },
    };

    use super::*;

    fn request(text: &str) -> SearchRequest {
        SearchRequest::new(QueryText::parse(text).unwrap(), 10)
    }

    fn key(text: &str) -> CacheKey {
        CacheKey::of(SnapshotId::next(), Visibility::VisibleOnly, &request(text)).unwrap()
    }

    fn results() -> Arc<SearchResults> {
        Arc::new(SearchResults {
            facets: catalog::ranking::facets::Facets::default(),
            products: Vec::new(),
            explanations: HashMap::new(),
            total: 0,
            is_total_exact: true,
            encoder: None,
            parsed: ParsedQuery::default(),
            category: None,
            seq: Seq(1),
        })
    }

    #[test]
    fn entries_never_exceed_the_capacity() {
        let cache = QueryCache::new(64 * MIN_ENTRY_BYTES);
        for n in 0..1000 {
            let key = key(&format!("sofa {n}"));
            cache.put(key.clone(), &results());
            assert!(cache.bytes() <= 64 * MIN_ENTRY_BYTES, "{}", cache.bytes());
            assert!(cache.get(&key).is_some());
        }
        assert!(cache.bytes() > 16 * MIN_ENTRY_BYTES, "{}", cache.bytes());
    }

    #[test]
    fn a_request_with_its_own_tuning_is_not_cached() {
        let ranking = bm25f::Bm25Params { k1: 9.0, ..TUNING.ranking };
        let tuning = Tuning { ranking, ..TUNING };
        let request = SearchRequest { tuning, ..request("sofa") };
        assert_eq!(CacheKey::of(SnapshotId::next(), Visibility::VisibleOnly, &request), None);
    }

    #[test]
    fn filters_and_facets_count() {
        let name = || AttributeName::parse("color").unwrap();
        let values = (0..50).map(|at| FoldedText::of(&format!("{at:0200}")));
        let test = AttributeTest::AnyOf(values.collect());
        let all = vec![Condition::Attribute(name(), test)];
        let filter = ProductFilter { all, none: Vec::new() };
        let request = SearchRequest { filter, ..request("sofa") };
        let id = SnapshotId::next();
        let large = CacheKey::of(id, Visibility::VisibleOnly, &request).unwrap();
        assert!(large.bytes() > 50 * 200);
        let value = |at| {
            let value = FacetValue::Text(format!("{at:0200}").into());
            ValueCount { value, count: 1 }
        };
        let facet = AttributeFacet { values: (0..50).map(value).collect(), ..Default::default() };
        let facets = Facets(vec![(FacetField::Attribute(name()), Facet::Attribute(facet))]);
        let results = SearchResults { facets, ..Arc::into_inner(results()).unwrap() };
        assert!(facet_bytes(&results) > 50 * 200);
    }

    #[test]
    fn without_capacity_nothing_is_cached() {
        let cache = QueryCache::new(0);
        let key = key("sofa");
        cache.put(key.clone(), &results());
        assert!(cache.get(&key).is_none());
        assert_eq!(cache.bytes(), 0);
    }
}
