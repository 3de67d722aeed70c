//! The changes of a transaction to a shop, and the statements that write them: a few, each with
//! all its rows.

use std::collections::{BTreeMap, HashMap};

use catalog::product::{Product, ProductId, ShopId, change::Seq, key::Key};

use super::{
    super::{Position, PositionChange, ShopUsage, TxStamp, UsageChange, VectorRow, columns},
    halfvec::Halfvec,
    search::{self, SearchState},
    session::OwnedValue,
    statements::{self, Sql},
};

/// The changes of a transaction to a shop that it has locked.
#[derive(Default)]
pub(super) struct ShopChanges {
    /// The position of the shop when it was locked.
    pub(super) before: Position,
    /// The stamp of the changes of this transaction.
    pub(super) stamp: i64,
    pub(super) last_seq: u64,
    pub(super) next_product_id: u64,
    pub(super) product_ids_end: u64,
    /// What the shop took before the transaction.
    pub(super) usage: ShopUsage,
    pub(super) usage_change: UsageChange,
    /// Attribute names that another number of products has; 0 for none.
    pub(super) name_counts: Vec<(String, u64)>,
    /// Where the shop is searched.
    pub(super) search: SearchState,
    /// New and changed products; `None` for deleted ones.
    pub(super) rows: BTreeMap<ProductId, Option<Product>>,
    pub(super) changes: Vec<Change>,
    /// The vector rows of new texts, with the vector where it is known already.
    pub(super) vectors: BTreeMap<ProductId, (Seq, Option<VectorRow>)>,
    /// Products with a key as the database has them, as far as they were read.
    pub(super) keyed: BTreeMap<ProductId, Product>,
    /// The products that hold keys, with the changes of this transaction, as far as they are known;
    /// `None` for keys that no product of the database holds.
    pub(super) holders: HashMap<Key, Option<ProductId>>,
}

/// A change record.
pub(super) struct Change {
    pub(super) seq: Seq,
    pub(super) product: ProductId,
    pub(super) is_deletion: bool,
    pub(super) is_vector: bool,
    /// The key of a deleted product.
    pub(super) key: Option<String>,
}

impl ShopChanges {
    /// How the transaction advances the shop; `None` without a change.
    pub(super) fn position_change(&self, shop: ShopId) -> Option<PositionChange> {
        let after = Position { seq: Seq(self.last_seq), stamp: TxStamp(Some(self.stamp)) };
        (!self.changes.is_empty()).then_some(PositionChange { shop, before: self.before, after })
    }

    /// Notes a product that was read from the database.
    pub(super) fn note_read(&mut self, product: &Product) {
        if let Some(key) = &product.key {
            self.holders.entry(key.clone()).or_insert(Some(product.id));
            self.keyed.insert(product.id, product.clone());
        }
    }

    /// The product that holds a key after the changes so far; `None` if the database must be asked.
    pub(super) fn key_holder(&self, key: &Key) -> Option<Option<ProductId>> {
        let holder = *self.holders.get(key)?;
        let is_held = |id: &ProductId| match self.rows.get(id) {
            Some(changed) => changed.as_ref().is_some_and(|row| row.key.as_ref() == Some(key)),
            None => true,
        };
        Some(holder.filter(is_held))
    }

    /// The products whose keys the transaction replaces or removes.
    fn released(&self) -> Vec<i64> {
        let is_released = |(id, before): &(&ProductId, &Product)| {
            self.rows.get(id).and_then(Option::as_ref).is_some_and(|row| row.key != before.key)
        };
        self.keyed.iter().filter(is_released).map(|(id, _)| bigint(*id)).collect()
    }
}

/// The statements that store the changes to a shop.
pub(super) fn statements_for(shop: ShopId, state: &ShopChanges) -> Vec<(Sql, Vec<OwnedValue>)> {
    let number = shop.get().cast_signed();
    let kept: Vec<&Product> = state.rows.values().flatten().collect();
    let gone: Vec<i64> =
        state.rows.iter().filter(|(_, row)| row.is_none()).map(|(id, _)| bigint(*id)).collect();
    let mut all: Vec<(Sql, Vec<OwnedValue>)> = Vec::new();
    // Keys become free before other products take them.
    let released = state.released();
    if !released.is_empty() {
        all.push((statements::RELEASE_KEYS, vec![Box::new(number), Box::new(released)]));
    }
    if !gone.is_empty() {
        let values = || -> Vec<OwnedValue> { vec![Box::new(number), Box::new(gone.clone())] };
        all.push((statements::DELETE_PRODUCTS, values()));
        all.push((statements::DELETE_VECTORS, values()));
    }
    if !kept.is_empty() {
        all.push((statements::UPSERT_PRODUCTS, product_values(number, &kept)));
    }
    if !state.vectors.is_empty() {
        all.push((statements::UPSERT_VECTORS, vector_values(number, state)));
    }
    if state.search != SearchState::InMemory && !state.rows.is_empty() {
        all.extend(search::statements_for(number, &kept, &gone));
    }
    all.extend(name_statements(number, &state.name_counts));
    if state.changes.is_empty() {
        return all;
    }
    all.push((statements::INSERT_CHANGES, change_values(number, state)));
    all.push((
        statements::UPDATE_SHOP,
        vec![
            Box::new(number),
            Box::new(state.last_seq.cast_signed()),
            Box::new(state.next_product_id.cast_signed()),
            Box::new(state.product_ids_end.cast_signed()),
            Box::new(state.usage_change.products),
            Box::new(state.usage_change.visible),
            Box::new(state.stamp),
            Box::new(state.usage_change.bytes),
            Box::new(state.usage_change.attribute_names),
        ],
    ));
    let news: Vec<OwnedValue> = vec![Box::new(number), Box::new(state.last_seq.cast_signed())];
    all.push((statements::NOTIFY, news));
    all
}

