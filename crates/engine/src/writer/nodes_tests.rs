//! Do the groups of several nodes get along? Two writers on one database, whose groups write to the
//! same shops.

use catalog::{
    price::Price,
    product::{Description, Draft, Title},
};
use parking_lot::Condvar;

use super::*;
use crate::{
    shops::Shops,
    store::{Postgres, StoreInfo, conformance::settings},
};

/// How long a write waits for one on the other node, which may itself have to wait.
const MEETING_TIME: Duration = Duration::from_secs(1);

/// Where two writes wait for each other.
#[derive(Default)]
struct Meeting {
    arrived: Mutex<usize>,
    both: Condvar,
}

impl Meeting {
    fn attend(&self) {
        let mut arrived = self.arrived.lock();
        *arrived += 1;
        self.both.notify_all();
        self.both.wait_while_for(&mut arrived, |arrived| *arrived < 2, MEETING_TIME);
    }
}

/// Writes to one shop, meets the other node, and then writes to another shop.
struct WriteToTwoShops {
    shops: [u64; 2],
    meeting: Arc<Meeting>,
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

    fn run(&self, transaction: &mut WriteTransaction<'_>, moment: Moment) -> Outcome {
        self.runs.fetch_add(1, Ordering::SeqCst);
        transaction.create(shop(self.shops[0]), lamp(), moment.now)?;
        self.meeting.attend();
        transaction.create(shop(self.shops[1]), lamp(), moment.now)?;
        Ok(())
    }
}

fn shop(number: u64) -> ShopId {
    ShopId::new(number).unwrap()
}

fn lamp() -> Draft {
    Draft {
        title: Title::parse("lamp").unwrap(),
        description: Description::default(),
        price: Price::parse("$1").unwrap(),
        hidden: false,
        media: vec![],
    }
}

fn node(database: &Postgres) -> Writer {
    let shops = Arc::new(Shops::new(Arc::new(database.readers()), None, usize::MAX));
    let settings = WriterSettings {
        queue: 8,
        group_products: 100,
        remember_for: SignedDuration::from_hours(24),
    };
    let clock: Clock = Arc::new(|| Timestamp::UNIX_EPOCH);
    let applier = Applier::start(shops, None).unwrap();
    Writer::start(Box::new(database.store()), applier, None, clock, settings).unwrap()
}

#[test]
fn nodes_that_write_to_the_same_shops_do_not_wait_for_each_other_in_a_circle() {
    let database = Postgres::new(&settings(&testkit::postgres().database())).unwrap();
    database.migrate().unwrap();
    let (runs, meeting) = (Arc::<AtomicUsize>::default(), Arc::<Meeting>::default());
    let write =
        |shops| WriteToTwoShops { shops, meeting: Arc::clone(&meeting), runs: Arc::clone(&runs) };
    let (one, other) = (node(&database), node(&database));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let both = async { tokio::try_join!(one.submit(write([1, 2])), other.submit(write([2, 1]))) };
    runtime.block_on(both).unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 2, "the database had to end one of them");
    for number in [1, 2] {
        assert_eq!(database.readers().counts(shop(number)).unwrap().products, 2);
    }
}
