//! The candidate scan: visits every segment and keeps the products that may be relevant (phases 2
//! to 5 of [`super`]).

use std::ops::Range;

use fearless_simd::{Level, Simd, SimdBase, SimdMask, dispatch, f32x16, u32x16};

use super::{
    accumulator::ScoreAccumulator, candidate::Candidate, pruning::ScoreThreshold,
    second_stage::RERANKED,
};
use crate::index::{
    bits::{BLOCK, ones},
    dense::BlockSimilarities,
    filter::{Filter, FilteredSegment},
    lexical::LexicalQuery,
    plan::DenseQuery,
    reranking::{FitMatcher, FitQuery},
    segment::DocId,
};

/// The threshold is raised after this many candidates, and after each segment.
const RAISED_AFTER: usize = RERANKED;

/// Products that are compared at once.
const LANES: usize = 16;
const ALL_LANES: u64 = (1 << LANES) - 1;

/// What all segments of a scan share.
pub(super) struct CandidateScan<'a> {
    pub(super) lexical: &'a LexicalQuery<'a>,
    pub(super) dense: Option<&'a DenseQuery>,
    /// Whether cosines are estimated by sketches.
    pub(super) sketched: bool,
    /// The fingerprint of a title that equals the query.
    pub(super) title_fingerprint: u32,
    /// The product whose key is the query: its segment and document number.
    pub(super) key: Option<(usize, usize)>,
    pub(super) filter: Filter<'a>,
    /// What the second stage considers first.
    pub(super) fitting: Option<&'a FitQuery<'a>>,
    /// Whether every product that passes the filter is eligible. If not, texts decide later, and
    /// no product may raise the threshold.
    pub(super) is_final: bool,
}

/// A part of a segment, which one thread scans.
#[derive(Clone)]
struct Part<'a> {
    /// The number of the segment.
    number: usize,
    segment: FilteredSegment<'a>,
    blocks: Range<usize>,
}

impl Part<'_> {
    /// Its documents.
    fn docs(&self) -> Range<usize> {
        let len = self.segment.live.segment.len();
        self.blocks.start * BLOCK..(self.blocks.end * BLOCK).min(len)
    }
}

impl CandidateScan<'_> {
    /// The candidates of the segments, in order of segment and document. `None` for `threshold` keeps
    /// all products with a term. The blocks are divided among at most `threads` threads, each of which
    /// raises a threshold of its own.
    pub(super) fn run(
        &self,
        segments: &[FilteredSegment<'_>],
        threshold: Option<&mut ScoreThreshold<'_>>,
        threads: usize,
    ) -> Vec<Candidate> {
        let parts = segments.iter().enumerate().map(|(number, segment)| {
            let blocks = 0..segment.live.segment.len().div_ceil(BLOCK);
            Part { number, segment: *segment, blocks }
        });
        let parts: Vec<Part<'_>> = parts.collect();
        match threshold {
            None => self.run_here(&parts, None),
            Some(threshold) => self.run_on(threads, &parts, threshold),
        }
    }

    /// The candidates of parts that are divided among threads.
    fn run_on(
        &self,
        threads: usize,
        parts: &[Part<'_>],
        threshold: &mut ScoreThreshold<'_>,
    ) -> Vec<Candidate> {
        if threads < 2 {
            return self.run_here(parts, Some(threshold));
        }
        let (own, others) = divided(parts, threads);
        let mut threshold_of_others = threshold.clone();
        let candidates = std::thread::scope(|scope| {
            let others =
                scope.spawn(|| self.run_on(threads - 1, &others, &mut threshold_of_others));
            let mut candidates = self.run_here(&own, Some(&mut *threshold));
            match others.join() {
                Ok(others) => candidates.extend(others),
                Err(panic) => std::panic::resume_unwind(panic),
            }
            candidates
        });
        threshold.merge(&threshold_of_others);
        candidates
    }

    /// The candidates of parts that this thread scans.
    fn run_here(
        &self,
        parts: &[Part<'_>],
        mut threshold: Option<&mut ScoreThreshold<'_>>,
    ) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        ScoreAccumulator::with(|accumulator| {
            for part in parts {
                // The caller checks the deadline again and reports it.
                if self.filter.is_timed_out() {
                    break;
                }
                let few = part.segment.few();
                accumulator.accumulate(self.lexical, part.number, &part.docs(), few);
                let scan = SegmentScan::new(self, part);
                match &mut threshold {
                    None => scan.keep_matches(accumulator, &mut candidates),
                    Some(threshold) => scan.keep_passing(accumulator, threshold, &mut candidates),
                }
            }
        });
        candidates
    }
}

/// What one of `threads` threads takes, the first blocks, and the rest.
fn divided<'a>(parts: &[Part<'a>], threads: usize) -> (Vec<Part<'a>>, Vec<Part<'a>>) {
    let mut left = parts.iter().map(|part| part.blocks.len()).sum::<usize>() / threads;
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for part in parts {
        let Range { start, end } = part.blocks;
        let middle = start + left.min(end - start);
        left -= middle - start;
        own.extend((start < middle).then(|| Part { blocks: start..middle, ..part.clone() }));
        others.extend((middle < end).then(|| Part { blocks: middle..end, ..part.clone() }));
    }
    (own, others)
}

