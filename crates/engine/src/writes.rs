//! The writes, and what each does inside the transaction that it shares with others.
//!
//! A write is applied as a whole or not at all. A write that is refused is an ordinary outcome; an
//! error means that the store failed.

use std::sync::Arc;

use catalog::{
    access::{AdminPass, Role, WritePass},
    change::Seq,
    product::{Draft, Patch, Product, ProductId, ShopId},
};
use jiff::Timestamp;

use crate::{
    embed::Embedding,
    store::{NewToken, StoreError, StoredResponse, VectorRow, WriteTransaction},
    tokens::{IssuedToken, Secret},
};

/// What all writes of a transaction share.
#[derive(Clone, Copy, Debug)]
pub struct TxContext {
    /// The timestamp of every write.
    pub now: Timestamp,
    /// Responses to idempotency keys from before this time have expired.
    pub responses_since: Timestamp,
}

/// An operation inside a write transaction. It may run again after a conflict.
pub trait Write: Send + 'static {
    /// What the caller gets once the write is durable and visible.
    type Outcome: Send;

    /// The number of products it writes, which limits the size of a group.
    fn products(&self) -> usize {
        0
    }

    /// The shops whose products it may change. They are locked before it runs.
    fn shops(&self) -> Vec<ShopId> {
        Vec::new()
    }

    /// Applies the write.
    fn run(
        &self,
        transaction: &mut WriteTransaction<'_>,
        context: TxContext,
    ) -> Result<Self::Outcome, StoreError>;
}

/// Encodes the response for created products, which a repeated request gets again.
pub type EncodeResponse = Arc<dyn Fn(&[Product]) -> Vec<u8> + Send + Sync>;

/// The idempotency key of a create, which makes it safe to repeat.
#[derive(Clone)]
pub struct IdempotencyRequest {
    /// The key, chosen by the client.
    pub key: String,
    /// A digest of the request, to detect that a key is reused for another one.
    pub fingerprint: Vec<u8>,
    /// Encodes the response that is stored under the key.
    pub response: EncodeResponse,
}

/// Creates products, each with its instant vector if that was made before.
pub struct Create {
    pub(crate) pass: WritePass,
    pub(crate) drafts: Vec<(Draft, Option<Embedding>)>,
    pub(crate) idempotency: Option<IdempotencyRequest>,
}

/// What became of a [`Create`].
#[derive(Debug)]
pub enum Created {
    /// The products were created.
    New(Vec<Product>),
    /// The request is a repetition; this is the response to the first one.
    Replayed(Vec<u8>),
    /// The key was used for another request.
    KeyReused,
}

impl Write for Create {
    type Outcome = Created;

    fn products(&self) -> usize {
        self.drafts.len()
    }

    fn shops(&self) -> Vec<ShopId> {
        vec![self.pass.shop()]
    }

    fn run(
        &self,
        transaction: &mut WriteTransaction<'_>,
        context: TxContext,
    ) -> Result<Created, StoreError> {
        let shop = self.pass.shop();
        if let Some(request) = &self.idempotency
            && let Some(first) =
                transaction.stored_response(shop, &request.key, context.responses_since)?
        {
            return Ok(match first.fingerprint == request.fingerprint {
                true => Created::Replayed(first.body),
                false => Created::KeyReused,
            });
        }
        let products = self
            .drafts
            .iter()
            .map(|(draft, embedding)| {
                transaction.create_embedded(shop, draft.clone(), embedding.clone(), context.now)
            })
            .collect::<Result<Vec<_>, _>>()?;
        if let Some(request) = &self.idempotency {
            let body = (request.response)(&products);
            let first = StoredResponse { fingerprint: request.fingerprint.clone(), body };
            transaction.store_response(shop, &request.key, &first, context.now)?;
        }
        Ok(Created::New(products))
    }
}

/// Stores vectors of products whose text has not changed since they were made.
pub struct StoreVectors {
    pub(crate) vectors: Vec<VectorRow>,
}

impl Write for StoreVectors {
    type Outcome = ();

    fn products(&self) -> usize {
        self.vectors.len()
    }

    fn shops(&self) -> Vec<ShopId> {
        self.vectors.iter().map(|row| row.shop).collect()
    }

