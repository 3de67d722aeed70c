//! Which candidates are worth a close look, and how are words and meaning weighed for them?
//!
//! A sketch tells how near a product is and how wrong that may be. Whoever scores too little even
//! if it is as near as it may be is out; the others are looked at closely. So what is relevant is
//! what it would be if every product had been looked at closely.

use catalog::fusion::{Coverage, Fusion, FusionParams};

use super::{gather::Candidate, live::LiveSegment, plan::DenseQuery, standard::Standard};

/// The formula for the candidates of a query, of which those remain that may be relevant. All
/// that do have been looked at closely.
pub(super) fn weigh(
    segments: &[LiveSegment],
    weights: &FusionParams,
    meant: &DenseQuery,
    standard: &Standard<'_>,
    candidates: &mut Vec<Candidate>,
) -> Fusion {
    let coverage = coverage(segments, meant, standard, candidates);
    let fusion = Fusion::hybrid(weights, meant.profile, coverage);
    let cut = fusion.cutoff().at(surely_reached(segments, meant, &fusion, candidates));
    candidates.retain(|candidate| candidate.is_title || fusion.score(candidate.most()) >= cut);
    look_closely(segments, meant, candidates.iter_mut());
    fusion
}

/// Looks closely at candidates of which the sketch leaves a doubt.
pub(super) fn look_closely<'a>(
    segments: &[LiveSegment],
    meant: &DenseQuery,
    candidates: impl Iterator<Item = &'a mut Candidate>,
) {
    let mut in_doubt = candidates.filter(|candidate| candidate.is_in_doubt()).peekable();
    while let Some(segment) = in_doubt.peek().map(|candidate| candidate.segment) {
        let of_segment = std::iter::from_fn(|| in_doubt.next_if(|next| next.segment == segment));
        let places = of_segment.map(|candidate| (usize::from(candidate.doc), candidate.settle()));
        segments[segment as usize].vectors().look_closely(&meant.vector, places);
    }
}

/// How far the words of products cover the query that could be relevant.
fn coverage(
    segments: &[LiveSegment],
    meant: &DenseQuery,
    standard: &Standard<'_>,
    candidates: &mut [Candidate],
) -> Coverage {
    let (Coverage { mut best_lexical }, hope) = (standard.coverage(), standard.anyway());
    for candidate in candidates {
        let words = candidate.signals().lexical;
        if words <= best_lexical {
            continue;
        }
        if !hope.may_pass(words, 0.0) && !candidate.is_title {
            look_closely(segments, meant, std::iter::once(&mut *candidate));
            let similarity = candidate.signals().dense_score();
            if !hope.may_pass(words, similarity) {
                continue;
            }
        }
        best_lexical = words;
    }
    Coverage { best_lexical }
}

/// A score that the best candidate reaches at least. A title that is the query says nothing about
/// how good the others could be.
fn surely_reached(
    segments: &[LiveSegment],
    meant: &DenseQuery,
    fusion: &Fusion,
    candidates: &mut [Candidate],
) -> f32 {
    let (mut surest, mut likeliest) = ((0.0, None), (0.0, None));
    for (at, candidate) in candidates.iter().enumerate().filter(|(_, other)| !other.is_title) {
        let keep_better = |kept: &mut (f32, Option<usize>), signals| {
            let score = fusion.score(signals);
            if score > kept.0 {
                *kept = (score, Some(at));
            }
        };
        keep_better(&mut surest, candidate.least());
        keep_better(&mut likeliest, candidate.signals());
    }
    let looked_at = [surest.1, likeliest.1].into_iter().flatten().map(|at| {
        look_closely(segments, meant, std::iter::once(&mut candidates[at]));
        fusion.score(candidates[at].signals())
    });
    looked_at.fold(0.0, f32::max)
}
