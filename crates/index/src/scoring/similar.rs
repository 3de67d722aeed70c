//! Similar products: the nearest neighbours of a product's own vector, ordered by cosine and
//! [`resemblance`]. Sketches prune by the least similarity of [`catalog::ranking::fusion::FusionParams`]: a
//! product whose cosine exceeds its error bound, about one in 700, may be missing.

use catalog::{
    inference::{MAX_RESEMBLANCE, resemblance},
    product::{ProductId, access::Visibility, inferred::Inferred},
    ranking::{
        fusion::FUSION_PARAMS,
        hits::{Hit, Score, TopK},
    },
};
use embed::inference::taxonomy;

use crate::{
    bits::{BLOCK, ones},
    dense::{BlockSimilarities, QueryVector},
    effort::SKETCHED_FROM,
    segment::LiveSegment,
};

/// The visible products that are most similar to this one, without itself. Empty if the product has no
/// vector.
pub(crate) fn similar(
    segments: &[LiveSegment],
    id: ProductId,
    visibility: Visibility,
    limit: usize,
) -> Vec<Hit> {
    let Some((query, own)) = own(segments, id) else { return Vec::new() };
    let least = FUSION_PARAMS.min_similarity;
    let mut nearest = TopK::new(limit);
    let products: usize = segments.iter().map(|live| live.visible_count(visibility)).sum();
    let sketched = products >= SKETCHED_FROM;
    let mut similarities = BlockSimilarities::UNKNOWN;
    for live in segments {
        let (segment, vectors) = (&live.segment, live.vectors());
        for block in 0..segment.len().div_ceil(BLOCK) {
            let visible = live.visible_block(block, visibility);
            vectors.compare(block, &query, visible, sketched, &mut similarities);
            let error_bound = |doc| if sketched { vectors.error_bound(doc, &query) } else { 0.0 };
            let mut near: Vec<(usize, f32)> = ones(visible & similarities.known)
                .map(|at| (block * BLOCK + at, similarities.cosines[at]))
                .filter(|(doc, cosine)| cosine + error_bound(*doc) >= least)
                .collect();
            if sketched {
                let products = near.iter_mut().map(|(doc, cosine)| (*doc, cosine));
                vectors.cosines(&query, products);
            }
            for (doc, cosine) in near {
                let product = segment.ids.get(doc);
                let may_be_kept = nearest.may_keep(cosine + MAX_RESEMBLANCE);
                if cosine >= least && may_be_kept && product != id {
                    let version = live.columns().version(doc);
                    let score = cosine + resemblance(taxonomy(), &own, &segment.inferred.get(doc));
                    nearest.offer(Hit { product, version, score: Score(score) });
                }
            }
        }
    }
    nearest.into_page(0)
}

/// The vector of a product, as a query, and what is inferred about it.
fn own(segments: &[LiveSegment], id: ProductId) -> Option<(QueryVector, Inferred)> {
    let (doc, live) = segments.iter().find_map(|live| Some((live.find(id)?, live)))?;
    let vector = QueryVector::of_quantised(live.vectors().get(doc)?.into())?;
    Some((vector, live.segment.inferred.get(doc)))
}
