//! Admission slots for requests in progress, and the memory of request bodies.
//!
//! Slots are bounded for all requests, for each shop and for each token; body memory for all
//! requests and for each shop: a shop gets half of what the others leave. A request holds a slot from
//! its head on, except while its body arrives: a slow client does not occupy a slot.

use std::sync::Arc;

use axum::{extract::FromRequestParts, http::request::Parts};
use catalog::product::{ShopId, access::Caller};
use parking_lot::Mutex;

use super::pool::{Exhausted, Limit, Owner, Permit, Pool, Share};
use crate::{
    config::Limits,
    http::{caller::TokenKey, errors::ApiError},
};

/// The memory for request bodies has room for at least this many of the largest size: what a shop
/// that sends one leaves free suffices for another shop.
const LARGEST_BODIES: usize = 3;
/// By default a token may hold one of this many slots.
const SLOTS_PER_TOKEN_SLOT: usize = 4;

/// Requests whose token was not used here lately may hold one of this many slots while it is looked
/// up in a database.
const SLOTS_PER_LOOKUP_SLOT: usize = 4;

/// The largest head of a request that is accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeadLimits {
    pub(crate) uri_bytes: usize,
    pub(crate) header_bytes: usize,
}

/// The slots and the body memory that admitted requests hold.
#[derive(Debug)]
pub(crate) struct AdmissionControl {
    pub(super) head_limits: HeadLimits,
    slots: Arc<Pool>,
    slots_per_shop: Limit,
    slots_per_token: Limit,
    lookups: Arc<Pool>,
    bodies: Arc<Pool>,
}

impl AdmissionControl {
    pub(crate) fn new(limits: &Limits) -> Self {
        let slots = limits.concurrent_requests;
        let set = |limit: usize, default| if limit > 0 { Limit::AtMost(limit) } else { default };
        let of_token = Limit::AtMost(slots.div_ceil(SLOTS_PER_TOKEN_SLOT));
        Self {
            head_limits: HeadLimits {
                uri_bytes: limits.uri_bytes,
                header_bytes: limits.header_bytes,
            },
            slots: Pool::new(slots),
            slots_per_shop: set(limits.concurrent_requests_per_shop, Limit::Fair),
            slots_per_token: set(limits.concurrent_requests_per_token, of_token),
            lookups: Pool::new(slots.div_ceil(SLOTS_PER_LOOKUP_SLOT)),
            bodies: Pool::new(limits.body_memory.max(LARGEST_BODIES * limits.body_bytes)),
        }
    }

    /// Takes a slot for a request whose caller is not known yet.
    pub(crate) fn admit(&self) -> Result<Admission, ApiError> {
        let slot = self.slots.take(1, &[]).map_err(no_slot)?;
        Ok(Admission(Arc::new(Mutex::new(Held { slot: Some(slot), ..Held::default() }))))
    }

    /// Lets a request wait for the lookup of its token, until the result is dropped. Callers who are
    /// known do not wait, and keep the other slots.
    pub(crate) fn begin_lookup(&self) -> Result<Permit, ApiError> {
        let waiting = self.lookups.take(1, &[]);
        waiting.map_err(|_| ApiError::Unavailable("too many tokens are being looked up".to_owned()))
    }

    /// Assigns the slot of an admitted request to its caller.
    pub(crate) fn identify(
        &self,
        admission: &Admission,
        caller: Caller,
        token: &TokenKey,
    ) -> Result<(), ApiError> {
        let mut held = admission.0.lock();
        let shares = vec![
            Share { owner: Owner::Token(token.clone()), limit: self.slots_per_token },
            Share { owner: Owner::Shop(caller.shop()), limit: self.slots_per_shop },
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
        Exhausted::Pool | Exhausted::Share(Owner::Public | Owner::Address(_)) => "",
        Exhausted::Share(Owner::Shop(_)) => " of this shop",
        Exhausted::Share(Owner::Token(_)) => " with this token",
    };
    ApiError::Unavailable(format!("too many requests{whose} are being worked on"))
}

/// The slot and body memory of one request, released when the last clone is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Admission(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    slot: Option<Permit>,
    /// The memory of the body, held until the request ends: the parsed body is as large.
    body: Option<Permit>,
    shop: Option<ShopId>,
    shares: Vec<Share>,
}

impl Admission {
    /// Releases the slot while the body arrives, and starts to account for its memory.
    pub(crate) fn begin_body(&self, control: &AdmissionControl) -> Result<(), ApiError> {
        let mut held = self.0.lock();
        held.slot = None;
        let share = |shop| Share { owner: Owner::Shop(shop), limit: Limit::Fair };
        let shares: Vec<_> = held.shop.map(share).into_iter().collect();
        held.body = Some(control.bodies.take(0, &shares).map_err(|_| no_memory())?);
        Ok(())
    }

