//! The reference implementation: a `BTreeMap`.

use catalog::product::inferred::Inferred;

use super::*;

/// The response stored under an idempotency key.
pub(super) struct StoredResponse {
    pub(super) fingerprint: u8,
    pub(super) body: Vec<u8>,
    pub(super) at: Timestamp,
}

/// The expected state of the engine.
#[derive(Default)]
pub(super) struct Model {
    pub(super) products: BTreeMap<ProductId, Product>,
    pub(super) keys: BTreeMap<(ShopId, String), StoredResponse>,
    /// Every change of a product, with the key of a deleted one.
    pub(super) changes: Vec<(ShopId, Seq, ProductId, ChangeKind, Option<Key>)>,
    pub(super) last_id: u64,
    pub(super) last_seq: BTreeMap<ShopId, u64>,
}

impl Model {
    pub(super) fn of_shop(&self, shop: ShopId, visibility: Visibility) -> Vec<Product> {
        self.products
            .values()
            .filter(|product| product.shop == shop)
            .filter(|product| visibility == Visibility::All || !product.hidden)
            .cloned()
            .collect()
    }

    pub(super) fn get(&self, shop: ShopId, id: ProductId) -> Option<&Product> {
        self.products.get(&id).filter(|product| product.shop == shop)
    }

    fn next_seq(&mut self, shop: ShopId) -> Seq {
        let last = self.last_seq.entry(shop).or_default();
        *last += 1;
        Seq(*last)
    }

    /// The product of the shop that holds a key.
    pub(super) fn holder(&self, shop: ShopId, key: &Key) -> Option<&Product> {
        self.products.values().find(|row| row.shop == shop && row.key.as_ref() == Some(key))
    }

    pub(super) fn create(
        &mut self,
        shop: ShopId,
        draft: Draft,
        at: Timestamp,
    ) -> Result<Product, Refusal> {
        if let Some(holder) = draft.key.as_ref().and_then(|key| self.holder(shop, key)) {
            return Err(Refusal::KeyTaken(holder.id));
        }
        self.last_id += 1;
        let id = ProductId::new(self.last_id).unwrap();
        let product = inferred(Product::create(
            id,
            shop,
            draft,
            Inferred::default(),
            at,
            self.next_seq(shop),
        ));
        self.put(&product);
        Ok(product)
    }

    fn put(&mut self, product: &Product) {
        let Product { shop, version, id, .. } = *product;
        self.changes.push((shop, version, id, ChangeKind::Upserted, None));
        self.products.insert(id, product.clone());
    }

    pub(super) fn check(
        &self,
        shop: ShopId,
        id: ProductId,
        precondition: &Precondition,
    ) -> Result<Product, Refusal> {
        let product = self.get(shop, id).ok_or(Refusal::NotFound)?;
        match precondition {
            Precondition::IsVersion(known) if !known.contains(&product.version) => {
                Err(Refusal::Changed)
            }
            _ => Ok(product.clone()),
        }
    }

    pub(super) fn update(
        &mut self,
        shop: ShopId,
        edit: Edit,
        at: Timestamp,
    ) -> Result<Product, Refusal> {
        let before = self.check(shop, edit.id, &edit.precondition)?;
        let wanted = edit.patch.key.iter().flatten().next();
        match wanted.and_then(|key| self.holder(shop, key)) {
            Some(holder) if holder.id != edit.id => return Err(Refusal::KeyTaken(holder.id)),
            _ => {}
        }
        let after = inferred(before.apply(edit.patch, at, self.next_seq(shop)));
        self.put(&after);
        Ok(after)
    }

    pub(super) fn upsert(
        &mut self,
        shop: ShopId,
        element: UpsertElement,
        at: Timestamp,
    ) -> Upserted {
        let UpsertElement { key, patch } = element;
        if let Some(before) = self.holder(shop, &key).cloned() {
            let after = inferred(before.apply(patch, at, self.next_seq(shop)));
            self.put(&after);
            return Upserted::Updated(after);
        }
        let missing = [("title", patch.title.is_none()), ("price", patch.price.is_none())];
        let missing: Vec<_> = missing.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
        let (Some(title), Some(price)) = (patch.title, patch.price) else {
            return Upserted::Incomplete(missing);
        };
        let draft = Draft {
            description: patch.description.unwrap_or_default(),
            hidden: patch.hidden.unwrap_or_default(),
            media: patch.media.unwrap_or_default(),
            key: Some(key),
            url: patch.url.flatten(),
            attributes: patch.attributes.unwrap_or_default(),
            ..Draft::new(title, price)
        };
        Upserted::Created(self.create(shop, draft, at).unwrap())
    }

    pub(super) fn delete(
        &mut self,
        shop: ShopId,
        id: ProductId,
        precondition: &Precondition,
    ) -> Result<(), Refusal> {
        let key = self.check(shop, id, precondition)?.key;
        let seq = self.next_seq(shop);
        self.changes.push((shop, seq, id, ChangeKind::Deleted, key));
        self.products.remove(&id);
        Ok(())
    }

    /// The products that contain a word of the query, by id.
    pub(super) fn search(&self, shop: ShopId, visibility: Visibility, query: &str) -> Vec<Product> {
        let query = QueryTerms::of(query);
        let mut found = self.of_shop(shop, visibility);
        found.retain(|product| {
            let mut words = BTreeSet::new();
            let key = product.key.as_ref().map_or("", Key::as_str);
            let attributes = product.attributes.text();
            let texts = [product.title.as_str(), product.description.as_str(), key, &attributes];
            for text in texts {
                for_each_word(text, |word| {
                    words.insert(word.to_owned());
                });
            }
            query.match_words(|word| words.contains(word))
        });
        found
    }
}

/// The product with what its texts and attributes state.
fn inferred(product: Product) -> Product {
    let (title, description) = (product.title.as_str(), product.description.as_str());
    let inferred = embed::inference::infer(title, description, &product.attributes);
    Product { inferred, ..product }
}
