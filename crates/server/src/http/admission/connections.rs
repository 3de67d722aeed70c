//! Open connections: how many there may be, and which one makes room for another.
//!
//! A connection is unidentified until a token was verified on it. Unidentified connections may hold
//! half of all, and those of one address a quarter, so that callers without a token cannot lock out
//! those with one. A new connection that would exceed a bound takes the place of one that the bound
//! counts: of a client that does not read its response, or else of the one that has been idle for
//! longest. Connections in use are never closed for others. If all are in use, a few more are accepted
//! for health probes, the newest in place of the oldest.

use std::{
    collections::{HashMap, VecDeque},
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use catalog::product::ShopId;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::{
    connection_state::ConnectionState,
    pending_bodies::{PendingBodies, PendingBody, TooManyBodies},
};

/// Connections accepted for health probes while all others are in use.
const PROBE_RESERVE: usize = 16;
/// The bits of an IPv6 address that identify a client's network: a client has all addresses in it.
const IPV6_NETWORK: u128 = !0 << 64;

/// The client's address, as far as it can choose only with effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Address(IpAddr);

impl From<IpAddr> for Address {
    fn from(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & IPV6_NETWORK).into(),
            address => address,
        })
    }
}

/// The most connections of a listener.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    all: usize,
    unidentified: usize,
    unidentified_of_address: usize,
    probes: usize,
}

impl ConnectionLimits {
    /// The limits of the listener for clients.
    pub(crate) fn of_clients(all: usize) -> Self {
        Self {
            all,
            unidentified: all.div_ceil(2),
            unidentified_of_address: all.div_ceil(4),
            probes: PROBE_RESERVE,
        }
    }

    /// The limits of the listener for probes and scrapers, which need no token.
    pub(crate) fn of_probes(all: usize) -> Self {
        Self { all, unidentified: all, unidentified_of_address: all, probes: 0 }
    }
}

/// The open connections of a listener.
#[derive(Debug)]
pub(crate) struct Connections {
    limits: ConnectionLimits,
    bodies: Arc<PendingBodies>,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    by_number: HashMap<u64, Arc<Connection>>,
    unidentified: usize,
    unidentified_by_address: HashMap<Address, usize>,
    /// Connections beyond the limit, oldest first.
    probes: VecDeque<Arc<Connection>>,
}

/// One open connection, for the requests on it.
#[derive(Debug)]
pub(crate) struct Connection {
    connections: Arc<Connections>,
    number: u64,
    pub(crate) address: Address,
    is_probe: bool,
    /// Changed under the lock of the table only.
    is_identified: AtomicBool,
    state: ConnectionState,
}

impl Connections {
    pub(crate) fn new(limits: ConnectionLimits) -> Arc<Self> {
        let bodies = PendingBodies::new(limits.all);
        Arc::new(Self { limits, bodies, open: Mutex::default() })
    }

    /// A slot for a new connection; `None` if all connections are in use, those for probes included.
    pub(crate) fn acquire(self: &Arc<Self>, address: Address) -> Option<ConnectionSlot> {
        let mut open = self.open.lock();
        let number = open.next;
        open.next += 1;
        let is_probe = !open.make_room(&self.limits, address);
        let connection = Arc::new(Connection {
            connections: Arc::clone(self),
            number,
            address,
            is_probe,
            is_identified: AtomicBool::new(false),
            state: ConnectionState::new(),
        });
        if is_probe {
            open.insert_probe(&connection, self.limits.probes)?;
        } else {
            open.insert(&connection);
        }
        Some(ConnectionSlot(connection))
    }
}

impl Open {
    /// Makes room for a connection of this address; `false` if the connections that would have to make
    /// room are all in use.
    fn make_room(&mut self, limits: &ConnectionLimits, address: Address) -> bool {
        let of_address = self.unidentified_by_address.get(&address).copied().unwrap_or_default();
        // The narrowest bound first: what makes room in it does so in the others.
        if of_address >= limits.unidentified_of_address {
            self.evict(|other| !other.is_identified() && other.address == address)
        } else if self.unidentified >= limits.unidentified {
            self.evict(|other| !other.is_identified())
        } else if self.by_number.len() >= limits.all {
            self.evict(|_| true)
        } else {
            true
        }
    }

    /// Closes the connection that makes room most readily, and frees its slot.
    fn evict(&mut self, counts: impl Fn(&Connection) -> bool) -> bool {
        loop {
            let candidates = self.by_number.values().filter(|connection| counts(connection));
            let evictions = candidates.filter_map(|other| {
                other.state.eviction().map(|eviction| (eviction, other.number))
            });
            let Some((eviction, number)) = evictions.min() else { return false };
            // A request may have begun meanwhile; then another connection is chosen.
            let closed =
                self.by_number.get(&number).is_some_and(|other| other.state.close_if(eviction));
            if closed {
                self.remove(number);
                count_closed(eviction.reason());
                return true;
            }
        }
    }

