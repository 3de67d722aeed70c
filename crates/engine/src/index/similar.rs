//! Which products are like another one? Those whose vectors are near its own, nearest first.

use catalog::{
    access::Visibility,
    fusion::FUSION_PARAMS,
    product::ProductId,
    ranking::{Hit, Score, TopK},
};

use super::{
    bits::{BLOCK, ones},
    dense::QueryVector,
    live::LiveSegment,
    search::SKETCHED_FROM,
    vectors::Look,
};

/// The visible products that are nearest to this one, without itself. None are where nobody knows
/// what it means.
pub(super) fn similar(
    segments: &[LiveSegment],
    id: ProductId,
    visibility: Visibility,
    limit: usize,
) -> Vec<Hit> {
    let Some(own) = vector_of(segments, id) else { return Vec::new() };
    let mut nearest = TopK::new(limit);
    let count: usize = segments.iter().map(|live| live.seen_count(visibility)).sum();
    let closely = (count as u64) < SKETCHED_FROM;
    let mut look = Look::NOTHING;
    for live in segments {
        let (segment, vectors) = (&live.segment, live.vectors());
        for block in 0..segment.len().div_ceil(BLOCK) {
            vectors.look(block, &own, closely, &mut look);
            let seen = look.known & live.seen(block, visibility);
            let mut near: Vec<(usize, f32)> = ones(seen)
                .filter(|at| {
                    look.similarities[*at] + look.doubts[*at] >= FUSION_PARAMS.min_similarity
                })
                .map(|at| (block * BLOCK + at, look.similarities[at]))
                .collect();
            if !closely {
                let places = near.iter_mut().map(|(doc, cosine)| (*doc, cosine));
                vectors.look_closely(&own, places);
            }
            for (doc, cosine) in near {
                let product = segment.ids[doc];
                if cosine >= FUSION_PARAMS.min_similarity
                    && nearest.may_keep(cosine)
                    && product != id
                {
                    let version = live.columns().version(doc);
                    nearest.offer(Hit { product, version, score: Score(cosine) });
                }
            }
        }
    }
    nearest.into_page(0)
}

/// What a product means, as others are compared with it.
fn vector_of(segments: &[LiveSegment], id: ProductId) -> Option<QueryVector> {
    let (doc, live) = segments.iter().find_map(|live| Some((live.find(id)?, live)))?;
    QueryVector::of_numbers(live.vectors().get(doc)?.into())
}
