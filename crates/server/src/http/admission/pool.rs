//! A counted resource that is bounded in all and for each owner, so that no shop and no token can
//! take all of it.
//!
//! An owner with a [`Limit::Fair`] share may hold as much as it leaves free: half of the pool if it is
//! alone, half of what others leave otherwise. The last eighth is for owners that hold next to nothing,
//! so that many greedy ones together leave something too.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use catalog::product::ShopId;
use parking_lot::Mutex;

use super::connections::Address;
use crate::http::caller::TokenKey;

/// The owner of a share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    /// Requests without a token.
    Public,
    /// Requests without a token from one address.
    Address(Address),
    Shop(ShopId),
    Token(TokenKey),
}

/// The last one of this many parts of a pool is for owners that hold next to nothing.
const RESERVE: usize = 8;
/// Next to nothing: one of this many parts of a pool.
const LITTLE: usize = 1024;

/// An owner and the most it may hold.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    pub(crate) owner: Owner,
    pub(crate) limit: Limit,
}

/// The most that an owner may hold of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    AtMost(usize),
    /// As much as it leaves free.
    Fair,
}

/// The bound that a request for more would exceed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Exhausted {
    /// The capacity of the pool.
    Pool,
    /// The share of one owner.
    Share(Owner),
}

/// A bounded number of units: request slots, or bytes of memory.
#[derive(Debug)]
pub(crate) struct Pool {
    capacity: usize,
    usage: Mutex<Usage>,
}

#[derive(Debug, Default)]
struct Usage {
    total: usize,
    /// Only owners that hold at least one unit.
    by_owner: HashMap<Owner, usize>,
}

impl Pool {
    pub(crate) fn new(capacity: usize) -> Arc<Self> {
        Arc::new(Self { capacity, usage: Mutex::default() })
    }

    /// Takes an amount on behalf of all of these owners.
    pub(crate) fn take(
        self: &Arc<Self>,
        amount: usize,
        shares: &[Share],
    ) -> Result<Permit, Exhausted> {
        let mut permit = Permit { pool: Arc::clone(self), amount: 0, shares: Vec::new() };
        permit.assign(shares)?;
        permit.grow(amount)?;
        Ok(permit)
    }

    /// Takes an amount even if it exceeds the bounds; later requests find less left.
    pub(crate) fn take_unbounded(self: &Arc<Self>, amount: usize, shares: &[Share]) -> Permit {
        let mut usage = self.usage.lock();
        usage.total += amount;
        for share in shares {
            *usage.by_owner.entry(share.owner.clone()).or_default() += amount;
        }
        Permit { pool: Arc::clone(self), amount, shares: shares.to_vec() }
    }

    /// Whether an owner holds its whole share.
    pub(crate) fn is_exhausted(&self, share: &Share) -> bool {
        let usage = self.usage.lock();
        usage.held_by(&share.owner) >= usage.limit_of(self.capacity, share)
    }
}

impl Usage {
    /// Whether an amount more fits into the shares.
    fn check(&self, capacity: usize, amount: usize, shares: &[Share]) -> Result<(), Exhausted> {
        let is_full =
            |share: &&Share| self.held_by(&share.owner) + amount > self.limit_of(capacity, share);
        let full = shares.iter().find(is_full);
        full.map_or(Ok(()), |share| Err(Exhausted::Share(share.owner.clone())))
    }

    fn limit_of(&self, capacity: usize, share: &Share) -> usize {
        match share.limit {
            Limit::AtMost(limit) => limit,
            Limit::Fair => {
                let others = self.total.saturating_sub(self.held_by(&share.owner));
                let left = capacity.saturating_sub(others);
                let beside_reserve = left.saturating_sub(capacity / RESERVE);
                left.div_ceil(2).min(beside_reserve).max(capacity / LITTLE).max(1)
            }
        }
    }

    fn held_by(&self, owner: &Owner) -> usize {
        self.by_owner.get(owner).copied().unwrap_or_default()
    }

    fn release(&mut self, owner: &Owner, amount: usize) {
        if let Entry::Occupied(mut held) = self.by_owner.entry(owner.clone()) {
            *held.get_mut() -= amount;
            if *held.get() == 0 {
                held.remove();
            }
        }
    }
}

/// An amount taken from a pool, returned on drop.
#[derive(Debug)]
pub(crate) struct Permit {
    pool: Arc<Pool>,
    amount: usize,
    shares: Vec<Share>,
}

impl Permit {
    /// Counts what is held, and what is taken later, against these owners too.
    pub(crate) fn assign(&mut self, shares: &[Share]) -> Result<(), Exhausted> {
        let mut usage = self.pool.usage.lock();
        // It is counted already, but not for these owners.
        usage.total -= self.amount;
        let checked = usage.check(self.pool.capacity, self.amount, shares);
        usage.total += self.amount;
        checked?;
        if self.amount > 0 {
            for share in shares {
                *usage.by_owner.entry(share.owner.clone()).or_default() += self.amount;
            }
        }
        self.shares.extend_from_slice(shares);
        Ok(())
    }

