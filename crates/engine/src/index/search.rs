//! Which products answer a query, how many are they, and which come first?
//!
//! Every product that may be relevant is looked at, by word and by meaning, before any is left
//! out: totals are exact and pages stable.

use std::collections::{HashMap, HashSet};

use catalog::{
    analysis::QueryTerms,
    explanation::Explanation,
    fusion::{Fusion, Signals},
    product::ProductId,
    ranking::Hit,
};

use super::{
    bits::{BLOCK, ones},
    collect::{Conditions, First, Source},
    exclude::{self, MOST_READ, Said},
    gather::{Candidate, Search, gather},
    lexical::{Asked, Statistics},
    live::LiveSegment,
    plan::{DenseQuery, Plan, QueryKind},
    standard::Standard,
    weigh::{look_closely, weigh},
};

/// Shops of fewer products are looked at closely from the start. Measured with `bench-scan`, sketches
/// are faster from about 500 products on, but by 20 µs at most up to here, and a close look leaves
/// no doubt.
pub(super) const SKETCHED_FROM: u64 = 2_000;

/// Shops of fewer products are searched by one thread. Measured with `bench-scan --threads 2`: 50,000
/// products gain nothing, 100,000 a quarter and 200,000 a fifth.
const SHARED_FROM: usize = 80_000;

/// Added to the score of products that make a claim that was asked for: scores go from 0 to 1, so
/// that these come before all others.
pub(super) const CLAIM: f32 = 2.0;

/// A page of matching products.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    /// The number of products that match, on this page or not.
    pub total: usize,
    /// The number of products that may match and were left out, because more texts would have to be
    /// read than one search may read.
    pub unverified: usize,
    /// Whether there was no time to find all: then nothing is told of what was found.
    pub timed_out: bool,
    /// The products of the page, best first.
    pub hits: Vec<Hit>,
    /// Why each of them stands where it stands, if that was asked; where nothing was scored,
    /// nothing can be said.
    pub explanations: HashMap<ProductId, Explanation>,
}

/// The products that satisfy a plan, in its order and from its `offset`. `judge` is asked at most
/// once and returns those of the products whose texts break an exclusion.
pub(super) fn search<E>(
    segments: &[LiveSegment],
    statistics: &Statistics<'_>,
    plan: &Plan<'_>,
    judge: impl FnOnce(&[ProductId]) -> Result<Vec<ProductId>, E>,
) -> Result<Matches, E> {
    let products: usize = segments.iter().map(|live| live.seen_count(plan.visibility)).sum();
    let closely = (products as u64) < SKETCHED_FROM;
    let threads = if products < SHARED_FROM { 1 } else { plan.threads };
    search_with(segments, statistics, plan, Effort { closely, threads }, judge)
}

/// How a search goes about it; the answer is the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Whether every vector is looked at closely, instead of sketches first.
    pub(super) closely: bool,
    /// How many threads share the segments.
    pub(super) threads: usize,
}

/// The same, with a given effort.
pub(super) fn search_with<E>(
    segments: &[LiveSegment],
    statistics: &Statistics<'_>,
    plan: &Plan<'_>,
    effort: Effort,
    judge: impl FnOnce(&[ProductId]) -> Result<Vec<ProductId>, E>,
) -> Result<Matches, E> {
    let said = exclude::said(segments, plan);
    match &plan.kind {
        QueryKind::MatchAll => everything(segments, plan, said, judge),
        QueryKind::Terms(words) => {
            relevant(segments, statistics, plan, words, &said, effort, judge)
        }
    }
}

