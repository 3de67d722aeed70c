//! The products nearest to the query by the vector of the transformer. The second stage considers them
//! whatever their score in the first stage: the two vectors miss different products.

use catalog::product::ProductId;

use super::candidate::Candidate;
use crate::rerank_query::NEAREST;

/// The nearest products of a scan, at most [`NEAREST`] when it is done.
#[derive(Default)]
pub(crate) struct Nearest {
    /// In no order.
    found: Vec<Near>,
    /// The least similarity that may be among the nearest.
    least: f32,
}

struct Near {
    similarity: f32,
    product: ProductId,
    candidate: Candidate,
}

impl Nearest {
    /// Without products. One that is not similar to the query at all is never near.
    pub(crate) fn new() -> Self {
        Self { found: Vec::new(), least: f32::MIN_POSITIVE }
    }

    /// The least similarity that may be among the nearest.
    #[inline]
    pub(super) fn least(&self) -> f32 {
        self.least
    }

    /// Adds a product with at least the [`least`](Self::least) similarity.
    pub(super) fn offer(&mut self, similarity: f32, product: ProductId, candidate: Candidate) {
        self.found.push(Near { similarity, product, candidate });
        if self.found.len() >= 2 * NEAREST {
            self.truncate();
        }
    }

    /// Adds what another thread found.
    pub(super) fn merge(&mut self, other: Self) {
        self.found.extend(other.found);
        self.truncate();
    }

    fn truncate(&mut self) {
        if self.found.len() <= NEAREST {
            return;
        }
        self.found.select_nth_unstable_by(NEAREST - 1, |one, other| {
            other
                .similarity
                .total_cmp(&one.similarity)
                .then_with(|| one.product.cmp(&other.product))
        });
        self.found.truncate(NEAREST);
        self.least = self.found.iter().map(|near| near.similarity).fold(f32::INFINITY, f32::min);
    }

    /// Marks the nearest among the candidates, adds those that are none, and keeps the order of segment
    /// and document. `similarity` completes an added one.
    pub(super) fn join(
        mut self,
        candidates: &mut Vec<Candidate>,
        complete: impl Fn(&mut Candidate),
    ) {
        self.truncate();
        let place = |one: &Candidate| (one.segment, one.doc);
        let known = candidates.len();
        for mut near in self.found.into_iter().map(|near| near.candidate) {
            match candidates[..known].binary_search_by_key(&place(&near), place) {
                Ok(at) => candidates[at].is_near = true,
                Err(_) => {
                    near.is_near = true;
                    complete(&mut near);
                    candidates.push(near);
                }
            }
        }
        candidates.sort_unstable_by_key(place);
    }
}
