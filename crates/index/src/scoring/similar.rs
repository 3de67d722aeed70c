//! Similar products: the nearest neighbours of a product's instant vector, ordered by the mean of both
//! cosines, of instant and deep vectors, and [`resemblance`]. Sketches prune by the least similarity of [`catalog::ranking::fusion::FusionParams`]: a
//! product whose cosine exceeds its error bound, about one in 700, may be missing.

use catalog::{
    inference::{MAX_RESEMBLANCE, resemblance},
    product::{ProductId, access::Visibility, inferred::Inferred},
    ranking::{
        fusion::FUSION_PARAMS,
        hits::{Hit, Score, TopK},
        reranking::RERANK_PARAMS,
    },
};
use embed::inference::taxonomy;

use crate::{
    bits::{BLOCK, ones},
    dense::{BlockSimilarities, QueryVector},
    effort::SKETCHED_FROM,
    entry::DocVectors,
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
    let Some(own) = Own::of(segments, id) else { return Vec::new() };
    let query = &own.vector;
    let least = FUSION_PARAMS.min_similarity;
    let mut nearest = TopK::new(limit);
    let products: usize = segments.iter().map(|live| live.visible_count(visibility)).sum();
    let sketched = products >= SKETCHED_FROM;
    let mut similarities = BlockSimilarities::UNKNOWN;
    for live in segments {
        let (segment, vectors) = (&live.segment, live.vectors());
        for block in 0..segment.len().div_ceil(BLOCK) {
            let visible = live.visible_block(block, visibility);
            vectors.compare(block, query, visible, sketched, &mut similarities);
            let error_bound = |doc| if sketched { vectors.error_bound(doc, query) } else { 0.0 };
            let mut near: Vec<(usize, f32)> = ones(visible & similarities.known)
                .map(|at| (block * BLOCK + at, similarities.cosines[at]))
                .filter(|(doc, cosine)| cosine + error_bound(*doc) >= least)
                .collect();
            if sketched {
                let products = near.iter_mut().map(|(doc, cosine)| (*doc, cosine));
                vectors.cosines(query, products);
            }
            for (doc, cosine) in near {
                let product = segment.ids.get(doc);
                let may_be_kept = nearest.may_keep(similarity(cosine, 1.0) + MAX_RESEMBLANCE);
                if cosine >= least && may_be_kept && product != id {
                    let version = live.columns().version(doc);
                    let similarity = similarity(cosine, own.deep_cosine(live, doc, cosine));
                    let inferred = segment.inferred.get(doc);
                    let score = similarity + resemblance(taxonomy(), &own.inferred, &inferred);
                    nearest.offer(Hit { product, version, score: Score(score) });
                }
            }
        }
    }
    nearest.into_page(0)
}

/// The product that others are compared with.
struct Own {
    vector: QueryVector,
    deep: Option<QueryVector>,
    inferred: Inferred,
}

impl Own {
    fn of(segments: &[LiveSegment], id: ProductId) -> Option<Self> {
        let (doc, live) = segments.iter().find_map(|live| Some((live.find(id)?, live)))?;
        let DocVectors { vector, deep } = live.vectors_of(doc);
        Some(Self {
            vector: QueryVector::of_quantised(vector?.into())?,
            deep: deep.and_then(|deep| QueryVector::of_quantised(deep.into())),
            inferred: live.segment.inferred.get(doc),
        })
    }

    /// The cosine of the deep vectors, or its estimate by that of the instant ones.
    fn deep_cosine(&self, live: &LiveSegment, doc: usize, instant: f32) -> f32 {
        let mut cosine = f32::NAN;
        if let Some(deep) = &self.deep {
            live.deep().cosines(deep, std::iter::once((doc, &mut cosine)));
        }
        if cosine.is_nan() { RERANK_PARAMS.deep.estimate(instant) } else { cosine }
    }
}

/// The mean of two cosines.
pub(crate) fn similarity(instant: f32, deep: f32) -> f32 {
    f32::midpoint(instant, deep)
}
