//! Which writes are there, and what does each do inside the transaction it shares?
//!
//! A write either happens as a whole or is refused with nothing written; a refusal is an
//! ordinary outcome, an error is the store's trouble.

use std::sync::Arc;

use catalog::{
    access::{AdminPass, Role, WritePass},
    change::Seq,
    product::{Draft, Patch, Product, ProductId, ShopId},
};
use jiff::Timestamp;

use crate::{
    embed::Embedding,
    store::{Remembered, StoreError, VectorRow, WriteTransaction},
    tokens::{IssuedToken, Secret},
};

/// What the transaction's time is, and how far back answers are remembered.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The time every write of the group bears.
    pub now: Timestamp,
    /// Answers remembered before this are forgotten.
    pub remember_since: Timestamp,
}

/// Something that can be done inside a write transaction, again if it has to be.
pub trait Write: Send + 'static {
    /// What the writer is told once it is durable and visible.
    type Outcome: Send;

    /// How much work it is, in products.
    fn products(&self) -> usize;

    /// The shops whose products it may change.
    fn shops(&self) -> Vec<ShopId>;

    /// Does it.
    fn run(
        &self,
        transaction: &mut WriteTransaction<'_>,
        moment: Moment,
    ) -> Result<Self::Outcome, StoreError>;
}

/// Turns created products into the answer that a repeated request gets again.
pub type Answer = Arc<dyn Fn(&[Product]) -> Vec<u8> + Send + Sync>;

/// Makes a create safe to repeat.
#[derive(Clone)]
pub struct Once {
    /// The caller's name for this request.
    pub key: String,
    /// A digest of what the request says.
    pub fingerprint: Vec<u8>,
    /// How its answer is written.
    pub answer: Answer,
}

/// Creates products, each with its vector if that was made before.
pub struct Create {
    pub(crate) pass: WritePass,
    pub(crate) drafts: Vec<(Draft, Option<Embedding>)>,
    pub(crate) once: Option<Once>,
}

/// What became of a [`Create`].
#[derive(Debug)]
pub enum Created {
    /// The products are new.
    Now(Vec<Product>),
    /// The same request was answered like this before.
    Before(Vec<u8>),
    /// Another request was made under the same key.
    KeyTaken,
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
        moment: Moment,
    ) -> Result<Created, StoreError> {
        let shop = self.pass.shop();
        if let Some(once) = &self.once
            && let Some(first) = transaction.recall(shop, &once.key, moment.remember_since)?
        {
            return Ok(match first.fingerprint == once.fingerprint {
                true => Created::Before(first.answer),
                false => Created::KeyTaken,
            });
        }
        let products = self
            .drafts
            .iter()
            .map(|(draft, embedding)| {
                transaction.create_embedded(shop, draft.clone(), embedding.clone(), moment.now)
            })
            .collect::<Result<Vec<_>, _>>()?;
        if let Some(once) = &self.once {
            let answer = (once.answer)(&products);
            let first = Remembered { fingerprint: once.fingerprint.clone(), answer };
            transaction.remember(shop, &once.key, &first, moment.now)?;
        }
        Ok(Created::Now(products))
    }
}

/// Keeps vectors of products whose text is still the one they were made of.
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

    fn run(&self, transaction: &mut WriteTransaction<'_>, _: Moment) -> Result<(), StoreError> {
        for row in &self.vectors {
            transaction.put_vector(row)?;
        }
        Ok(())
    }
}

/// What must hold of a product before it is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// That it exists.
    Exists,
    /// That it exists and is still one of these versions.
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

/// Why a product was left as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The shop has no such product.
    NotFound,
    /// It is no longer the version that the caller knows.
    Changed,
}

/// A change to one product.
#[derive(Clone, Debug)]
pub struct Edit {
    /// Which one.
    pub id: ProductId,
    /// What changes.
    pub patch: Patch,
    /// What must hold before.
    pub precondition: Precondition,
}

/// Updates products, in order, each on its own.
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
        moment: Moment,
    ) -> Result<Self::Outcome, StoreError> {
        self.edits
            .iter()
            .map(|edit| {
                let found = transaction.product(self.pass.shop(), edit.id)?;
                match edit.precondition.check(found) {
                    Ok(before) => {
                        transaction.update(before, edit.patch.clone(), moment.now).map(Ok)
                    }
                    Err(refusal) => Ok(Err(refusal)),
                }
            })
            .collect()
    }
}

/// Deletes products, each on its own.
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
        _: Moment,
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

    fn products(&self) -> usize {
        0
    }

    fn shops(&self) -> Vec<ShopId> {
        Vec::new()
    }

    fn run(
        &self,
        transaction: &mut WriteTransaction<'_>,
        moment: Moment,
    ) -> Result<IssuedToken, StoreError> {
        let id = transaction.insert_token(
            self.pass.shop(),
            self.role,
            &self.name,
            &self.secret.hash(),
            moment.now,
            self.expires_at,
        )?;
        Ok(IssuedToken {
            id,
            token: self.secret.as_token(id),
            shop: self.pass.shop(),
            role: self.role,
            name: self.name.clone(),
            created_at: moment.now,
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
    /// Whether there was one to revoke.
    type Outcome = bool;

    fn products(&self) -> usize {
        0
    }

    fn shops(&self) -> Vec<ShopId> {
        Vec::new()
    }

    fn run(
        &self,
        transaction: &mut WriteTransaction<'_>,
        moment: Moment,
    ) -> Result<bool, StoreError> {
        transaction.revoke_token(self.pass.shop(), self.id, moment.now)
    }
}
