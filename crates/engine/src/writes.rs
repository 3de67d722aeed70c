//! The writes, and what each does inside the transaction that it shares with others.
//!
//! A write is applied as a whole or not at all. A write that is refused is an ordinary outcome; an
//! error means that the store failed.

mod upsert;

use std::sync::Arc;

use catalog::product::{
    Draft, Patch, Product, ProductId, ShopId,
    access::{AdminPass, Role, WritePass},
    attributes::Attributes,
    change::Seq,
};
use jiff::Timestamp;
use store::{
    Derived, LimitExceeded, NewToken, StoreError, StoredResponse, VectorRow, WriteTransaction,
};

pub use self::upsert::{Upsert, UpsertElement, UpsertOutcome, Upserted};
use crate::tokens::{IssuedToken, MAX_ENDED_TOKENS, MAX_WORKING_TOKENS, Secret, TooManyTokens};

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

/// The idempotency key of a write, which makes it safe to repeat.
#[derive(Clone)]
pub struct IdempotencyRequest<T> {
    /// The key, chosen by the client.
    pub key: String,
    /// A digest of the request, to detect that a key is reused for another one.
    pub fingerprint: Vec<u8>,
    /// Encodes the response to the outcomes of the elements, which a repeated request gets again.
    pub response: EncodeResponse<T>,
}

/// Encodes a response.
pub type EncodeResponse<T> = Arc<dyn Fn(&[T]) -> Vec<u8> + Send + Sync>;

/// What an idempotency key was used for before.
enum Earlier {
    /// The same request, with this response.
    Same(Vec<u8>),
    /// Another request.
    Other,
}

impl<T> IdempotencyRequest<T> {
    /// The earlier use of the key.
    fn earlier(
        &self,
        shop: ShopId,
        transaction: &mut WriteTransaction<'_>,
        context: TxContext,
    ) -> Result<Option<Earlier>, StoreError> {
        let first = transaction.stored_response(shop, &self.key, context.responses_since)?;
        Ok(first.map(|first| match first.fingerprint == self.fingerprint {
            true => Earlier::Same(first.body),
            false => Earlier::Other,
        }))
    }

    /// Stores the response to a first request.
    fn store(
        &self,
        shop: ShopId,
        outcomes: &[T],
        transaction: &mut WriteTransaction<'_>,
        context: TxContext,
    ) -> Result<(), StoreError> {
        let body = (self.response)(outcomes);
        let first = StoredResponse { fingerprint: self.fingerprint.clone(), body };
        transaction.store_response(shop, &self.key, &first, context.now)
    }
}

/// Creates products, each with what was derived from it before. Each is created or refused on its
/// own.
pub struct Create {
    pub(crate) pass: WritePass,
    pub(crate) drafts: Vec<(Draft, Derived)>,
    pub(crate) idempotency: Option<IdempotencyRequest<Result<Product, Refusal>>>,
}

/// What became of a [`Create`].
#[derive(Debug)]
pub enum Created {
    /// The outcome of each element.
    New(Vec<Result<Product, Refusal>>),
    /// The request is a repetition; this is the response to the first one.
    Replayed(Vec<u8>),
    /// The idempotency key was used for another request.
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
            && let Some(earlier) = request.earlier(shop, transaction, context)?
        {
            return Ok(match earlier {
                Earlier::Same(response) => Created::Replayed(response),
                Earlier::Other => Created::KeyReused,
            });
        }
        let keys: Vec<_> = self.drafts.iter().filter_map(|(draft, _)| draft.key.as_ref()).collect();
        transaction.prefetch_keys(shop, &keys)?;
        let names = self.drafts.iter().flat_map(|(draft, _)| draft.attributes.names());
        transaction.prefetch_names(shop, names)?;
        let mut outcomes = Vec::with_capacity(self.drafts.len());
        for (draft, derived) in &self.drafts {
            let holder = draft.key.as_ref().map(|key| transaction.key_holder(shop, key));
            outcomes.push(match holder.transpose()?.flatten() {
                Some(holder) => Err(Refusal::KeyTaken(holder)),
                None => {
                    let (draft, derived) = (draft.clone(), derived.clone());
                    let created = transaction.create_derived(shop, draft, derived, context.now)?;
                    created.map_err(Refusal::LimitExceeded)
                }
            });
        }
        // A single create that was refused changed nothing, so it may be tried again.
        let is_refused = matches!(outcomes[..], [Err(_)]);
        if let Some(request) = self.idempotency.as_ref().filter(|_| !is_refused) {
            request.store(shop, &outcomes, transaction, context)?;
        }
        Ok(Created::New(outcomes))
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
            transaction.put_vectors(row)?;
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
    /// This product of the shop holds the key.
    KeyTaken(ProductId),
    /// The shop would exceed a limit.
    LimitExceeded(LimitExceeded),
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
        let shop = self.pass.shop();
        let attributes = self.edits.iter().filter_map(|edit| edit.patch.attributes.as_ref());
        transaction.prefetch_names(shop, attributes.flat_map(Attributes::names))?;
        let mut outcomes = Vec::with_capacity(self.edits.len());
        for edit in &self.edits {
            let found = transaction.product(shop, edit.id)?;
            let outcome = match edit.precondition.check(found) {
                Ok(before) => match taken_key(&before, &edit.patch, transaction)? {
                    Some(holder) => Err(Refusal::KeyTaken(holder)),
                    None => {
                        let patch = edit.patch.clone();
                        let derived = Derived::default();
                        transaction
                            .update_derived(before, patch, derived, context.now)?
                            .map_err(Refusal::LimitExceeded)
                    }
                },
                Err(refusal) => Err(refusal),
            };
            outcomes.push(outcome);
        }
        Ok(outcomes)
    }
}

/// The other product that holds the key which the patch gives to this one.
fn taken_key(
    before: &Product,
    patch: &Patch,
    transaction: &mut WriteTransaction<'_>,
) -> Result<Option<ProductId>, StoreError> {
    let Some(Some(key)) = &patch.key else { return Ok(None) };
    if before.key.as_ref() == Some(key) {
        return Ok(None);
    }
    let holder = transaction.key_holder(before.shop, key)?;
    Ok(holder.filter(|holder| *holder != before.id))
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

/// Issues a token, unless as many of the shop work as may.
pub struct IssueToken {
    pub(crate) pass: AdminPass,
    pub(crate) role: Role,
    pub(crate) name: String,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) secret: Secret,
}

impl Write for IssueToken {
    type Outcome = Result<IssuedToken, TooManyTokens>;

    /// Locked, so that two nodes do not count the same tokens.
    fn shops(&self) -> Vec<ShopId> {
        vec![self.pass.shop()]
    }

    fn run(
        &self,
        transaction: &mut WriteTransaction<'_>,
        context: TxContext,
    ) -> Result<Self::Outcome, StoreError> {
        let shop = self.pass.shop();
        let working = transaction.working_tokens(shop, context.now, MAX_WORKING_TOKENS)?;
        if working >= MAX_WORKING_TOKENS {
            return Ok(Err(TooManyTokens));
        }
        transaction.remove_ended_tokens(shop, context.now, MAX_ENDED_TOKENS)?;
        let id = transaction.insert_token(&NewToken {
            shop,
            role: self.role,
            name: &self.name,
            secret_hash: &self.secret.hash(),
            created_at: context.now,
            expires_at: self.expires_at,
        })?;
        Ok(Ok(IssuedToken {
            id,
            token: self.secret.as_token(id),
            shop,
            role: self.role,
            name: self.name.clone(),
            created_at: context.now,
            expires_at: self.expires_at,
        }))
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