    fn insert(&mut self, connection: &Arc<Connection>) {
        self.unidentified += 1;
        *self.unidentified_by_address.entry(connection.address).or_default() += 1;
        self.by_number.insert(connection.number, Arc::clone(connection));
    }

    /// Inserts a connection beyond the limit, in place of the oldest such.
    fn insert_probe(&mut self, connection: &Arc<Connection>, limit: usize) -> Option<()> {
        if limit == 0 {
            count_closed("refused");
            return None;
        }
        if self.probes.len() >= limit
            && let Some(oldest) = self.probes.pop_front()
        {
            oldest.state.close();
            count_closed("refused");
        }
        self.probes.push_back(Arc::clone(connection));
        Some(())
    }

    fn remove(&mut self, number: u64) {
        if let Some(connection) = self.by_number.remove(&number) {
            self.identify(&connection);
        }
    }

    /// Counts the connection as unidentified no longer.
    fn identify(&mut self, connection: &Connection) {
        if connection.is_identified.swap(true, Ordering::AcqRel) {
            return;
        }
        self.unidentified -= 1;
        if let Some(count) = self.unidentified_by_address.get_mut(&connection.address) {
            *count -= 1;
            if *count == 0 {
                self.unidentified_by_address.remove(&connection.address);
            }
        }
    }
}

fn count_closed(reason: &'static str) {
    metrics::counter!("shopkeeper_connections_closed_total", "reason" => reason).increment(1);
}

impl Connection {
    /// Whether it was accepted beyond the limit, for a health probe.
    pub(crate) fn is_probe(&self) -> bool {
        self.is_probe
    }

    fn is_identified(&self) -> bool {
        self.is_identified.load(Ordering::Acquire)
    }

    /// Notes that a token was verified on this connection.
    pub(crate) fn identify(&self) {
        if !self.is_identified() && !self.is_probe {
            let mut open = self.connections.open.lock();
            // Once it was evicted, it is not counted any more.
            if open.by_number.contains_key(&self.number) {
                open.identify(self);
            }
        }
    }

    /// Counts this connection among those that wait for a body of the shop.
    pub(crate) fn begin_body(&self, shop: ShopId) -> Result<PendingBody, TooManyBodies> {
        self.connections.bodies.begin(shop)
    }

    /// Marks a request as in progress until the guard is dropped; `None` if the connection is being
    /// closed and the request must not begin.
    pub(crate) fn begin_request(self: &Arc<Self>) -> Option<RequestGuard> {
        self.state.begin_request().then(|| RequestGuard(Arc::clone(self)))
    }

    /// Whether a request is in progress: arriving bytes are then no request head.
    pub(crate) fn has_request(&self) -> bool {
        self.state.has_request()
    }

    /// Notes that everything is written.
    pub(crate) fn flushed(&self) {
        self.state.flushed();
    }

    /// Notes that the client cannot take more data; returns since when it has been stalled.
    pub(crate) fn blocked(&self) -> Instant {
        self.state.blocked()
    }

    /// Notes that the client took this many bytes.
    pub(crate) fn wrote(&self, bytes: usize) {
        self.state.wrote(bytes);
    }

    /// Completes when the connection must close.
    pub(crate) async fn closed(&self) {
        self.state.closed().await;
    }
}

/// A request in progress.
pub(crate) struct RequestGuard(Arc<Connection>);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.state.end_request();
    }
}