/// The statements that store how many products have attribute names.
pub(super) fn name_statements(
    shop: i64,
    counts: &[(String, u64)],
) -> impl Iterator<Item = (Sql, Vec<OwnedValue>)> {
    let (unused, used): (Vec<_>, Vec<_>) =
        counts.iter().cloned().partition(|(_, count)| *count == 0);
    let unused: Vec<String> = unused.into_iter().map(|(name, _)| name).collect();
    let (names, counts): (Vec<String>, Vec<i64>) =
        used.into_iter().map(|(name, count)| (name, count.cast_signed())).unzip();
    let remove = (!unused.is_empty()).then(|| -> (Sql, Vec<OwnedValue>) {
        (statements::DELETE_NAMES, vec![Box::new(shop), Box::new(unused)])
    });
    let put = (!names.is_empty()).then(|| -> (Sql, Vec<OwnedValue>) {
        (statements::UPSERT_NAMES, vec![Box::new(shop), Box::new(names), Box::new(counts)])
    });
    remove.into_iter().chain(put)
}

fn product_values(shop: i64, products: &[&Product]) -> Vec<OwnedValue> {
    fn column<T>(products: &[&Product], of: impl Fn(&Product) -> T) -> Vec<T> {
        products.iter().map(|product| of(product)).collect()
    }
    vec![
        Box::new(shop),
        Box::new(column(products, |product| bigint(product.id))),
        Box::new(column(products, |product| product.title.as_str().to_owned())),
        Box::new(column(products, |product| product.description.as_str().to_owned())),
        Box::new(column(products, |product| product.price.text().to_owned())),
        Box::new(column(products, |product| product.hidden)),
        Box::new(column(products, |product| columns::media_column(&product.media))),
        Box::new(column(products, |product| product.created_at.as_microsecond())),
        Box::new(column(products, |product| product.updated_at.as_microsecond())),
        Box::new(column(products, |product| product.version.0.cast_signed())),
        Box::new(column(products, |product| {
            product.key.as_ref().map(|key| key.as_str().to_owned())
        })),
        Box::new(column(products, |product| {
            product.url.as_ref().map(|url| url.as_str().to_owned())
        })),
        Box::new(column(products, |product| columns::attributes_column(&product.attributes))),
        Box::new(column(products, |product| product.inferred.to_bytes().to_vec())),
    ]
}

fn vector_values(shop: i64, state: &ShopChanges) -> Vec<OwnedValue> {
    let (mut ids, mut versions) = (Vec::new(), Vec::new());
    let (mut models, mut encoders) = (Vec::new(), Vec::new());
    let (mut scales, mut vectors, mut deep) = (Vec::new(), Vec::new(), Vec::new());
    for (id, (version, row)) in &state.vectors {
        let row = row.as_ref();
        ids.push(bigint(*id));
        versions.push(version.0.cast_signed());
        models.push(row.map(|row| row.model.as_str().to_owned()));
        encoders.push(row.map(|row| row.encoder.as_str().to_owned()));
        let stored = row.map(|row| &row.vectors);
        scales.push(stored.map(|stored| stored.vector.scale()));
        vectors.push(stored.map(|stored| Halfvec::from(&stored.vector)));
        deep.push(stored.and_then(|stored| Some(stored.deep.as_ref()?.to_bytes())));
    }
    vec![
        Box::new(shop),
        Box::new(ids),
        Box::new(versions),
        Box::new(models),
        Box::new(encoders),
        Box::new(scales),
        Box::new(vectors),
        Box::new(deep),
    ]
}

fn change_values(shop: i64, state: &ShopChanges) -> Vec<OwnedValue> {
    fn column<T>(state: &ShopChanges, of: impl Fn(&Change) -> T) -> Vec<T> {
        state.changes.iter().map(of).collect()
    }
    vec![
        Box::new(shop),
        Box::new(column(state, |change| change.seq.0.cast_signed())),
        Box::new(column(state, |change| bigint(change.product))),
        Box::new(column(state, |change| change.is_deletion)),
        Box::new(column(state, |change| change.is_vector)),
        Box::new(column(state, |change| change.key.clone())),
        Box::new(state.stamp),
    ]
}

fn bigint(id: ProductId) -> i64 {
    id.get().cast_signed()
}
