//! How is something scarce shared? It is bounded for all callers together and for each holder, so
//! that no shop and no token can take all of it.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use catalog::product::ShopId;
use parking_lot::Mutex;

use super::auth::TokenKey;

/// Whose use is counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    /// Requests without a token.
    Public,
    Shop(ShopId),
    Token(TokenKey),
}

/// A holder, and the most it may hold.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    pub(crate) holder: Holder,
    pub(crate) limit: usize,
}

/// Which bound was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Exhausted {
    /// That of all callers together.
    Pool,
    /// That of one of them.
    Share(Holder),
}

/// A bounded amount of something: requests at work, or bytes of memory.
#[derive(Debug)]
pub(crate) struct Pool {
    capacity: usize,
    use_: Mutex<Use>,
}

#[derive(Debug, Default)]
struct Use {
    all: usize,
    /// Holders of more than nothing.
    by_holder: HashMap<Holder, usize>,
}

impl Pool {
    pub(crate) fn new(capacity: usize) -> Arc<Self> {
        Arc::new(Self { capacity, use_: Mutex::default() })
    }

    /// Takes an amount for all of these holders, or says which bound it would break.
    pub(crate) fn take(
        self: &Arc<Self>,
        amount: usize,
        shares: &[Share],
    ) -> Result<Taken, Exhausted> {
        let mut taken = Taken { pool: Arc::clone(self), amount: 0, shares: Vec::new() };
        taken.assign(shares)?;
        taken.grow(amount)?;
        Ok(taken)
    }

    /// Takes an amount whatever the bounds are: what follows will find less room.
    pub(crate) fn take_anyway(self: &Arc<Self>, amount: usize, shares: &[Share]) -> Taken {
        let mut use_ = self.use_.lock();
        use_.all += amount;
        for share in shares {
            *use_.by_holder.entry(share.holder.clone()).or_default() += amount;
        }
        Taken { pool: Arc::clone(self), amount, shares: shares.to_vec() }
    }

    /// Whether a holder has used up its share.
    pub(crate) fn is_used_up(&self, share: &Share) -> bool {
        self.use_.lock().held_by(&share.holder) >= share.limit
    }
}

impl Use {
    fn check(&self, capacity: usize, amount: usize, shares: &[Share]) -> Result<(), Exhausted> {
        let is_full = |share: &&Share| self.held_by(&share.holder) + amount > share.limit;
        match shares.iter().find(is_full) {
            Some(share) => Err(Exhausted::Share(share.holder.clone())),
            None if self.all + amount > capacity => Err(Exhausted::Pool),
            None => Ok(()),
        }
    }

    fn held_by(&self, holder: &Holder) -> usize {
        self.by_holder.get(holder).copied().unwrap_or_default()
    }

    fn give_back(&mut self, holder: &Holder, amount: usize) {
        if let Entry::Occupied(mut held) = self.by_holder.entry(holder.clone()) {
            *held.get_mut() -= amount;
            if *held.get() == 0 {
                held.remove();
            }
        }
    }
}

/// A part of a pool, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Taken {
    pool: Arc<Pool>,
    amount: usize,
    shares: Vec<Share>,
}

impl Taken {
    /// Counts what is held, and what is taken later, for these holders too.
    pub(crate) fn assign(&mut self, shares: &[Share]) -> Result<(), Exhausted> {
        let mut use_ = self.pool.use_.lock();
        // The pool itself has counted it already.
        use_.check(usize::MAX, self.amount, shares)?;
        if self.amount > 0 {
            for share in shares {
                *use_.by_holder.entry(share.holder.clone()).or_default() += self.amount;
            }
        }
        self.shares.extend_from_slice(shares);
        Ok(())
    }

    /// Takes more of the same.
    pub(crate) fn grow(&mut self, amount: usize) -> Result<(), Exhausted> {
        let mut use_ = self.pool.use_.lock();
        use_.check(self.pool.capacity, amount, &self.shares)?;
        use_.all += amount;
        for share in &self.shares {
            *use_.by_holder.entry(share.holder.clone()).or_default() += amount;
        }
        self.amount += amount;
        Ok(())
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut use_ = self.pool.use_.lock();
        use_.all -= self.amount;
        for share in &self.shares {
            use_.give_back(&share.holder, self.amount);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shop(id: u64, limit: usize) -> Share {
        Share { holder: Holder::Shop(ShopId::new(id).unwrap()), limit }
    }

    fn token(id: u64, limit: usize) -> Share {
        Share { holder: Holder::Token(TokenKey::Opaque(id)), limit }
    }

    #[test]
    fn the_pool_and_every_share_are_bounds() {
        let pool = Pool::new(4);
        let first = pool.take(1, &[shop(1, 2), token(1, 1)]).unwrap();
        let refused = |shares: &[Share]| pool.take(1, shares).unwrap_err();
        assert_eq!(refused(&[shop(1, 2), token(1, 1)]), Exhausted::Share(token(1, 1).holder));
        let second = pool.take(1, &[shop(1, 2), token(2, 1)]).unwrap();
        assert_eq!(refused(&[shop(1, 2), token(3, 1)]), Exhausted::Share(shop(1, 2).holder));
        let others = pool.take(2, &[shop(2, 2)]).unwrap();
        assert_eq!(refused(&[shop(3, 2)]), Exhausted::Pool);
        drop((first, others));
        assert!(pool.is_used_up(&shop(1, 1)));
        assert!(!pool.is_used_up(&shop(1, 2)));
        assert!(pool.take(3, &[shop(3, 3)]).is_ok());
        drop(second);
        let use_ = pool.use_.lock();
        assert_eq!((use_.all, use_.by_holder.len()), (0, 0), "nothing is left behind");
    }

    #[test]
    fn what_is_held_can_grow_and_be_assigned_later() {
        let pool = Pool::new(10);
        let mut taken = pool.take(1, &[]).unwrap();
        taken.assign(&[shop(1, 5)]).unwrap();
        taken.grow(4).unwrap();
        assert_eq!(taken.grow(1), Err(Exhausted::Share(shop(1, 5).holder)));
        assert!(pool.take(1, &[]).unwrap().assign(&[shop(1, 5)]).is_err());
        drop(taken);
        assert!(pool.take(1, &[]).unwrap().assign(&[shop(1, 5)]).is_ok());
        let use_ = pool.use_.lock();
        assert_eq!((use_.all, use_.by_holder.len()), (0, 0));
    }

    #[test]
    fn more_can_be_taken_than_there_is_and_then_nothing_else() {
        let pool = Pool::new(2);
        let over = pool.take_anyway(5, &[shop(1, 1)]);
        assert_eq!(pool.take(1, &[shop(2, 2)]).unwrap_err(), Exhausted::Pool);
        drop(over);
        assert!(pool.take(2, &[shop(2, 2)]).is_ok());
    }
}