/// The scan of a part of one segment.
struct SegmentScan<'a, 's> {
    number: usize,
    segment: FilteredSegment<'a>,
    blocks: Range<usize>,
    scan: &'s CandidateScan<'s>,
    fitting: Option<FitMatcher<'s>>,
}

/// The lexical scores of a block, as the accumulator has them.
struct LexicalBlock<'a> {
    number: usize,
    /// Products with a score.
    matched: u64,
    scores: &'a [f32; BLOCK],
    /// Those of them whose title equals the query.
    exact_titles: u64,
    /// The product whose key is the query, with a score or without.
    key: u64,
    /// Products that may fit the query.
    close: u64,
}

impl LexicalBlock<'_> {
    /// Products that are candidates whatever their score.
    fn certain(&self) -> u64 {
        self.exact_titles | self.key
    }
}

impl<'a: 's, 's> SegmentScan<'a, 's> {
    fn new(scan: &'s CandidateScan<'s>, part: &Part<'a>) -> Self {
        let Part { number, segment, blocks } = part.clone();
        let fitting = scan.fitting.map(|query| FitMatcher::new(query, &segment.live.segment));
        Self { number, segment, blocks, scan, fitting }
    }

    fn block<'b>(&self, number: usize, matched: u64, scores: &'b [f32; BLOCK]) -> LexicalBlock<'b> {
        let exact_titles = with_title(self.segment, number, matched, self.scan.title_fingerprint);
        let key = match self.scan.key {
            Some((segment, doc)) if (segment, doc / BLOCK) == (self.number, number) => {
                1 << (doc % BLOCK)
            }
            _ => 0,
        };
        let close = self.fitting.as_ref().map_or(0, |fitting| fitting.close(number));
        LexicalBlock { number, matched, scores, exact_titles, key, close }
    }

    /// Keeps all products with a term that pass the filter.
    fn keep_matches(&self, accumulator: &mut ScoreAccumulator, candidates: &mut Vec<Candidate>) {
        for number in self.blocks.clone() {
            accumulator.drain_block(number, |matched, scores| {
                let block = self.block(number, matched, scores);
                let kept = matched | block.key;
                let passing = self.scan.filter.passing(self.segment, number, kept);
                let unknown = &BlockSimilarities::UNKNOWN;
                candidates.extend(ones(passing).map(|at| self.candidate(&block, at, unknown)));
            });
        }
    }

    /// Keeps all products that may pass the threshold, and raises it.
    fn keep_passing(
        &self,
        accumulator: &mut ScoreAccumulator,
        threshold: &mut ScoreThreshold<'_>,
        candidates: &mut Vec<Candidate>,
    ) {
        let Some(dense) = self.scan.dense else { return };
        if self.scan.is_final {
            self.raise_by_lexical(accumulator, dense, threshold);
        }
        let mut from = candidates.len();
        let mut similarities = BlockSimilarities::UNKNOWN;
        let last = self.blocks.end.saturating_sub(1);
        for number in self.blocks.clone() {
            accumulator.drain_block(number, |matched, scores| {
                let block = self.block(number, matched, scores);
                self.scan_block(&block, dense, threshold, &mut similarities, candidates);
            });
            let is_time = number == last || candidates.len() >= from + RAISED_AFTER;
            if self.scan.is_final && is_time {
                self.raise_by(&candidates[from..], threshold);
                from = candidates.len();
            }
        }
    }

    /// Keeps the products of a block that may pass the threshold. `similarities` is scratch space.
    #[inline]
    fn scan_block(
        &self,
        block: &LexicalBlock<'_>,
        dense: &DenseQuery,
        threshold: &ScoreThreshold<'_>,
        similarities: &mut BlockSimilarities,
        candidates: &mut Vec<Candidate>,
    ) {
        // Attributes and exclusions first: few products may be left to score.
        let open = self.scan.filter.open(self.segment, block.number);
        if open == 0 {
            return;
        }
        // Those that may pass with a cosine of 1.
        let possible = (self.possible(block, threshold) | block.certain()) & open;
        if possible == 0 {
            return;
        }
        self.compare(block.number, dense, possible, similarities);
        let passing = self.passing(block, threshold, similarities) & possible | block.certain();
        let passing = self.scan.filter.passing(self.segment, block.number, passing);
        let kept = ones(passing).filter_map(|at| self.keep(block, at, threshold, similarities));
        candidates.extend(kept);
    }

    /// Compares some products of a block with the query.
    #[inline]
    fn compare(
        &self,
        block: usize,
        dense: &DenseQuery,
        products: u64,
        similarities: &mut BlockSimilarities,
    ) {
        let (vectors, sketched) = (self.segment.live.vectors(), self.scan.sketched);
        vectors.compare(block, &dense.vector, products, sketched, similarities);
    }

    /// The candidate at a place of a block, if it passes the threshold.
    #[inline]
    fn keep(
        &self,
        block: &LexicalBlock<'_>,
        at: usize,
        threshold: &ScoreThreshold<'_>,
        similarities: &BlockSimilarities,
    ) -> Option<Candidate> {
        let mut candidate = self.candidate(block, at, similarities);
        let similarity = candidate.signals().dense_score();
        let may_pass = |one: &Candidate, fits| {
            one.is_certain() || threshold.may_pass(one.lexical, similarity, fits)
        };
        let is_close = block.close >> at & 1 == 1;
        candidate.fits = is_close
            && may_pass(&candidate, true)
            && self.fitting.as_ref().is_some_and(|fitting| fitting.fits(candidate.doc));
        (candidate.fits || may_pass(&candidate, false)).then_some(candidate)
    }

    /// The places of a block that may pass with a cosine of 1; all, or none, where the greatest
    /// score of the block decides. May contain places behind the last product.
    #[inline]
    fn possible(&self, block: &LexicalBlock<'_>, threshold: &ScoreThreshold<'_>) -> u64 {
        // The bounds grow with the lexical match.
        if threshold.may_pass(0.0, 1.0, false) {
            return u64::MAX;
        }
        let most = match block.matched {
            0 => 0.0,
            _ => greatest(block.scores) * self.scan.lexical.scale(),
        };
        let may_pass = |fits| threshold.may_pass(most, 1.0, fits);
        match may_pass(false) || block.close != 0 && may_pass(true) {
            true => self.passing(block, threshold, &BlockSimilarities::GREATEST),
            false => 0,
        }
    }

    /// The products of a block that may pass the threshold.
    #[inline]
    fn passing(
        &self,
        block: &LexicalBlock<'_>,
        threshold: &ScoreThreshold<'_>,
        similarities: &BlockSimilarities,
    ) -> u64 {
        let bounds = BlockBounds {
            threshold,
            scores: block.scores,
            scale: self.scan.lexical.scale(),
            similarities,
        };
        dispatch!(Level::new(), simd => {
            let unmatched = bounds.near(simd) | !similarities.known;
            let mut passing = bounds.passing(simd, block.matched | unmatched, false);
            if block.close & !passing != 0 {
                passing |= bounds.passing(simd, block.close & !passing, true);
            }
            passing
        })
    }

    /// Raises the threshold by the products with the best lexical match.
    fn raise_by_lexical(
        &self,
        accumulator: &ScoreAccumulator,
        dense: &DenseQuery,
        threshold: &mut ScoreThreshold<'_>,
    ) {
        let scale = self.scan.lexical.scale();
        let mut similarities = BlockSimilarities::UNKNOWN;
        for number in self.blocks.clone() {
            let (matched, scores) = accumulator.block(number);
            let raises = |lexical: f32| threshold.would_raise_coverage(lexical);
            if matched == 0 || !raises(greatest(scores) * scale) {
                continue;
            }
            let matched = matched & self.scan.filter.open(self.segment, number);
            let raising = ones(matched).filter(|at| raises(scores[*at] * scale));
            let raising = raising.fold(0, |bits, at| bits | 1 << at);
            let block = self.block(number, raising, scores);
            let raising = raising & !block.exact_titles;
            let raising = self.scan.filter.passing(self.segment, number, raising);
            self.compare(number, dense, raising, &mut similarities);
            for at in ones(raising) {
                let best = self.candidate(&block, at, &similarities);
                if threshold.would_raise_coverage(best.lexical) {
                    threshold.raise(best.signals());
                }
            }
        }
    }

    /// Raises the threshold by these candidates.
    fn raise_by(&self, candidates: &[Candidate], threshold: &mut ScoreThreshold<'_>) {
        let fusion = threshold.fusion();
        let others = candidates.iter().filter(|candidate| !candidate.is_exact_title);
        let scored = others.map(|candidate| (fusion.score(candidate.signals()), candidate));
        let best = scored.max_by(|(one, _), (other, _)| one.total_cmp(other));
        if let Some((_, best)) = best {
            threshold.raise(best.signals());
        }
        threshold.shortlist(candidates.iter().map(|one| (one.signals(), one.fits)));
    }

    /// The candidate at a place of a block, with its exact lexical match.
    #[inline]
    fn candidate(
        &self,
        block: &LexicalBlock<'_>,
        at: usize,
        similarities: &BlockSimilarities,
    ) -> Candidate {
        let doc = block.number * BLOCK + at;
        let lexical = match block.matched >> at & 1 == 1 {
            true => block.scores[at] * self.scan.lexical.scale(),
            false => 0.0,
        };
        let is_known = similarities.known >> at & 1 == 1;
        Candidate {
            segment: self.number as u32,
            doc: doc as DocId,
            is_exact_title: block.exact_titles >> at & 1 == 1,
            is_key: block.key >> at & 1 == 1,
            fits: false,
            lexical,
            similarity: if is_known { similarities.cosines[at] } else { f32::NAN },
        }
    }
}

