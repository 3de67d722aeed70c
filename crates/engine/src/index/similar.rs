//! Which products are like another one? Those whose vectors are near its own, nearest first.

use catalog::{
    access::Sight,
    fusion::WEIGHTS,
    product::ProductId,
    ranking::{Hit, Score, TopHits},
};

use super::{
    bits::{BLOCK, ones},
    dense::QueryVector,
    live::LiveSegment,
};

/// The products in sight that are nearest to this one, without itself. None are where nobody knows
/// what it means.
pub(super) fn similar(
    segments: &[LiveSegment],
    id: ProductId,
    sight: Sight,
    limit: usize,
) -> Vec<Hit> {
    let Some(own) = vector_of(segments, id) else { return Vec::new() };
    let mut nearest = TopHits::new(limit);
    let mut cosines = [f32::NAN; BLOCK];
    for live in segments {
        let (segment, vectors) = (&live.segment, live.vectors());
        for block in 0..segment.len().div_ceil(BLOCK) {
            let near = vectors.near(block, &own);
            if near == 0 {
                continue;
            }
            let near = near & live.seen(block, sight);
            vectors.cosines(block, &own, near, &mut cosines);
            for at in ones(near) {
                let (product, cosine) = (segment.ids[block * BLOCK + at], cosines[at]);
                if cosine >= WEIGHTS.similar && nearest.may_keep(cosine) && product != id {
                    let version = segment.versions[block * BLOCK + at];
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
