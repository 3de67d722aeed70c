//! On PostgreSQL, the local replica follows a shop from its load to its eviction.

use std::sync::Arc;

use catalog::product::{
    Description, Draft, Patch, Product, ShopId, Title,
    access::{Caller, ReadPass, Role},
    change::Seq,
    media::Media,
    price::Price,
};
use jiff::Timestamp;
use store::{CatalogStore, Postgres, PostgresStore, ProductReads, StoreError, WriteTransaction};
use tempfile::TempDir;

use super::{load::ShopLoad, table::LoadReason, *};
use store::testing::settings;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

struct Bench {
    _folder: TempDir,
    postgres: Postgres,
    store: PostgresStore,
    replica: Arc<LocalReplica>,
    registry: ShopRegistry,
}

impl Bench {
    fn new() -> Self {
        let postgres = Postgres::new(&settings(&testkit::postgres().database())).unwrap();
        postgres.migrate().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let replica = LocalReplica::create(folder.path(), 2).unwrap();
        let readers =
            Arc::new(FailoverReaders::start(&postgres, Some(Arc::clone(&replica))).unwrap());
        let registry =
            ShopRegistry::new(readers, None, usize::MAX).with_replica(Some(Arc::clone(&replica)));
        Self { _folder: folder, store: postgres.store(), postgres, replica, registry }
    }

    /// Commits a transaction and applies it, as the writer does.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&mut WriteTransaction<'_>) -> Result<T, StoreError>,
    ) -> T {
        let mut transaction = self.store.begin().unwrap();
        let outcome = work(&mut transaction).unwrap();
        self.registry.apply_and_wait(transaction.commit().unwrap());
        outcome
    }

    /// The replica's products; `None` without a copy of the shop.
    fn replicated(&self) -> Option<Vec<Product>> {
        self.replica.page(&pass(), 100, 0).unwrap().map(|page| page.products)
    }

    fn stored(&self) -> Vec<Product> {
        self.postgres.readers().page(&pass(), 100, 0).unwrap().products
    }
}

fn shop() -> ShopId {
    ShopId::new(1).unwrap()
}

fn pass() -> ReadPass {
    Caller::new(shop(), Role::Viewer).may_read()
}

fn draft(title: &str, hidden: bool) -> Draft {
    Draft {
        description: Description::parse("of \"wood\"\nand wool").unwrap(),
        hidden,
        media: vec![Media::from_stored("https://example.org/lamp.jpg".to_owned(), "IMAGE")],
        ..Draft::new(Title::parse(title).unwrap(), Price::from_stored("about 5".to_owned()))
    }
}

#[test]
fn a_copy_has_the_rows_of_the_database_from_load_to_eviction() {
    let mut bench = Bench::new();
    let create = |title, hidden| {
        move |transaction: &mut WriteTransaction<'_>| {
            transaction.create(shop(), draft(title, hidden), NOW)
        }
    };
    let lamp = bench.write(create("Lamp", false));
    let rug = bench.write(create("Rug", true));
    assert_eq!(bench.replicated(), None, "the shop is absent");
    bench.registry.index(shop()).unwrap();
    assert_eq!(bench.replicated(), Some(bench.stored()));
    bench.write(create("Mug", false));
    let title = Some(Title::parse("Light").unwrap());
    bench.write(|transaction| {
        transaction.delete(&rug)?;
        transaction.update(lamp, Patch { title, ..Patch::default() }, NOW)
    });
    assert_eq!(bench.stored().len(), 2);
    assert_eq!(bench.replicated(), Some(bench.stored()));
    bench.registry.evict(shop(), EvictionReason::SearchedInDatabase);
    assert_eq!(bench.replicated(), None);
}

#[test]
fn every_eviction_drops_index_and_copy() {
    let mut bench = Bench::new();
    bench.write(|transaction| transaction.create(shop(), draft("Lamp", false), NOW));
    let error = StoreError::changed_while_read();
    for reason in [
        EvictionReason::MemoryLimit,
        EvictionReason::UpdatePanicked,
        EvictionReason::LostCommits { shown: Seq(2), stored: Seq(1) },
        EvictionReason::ChangesTrimmed,
        EvictionReason::CatchUpFailed(&error),
        EvictionReason::SearchedInDatabase,
    ] {
        let index = bench.registry.index(shop()).unwrap();
        assert_eq!(bench.replicated(), Some(bench.stored()));
        bench.registry.table.lock().evict_if_current(shop(), &index, reason);
        assert!(bench.registry.in_memory(shop()).is_none(), "{reason}");
        assert_eq!(bench.replicated(), None, "{reason}");
        assert_eq!(bench.registry.table.lock().bytes, 0, "{reason}");
    }
    let mut load = ShopLoad::begin(
        &bench.registry,
        &mut bench.registry.table.lock(),
        shop(),
        LoadReason::Search,
    );
    load.scan().unwrap();
    assert_eq!(bench.replicated(), Some(bench.stored()));
    drop(load);
    assert_eq!(bench.replicated(), None, "the load failed");
}