    /// Accounts for a part of the body that has arrived.
    pub(crate) fn add_to_body(&self, bytes: usize) -> Result<(), ApiError> {
        match &mut self.0.lock().body {
            Some(body) => body.grow(bytes).map_err(|_| no_memory()),
            None => Err(ApiError::Internal),
        }
    }

    /// Takes a slot again after the body has arrived.
    pub(crate) fn end_body(&self, control: &AdmissionControl) -> Result<(), ApiError> {
        let mut held = self.0.lock();
        held.slot = Some(control.slots.take(1, &held.shares).map_err(no_slot)?);
        Ok(())
    }
}

fn no_memory() -> ApiError {
    ApiError::Unavailable("the bodies of other requests take too much memory".to_owned())
}

impl<S: Sync> FromRequestParts<S> for Admission {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // Absent only if a route was mounted outside the admission layer.
        parts.extensions.get().cloned().ok_or(ApiError::Internal)
    }
}

#[cfg(test)]
mod tests {
    use catalog::product::access::Role;

    use super::*;
    use crate::config::Config;

    fn with_slots(slots: usize) -> AdmissionControl {
        let limits = Limits { concurrent_requests: slots, ..Config::default().limits };
        AdmissionControl::new(&limits)
    }

    fn admit(control: &AdmissionControl, shop: u64, token: u64) -> Result<Admission, String> {
        let caller = Caller::new(ShopId::new(shop).unwrap(), Role::Viewer);
        let admission = control.admit().map_err(|error| error.to_string())?;
        let identified = control.identify(&admission, caller, &TokenKey::Opaque(token));
        identified.map(|()| admission).map_err(|error| error.to_string())
    }

    #[test]
    fn a_token_may_hold_a_quarter_of_the_slots_and_a_shop_half() {
        let control = with_slots(8);
        let held = [(1, 1), (1, 1), (1, 2), (1, 2)];
        let held = held.map(|(shop, token)| admit(&control, shop, token).unwrap());
        assert!(admit(&control, 1, 1).unwrap_err().contains("with this token"));
        assert!(admit(&control, 1, 3).unwrap_err().contains("of this shop"));
        let others = [(2, 4), (2, 5), (3, 6)];
        let others = others.map(|(shop, token)| admit(&control, shop, token).unwrap());
        assert!(admit(&control, 3, 7).unwrap_err().contains("of this shop"));
        let last = admit(&control, 4, 8).unwrap();
        assert!(admit(&control, 5, 9).unwrap_err().starts_with("too many requests are"));
        drop((held, last));
        assert!(admit(&control, 5, 9).is_ok());
        drop(others);
    }

    #[test]
    fn tokens_of_several_shops_leave_slots_to_another() {
        let control = with_slots(1024);
        let mut held = Vec::new();
        for shop in 1..=8 {
            held.extend(std::iter::from_fn(|| admit(&control, shop, shop).ok()));
        }
        assert!(held.len() > 800 && admit(&control, 9, 9).is_ok(), "{}", held.len());
    }

    #[test]
    fn a_share_that_is_set_is_kept() {
        let limits = Limits {
            concurrent_requests: 8,
            concurrent_requests_per_shop: 8,
            concurrent_requests_per_token: 8,
            ..Config::default().limits
        };
        let control = AdmissionControl::new(&limits);
        let _held = [(); 8].map(|()| admit(&control, 1, 1).unwrap());
        assert!(admit(&control, 2, 2).is_err());
    }

    #[test]
    fn lookups_of_tokens_take_a_quarter_of_the_slots_and_no_more() {
        let control = with_slots(8);
        let lookups = [(); 2].map(|()| control.begin_lookup().unwrap());
        assert!(control.begin_lookup().unwrap_err().to_string().contains("tokens"));
        assert!(admit(&control, 1, 1).is_ok());
        drop(lookups);
        assert!(control.begin_lookup().is_ok());
    }

    #[test]
    fn a_body_that_arrives_holds_memory_and_no_slot() {
        let control = with_slots(1);
        let waiting = admit(&control, 1, 1).unwrap();
        assert!(admit(&control, 2, 2).is_err());
        waiting.begin_body(&control).unwrap();
        let other = admit(&control, 2, 2).unwrap();
        let mebibyte = 1 << 20;
        for _ in 0..128 {
            waiting.add_to_body(mebibyte).unwrap();
        }
        assert!(waiting.add_to_body(mebibyte).is_err(), "half of 256 MiB");
        assert!(waiting.end_body(&control).is_err());
        other.begin_body(&control).unwrap();
        other.add_to_body(mebibyte).unwrap();
        waiting.end_body(&control).unwrap();
        assert!(other.end_body(&control).is_err());
        drop(waiting);
        other.end_body(&control).unwrap();
    }
}
