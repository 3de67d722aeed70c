//! A data folder as the place to import into. The folder is taken as a server takes it, so there
//! is still one writer; a folder that a server has is imported into through that server.

use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use catalog::product::{
    Product, ProductId, ShopId,
    access::{Caller, Role, WritePass},
};
use engine::{
    Engine, OpenError,
    writes::{
        Created, Edit, IdempotencyRequest, Precondition, Refusal, UpsertElement, UpsertOutcome,
        Upserted,
    },
};
use ring::digest::{SHA256, digest};
use serde_json::Value;
use store::FolderInUse;

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

fn stored(outcome: &Result<Product, Refusal>) -> Stored {
    match outcome {
        Ok(_) => Ok(()),
        Err(refusal) => Err(ValidationError::refused(*refusal).into()),
    }
}

/// Reads products, all of which were checked by the same rules before.
fn read_all<'a, T: ObjectDefinition<'a>>(products: &[&'a Value]) -> anyhow::Result<Vec<T::Value>> {
    let read = |product: &&'a Value| {
        T::read(product).map_err(|faults| anyhow!("a checked product is refused: {faults:?}"))
    };
    products.iter().map(read).collect()
}

impl Sink for FolderSink {
    fn create(&self, key: &str, products: &[&Value]) -> anyhow::Result<Vec<Stored>> {
        let said = serde_json::to_vec(products)?;
        let once = IdempotencyRequest {
            key: key.to_owned(),
            fingerprint: digest(&SHA256, &said).as_ref().to_vec(),
            response: Arc::new(|outcomes: &[Result<Product, Refusal>]| {
                let stored: Vec<_> = outcomes.iter().map(stored).collect();
                serde_json::to_vec(&stored).unwrap_or_default()
            }),
        };
        let drafts = read_all::<NewProduct>(products)?;
        match self.runtime.block_on(self.engine.create(self.pass, drafts, Some(once)))? {
            Created::New(outcomes) => Ok(outcomes.iter().map(stored).collect()),
            Created::Replayed(answer) => Ok(serde_json::from_slice(&answer)?),
            Created::KeyReused => bail!("the file is not the one that this import began with"),
        }
    }

    fn update(&self, products: &[&Value]) -> anyhow::Result<Vec<Stored>> {
        let edit = |(id, patch)| Edit { id, patch, precondition: Precondition::Exists };
        let edits = read_all::<ProductEdit>(products)?.into_iter().map(edit).collect();
        let outcomes = self.runtime.block_on(self.engine.update(self.pass, edits))?;
        Ok(outcomes.iter().map(stored).collect())
    }

    fn upsert(&self, products: &[&Value]) -> anyhow::Result<Vec<Stored>> {
        let element = |(key, patch)| UpsertElement { key, patch };
        let elements = read_all::<ProductUpsert>(products)?.into_iter().map(element).collect();
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
