//! Request bodies that are arriving: how many connections may wait for one.
//!
//! Half of all connections, and a quarter for one shop, so that clients that do not finish their
//! bodies leave connections to others, however many shops they have tokens of. At the limit, a new
//! body takes the place of the one that has been stalled for longest.

use std::{collections::HashMap, sync::Arc, time::Duration};

use catalog::product::ShopId;
use parking_lot::Mutex;
use tokio::{sync::Notify, time::Instant};

/// A body of which nothing has arrived for this long makes room for others.
const STALL_GRACE: Duration = Duration::from_secs(1);

/// The connections of a listener that wait for a body.
#[derive(Debug)]
pub(super) struct PendingBodies {
    limit: usize,
    limit_of_shop: usize,
    /// By the number of the connection, which has one request at a time.
    bodies: Mutex<HashMap<u64, Arc<Body>>>,
}

#[derive(Debug)]
struct Body {
    shop: ShopId,
    /// When the last part arrived.
    last: Mutex<Instant>,
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
    pub(super) fn begin(
        self: &Arc<Self>,
        number: u64,
        shop: ShopId,
    ) -> Result<PendingBody, TooManyBodies> {
        let mut bodies = self.bodies.lock();
        let of_shop = bodies.values().filter(|body| body.shop == shop).count();
        if of_shop >= self.limit_of_shop {
            cut_off_longest(&mut bodies, |body| body.shop == shop)?;
        } else if bodies.len() >= self.limit {
            let most = shop_with_most(&bodies);
            cut_off_longest(&mut bodies, |body| Some(body.shop) == most)?;
        }
        let (last, cut_off) = (Mutex::new(Instant::now()), Notify::new());
        let body = Arc::new(Body { shop, last, cut_off });
        bodies.insert(number, Arc::clone(&body));
        Ok(PendingBody { bodies: Arc::clone(self), number, body })
    }
}

/// The shop with the most bodies; of several, the one with the smallest id.
fn shop_with_most(bodies: &HashMap<u64, Arc<Body>>) -> Option<ShopId> {
    let mut counts = HashMap::<_, usize>::new();
    bodies.values().for_each(|body| *counts.entry(body.shop).or_default() += 1);
    let most = counts.into_iter().max_by_key(|(shop, count)| (*count, std::cmp::Reverse(*shop)));
    most.map(|(shop, _)| shop)
}

/// Cuts off the body that has been stalled for longest, if one is stalled.
fn cut_off_longest(
    bodies: &mut HashMap<u64, Arc<Body>>,
    counts: impl Fn(&Body) -> bool,
) -> Result<(), TooManyBodies> {
    let counted = bodies.iter().filter(|(_, body)| counts(body));
    let longest = counted.map(|(number, body)| (*body.last.lock(), *number)).min();
    let (last, number) = longest.ok_or(TooManyBodies)?;
    if last.elapsed() < STALL_GRACE {
        return Err(TooManyBodies);
    }
    if let Some(body) = bodies.remove(&number) {
        body.cut_off.notify_one();
    }
    Ok(())
}

/// A body that is arriving.
#[derive(Debug)]
pub(crate) struct PendingBody {
    bodies: Arc<PendingBodies>,
    number: u64,
    body: Arc<Body>,
}

impl PendingBody {
    /// Notes that a part has arrived.
    pub(crate) fn progressed(&self) {
        *self.body.last.lock() = Instant::now();
    }

    /// Completes when the body must make room for another.
    pub(crate) async fn cut_off(&self) {
        self.body.cut_off.notified().await;
    }
}

impl Drop for PendingBody {
    fn drop(&mut self) {
        self.bodies.bodies.lock().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    struct Fixture {
        bodies: Arc<PendingBodies>,
        connections: u64,
    }

    impl Fixture {
        fn new(connections: usize) -> Self {
            Self { bodies: PendingBodies::new(connections), connections: 0 }
        }

        fn begin(&mut self, shop: u64) -> Result<PendingBody, TooManyBodies> {
            self.connections += 1;
            self.bodies.begin(self.connections, ShopId::new(shop).unwrap())
        }
    }

    async fn is_cut_off(body: &PendingBody) -> bool {
        tokio::time::timeout(Duration::ZERO, body.cut_off()).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_shop_may_wait_for_bodies_on_a_quarter_of_the_connections() {
        let mut fixture = Fixture::new(8);
        let first = fixture.begin(1).unwrap();
        let second = fixture.begin(1).unwrap();
        assert_eq!(fixture.begin(1).unwrap_err(), TooManyBodies, "none is stalled");
        advance(STALL_GRACE).await;
        first.progressed();
        let third = fixture.begin(1).unwrap();
        assert!(is_cut_off(&second).await && !is_cut_off(&first).await);
        drop(second);
        assert_eq!(fixture.begin(1).unwrap_err(), TooManyBodies, "it had lost its place before");
        drop(third);
        fixture.begin(1).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_of_all_shops_hold_half_of_the_connections() {
        let mut fixture = Fixture::new(8);
        let mut held: Vec<_> = [1, 2, 2, 3].map(|shop| fixture.begin(shop).unwrap()).into();
        assert_eq!(fixture.begin(4).unwrap_err(), TooManyBodies);
        advance(STALL_GRACE).await;
        held.push(fixture.begin(4).unwrap());
        let mut cut_off = Vec::new();
        for body in &held {
            cut_off.push(is_cut_off(body).await);
        }
        assert_eq!(cut_off, [false, true, false, false, false], "of the shop with the most");
    }
}
