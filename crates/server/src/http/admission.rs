//! Is there room for this request? Admission slots for requests at work, and memory for bodies that
//! arrive, each bounded for all, for a shop and for a token.
//!
//! A request holds a slot from its head on, except while its body arrives: what a client has not
//! sent yet keeps no other request from work.

use std::sync::Arc;

use axum::{extract::FromRequestParts, http::request::Parts};
use catalog::{access::Caller, product::ShopId};
use parking_lot::Mutex;

use super::{
    App,
    auth::TokenKey,
    pool::{Exhausted, Holder, Pool, Share, Taken},
    problem::ApiError,
};
use crate::config::Limits;

/// A shop may hold one half of the memory for bodies and for responses.
const SHOPS_PER_MEMORY: usize = 2;
/// What a body takes at least while it arrives, for its connection: so there is a limit to the
/// connections that a shop keeps waiting for bodies.
const SMALLEST_BODY_BYTES: usize = 64 << 10;
/// Slots of which one shop gets one, where nothing else is set.
const SLOTS_PER_SHOP_SLOT: usize = 2;
/// Slots of which one token gets one, where nothing else is set.
const SLOTS_PER_TOKEN_SLOT: usize = 4;

/// What requests take while they are admitted.
#[derive(Debug)]
pub(crate) struct Admissions {
    slots: Arc<Pool>,
    slots_per_shop: usize,
    slots_per_token: usize,
    bodies: Arc<Pool>,
    bodies_per_shop: usize,
}

impl Admissions {
    pub(crate) fn new(limits: &Limits) -> Self {
        let slots = limits.concurrent_requests;
        let part = |set: usize, parts: usize| if set > 0 { set } else { slots.div_ceil(parts) };
        // However little is set, two shops can each send the largest body.
        let bodies = limits.body_memory.max(SHOPS_PER_MEMORY * limits.body_bytes);
        Self {
            slots: Pool::new(slots),
            slots_per_shop: part(limits.concurrent_requests_per_shop, SLOTS_PER_SHOP_SLOT),
            slots_per_token: part(limits.concurrent_requests_per_token, SLOTS_PER_TOKEN_SLOT),
            bodies: Pool::new(bodies),
            bodies_per_shop: bodies / SHOPS_PER_MEMORY,
        }
    }

    /// Admits a request whose caller is not known yet.
    pub(crate) fn admit(&self) -> Result<Admission, ApiError> {
        let slot = self.slots.take(1, &[]).map_err(no_slot)?;
        Ok(Admission(Arc::new(Mutex::new(Held { slot: Some(slot), ..Held::default() }))))
    }

    /// Counts an admitted request for its caller from now on.
    pub(crate) fn identify(
        &self,
        admission: &Admission,
        caller: Caller,
        token: &TokenKey,
    ) -> Result<(), ApiError> {
        let mut held = admission.0.lock();
        let shares = vec![
            Share { holder: Holder::Token(token.clone()), limit: self.slots_per_token },
            Share { holder: Holder::Shop(caller.shop()), limit: self.slots_per_shop },
        ];
        if let Some(slot) = &mut held.slot {
            slot.assign(&shares).map_err(no_slot)?;
        }
        held.shop = Some(caller.shop());
        held.shares = shares;
        Ok(())
    }
}

fn no_slot(exhausted: Exhausted) -> ApiError {
    let whose = match exhausted {
        Exhausted::Pool | Exhausted::Share(Holder::Public) => "",
        Exhausted::Share(Holder::Shop(_)) => " of this shop",
        Exhausted::Share(Holder::Token(_)) => " with this token",
    };
    ApiError::Unavailable(format!("too many requests{whose} are being worked on"))
}

/// What one request holds, until the last part of it is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Admission(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    slot: Option<Taken>,
    /// The memory of the body, for as long as the request is at work: what is made of the body
    /// is as large.
    body: Option<Arriving>,
    shop: Option<ShopId>,
    shares: Vec<Share>,
}

#[derive(Debug)]
struct Arriving {
    memory: Taken,
    bytes: usize,
}

impl Arriving {
    fn add(&mut self, bytes: usize) -> Result<(), Exhausted> {
        let counted = |bytes: usize| bytes.max(SMALLEST_BODY_BYTES);
        let arrived = self.bytes + bytes;
        self.memory.grow(counted(arrived) - counted(self.bytes))?;
        self.bytes = arrived;
        Ok(())
    }
}

