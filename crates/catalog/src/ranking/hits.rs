//! Hits, and their total order.

use std::{cmp::Ordering, collections::BinaryHeap};

use crate::product::{ProductId, change::Seq};

/// A relevance score; greater is more relevant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score(pub f32);

/// A matching product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The product.
    pub product: ProductId,
    /// The version that was scored.
    pub version: Seq,
    /// Its score.
    pub score: Score,
}

impl Hit {
    /// The total order of results: best score first, then the smaller id.
    pub fn rank(&self, other: &Self) -> Ordering {
        other.score.0.total_cmp(&self.score.0).then_with(|| self.product.cmp(&other.product))
    }
}

/// Keeps the `k` best hits.
pub struct TopK {
    k: usize,
    worst_first: BinaryHeap<ByRank>,
    /// Hits with a lower score are not kept.
    threshold: f32,
}

impl TopK {
    /// Keeps the best `k`.
    pub fn new(k: usize) -> Self {
        let threshold = if k == 0 { f32::INFINITY } else { f32::NEG_INFINITY };
        Self { k, worst_first: BinaryHeap::new(), threshold }
    }

    /// Whether a hit with this score may be kept: a cheap test before the hit is made.
    #[inline]
    pub fn may_keep(&self, score: f32) -> bool {
        score >= self.threshold
    }

    /// Keeps the hit if it is among the best so far.
    pub fn offer(&mut self, hit: Hit) {
        if self.worst_first.len() < self.k {
            self.worst_first.push(ByRank(hit));
        } else if let Some(mut worst) = self.worst_first.peek_mut()
            && hit.rank(&worst.0) == Ordering::Less
        {
            worst.0 = hit;
        }
        if self.worst_first.len() == self.k
            && let Some(worst) = self.worst_first.peek()
        {
            self.threshold = worst.0.score.0;
        }
    }

    /// The kept hits without the first `offset`, best first.
    pub fn into_page(self, offset: usize) -> Vec<Hit> {
        let best_first = self.worst_first.into_sorted_vec();
        best_first.into_iter().skip(offset).map(|ByRank(hit)| hit).collect()
    }
}

/// Orders hits by rank; greater means further down the results.
struct ByRank(Hit);

impl Ord for ByRank {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.rank(&other.0)
    }
}

impl PartialOrd for ByRank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByRank {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ByRank {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hit(product: u64, score: f32) -> Hit {
        Hit { product: ProductId::new(product).unwrap(), version: Seq(1), score: Score(score) }
    }

    proptest! {
        #[test]
        fn a_page_is_a_slice_of_the_sorted_hits(
            scores in prop::collection::vec(0_u8..6, 0..60),
            offset in 0_usize..20,
            limit in 0_usize..20,
        ) {
            let hits: Vec<_> = (1..).zip(&scores).map(|(id, s)| hit(id, f32::from(*s))).collect();
            let mut top = TopK::new(offset + limit);
            for hit in hits.iter().rev() {
                if top.may_keep(hit.score.0) {
                    top.offer(*hit);
                }
            }
            let mut sorted = hits;
            sorted.sort_by(Hit::rank);
            let page: Vec<_> = sorted.into_iter().skip(offset).take(limit).collect();
            prop_assert_eq!(top.into_page(offset), page);
        }
    }
}
