//! What the index stores of a product, and the changes that it accepts.

use std::collections::BTreeMap;

use catalog::product::{
    ProductId, attributes::Attributes, change::Seq, inferred::Inferred, price::Money,
};

use embed::{StoredVector, StoredVectors};

/// A product to be indexed.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The product.
    pub id: ProductId,
    /// The change that wrote it last.
    pub version: Seq,
    /// Whether only privileged readers see it.
    pub hidden: bool,
    /// Its price; `None` if it cannot be parsed.
    pub price: Option<Money>,
    /// Its title.
    pub title: &'a str,
    /// Its description.
    pub description: &'a str,
    /// Its key.
    pub key: Option<&'a str>,
    /// Its attributes.
    pub attributes: &'a Attributes,
    /// What its texts and attributes state.
    pub inferred: Inferred,
    /// Its vectors.
    pub vectors: EntryVectors<'a>,
}

/// The vectors of an [`Entry`]. All vectors of an index come from one model.
#[derive(Clone, Copy, Debug)]
pub enum EntryVectors<'a> {
    /// The product has no vector yet.
    Missing,
    /// Texts, key, attributes and vectors are those that the index already holds: price, visibility
    /// and version are updated in place.
    Unchanged,
    /// Title and description are those that the index already holds, and so are the vectors. Key and
    /// attributes may have changed.
    Kept,
    /// The vectors of the texts.
    Known(&'a StoredVectors),
}

/// The vectors of a product, quantised: see [`StoredVectors`].
#[derive(Clone, Copy, Debug, Default)]
pub struct DocVectors<'a> {
    /// The one that searches compare with all products.
    pub vector: Option<&'a [i8]>,
    /// The one of the transformer.
    pub deep: Option<&'a [i8]>,
}

impl<'a> From<&'a StoredVectors> for DocVectors<'a> {
    fn from(vectors: &'a StoredVectors) -> Self {
        let deep = vectors.deep.as_ref().map(StoredVector::numbers);
        Self { vector: Some(vectors.vector.numbers()), deep }
    }
}

impl<'a> EntryVectors<'a> {
    pub(super) fn known(self) -> Option<&'a StoredVectors> {
        match self {
            Self::Known(vectors) => Some(vectors),
            Self::Missing | Self::Unchanged | Self::Kept => None,
        }
    }
}

/// A change of one product.
#[derive(Clone, Copy, Debug)]
pub enum IndexChange<'a> {
    /// The product was created or updated.
    Upsert(Entry<'a>),
    /// The product was deleted; a no-op if the index does not hold it.
    Delete(ProductId),
    /// The product got other vectors; a no-op if the index does not hold it.
    Embed(ProductId, &'a StoredVectors),
}

/// The net effect of a group of changes on one product.
#[derive(Clone, Copy)]
pub(super) enum NetChange<'a> {
    Upsert(&'a Entry<'a>, EntryVectors<'a>),
    Delete,
    Embed(&'a StoredVectors),
}

impl<'a> NetChange<'a> {
    /// The net effect of changes, by product.
    pub(super) fn of(changes: &'a [IndexChange<'a>]) -> BTreeMap<ProductId, Self> {
        let mut net = BTreeMap::new();
        for change in changes {
            let (id, next) = match change {
                IndexChange::Upsert(entry) => (entry.id, Self::Upsert(entry, entry.vectors)),
                IndexChange::Delete(id) => (*id, Self::Delete),
                IndexChange::Embed(id, vector) => (*id, Self::Embed(vector)),
            };
            let both = net.get(&id).map_or(next, |before: &Self| before.then(next));
            net.insert(id, both);
        }
        net
    }

    fn then(self, next: Self) -> Self {
        match (self, next) {
            (Self::Upsert(entry, _), Self::Embed(vector)) => {
                Self::Upsert(entry, EntryVectors::Known(vector))
            }
            (Self::Delete, Self::Embed(_)) => Self::Delete,
            (Self::Upsert(_, vector), Self::Upsert(entry, EntryVectors::Unchanged)) => {
                Self::Upsert(entry, vector)
            }
            (Self::Upsert(_, EntryVectors::Unchanged), Self::Upsert(entry, EntryVectors::Kept)) => {
                Self::Upsert(entry, EntryVectors::Kept)
            }
            (Self::Upsert(_, vector), Self::Upsert(entry, EntryVectors::Kept)) => {
                Self::Upsert(entry, vector)
            }
            (
                Self::Embed(vector),
                Self::Upsert(entry, EntryVectors::Unchanged | EntryVectors::Kept),
            ) => Self::Upsert(entry, EntryVectors::Known(vector)),
            (_, next) => next,
        }
    }
}