/// All that satisfies the conditions, without a score.
fn everything<E>(
    segments: &[LiveSegment],
    plan: &Plan<'_>,
    mut said: Vec<Said>,
    judge: impl FnOnce(&[ProductId]) -> Result<Vec<ProductId>, E>,
) -> Result<Matches, E> {
    let unverified = exclude::judged(segments, plan, &mut said, judge)?;
    let conditions = Conditions::of(plan);
    let mut first = First::of(plan);
    let mut total = 0;
    // Newest first, as most want them: what comes later then rarely displaces anything.
    for source in sources(segments, &said).rev() {
        if plan.is_timed_out() {
            return Ok(Matches { timed_out: true, ..Matches::default() });
        }
        let len = source.live.segment.len();
        for block in (0..len.div_ceil(BLOCK)).rev() {
            let there = u64::MAX >> (BLOCK - BLOCK.min(len - block * BLOCK));
            let passing = conditions.passing(source, block, there);
            total += passing.count_ones() as usize;
            ones(passing).for_each(|at| first.offer(source.live, block * BLOCK + at, 0.0));
        }
    }
    let hits = first.into_page(plan.offset);
    Ok(Matches { total, unverified, hits, ..Matches::default() })
}

/// What is relevant to the words and to what they mean.
fn relevant<E>(
    segments: &[LiveSegment],
    statistics: &Statistics<'_>,
    plan: &Plan<'_>,
    words: &QueryTerms,
    said: &[Said],
    effort: Effort,
    judge: impl FnOnce(&[ProductId]) -> Result<Vec<ProductId>, E>,
) -> Result<Matches, E> {
    let asked = Asked::of(segments, statistics, &plan.tuning.ranking, words);
    let (meant, weights) = (plan.dense.as_ref(), &plan.tuning.fusion);
    let mut standard = meant.map(|meant| Standard::new(weights, meant));
    let is_final = said.iter().all(|said| said.perhaps.is_empty());
    let (title, conditions) = (plan.title_fingerprint, Conditions::of(plan));
    let Effort { closely, threads } = effort;
    let search = Search { asked: &asked, meant, closely, title, conditions, is_final };
    let sources: Vec<_> = sources(segments, said).collect();
    let mut candidates = gather(0, &sources, &search, standard.as_mut(), threads);
    let meant = meant.zip(standard.as_ref());
    if plan.is_timed_out() {
        return Ok(Matches { timed_out: true, ..Matches::default() });
    }
    let unverified = match is_final {
        true => 0,
        false => take_out_refused(segments, said, meant, &mut candidates, judge)?,
    };

    let fusion = match meant {
        None => Fusion::lexical_only(weights),
        Some((meant, standard)) => weigh(segments, weights, meant, standard, &mut candidates),
    };
    let scores: Vec<f32> =
        candidates.iter().map(|candidate| fusion.score(candidate.signals())).collect();
    // A title that is the query says nothing about how good the others could be.
    let others = candidates.iter().zip(&scores).filter(|(candidate, _)| !candidate.is_title);
    let best = others.map(|(_, score)| *score).fold(0.0, f32::max);
    let cut = fusion.cutoff().at(best);
    let mut first = First::of(plan);
    let mut total = 0;
    for (candidate, score) in candidates.iter().zip(&scores) {
        if *score >= cut {
            total += 1;
            let live = &segments[candidate.segment as usize];
            let claim = if makes_claim(said, candidate) { CLAIM } else { 0.0 };
            first.offer(live, usize::from(candidate.doc), score + claim);
        }
    }
    let hits = first.into_page(plan.offset);
    let explanations = match plan.explain {
        true => explain(segments, &asked, words, &fusion, &candidates, &hits),
        false => HashMap::new(),
    };
    let explanations = with_claims(segments, said, &candidates, explanations);
    Ok(Matches { total, unverified, hits, explanations, ..Matches::default() })
}

/// The parts of the scores of a page.
fn explain(
    segments: &[LiveSegment],
    asked: &Asked<'_>,
    words: &QueryTerms,
    fusion: &Fusion,
    candidates: &[Candidate],
    hits: &[Hit],
) -> HashMap<ProductId, Explanation> {
    let shown: HashSet<ProductId> = hits.iter().map(|hit| hit.product).collect();
    let of_shown = candidates.iter().filter_map(|candidate| {
        let id = product_of(segments, candidate);
        shown.contains(&id).then_some((id, candidate))
    });
    let explained = of_shown.map(|(id, candidate)| {
        let mut terms = asked.said(words, candidate.segment as usize, candidate.doc);
        terms.iter_mut().for_each(|term| term.score *= asked.share());
        let segment = candidate.segment as usize;
        let signals = candidate.signals();
        let neighbours = match signals.lexical > 0.0 {
            true => asked.for_neighbours(segment, usize::from(candidate.doc)),
            false => 0.0,
        };
        (id, fusion.explain(signals, terms, neighbours))
    });
    explained.collect()
}

