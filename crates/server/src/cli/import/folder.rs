//! A data folder as the place to import into. The folder is taken as a server takes it, so there
//! is still one writer; a folder that a server has is imported into through that server.

use std::sync::Arc;

use anyhow::{Context, bail};
use catalog::{
    access::{Caller, Role, WritePass},
    product::{Product, ProductId, ShopId},
};
use engine::{
    Engine, OpenError,
    store::FolderInUse,
    writes::{
        Created, Edit, IdempotencyRequest, Precondition, Refusal, UpsertElement, UpsertOutcome,
        Upserted,
    },
};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    record::RecordError,
    sink::{Sink, Stored},
};
use crate::{
    config::Config,
    http::{
        errors::ValidationError,
        requests::{
            ObjectDefinition,
            products::{NewProduct, ProductEdit, ProductUpsert},
        },
    },
    serving,
};

/// A shop in a data folder.
pub(super) struct FolderSink {
    engine: Engine,
    pass: WritePass,
    runtime: tokio::runtime::Runtime,
}

impl FolderSink {
    pub(super) fn open(config: &Config, shop: ShopId) -> anyhow::Result<Self> {
        // Without a model: the server that is started on the store makes the vectors, instant
        // ones first. Without memory for indexes, too: nothing is searched here.
        let mut config = config.clone();
        config.index.memory_bytes = 0;
        let engine = match serving::open_beside(&config) {
            Ok(engine) => engine,
            Err(error) => match error.downcast_ref() {
                Some(OpenError::Folder(FolderInUse::ByAnotherServer(path))) => bail!(
                    "a shopkeeper server is running on the data folder {}, and only one process \
                     may write products there; import through it with --server URL",
                    path.display()
                ),
                _ => return Err(error),
            },
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .build()
            .context("the runtime cannot be started")?;
        Ok(Self { engine, pass: Caller::new(shop, Role::Editor).may_write()?, runtime })
    }
}

/// The id of a created product, or why it was not created.
type IdOrRefusal = Result<u64, CreateRefusal>;

/// Why a product was not created, as it is stored under an idempotency key.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum CreateRefusal {
    /// The product that holds its key.
    KeyTaken(Option<u64>),
    /// Anything else.
    Other(RecordError),
}

impl From<CreateRefusal> for RecordError {
    fn from(refusal: CreateRefusal) -> Self {
        match refusal {
            CreateRefusal::KeyTaken(holder) => key_taken(holder),
            CreateRefusal::Other(error) => error,
        }
    }
}

fn id_or_refusal(outcome: &Result<Product, Refusal>) -> IdOrRefusal {
    match outcome {
        Ok(product) => Ok(product.id.get()),
        Err(Refusal::KeyTaken(holder)) => Err(CreateRefusal::KeyTaken(Some(holder.get()))),
        Err(refusal) => Err(CreateRefusal::Other(ValidationError::refused(*refusal).into())),
    }
}

fn key_taken(holder: Option<u64>) -> RecordError {
    let holder = holder.map_or_else(|| "another product".to_owned(), |id| format!("product {id}"));
    RecordError::of_field("key", "conflict", format!("is the key of {holder}"))
}

impl Sink for FolderSink {
    fn create(&self, key: &str, products: &[&Value]) -> anyhow::Result<Vec<Stored>> {
        let mut drafts = Vec::with_capacity(products.len());
        for product in products {
            match NewProduct::read(product) {
                Ok(draft) => drafts.push(draft),
                // Every row was checked by the same rules before.
                Err(faults) => bail!("a product that was checked is refused: {faults:?}"),
            }
        }
        let said = serde_json::to_vec(products)?;
        let once = IdempotencyRequest {
            key: key.to_owned(),
            fingerprint: digest(&SHA256, &said).as_ref().to_vec(),
            response: Arc::new(|outcomes: &[Result<Product, Refusal>]| {
                let ids: Vec<_> = outcomes.iter().map(id_or_refusal).collect();
                serde_json::to_vec(&ids).unwrap_or_default()
            }),
        };
        let made = match self.runtime.block_on(self.engine.create(self.pass, drafts, Some(once)))? {
            Created::New(outcomes) => outcomes.iter().map(id_or_refusal).collect(),
            Created::Replayed(answer) => serde_json::from_slice::<Vec<IdOrRefusal>>(&answer)?,
            Created::KeyReused => bail!("the file is not the one that this import began with"),
        };
        Ok(made.into_iter().map(|made| made.map_err(RecordError::from)).collect())
    }

    fn update(&self, products: &[&Value]) -> anyhow::Result<Vec<Stored>> {
        let mut edits = Vec::with_capacity(products.len());
        for product in products {
            match ProductEdit::read(product) {
                Ok((id, patch)) => {
                    edits.push(Edit { id, patch, precondition: Precondition::Exists })
                }
                Err(faults) => bail!("a product that was checked is refused: {faults:?}"),
            }
        }
        let outcomes = self.runtime.block_on(self.engine.update(self.pass, edits))?;
        Ok(outcomes
            .into_iter()
            .map(|outcome| match outcome {
                Ok(product) => Ok(product.id.get()),
                Err(Refusal::KeyTaken(holder)) => Err(key_taken(Some(holder.get()))),
                Err(refusal) => Err(ValidationError::refused(refusal).into()),
            })
            .collect())
    }

    fn upsert(&self, products: &[&Value]) -> anyhow::Result<Vec<Result<(), RecordError>>> {
        let mut elements = Vec::with_capacity(products.len());
        for product in products {
            match ProductUpsert::read(product) {
                Ok((key, patch)) => elements.push(UpsertElement { key, patch }),
                Err(faults) => bail!("a product that was checked is refused: {faults:?}"),
            }
        }
        let upserted = self.engine.upsert(self.pass, elements, None);
        let UpsertOutcome::Applied(outcomes) = self.runtime.block_on(upserted)? else {
            bail!("a request without an idempotency key was taken for a repetition");
        };
        let required = |lacking: Vec<&'static str>| match lacking.first() {
            Some(field) => RecordError::of_field(field, "required", "is required"),
            None => RecordError::of_whole("required", "lacks required fields"),
        };
        Ok(outcomes
            .into_iter()
            .map(|outcome| match outcome {
                Upserted::Created(_) | Upserted::Updated(_) => Ok(()),
                Upserted::Incomplete(lacking) => Err(required(lacking)),
                Upserted::LimitExceeded(limit) => {
                    Err(ValidationError::refused(Refusal::LimitExceeded(limit)).into())
                }
            })
            .collect())
    }

    fn delete(&self, ids: &[u64]) -> anyhow::Result<()> {
        let ids = ids.iter().filter_map(|id| ProductId::new(*id)).collect();
        let deleted = self.engine.delete(self.pass, ids, Precondition::Exists);
        self.runtime.block_on(deleted).map(drop).map_err(Into::into)
    }
}
