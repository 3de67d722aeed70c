//! What the index stores of a product, and the changes that it accepts.

use std::collections::BTreeMap;

use catalog::product::{
    ProductId, attributes::Attributes, change::Seq, inferred::Inferred, price::Money,
};

use embed::StoredVector;

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
    /// Its vector.
    pub vector: EntryVector<'a>,
}

/// The vector of an [`Entry`]. All vectors of an index come from one model.
#[derive(Clone, Copy, Debug)]
pub enum EntryVector<'a> {
    /// The product has no vector yet.
    Missing,
    /// Texts, key, attributes and vector are those that the index already holds: price, visibility
    /// and version are updated in place.
    Unchanged,
    /// Title and description are those that the index already holds, and so is the vector. Key and
    /// attributes may have changed.
    Kept,
    /// The vector of the texts.
    Known(&'a StoredVector),
}

impl<'a> EntryVector<'a> {
    pub(super) fn known(self) -> Option<&'a StoredVector> {
        match self {
            Self::Known(vector) => Some(vector),
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
    /// The product got another vector; a no-op if the index does not hold it.
    Embed(ProductId, &'a StoredVector),
}

/// The net effect of a group of changes on one product.
#[derive(Clone, Copy)]
pub(super) enum NetChange<'a> {
    Upsert(&'a Entry<'a>, EntryVector<'a>),
    Delete,
    Embed(&'a StoredVector),
}

impl<'a> NetChange<'a> {
    /// The net effect of changes, by product.
    pub(super) fn of(changes: &'a [IndexChange<'a>]) -> BTreeMap<ProductId, Self> {
        let mut net = BTreeMap::new();
        for change in changes {
            let (id, next) = match change {
                IndexChange::Upsert(entry) => (entry.id, Self::Upsert(entry, entry.vector)),
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
                Self::Upsert(entry, EntryVector::Known(vector))
            }
            (Self::Delete, Self::Embed(_)) => Self::Delete,
            (Self::Upsert(_, vector), Self::Upsert(entry, EntryVector::Unchanged)) => {
                Self::Upsert(entry, vector)
            }
            (Self::Upsert(_, EntryVector::Unchanged), Self::Upsert(entry, EntryVector::Kept)) => {
                Self::Upsert(entry, EntryVector::Kept)
            }
            (Self::Upsert(_, vector), Self::Upsert(entry, EntryVector::Kept)) => {
                Self::Upsert(entry, vector)
            }
            (
                Self::Embed(vector),
                Self::Upsert(entry, EntryVector::Unchanged | EntryVector::Kept),
            ) => Self::Upsert(entry, EntryVector::Known(vector)),
            (_, next) => next,
        }
    }
}
