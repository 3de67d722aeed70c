//! Request bodies that are arriving: how many connections may wait for one.
//!
//! Half of all connections, and a quarter for one shop, so that clients that do not finish their
//! bodies leave connections to others, however many shops they have tokens of. At the limit, a new
//! body takes the place of one of the shop with most bodies: of any if its own shop has fewer, else
//! of one that stalls because it arrives at less than the minimum rate.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use catalog::product::ShopId;
use parking_lot::Mutex;
use tokio::{sync::Notify, time::Instant};

use super::connection_state::{STALL_GRACE, credited};

/// The connections of a listener that wait for a body.
#[derive(Debug)]
pub(super) struct PendingBodies {
    limit: usize,
    limit_of_shop: usize,
    bodies: Mutex<Bodies>,
}

#[derive(Debug, Default)]
struct Bodies {
    next: u64,
    total: usize,
    /// Only shops with at least one body. Their bodies are in the order in which they began.
    by_shop: HashMap<ShopId, BTreeMap<u64, Arc<Body>>>,
}

#[derive(Debug)]
struct Body {
    /// When all that arrived would have arrived at the minimum rate, but not later than the last part.
    stalled_since: Mutex<Instant>,
    cut_off: Notify,
}

/// As many connections as allowed wait for a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyBodies;

impl PendingBodies {
    pub(super) fn new(connections: usize) -> Arc<Self> {
        Arc::new(Self {
            limit: connections.div_ceil(2),
            limit_of_shop: connections.div_ceil(4),
            bodies: Mutex::default(),
        })
    }

    /// Counts a connection among those that wait for a body of the shop.
    pub(super) fn begin(self: &Arc<Self>, shop: ShopId) -> Result<PendingBody, TooManyBodies> {
        let mut bodies = self.bodies.lock();
        let of_shop = bodies.of_shop(shop);
        if of_shop >= self.limit_of_shop {
            bodies.cut_off_one_of(shop, STALL_GRACE)?;
        } else if bodies.total >= self.limit {
            let (most, shop) = bodies.shop_with_most().ok_or(TooManyBodies)?;
            // With the new body, its shop must not be the one with most.
            let grace = if of_shop + 1 < most { Duration::ZERO } else { STALL_GRACE };
            bodies.cut_off_one_of(shop, grace)?;
        }
        let body =
            Arc::new(Body { stalled_since: Mutex::new(Instant::now()), cut_off: Notify::new() });
        let number = bodies.insert(shop, Arc::clone(&body));
        Ok(PendingBody { bodies: Arc::clone(self), shop, number, body })
    }
}

impl Bodies {
    fn of_shop(&self, shop: ShopId) -> usize {
        self.by_shop.get(&shop).map_or(0, BTreeMap::len)
    }

    /// The shop with the most bodies and their number; of several, the one with the smallest id.
    fn shop_with_most(&self) -> Option<(usize, ShopId)> {
        let counts = self.by_shop.iter().map(|(shop, bodies)| (bodies.len(), Reverse(*shop)));
        counts.max().map(|(count, Reverse(shop))| (count, shop))
    }

    /// Cuts off the body of the shop that has been stalled for longest, and for at least the grace.
    fn cut_off_one_of(&mut self, shop: ShopId, grace: Duration) -> Result<(), TooManyBodies> {
        let bodies = self.by_shop.get(&shop).into_iter().flatten();
        let longest = bodies.map(|(number, body)| (*body.stalled_since.lock(), *number)).min();
        let (since, number) = longest.ok_or(TooManyBodies)?;
        if since.elapsed() < grace {
            return Err(TooManyBodies);
        }
        if let Some(body) = self.remove(shop, number) {
            body.cut_off.notify_one();
        }
        Ok(())
    }

    fn insert(&mut self, shop: ShopId, body: Arc<Body>) -> u64 {
        let number = self.next;
        self.next += 1;
        self.total += 1;
        self.by_shop.entry(shop).or_default().insert(number, body);
        number
    }

    fn remove(&mut self, shop: ShopId, number: u64) -> Option<Arc<Body>> {
        let bodies = self.by_shop.get_mut(&shop)?;
        let body = bodies.remove(&number)?;
        if bodies.is_empty() {
            self.by_shop.remove(&shop);
        }
        self.total -= 1;
        Some(body)
    }
}