/// The slot of one connection, released when dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot(pub(crate) Arc<Connection>);

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut open = self.0.connections.open.lock();
        match self.0.is_probe {
            true => open.probes.retain(|probe| probe.number != self.0.number),
            false => open.remove(self.0.number),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{net::Ipv4Addr, time::Duration};

    use tokio::time::advance;

    use super::*;

    /// More than the grace of a stalled connection.
    const A_WHILE: Duration = Duration::from_secs(2);

    fn address(host: u8) -> Address {
        Address::from(IpAddr::from(Ipv4Addr::new(10, 0, 0, host)))
    }

    fn of_clients(all: usize) -> Arc<Connections> {
        Connections::new(ConnectionLimits::of_clients(all))
    }

    /// A connection on which a token was verified.
    fn identified(connections: &Arc<Connections>, host: u8) -> ConnectionSlot {
        let slot = connections.acquire(address(host)).unwrap();
        slot.0.identify();
        slot
    }

    /// A connection whose client does not read its response.
    fn stalled(connections: &Arc<Connections>, host: u8) -> ConnectionSlot {
        let slot = connections.acquire(address(host)).unwrap();
        drop(slot.0.begin_request());
        slot.0.blocked();
        slot
    }

    fn is_closed(slot: &ConnectionSlot) -> bool {
        !slot.0.state.begin_request()
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_idle_connection_makes_room() {
        let connections = of_clients(2);
        let first = identified(&connections, 1);
        advance(A_WHILE).await;
        let second = identified(&connections, 2);
        advance(A_WHILE).await;
        // The first is used and idle again: now the second has been idle for longer.
        drop(first.0.begin_request());
        first.0.flushed();
        let third = connections.acquire(address(3)).unwrap();
        assert!(is_closed(&second) && !third.0.is_probe());
        assert!(!is_closed(&first));
        second.0.closed().await;
        drop((first, second, third));
        let open = connections.open.lock();
        assert!(open.by_number.is_empty() && open.unidentified_by_address.is_empty());
        assert_eq!(open.unidentified, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stalled_connection_makes_room_before_an_idle_one() {
        let connections = of_clients(3);
        let idle = identified(&connections, 1);
        advance(A_WHILE).await;
        let unread = [stalled(&connections, 2), stalled(&connections, 3)];
        unread.iter().for_each(|slot| slot.0.identify());
        advance(A_WHILE).await;
        unread[0].0.wrote(1 << 20);
        let _new = connections.acquire(address(4)).unwrap();
        assert!(is_closed(&unread[1]) && !is_closed(&unread[0]) && !is_closed(&idle));
    }

    #[tokio::test(start_paused = true)]
    async fn connections_in_use_stay_and_probes_are_accepted_beyond_the_limit() {
        let connections = of_clients(2);
        let used = [identified(&connections, 1), identified(&connections, 2)];
        let requests = [used[0].0.begin_request().unwrap(), used[1].0.begin_request().unwrap()];
        let probes: Vec<_> =
            (0..=PROBE_RESERVE).map(|_| connections.acquire(address(3)).unwrap()).collect();
        assert!(probes.iter().all(|slot| slot.0.is_probe()));
        assert!(is_closed(&probes[0]), "the oldest makes room for the newest");
        assert!(probes[1..].iter().all(|slot| !is_closed(slot)));
        drop(requests);
        assert!(connections.acquire(address(3)).unwrap().0.is_probe(), "no response is written");
        used[0].0.flushed();
        assert!(!connections.acquire(address(3)).unwrap().0.is_probe());
        drop(probes);
        assert!(connections.open.lock().probes.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn unidentified_connections_hold_half_of_all() {
        let connections = of_clients(8);
        let unidentified: Vec<_> = (0..4).map(|host| stalled(&connections, host)).collect();
        advance(A_WHILE).await;
        let fifth = connections.acquire(address(5)).unwrap();
        assert!(is_closed(&unidentified[0]), "there was room for identified ones only");
        let requests: Vec<_> =
            unidentified[1..].iter().map(|slot| slot.0.begin_request().unwrap()).collect();
        let in_request = fifth.0.begin_request().unwrap();
        assert!(connections.acquire(address(6)).unwrap().0.is_probe());
        fifth.0.identify();
        let sixth = connections.acquire(address(6)).unwrap();
        assert!(!sixth.0.is_probe(), "an identified connection makes room");
        drop((requests, in_request));
    }

    #[tokio::test(start_paused = true)]
    async fn unidentified_connections_of_an_address_hold_a_quarter() {
        let connections = of_clients(8);
        let greedy = [stalled(&connections, 1), stalled(&connections, 1)];
        let other = stalled(&connections, 2);
        advance(A_WHILE).await;
        other.0.wrote(1);
        let third = connections.acquire(address(1)).unwrap();
        assert!(is_closed(&greedy[0]) && !is_closed(&greedy[1]) && !is_closed(&other));
        greedy[1].0.identify();
        let fourth = connections.acquire(address(1)).unwrap();
        assert!(!is_closed(&third) && !is_closed(&fourth));
    }

    #[tokio::test(start_paused = true)]
    async fn probes_need_no_token_on_their_own_listener() {
        let connections = Connections::new(ConnectionLimits::of_probes(4));
        let slots = [(); 4].map(|()| connections.acquire(address(1)).unwrap());
        let requests = slots.each_ref().map(|slot| slot.0.begin_request().unwrap());
        assert!(connections.acquire(address(1)).is_none());
        drop(requests);
    }

    #[test]
    fn a_network_is_one_address() {
        let address = |text: &str| Address::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(address("2001:db8::1"), address("2001:db8::ffff:0:0:1"));
        assert_ne!(address("2001:db8::1"), address("2001:db8:0:1::1"));
        assert_eq!(address("::ffff:10.0.0.1"), address("10.0.0.1"));
        assert_ne!(address("10.0.0.1"), address("10.0.0.2"));
    }
}
