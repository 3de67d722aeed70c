//! Writes of products. Each returns once its change is durable and visible.

use std::mem;

use catalog::product::{Draft, Product, ProductId, access::WritePass, attributes::Attributes};
use embed::{Text, inference::infer_with};
use store::{Derived, StoreError};
use tokio::task::JoinError;

use super::{Engine, EngineError};
use crate::{
    read_pool::Overloaded,
    writer::WriteError,
    writes::{
        Create, Created, Delete, Edit, IdempotencyRequest, Precondition, Refusal, Update, Upsert,
        UpsertElement, UpsertOutcome, Upserted, Write,
    },
};

/// Up to this many products are encoded on the calling thread.
const DERIVE_INLINE: usize = 4;
/// More are encoded in parts of this many at the same time: a full bulk request on two threads.
const DERIVE_PART: usize = 50;

impl Engine {
    /// Creates products; each is created or refused on its own.
    pub async fn create(
        &self,
        pass: WritePass,
        drafts: Vec<Draft>,
        idempotency: Option<IdempotencyRequest<Result<Product, Refusal>>>,
    ) -> Result<Created, EngineError> {
        let drafts = self
            .derive(drafts, |draft| {
                Some((draft.title.as_str(), draft.description.as_str(), &draft.attributes))
            })
            .await?;
        self.write(Create { pass, drafts, idempotency }).await
    }

    /// Creates or updates products by their keys, in order and in one transaction.
    pub async fn upsert(
        &self,
        pass: WritePass,
        elements: Vec<UpsertElement>,
        idempotency: Option<IdempotencyRequest<Upserted>>,
    ) -> Result<UpsertOutcome, EngineError> {
        let elements = self.derive(elements, UpsertElement::statements).await?;
        self.write(Upsert { pass, elements, idempotency }).await
    }

    /// Updates products in order; each succeeds or is refused on its own.
    pub async fn update(
        &self,
        pass: WritePass,
        edits: Vec<Edit>,
    ) -> Result<Vec<Result<Product, Refusal>>, EngineError> {
        self.write(Update { pass, edits }).await
    }

    /// Deletes products; each succeeds or is refused on its own.
    pub async fn delete(
        &self,
        pass: WritePass,
        ids: Vec<ProductId>,
        precondition: Precondition,
    ) -> Result<Vec<Result<(), Refusal>>, EngineError> {
        self.write(Delete { pass, ids, precondition }).await
    }

    /// Submits a write. Fails at once while the database is unavailable.
    pub(super) async fn write<W: Write>(&self, write: W) -> Result<W::Outcome, EngineError> {
        if self.is_database_unavailable() {
            return Err(WriteError::Store(StoreError::unavailable("the heartbeat failed")).into());
        }
        Ok(self.writer.submit(write).await?)
    }

    /// Encodes products with the instant encoder and infers what they state, so that the single
    /// writer does not have to. `statements` are texts and attributes.
    async fn derive<T: Send + 'static>(
        &self,
        mut products: Vec<T>,
        statements: fn(&T) -> Option<(&str, &str, &Attributes)>,
    ) -> Result<Vec<(T, Derived)>, EngineError> {
        let embedder = self.embedder.clone();
        let derive = move |products: Vec<T>| {
            let derive = |product: T| {
                let derived = statements(&product).map(|(title, description, attributes)| {
                    let text = Text::Product { title, description };
                    let embedding = embedder.as_ref().and_then(|embedder| embedder.instant(text));
                    let inferred = infer_with(title, description, attributes, embedding.as_ref());
                    Derived { embedding, inferred: Some(inferred) }
                });
                (product, derived.unwrap_or_default())
            };
            products.into_iter().map(derive).collect::<Vec<_>>()
        };
        if products.len() <= DERIVE_INLINE {
            return Ok(derive(products));
        }
        let mut tasks = Vec::new();
        while !products.is_empty() {
            let rest = products.split_off(products.len().min(DERIVE_PART));
            let (part, derive) = (mem::replace(&mut products, rest), derive.clone());
            tasks.push(tokio::task::spawn_blocking(move || derive(part)));
        }
        let mut all = Vec::new();
        for task in tasks {
            all.extend(task.await.map_err(resume_panic)?);
        }
        Ok(all)
    }
}

/// Continues the panic of a task. Otherwise the runtime is shutting down.
fn resume_panic(failed: JoinError) -> EngineError {
    match failed.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => Overloaded.into(),
    }
}