/// A body that is arriving.
#[derive(Debug)]
pub(crate) struct PendingBody {
    bodies: Arc<PendingBodies>,
    shop: ShopId,
    number: u64,
    body: Arc<Body>,
}

impl PendingBody {
    /// Notes that this many bytes have arrived, which gives the client the time to send as many more.
    pub(crate) fn received(&self, bytes: usize) {
        let mut since = self.body.stalled_since.lock();
        *since = credited(*since, bytes);
    }

    /// Completes when the body must make room for another.
    pub(crate) async fn cut_off(&self) {
        self.body.cut_off.notified().await;
    }
}

impl Drop for PendingBody {
    fn drop(&mut self) {
        self.bodies.bodies.lock().remove(self.shop, self.number);
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::{super::connection_state::MIN_RATE, *};

    fn begin(bodies: &Arc<PendingBodies>, shop: u64) -> Result<PendingBody, TooManyBodies> {
        bodies.begin(ShopId::new(shop).unwrap())
    }

    async fn are_cut_off(bodies: &[PendingBody]) -> Vec<bool> {
        let mut cut_off = Vec::new();
        for body in bodies {
            cut_off.push(tokio::time::timeout(Duration::ZERO, body.cut_off()).await.is_ok());
        }
        cut_off
    }

    #[tokio::test(start_paused = true)]
    async fn a_shop_may_wait_for_bodies_on_a_quarter_of_the_connections() {
        let bodies = PendingBodies::new(8);
        let mut held = vec![begin(&bodies, 1).unwrap(), begin(&bodies, 1).unwrap()];
        assert_eq!(begin(&bodies, 1).unwrap_err(), TooManyBodies, "none is stalled");
        advance(STALL_GRACE).await;
        held[0].received(MIN_RATE as usize);
        let third = begin(&bodies, 1).unwrap();
        assert_eq!(are_cut_off(&held).await, [false, true]);
        held.pop();
        assert_eq!(begin(&bodies, 1).unwrap_err(), TooManyBodies, "it had lost its place before");
        drop(third);
        begin(&bodies, 1).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_of_all_shops_hold_half_of_the_connections() {
        let bodies = PendingBodies::new(8);
        let mut held: Vec<_> = (1..=4).map(|shop| begin(&bodies, shop).unwrap()).collect();
        assert_eq!(begin(&bodies, 5).unwrap_err(), TooManyBodies, "no shop has more than it would");
        advance(STALL_GRACE).await;
        held.push(begin(&bodies, 5).unwrap());
        assert_eq!(are_cut_off(&held).await, [true, false, false, false, false]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_shop_with_fewer_bodies_takes_the_place_of_one_that_is_not_stalled() {
        let bodies = PendingBodies::new(16);
        let mut held: Vec<_> =
            [1, 1, 1, 1, 2, 2, 2, 2].map(|shop| begin(&bodies, shop).unwrap()).into();
        for _ in 0..60 {
            advance(STALL_GRACE * 9 / 10).await;
            held.iter().for_each(|body| body.received(1 << 20));
        }
        advance(Duration::from_millis(1)).await;
        held[0].received(1);
        held.push(begin(&bodies, 3).unwrap());
        let expected = [false, true, false, false, false, false, false, false, false];
        assert_eq!(are_cut_off(&held).await, expected, "the one that has waited for longest");
        held.push(begin(&bodies, 3).unwrap());
        assert!(are_cut_off(&held).await[4], "now the other shop has more");
        assert_eq!(begin(&bodies, 3).unwrap_err(), TooManyBodies, "three, three and two");
        drop(held);
        let bodies = bodies.bodies.lock();
        assert_eq!((bodies.total, bodies.by_shop.len()), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_trickles_is_stalled() {
        let bodies = PendingBodies::new(8);
        let held = [begin(&bodies, 1).unwrap(), begin(&bodies, 1).unwrap()];
        for _ in 0..4 {
            advance(STALL_GRACE / 2).await;
            held[0].received(1);
            held[1].received(MIN_RATE as usize / 2);
        }
        let third = begin(&bodies, 1).unwrap();
        assert_eq!(are_cut_off(&held).await, [true, false]);
        advance(STALL_GRACE / 2).await;
        held[1].received(usize::MAX);
        third.received(usize::MAX);
        advance(STALL_GRACE / 2).await;
        assert_eq!(begin(&bodies, 1).unwrap_err(), TooManyBodies, "what arrives fast is not saved");
    }
}