    /// Takes more on behalf of the same owners.
    pub(crate) fn grow(&mut self, amount: usize) -> Result<(), Exhausted> {
        let mut usage = self.pool.usage.lock();
        usage.check(self.pool.capacity, amount, &self.shares)?;
        if usage.total + amount > self.pool.capacity {
            return Err(Exhausted::Pool);
        }
        usage.total += amount;
        for share in &self.shares {
            *usage.by_owner.entry(share.owner.clone()).or_default() += amount;
        }
        self.amount += amount;
        Ok(())
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut usage = self.pool.usage.lock();
        usage.total -= self.amount;
        for share in &self.shares {
            usage.release(&share.owner, self.amount);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shop(id: u64, limit: usize) -> Share {
        Share { owner: Owner::Shop(ShopId::new(id).unwrap()), limit: Limit::AtMost(limit) }
    }

    fn fair(id: u64) -> Share {
        Share { limit: Limit::Fair, ..shop(id, 0) }
    }

    fn token(id: u64, limit: usize) -> Share {
        Share { owner: Owner::Token(TokenKey::Opaque(id)), limit: Limit::AtMost(limit) }
    }

    /// As much as the pool gives to a shop.
    fn take_all(pool: &Arc<Pool>, id: u64) -> Permit {
        let mut permit = pool.take(0, &[fair(id)]).unwrap();
        while permit.grow(1).is_ok() {}
        permit
    }

    #[test]
    fn an_owner_holds_no_more_than_it_leaves_free() {
        let pool = Pool::new(1024);
        let mut held: Vec<_> = (1..=3).map(|id| take_all(&pool, id)).collect();
        let amounts = |held: &[Permit]| held.iter().map(|permit| permit.amount).collect::<Vec<_>>();
        assert_eq!(amounts(&held), [512, 256, 128]);
        held.extend((4..=131).map(|id| take_all(&pool, id)));
        assert_eq!(amounts(&held[3..]), [1; 128], "the last eighth");
        assert_eq!(pool.take(1, &[fair(132)]).unwrap_err(), Exhausted::Pool);
        // The first gets back less than it had, because the others are there.
        held.remove(0);
        assert_eq!(take_all(&pool, 1).amount, 256);
    }

    #[test]
    fn what_is_assigned_later_is_not_counted_twice() {
        for capacity in 1..20 {
            let pool = Pool::new(capacity);
            let mut held = Vec::new();
            while let Ok(mut permit) = pool.take(1, &[])
                && permit.assign(&[fair(1)]).is_ok()
            {
                held.push(permit);
            }
            assert_eq!(held.len(), capacity.div_ceil(2));
        }
    }

    #[test]
    fn one_unit_is_for_every_owner_of_a_small_pool() {
        let pool = Pool::new(4);
        let held: Vec<_> = (1..=3).map(|id| take_all(&pool, id)).collect();
        assert!(pool.is_exhausted(&fair(1)) && pool.is_exhausted(&fair(3)));
        assert_eq!(held.iter().map(|permit| permit.amount).sum::<usize>(), 4);
        assert!(!pool.is_exhausted(&fair(4)), "it holds nothing");
        assert_eq!(pool.take(1, &[fair(4)]).unwrap_err(), Exhausted::Pool);
    }

    #[test]
    fn the_pool_and_every_share_are_bounded() {
        let pool = Pool::new(4);
        let first = pool.take(1, &[shop(1, 2), token(1, 1)]).unwrap();
        let refused = |shares: &[Share]| pool.take(1, shares).unwrap_err();
        assert_eq!(refused(&[shop(1, 2), token(1, 1)]), Exhausted::Share(token(1, 1).owner));
        let second = pool.take(1, &[shop(1, 2), token(2, 1)]).unwrap();
        assert_eq!(refused(&[shop(1, 2), token(3, 1)]), Exhausted::Share(shop(1, 2).owner));
        let others = pool.take(2, &[shop(2, 2)]).unwrap();
        assert_eq!(refused(&[shop(3, 2)]), Exhausted::Pool);
        drop((first, others));
        assert!(pool.is_exhausted(&shop(1, 1)));
        assert!(!pool.is_exhausted(&shop(1, 2)));
        assert!(pool.take(3, &[shop(3, 3)]).is_ok());
        drop(second);
        let usage = pool.usage.lock();
        assert_eq!((usage.total, usage.by_owner.len()), (0, 0), "nothing is left behind");
    }

    #[test]
    fn a_permit_can_grow_and_be_assigned_later() {
        let pool = Pool::new(10);
        let mut permit = pool.take(1, &[]).unwrap();
        permit.assign(&[shop(1, 5)]).unwrap();
        permit.grow(4).unwrap();
        assert_eq!(permit.grow(1), Err(Exhausted::Share(shop(1, 5).owner)));
        assert!(pool.take(1, &[]).unwrap().assign(&[shop(1, 5)]).is_err());
        drop(permit);
        assert!(pool.take(1, &[]).unwrap().assign(&[shop(1, 5)]).is_ok());
        let usage = pool.usage.lock();
        assert_eq!((usage.total, usage.by_owner.len()), (0, 0));
    }

    #[test]
    fn an_unbounded_permit_blocks_later_ones() {
        let pool = Pool::new(2);
        let over = pool.take_unbounded(5, &[shop(1, 1)]);
        assert_eq!(pool.take(1, &[shop(2, 2)]).unwrap_err(), Exhausted::Pool);
        drop(over);
        assert!(pool.take(2, &[shop(2, 2)]).is_ok());
    }
}
