//! Writes of products. Each returns once its change is durable and visible.

use catalog::{
    access::WritePass,
    product::{Draft, Product, ProductId},
};

use super::{Engine, EngineError};
use crate::{
    embed::{Embedding, Text},
    read_pool::Overloaded,
    store::StoreError,
    writer::WriteError,
    writes::{
        Create, Created, Delete, Edit, IdempotencyRequest, Precondition, Refusal, Update, Upsert,
        UpsertElement, UpsertOutcome, Upserted, Write,
    },
};

/// Up to this many products are embedded on the calling thread.
const EMBED_INLINE: usize = 4;

impl Engine {
    /// Creates products; each is created or refused on its own.
    pub async fn create(
        &self,
        pass: WritePass,
        drafts: Vec<Draft>,
        idempotency: Option<IdempotencyRequest<Result<Product, Refusal>>>,
    ) -> Result<Created, EngineError> {
        let drafts = self
            .embed_instantly(drafts, |draft| {
                Some((draft.title.as_str(), draft.description.as_str()))
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
        let elements = self.embed_instantly(elements, UpsertElement::texts).await?;
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

    /// Encodes products with the instant encoder, so that the single writer does not have to.
    async fn embed_instantly<T: Send + 'static>(
        &self,
        products: Vec<T>,
        texts: fn(&T) -> Option<(&str, &str)>,
    ) -> Result<Vec<(T, Option<Embedding>)>, EngineError> {
        let Some(embedder) = self.embedder.clone() else {
            return Ok(products.into_iter().map(|product| (product, None)).collect());
        };
        let is_inline = products.len() <= EMBED_INLINE;
        let embed = move || {
            let embed = |product: T| {
                let texts = texts(&product);
                let embedding = texts.and_then(|(title, description)| {
                    embedder.instant(Text::Product { title, description })
                });
                (product, embedding)
            };
            products.into_iter().map(embed).collect::<Vec<_>>()
        };
        if is_inline {
            return Ok(embed());
        }
        match tokio::task::spawn_blocking(embed).await {
            Ok(embedded) => Ok(embedded),
            Err(failed) => match failed.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is shutting down.
                Err(_) => Err(Overloaded.into()),
            },
        }
    }
}
