//! Catalogs for the tests: the same products in a reference and in an index.

use catalog::{
    product::{ProductId, access::Visibility, attributes::Attributes, change::Seq, price::Price},
    query::parser::ParsedQuery,
    ranking::fusion::QueryProfile,
};
use embed::{StoredVector, StoredVectors, Vector};

use super::reference::{Product, Reference, id};
use crate::{DenseQuery, Entry, EntryVectors, IndexChange, Plan, QueryVector, ShopIndex};

/// Products and their reference. Products are numbered from 1.
#[derive(Default)]
pub(super) struct Catalog {
    pub(super) reference: Reference,
}

impl Catalog {
    pub(super) fn add(
        &mut self,
        number: u64,
        hidden: bool,
        (title, description): (&str, &str),
        price: &Price,
        vector: Option<StoredVector>,
    ) {
        let mut product = Product::new(Seq(1), hidden, title, description);
        product.price = price.money();
        product.vectors = vector.map(|vector| StoredVectors { vector, deep: None });
        self.reference.0.insert(number, product);
    }

    /// Gives a product with a vector one of the transformer, too.
    pub(super) fn encode_deep(&mut self, number: u64, deep: StoredVector) {
        let product = self.reference.0.get_mut(&number);
        if let Some(vectors) = product.and_then(|product| product.vectors.as_mut()) {
            vectors.deep = Some(deep);
        }
    }

    /// Gives a product a key and attributes.
    pub(super) fn describe(&mut self, number: u64, key: Option<&str>, attributes: &Attributes) {
        if let Some(product) = self.reference.0.remove(&number) {
            self.reference.0.insert(number, product.with(key, attributes));
        }
    }

    /// An index of the products, written in groups of `group` in the order of `numbers`.
    pub(super) fn index(&self, numbers: &[u64], group: usize) -> ShopIndex {
        let index = ShopIndex::empty();
        for group in numbers.chunks(group) {
            let changes: Vec<_> =
                group.iter().map(|number| IndexChange::Upsert(self.entry(*number))).collect();
            index.apply(&changes, Seq(1));
        }
        index
    }

    pub(super) fn entry(&self, number: u64) -> Entry<'_> {
        let product = &self.reference.0[&number];
        Entry {
            id: id(number),
            version: product.version,
            hidden: product.hidden,
            price: product.price,
            title: &product.title,
            description: &product.description,
            key: product.key.as_deref(),
            attributes: &product.attributes,
            inferred: product.inferred,
            vectors: product.vectors.as_ref().map_or(EntryVectors::Missing, EntryVectors::Known),
        }
    }

    /// Those of the products whose texts match an exclusion. As in the store, a product that does not
    /// exist is not among them: a forged index may ask for one.
    pub(super) fn rejected(&self, ids: &[ProductId], parsed: &ParsedQuery) -> Vec<ProductId> {
        let is_rejected = |id: &&ProductId| {
            self.reference.0.get(&id.get()).is_some_and(|product| {
                !parsed.allows(&product.title, &product.description, &product.attributes.text())
            })
        };
        ids.iter().filter(is_rejected).copied().collect()
    }
}

/// The plan of a query with a vector.
pub(super) fn plan<'a>(
    parsed: &'a ParsedQuery,
    vector: &Vector,
    profile: QueryProfile,
    visibility: Visibility,
) -> Plan<'a> {
    let vector = QueryVector::of(vector).unwrap().limited();
    let dense = DenseQuery { vector, deep: None, profile };
    Plan { dense: Some(dense), explain: true, ..Plan::of(parsed, visibility, 0, 20) }
}