fn product_of(segments: &[LiveSegment], candidate: &Candidate) -> ProductId {
    segments[candidate.segment as usize].segment.ids[usize::from(candidate.doc)]
}

/// Whether a product that was found claims to be free of what was asked for so.
fn makes_claim(said: &[Said], candidate: &Candidate) -> bool {
    let said = said.get(candidate.segment as usize);
    said.is_some_and(|said| said.claims.get(usize::from(candidate.doc)))
}

/// Tells of the claims that products make.
fn with_claims(
    segments: &[LiveSegment],
    said: &[Said],
    candidates: &[Candidate],
    mut explanations: HashMap<ProductId, Explanation>,
) -> HashMap<ProductId, Explanation> {
    if !explanations.is_empty() {
        for candidate in candidates.iter().filter(|candidate| makes_claim(said, candidate)) {
            let explanation = explanations.get_mut(&product_of(segments, candidate));
            explanation.into_iter().for_each(|explanation| explanation.claims = true);
        }
    }
    explanations
}

/// Takes out the candidates that may break an exclusion and do, and returns how many were left out
/// unread. Texts are read only of those that may be relevant after a close look, the best first.
fn take_out_refused<E>(
    segments: &[LiveSegment],
    said: &[Said],
    meant: Option<(&DenseQuery, &Standard<'_>)>,
    candidates: &mut Vec<Candidate>,
    judge: impl FnOnce(&[ProductId]) -> Result<Vec<ProductId>, E>,
) -> Result<usize, E> {
    let may_break = |candidate: &Candidate| {
        let said = said.get(candidate.segment as usize);
        said.is_some_and(|said| said.perhaps.get(usize::from(candidate.doc)))
    };
    if let Some((meant, standard)) = meant {
        let hope = standard.anyway();
        look_closely(segments, meant, candidates.iter_mut().filter(|one| may_break(one)));
        candidates.retain(|one| {
            let Signals { lexical: words, is_exact_title: is_title, .. } = one.signals();
            let similarity = one.most().dense_score();
            !may_break(one) || is_title || hope.may_pass(words, similarity)
        });
    }
    let fusion = meant.map(|(_, standard)| standard.fusion());
    let score = |candidate: &Candidate| match (&fusion, candidate.signals()) {
        (_, Signals { is_exact_title: true, .. }) => f32::INFINITY,
        (Some(fusion), signals) => fusion.score(signals),
        (None, signals) => signals.lexical,
    };
    let mut in_doubt: Vec<(f32, ProductId)> = candidates
        .iter()
        .filter(|one| may_break(one))
        .map(|one| (score(one), product_of(segments, one)))
        .collect();
    let unverified = in_doubt.len().saturating_sub(MOST_READ);
    if unverified > 0 {
        in_doubt.sort_unstable_by(|(one, id), (other, other_id)| {
            other.total_cmp(one).then_with(|| id.cmp(other_id))
        });
        in_doubt.truncate(MOST_READ);
    }
    let read: Vec<ProductId> = in_doubt.into_iter().map(|(_, id)| id).collect();
    if read.is_empty() {
        return Ok(0);
    }
    let refused: HashSet<ProductId> = judge(&read)?.into_iter().collect();
    let allowed: HashSet<ProductId> = read.into_iter().filter(|id| !refused.contains(id)).collect();
    candidates.retain(|one| !may_break(one) || allowed.contains(&product_of(segments, one)));
    Ok(unverified)
}

fn sources<'a>(
    segments: &'a [LiveSegment],
    said: &'a [Said],
) -> impl DoubleEndedIterator<Item = Source<'a>> {
    let barred = |at| said.get(at).map(|said: &Said| &said.surely);
    (0..segments.len()).map(move |at| Source { live: &segments[at], barred: barred(at) })
}
