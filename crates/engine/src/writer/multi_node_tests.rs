//! Two writers on one database, whose groups write to the same shops.

use std::time::Duration;

use catalog::product::{
    Draft, Patch, ShopId, Title,
    access::{Caller, Role},
    key::Key,
    price::Price,
};
use jiff::{SignedDuration, Timestamp};
use parking_lot::{Condvar, Mutex};
use store::testing::settings;
use store::{Derived, Postgres, ProductReads, Quotas, StoreError, StoreInfo, WriteTransaction};

use super::*;
use crate::{
    replication::ShopRegistry,
    writes::{Create, Created, Refusal, TxContext, Upsert, UpsertElement, UpsertOutcome, Upserted},
};

/// How long a write waits for the one on the other node, which may itself wait for a lock.
const RENDEZVOUS_TIMEOUT: Duration = Duration::from_secs(1);

/// Where two writes wait for each other.
#[derive(Default)]
struct Rendezvous {
    arrived: Mutex<usize>,
    both: Condvar,
}

impl Rendezvous {
    fn wait(&self) {
        let mut arrived = self.arrived.lock();
        *arrived += 1;
        self.both.notify_all();
        self.both.wait_while_for(&mut arrived, |arrived| *arrived < 2, RENDEZVOUS_TIMEOUT);
    }
}

/// Writes to one shop, waits for the other node, and then writes to another shop.
struct WriteToTwoShops {
    shops: [u64; 2],
    rendezvous: Arc<Rendezvous>,
    runs: Arc<AtomicUsize>,
}

impl Write for WriteToTwoShops {
    type Outcome = ();

    fn products(&self) -> usize {
        2
    }

    fn shops(&self) -> Vec<ShopId> {
        self.shops.map(shop).to_vec()
    }

    fn run(
        &self,
        transaction: &mut WriteTransaction<'_>,
        context: TxContext,
    ) -> Result<(), StoreError> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        transaction.create(shop(self.shops[0]), lamp(), context.now)?;
        self.rendezvous.wait();
        transaction.create(shop(self.shops[1]), lamp(), context.now)?;
        Ok(())
    }
}

fn shop(number: u64) -> ShopId {
    ShopId::new(number).unwrap()
}

fn lamp() -> Draft {
    Draft::new(Title::parse("lamp").unwrap(), Price::parse("$1").unwrap())
}

fn node(database: &Postgres) -> Writer {
    let shops = Arc::new(ShopRegistry::new(Arc::new(database.readers()), None, usize::MAX));
    let settings = WriterSettings {
        queue: 8,
        group_products: 100,
        response_retention: SignedDuration::from_hours(24),
        quotas: Quotas::default(),
    };
    let clock: Clock = Arc::new(|| Timestamp::UNIX_EPOCH);
    let applier = Applier::start(shops, None).unwrap();
    Writer::start(Box::new(database.store()), applier, None, clock, settings).unwrap()
}

#[test]
fn groups_of_two_nodes_do_not_deadlock() {
    let database = database();
    let (runs, rendezvous) = (Arc::<AtomicUsize>::default(), Arc::<Rendezvous>::default());
    let write = |shops| WriteToTwoShops {
        shops,
        rendezvous: Arc::clone(&rendezvous),
        runs: Arc::clone(&runs),
    };
    let (one, other) = (node(&database), node(&database));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let both = async { tokio::try_join!(one.submit(write([1, 2])), other.submit(write([2, 1]))) };
    runtime.block_on(both).unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 2, "a deadlock would have caused a retry");
    for number in [1, 2] {
        assert_eq!(database.readers().counts(shop(number)).unwrap().products, 2);
    }
}

fn database() -> Postgres {
    let database = Postgres::new(&settings(&testkit::postgres().database())).unwrap();
    database.migrate().unwrap();
    database
}

fn key(number: usize) -> Key {
    Key::parse(&format!("sku {number}")).unwrap()
}

/// Creates products with these keys.
fn create(keys: &[usize]) -> Create {
    let pass = Caller::new(shop(1), Role::Editor).may_write().unwrap();
    let keyed = |number: &usize| (Draft { key: Some(key(*number)), ..lamp() }, Derived::default());
    Create { pass, drafts: keys.iter().map(keyed).collect(), idempotency: None }
}

/// Creates or updates the products with these keys.
fn upsert(keys: &[usize]) -> Upsert {
    let pass = Caller::new(shop(1), Role::Editor).may_write().unwrap();
    let Draft { title, price, .. } = lamp();
    let patch = Patch { title: Some(title), price: Some(price), ..Patch::default() };
    let element = |number: &usize| {
        (UpsertElement { key: key(*number), patch: patch.clone() }, Derived::default())
    };
    Upsert { pass, elements: keys.iter().map(element).collect(), idempotency: None }
}

#[test]
fn of_two_nodes_that_create_a_key_one_is_refused() {
    let database = database();
    let (one, other) = (node(&database), node(&database));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for round in 0..20 {
        // In opposite order, so that each node may get some of the keys.
        let keys = [3 * round, 3 * round + 1, 3 * round + 2];
        let reversed = [keys[2], keys[1], keys[0]];
        let both =
            async { tokio::join!(one.submit(create(&keys)), other.submit(create(&reversed))) };
        let (first, second) = runtime.block_on(both);
        let (Created::New(first), Created::New(mut second)) = (first.unwrap(), second.unwrap())
        else {
            panic!("there is no idempotency key")
        };
        second.reverse();
        for outcomes in first.into_iter().zip(second) {
            match outcomes {
                (Ok(made), Err(Refusal::KeyTaken(holder)))
                | (Err(Refusal::KeyTaken(holder)), Ok(made)) => assert_eq!(holder, made.id),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(database.readers().counts(shop(1)).unwrap().products, 60);
}

#[test]
fn of_two_nodes_that_upsert_a_key_one_creates_and_one_updates() {
    let database = database();
    let (one, other) = (node(&database), node(&database));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let keys: Vec<usize> = (0..10).collect();
    for round in 0..10 {
        let both = async { tokio::join!(one.submit(upsert(&keys)), other.submit(upsert(&keys))) };
        let (first, second) = runtime.block_on(both);
        let mut created = 0;
        for outcome in [first.unwrap(), second.unwrap()] {
            let UpsertOutcome::Applied(outcomes) = outcome else { panic!("{outcome:?}") };
            created += outcomes.iter().filter(|one| matches!(one, Upserted::Created(_))).count();
        }
        assert_eq!(created, if round == 0 { keys.len() } else { 0 });
    }
    let keys: Vec<Key> = keys.into_iter().map(key).collect();
    let pass = Caller::new(shop(1), Role::Viewer).may_read();
    assert_eq!(database.readers().products_by_key(&pass, &keys).unwrap().len(), 10);
    assert_eq!(database.readers().counts(shop(1)).unwrap().products, 10);
}