impl Admission {
    /// Gives the slot back while the body arrives, whose memory is counted from now on.
    pub(crate) fn begin_body(&self, admissions: &Admissions) -> Result<(), ApiError> {
        let mut held = self.0.lock();
        held.slot = None;
        let share = |shop| Share { holder: Holder::Shop(shop), limit: admissions.bodies_per_shop };
        let shares: Vec<_> = held.shop.map(share).into_iter().collect();
        let memory = admissions.bodies.take(SMALLEST_BODY_BYTES, &shares);
        held.body = Some(Arriving { memory: memory.map_err(|_| no_memory())?, bytes: 0 });
        Ok(())
    }

    /// Counts a part of the body that has arrived.
    pub(crate) fn add_to_body(&self, bytes: usize) -> Result<(), ApiError> {
        match &mut self.0.lock().body {
            Some(body) => body.add(bytes).map_err(|_| no_memory()),
            None => Err(ApiError::Internal),
        }
    }

    /// Takes a slot again, now that the body is there.
    pub(crate) fn end_body(&self, admissions: &Admissions) -> Result<(), ApiError> {
        let mut held = self.0.lock();
        held.slot = Some(admissions.slots.take(1, &held.shares).map_err(no_slot)?);
        Ok(())
    }
}

fn no_memory() -> ApiError {
    ApiError::Unavailable("the bodies of other requests take too much memory".to_owned())
}

impl FromRequestParts<App> for Admission {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, ApiError> {
        // Absent only if a route was mounted outside the guard.
        parts.extensions.get().cloned().ok_or(ApiError::Internal)
    }
}

#[cfg(test)]
mod tests {
    use catalog::access::Role;

    use super::*;
    use crate::config::Config;

    fn admissions(slots: usize) -> Admissions {
        let limits = Limits { concurrent_requests: slots, ..Config::default().limits };
        Admissions::new(&limits)
    }

    fn admit(admissions: &Admissions, shop: u64, token: u64) -> Result<Admission, String> {
        let caller = Caller::new(ShopId::new(shop).unwrap(), Role::Viewer);
        let admission = admissions.admit().map_err(|error| error.to_string())?;
        let identified = admissions.identify(&admission, caller, &TokenKey::Opaque(token));
        identified.map(|()| admission).map_err(|error| error.to_string())
    }

    #[test]
    fn a_token_gets_a_quarter_and_a_shop_a_half() {
        let admissions = admissions(8);
        let held = [(1, 1), (1, 1), (1, 2), (1, 2)];
        let held = held.map(|(shop, token)| admit(&admissions, shop, token).unwrap());
        assert!(admit(&admissions, 1, 1).unwrap_err().contains("with this token"));
        assert!(admit(&admissions, 1, 3).unwrap_err().contains("of this shop"));
        let others = [(2, 4), (2, 5), (3, 6), (3, 6)];
        let others = others.map(|(shop, token)| admit(&admissions, shop, token).unwrap());
        assert!(admit(&admissions, 4, 7).unwrap_err().starts_with("too many requests are"));
        drop(held);
        assert!(admit(&admissions, 4, 7).is_ok());
        drop(others);
    }

    #[test]
    fn a_body_on_its_way_holds_no_slot_but_memory() {
        let admissions = admissions(1);
        let waiting = admit(&admissions, 1, 1).unwrap();
        assert!(admit(&admissions, 2, 2).is_err());
        waiting.begin_body(&admissions).unwrap();
        let other = admit(&admissions, 2, 2).unwrap();
        let mebibyte = 1 << 20;
        for _ in 0..128 {
            waiting.add_to_body(mebibyte).unwrap();
        }
        assert!(waiting.add_to_body(mebibyte).is_err(), "half of 256 MiB");
        assert!(waiting.end_body(&admissions).is_err());
        other.begin_body(&admissions).unwrap();
        other.add_to_body(mebibyte).unwrap();
        waiting.end_body(&admissions).unwrap();
        assert!(other.end_body(&admissions).is_err());
        drop(waiting);
        other.end_body(&admissions).unwrap();
    }

    #[test]
    fn bodies_that_do_not_come_are_limited_for_a_shop() {
        let admissions = admissions(4096);
        let begin = |shop: u64| {
            let admission = admit(&admissions, shop, shop).unwrap();
            admission.begin_body(&admissions).map(|()| admission)
        };
        let waiting: Vec<_> = std::iter::repeat_with(|| begin(1)).map_while(Result::ok).collect();
        assert_eq!(waiting.len(), (128 << 20) / SMALLEST_BODY_BYTES);
        assert!(begin(2).is_ok());
        waiting[0].add_to_body(SMALLEST_BODY_BYTES).unwrap();
        assert!(waiting[0].add_to_body(1).is_err());
    }
}
