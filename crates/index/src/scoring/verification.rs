//! Decides exclusions by the texts of products, where postings cannot.

use std::collections::{HashMap, HashSet};

use catalog::{product::ProductId, query::parser::Exclusion};

use crate::segment::LiveSegment;

/// The most texts that are read for one search. Reading and tokenising one takes about 40 µs, so
/// all of them take less than 50 ms. Products whose texts are not read are left out, so that no
/// result violates a condition, and the result says that the total may be too small.
pub(crate) const MAX_VERIFIED: usize = 1_000;

/// Reads texts for all runs of a search, each at most once.
pub(super) struct Verifier<'a, V> {
    segments: &'a [LiveSegment],
    exclusions: &'a [Exclusion],
    /// Returns those of some products whose texts match an exclusion.
    verify: V,
    /// Whether a product may be a result.
    decided: HashMap<ProductId, bool>,
}

/// The products that may be results.
#[derive(Default)]
pub(super) struct Verified {
    pub(super) allowed: HashSet<ProductId>,
    /// Products that were left out because [`MAX_VERIFIED`] texts had been read.
    pub(super) unverified: usize,
}

impl<'a, V, E> Verifier<'a, V>
where
    V: FnMut(&[ProductId]) -> Result<Vec<ProductId>, E>,
{
    pub(super) fn new(segments: &'a [LiveSegment], exclusions: &'a [Exclusion], verify: V) -> Self {
        Self { segments, exclusions, verify, decided: HashMap::new() }
    }

    /// How many more texts may be read.
    pub(super) fn budget(&self) -> usize {
        MAX_VERIFIED - self.decided.len()
    }

    /// Whether a product's texts were read before.
    pub(super) fn is_decided(&self, id: ProductId) -> bool {
        self.decided.contains_key(&id)
    }

    /// Decides the products; where they are too many, the first.
    pub(super) fn decide(&mut self, undecided: &[ProductId]) -> Result<Verified, E> {
        let new = undecided.iter().copied().filter(|id| !self.is_decided(*id));
        let to_read: Vec<ProductId> = new.take(self.budget()).collect();
        if !to_read.is_empty() {
            let rejected: HashSet<ProductId> = (self.verify)(&to_read)?.into_iter().collect();
            for id in to_read {
                let is_allowed = !rejected.contains(&id) && !self.is_rejected_by_key(id);
                self.decided.insert(id, is_allowed);
            }
        }
        let mut verified = Verified::default();
        for id in undecided {
            match self.decided.get(id) {
                Some(true) => drop(verified.allowed.insert(*id)),
                Some(false) => {}
                None => verified.unverified += 1,
            }
        }
        Ok(verified)
    }

    /// Whether the key of a product matches an exclusion. Only the index considers keys: their words
    /// are among the postings.
    fn is_rejected_by_key(&self, id: ProductId) -> bool {
        let mut found = self.segments.iter().filter_map(|live| Some((live, live.find(id)?)));
        found.next().is_some_and(|(live, doc)| {
            let key = live.segment.keys.get(doc);
            key.is_some_and(|key| self.exclusions.iter().any(|one| one.matches(key)))
        })
    }
}
