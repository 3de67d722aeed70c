//! Creates or updates products by their keys.

use catalog::product::{
    Description, Draft, Patch, Product, ShopId, access::WritePass, attributes::Attributes, key::Key,
};
use store::{Derived, LimitExceeded, StoreError, WriteTransaction};

use super::{Earlier, IdempotencyRequest, TxContext, Write};

/// A product by its key, with the fields to set.
#[derive(Clone, Debug)]
pub struct UpsertElement {
    /// Which product.
    pub key: Key,
    /// The fields; its key is `None`.
    pub patch: Patch,
}

/// What became of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Upserted {
    /// The shop had no such key.
    Created(Product),
    /// The product with the key has the new fields.
    Updated(Product),
    /// The shop has no such key, and a new product would lack these fields. Nothing was changed.
    Incomplete(Vec<&'static str>),
    /// The shop would exceed a limit. Nothing was changed.
    LimitExceeded(LimitExceeded),
}

/// What became of an [`Upsert`].
#[derive(Debug)]
pub enum UpsertOutcome {
    /// The outcome of each element.
    Applied(Vec<Upserted>),
    /// The request is a repetition; this is the response to the first one.
    Replayed(Vec<u8>),
    /// The idempotency key was used for another request.
    KeyReused,
}

/// Applies elements in order, each with what was derived from it before.
pub struct Upsert {
    pub(crate) pass: WritePass,
    pub(crate) elements: Vec<(UpsertElement, Derived)>,
    pub(crate) idempotency: Option<IdempotencyRequest<Upserted>>,
}

impl UpsertElement {
    /// The product that it creates, or the required fields that it lacks.
    fn draft(&self) -> Result<Draft, Vec<&'static str>> {
        let patch = self.patch.clone();
        let (Some(title), Some(price)) = (patch.title, patch.price) else {
            let given =
                [("title", self.patch.title.is_some()), ("price", self.patch.price.is_some())];
            return Err(given
                .iter()
                .filter(|(_, is_given)| !is_given)
                .map(|(name, _)| *name)
                .collect());
        };
        Ok(Draft {
            title,
            description: patch.description.unwrap_or_default(),
            price,
            hidden: patch.hidden.unwrap_or_default(),
            media: patch.media.unwrap_or_default(),
            key: Some(self.key.clone()),
            url: patch.url.flatten(),
            attributes: patch.attributes.unwrap_or_default(),
        })
    }

    /// Texts and attributes of the product that it creates, if it can create one.
    pub(crate) fn statements(&self) -> Option<(&str, &str, &Attributes)> {
        let description = self.patch.description.as_ref().map_or("", Description::as_str);
        let attributes = self.patch.attributes.as_ref().unwrap_or(Attributes::none());
        self.patch.price.as_ref()?;
        Some((self.patch.title.as_ref()?.as_str(), description, attributes))
    }

    /// The part of what was derived from [`statements`](Self::statements) that an update of this
    /// product results in.
    fn derived_of(&self, before: &Product, derived: Derived) -> Derived {
        let has_texts =
            self.patch.description.is_some() || before.description == Description::default();
        let has_attributes = self.patch.attributes.is_some() || before.attributes.is_empty();
        Derived {
            embedding: derived.embedding.filter(|_| has_texts),
            inferred: derived.inferred.filter(|_| has_texts && has_attributes),
        }
    }
}

impl Upsert {
    fn apply(
        &self,
        transaction: &mut WriteTransaction<'_>,
        context: TxContext,
    ) -> Result<Vec<Upserted>, StoreError> {
        let shop = self.pass.shop();
        let keys: Vec<_> = self.elements.iter().map(|(element, _)| &element.key).collect();
        transaction.prefetch_keys(shop, &keys)?;
        let attributes =
            self.elements.iter().filter_map(|(element, _)| element.patch.attributes.as_ref());
        transaction.prefetch_names(shop, attributes.flat_map(Attributes::names))?;
        let mut outcomes = Vec::with_capacity(self.elements.len());
        for (element, derived) in &self.elements {
            let before = match transaction.key_holder(shop, &element.key)? {
                Some(holder) => transaction.product(shop, holder)?,
                None => None,
            };
            let derived = derived.clone();
            outcomes.push(match (before, element.draft()) {
                (Some(before), _) => {
                    let derived = element.derived_of(&before, derived);
                    let patch = element.patch.clone();
                    transaction
                        .update_derived(before, patch, derived, context.now)?
                        .map_or_else(Upserted::LimitExceeded, Upserted::Updated)
                }
                (None, Ok(draft)) => transaction
                    .create_derived(shop, draft, derived, context.now)?
                    .map_or_else(Upserted::LimitExceeded, Upserted::Created),
                (None, Err(missing)) => Upserted::Incomplete(missing),
            });
        }
        Ok(outcomes)
    }
}

impl Write for Upsert {
    type Outcome = UpsertOutcome;

    fn products(&self) -> usize {
        self.elements.len()
    }

    fn shops(&self) -> Vec<ShopId> {
        vec![self.pass.shop()]
    }

    fn run(
        &self,
        transaction: &mut WriteTransaction<'_>,
        context: TxContext,
    ) -> Result<UpsertOutcome, StoreError> {
        let shop = self.pass.shop();
        if let Some(request) = &self.idempotency
            && let Some(earlier) = request.earlier(shop, transaction, context)?
        {
            return Ok(match earlier {
                Earlier::Same(response) => UpsertOutcome::Replayed(response),
                Earlier::Other => UpsertOutcome::KeyReused,
            });
        }
        let outcomes = self.apply(transaction, context)?;
        if let Some(request) = &self.idempotency {
            request.store(shop, &outcomes, transaction, context)?;
        }
        Ok(UpsertOutcome::Applied(outcomes))
    }
}