    fn run(&self, transaction: &mut WriteTransaction<'_>, _: TxContext) -> Result<(), StoreError> {
        for row in &self.vectors {
            transaction.put_vector(row)?;
        }
        Ok(())
    }
}

/// What must hold for a product before it is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// The product exists.
    Exists,
    /// The product exists and has one of these versions.
    IsVersion(Vec<Seq>),
}

impl Precondition {
    fn check(&self, product: Option<Product>) -> Result<Product, Refusal> {
        let product = product.ok_or(Refusal::NotFound)?;
        match self {
            Self::IsVersion(versions) if !versions.contains(&product.version) => {
                Err(Refusal::Changed)
            }
            _ => Ok(product),
        }
    }
}

/// Why a product was not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The shop has no such product.
    NotFound,
    /// Its version is none of those in the precondition.
    Changed,
}

/// A change to one product.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The product.
    pub id: ProductId,
    /// The new values.
    pub patch: Patch,
    /// Checked before the change.
    pub precondition: Precondition,
}

/// Updates products, in order; each succeeds or is refused on its own.
pub struct Update {
    pub(crate) pass: WritePass,
    pub(crate) edits: Vec<Edit>,
}

impl Write for Update {
    type Outcome = Vec<Result<Product, Refusal>>;

    fn products(&self) -> usize {
        self.edits.len()
    }

    fn shops(&self) -> Vec<ShopId> {
        vec![self.pass.shop()]
    }

    fn run(
        &self,
        transaction: &mut WriteTransaction<'_>,
        context: TxContext,
    ) -> Result<Self::Outcome, StoreError> {
        self.edits
            .iter()
            .map(|edit| {
                let found = transaction.product(self.pass.shop(), edit.id)?;
                match edit.precondition.check(found) {
                    Ok(before) => {
                        transaction.update(before, edit.patch.clone(), context.now).map(Ok)
                    }
                    Err(refusal) => Ok(Err(refusal)),
                }
            })
            .collect()
    }
}

/// Deletes products; each succeeds or is refused on its own.
pub struct Delete {
    pub(crate) pass: WritePass,
    pub(crate) ids: Vec<ProductId>,
    pub(crate) precondition: Precondition,
}

impl Write for Delete {
    type Outcome = Vec<Result<(), Refusal>>;

    fn products(&self) -> usize {
        self.ids.len()
    }

    fn shops(&self) -> Vec<ShopId> {
        vec![self.pass.shop()]
    }

    fn run(
        &self,
        transaction: &mut WriteTransaction<'_>,
        _: TxContext,
    ) -> Result<Self::Outcome, StoreError> {
        self.ids
            .iter()
            .map(|id| {
                let found = transaction.product(self.pass.shop(), *id)?;
                match self.precondition.check(found) {
                    Ok(product) => transaction.delete(&product).map(Ok),
                    Err(refusal) => Ok(Err(refusal)),
                }
            })
            .collect()
    }
}

/// Issues a token.
pub struct IssueToken {
    pub(crate) pass: AdminPass,
    pub(crate) role: Role,
    pub(crate) name: String,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) secret: Secret,
}

impl Write for IssueToken {
    type Outcome = IssuedToken;

    fn run(
        &self,
        transaction: &mut WriteTransaction<'_>,
        context: TxContext,
    ) -> Result<IssuedToken, StoreError> {
        let id = transaction.insert_token(&NewToken {
            shop: self.pass.shop(),
            role: self.role,
            name: &self.name,
            secret_hash: &self.secret.hash(),
            created_at: context.now,
            expires_at: self.expires_at,
        })?;
        Ok(IssuedToken {
            id,
            token: self.secret.as_token(id),
            shop: self.pass.shop(),
            role: self.role,
            name: self.name.clone(),
            created_at: context.now,
            expires_at: self.expires_at,
        })
    }
}

/// Revokes a token.
pub struct RevokeToken {
    pub(crate) pass: AdminPass,
    pub(crate) id: u64,
}

impl Write for RevokeToken {
    /// `false` if the token does not exist or was revoked before.
    type Outcome = bool;

    fn run(
        &self,
        transaction: &mut WriteTransaction<'_>,
        context: TxContext,
    ) -> Result<bool, StoreError> {
        transaction.revoke_token(self.pass.shop(), self.id, context.now)
    }
}
