//! Similar products: the nearest neighbours of a product's own vector. Sketches prune by the least
//! similarity of [`catalog::fusion::FusionParams`], with the error budget of [`super`].

use catalog::{
    access::Visibility,
    fusion::FUSION_PARAMS,
    product::ProductId,
    ranking::{Hit, Score, TopK},
};

use super::search::SKETCHED_FROM;
use crate::index::{
    bits::{BLOCK, ones},
    dense::{QueryVector, SimilarityEstimate},
    segment::LiveSegment,
};

/// The visible products that are nearest to this one, without itself. Empty if the product has no
/// vector.
pub(in crate::index) fn similar(
    segments: &[LiveSegment],
    id: ProductId,
    visibility: Visibility,
    limit: usize,
) -> Vec<Hit> {
    let Some(query) = vector_of(segments, id) else { return Vec::new() };
    let least = FUSION_PARAMS.min_similarity;
    let mut nearest = TopK::new(limit);
    let products: usize = segments.iter().map(|live| live.visible_count(visibility)).sum();
    let exact = products < SKETCHED_FROM;
    let mut estimate = SimilarityEstimate::UNKNOWN;
    for live in segments {
        let (segment, vectors) = (&live.segment, live.vectors());
        for block in 0..segment.len().div_ceil(BLOCK) {
            vectors.estimate(block, &query, exact, &mut estimate);
            let seen = estimate.known & live.visible_block(block, visibility);
            let mut near: Vec<(usize, f32)> = ones(seen)
                .filter(|at| estimate.similarities[*at] + estimate.error_bounds[*at] >= least)
                .map(|at| (block * BLOCK + at, estimate.similarities[at]))
                .collect();
            if !exact {
                let products = near.iter_mut().map(|(doc, cosine)| (*doc, cosine));
                vectors.cosines(&query, products);
            }
            for (doc, cosine) in near {
                let product = segment.ids[doc];
                if cosine >= least && nearest.may_keep(cosine) && product != id {
                    let version = live.columns().version(doc);
                    nearest.offer(Hit { product, version, score: Score(cosine) });
                }
            }
        }
    }
    nearest.into_page(0)
}

/// The vector of a product, as a query.
fn vector_of(segments: &[LiveSegment], id: ProductId) -> Option<QueryVector> {
    let (doc, live) = segments.iter().find_map(|live| Some((live.find(id)?, live)))?;
    QueryVector::of_quantised(live.vectors().get(doc)?.into())
}
