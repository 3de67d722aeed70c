//! Two writers on one database, whose groups write to the same shops.

use std::time::Duration;

use catalog::{
    price::Price,
    product::{Draft, ShopId, Title},
};
use jiff::Timestamp;
use parking_lot::{Condvar, Mutex};

use super::*;
use crate::{
    replication::ShopRegistry,
    store::{Postgres, StoreInfo, WriteTransaction, conformance::settings},
    writes::TxContext,
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
    };
    let clock: Clock = Arc::new(|| Timestamp::UNIX_EPOCH);
    let applier = Applier::start(shops, None).unwrap();
    Writer::start(Box::new(database.store()), applier, None, clock, settings).unwrap()
}

#[test]
fn groups_of_two_nodes_do_not_deadlock() {
    let database = Postgres::new(&settings(&testkit::postgres().database())).unwrap();
    database.migrate().unwrap();
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
