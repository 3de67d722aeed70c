//! The reference implementation: a `BTreeMap`.

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
    pub(super) last_id: u64,
    pub(super) last_seq: u64,
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

    pub(super) fn next_seq(&mut self) -> Seq {
        self.last_seq += 1;
        Seq(self.last_seq)
    }

    pub(super) fn create(&mut self, shop: ShopId, draft: Draft, at: Timestamp) -> Product {
        self.last_id += 1;
        let id = ProductId::new(self.last_id).unwrap();
        let product = Product::create(id, shop, draft, at, self.next_seq());
        self.products.insert(id, product.clone());
        product
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
        let seq = self.next_seq();
        let after = before.apply(edit.patch, at, seq);
        self.products.insert(after.id, after.clone());
        Ok(after)
    }

    pub(super) fn delete(
        &mut self,
        shop: ShopId,
        id: ProductId,
        precondition: &Precondition,
    ) -> Result<(), Refusal> {
        self.check(shop, id, precondition)?;
        self.next_seq();
        self.products.remove(&id);
        Ok(())
    }

    /// The products that contain a word of the query, by id.
    pub(super) fn search(&self, shop: ShopId, visibility: Visibility, query: &str) -> Vec<Product> {
        let query = QueryTerms::of(query);
        let mut found = self.of_shop(shop, visibility);
        found.retain(|product| {
            let mut words = BTreeSet::new();
            for text in [product.title.as_str(), product.description.as_str()] {
                for_each_word(text, |word| {
                    words.insert(word.to_owned());
                });
            }
            query.match_words(|word| words.contains(word))
        });
        found
    }
}