/// The greatest of a block's scores.
#[inline]
fn greatest(scores: &[f32; BLOCK]) -> f32 {
    dispatch!(Level::new(), _ => {
        // Floats that are not negative compare like their bits, as integers.
        f32::from_bits(scores.iter().fold(0, |greatest, score| greatest.max(score.to_bits())))
    })
}

/// The upper bounds of the products of a block.
struct BlockBounds<'a> {
    threshold: &'a ScoreThreshold<'a>,
    scores: &'a [f32; BLOCK],
    /// The lexical match is the score times this.
    scale: f32,
    similarities: &'a BlockSimilarities,
}

impl BlockBounds<'_> {
    /// The products whose similarity is enough without a lexical match.
    #[inline(always)]
    fn near<S: Simd>(&self, simd: S) -> u64 {
        let least = self.threshold.least_dense_score();
        let mut near = 0;
        for from in (0..BLOCK).step_by(LANES) {
            let similarity =
                f32x16::from_slice(simd, &self.similarities.cosines[from..from + LANES]);
            near |= similarity.max(0.0).simd_ge(least).to_bitmask() << from;
        }
        near
    }

    /// Which of these products may pass the threshold, if those that may `fit` the query do.
    #[inline(always)]
    fn passing<S: Simd>(&self, simd: S, products: u64, fits: bool) -> u64 {
        let Self { threshold, scores, scale, similarities } = *self;
        let mut passing = 0;
        for from in (0..BLOCK).step_by(LANES) {
            if products >> from & ALL_LANES == 0 {
                continue;
            }
            let lanes = from..from + LANES;
            let lexical = f32x16::from_slice(simd, &scores[lanes.clone()]) * scale;
            let similarity = f32x16::from_slice(simd, &similarities.cosines[lanes]);
            passing |= threshold.may_pass_each(lexical, similarity, fits) << from;
        }
        // Without a vector, the dense score is the lexical score. Such products are rare.
        for at in ones(products & !similarities.known) {
            let lexical = scores[at] * scale;
            let may_pass = threshold.may_pass(lexical, lexical * lexical, fits);
            passing = passing & !(1 << at) | u64::from(may_pass) << at;
        }
        passing & products
    }
}

/// Those of the products `matched` of a block whose title has this fingerprint.
#[inline]
fn with_title(segment: FilteredSegment<'_>, block: usize, matched: u64, fingerprint: u32) -> u64 {
    let titles = &segment.live.segment.title_fingerprints[block * BLOCK..];
    match titles.first_chunk() {
        _ if matched == 0 => 0,
        Some(titles) => matched & dispatch!(Level::new(), simd => equal(simd, titles, fingerprint)),
        None => {
            let is_equal = |at: &usize| titles.get(*at) == Some(&fingerprint);
            ones(matched).filter(is_equal).fold(0, |bits, at| bits | 1 << at)
        }
    }
}

/// A bit for each title with this fingerprint.
#[inline(always)]
fn equal<S: Simd>(simd: S, titles: &[u32; BLOCK], fingerprint: u32) -> u64 {
    let mut bits = 0;
    for from in (0..BLOCK).step_by(LANES) {
        let titles = u32x16::from_slice(simd, &titles[from..from + LANES]);
        bits |= titles.simd_eq(fingerprint).to_bitmask() << from;
    }
    bits
}
