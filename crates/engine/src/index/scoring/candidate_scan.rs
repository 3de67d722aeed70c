//! The candidate scan: visits every segment and keeps the products that may be relevant (phases 2
//! to 5 of [`super`]).

use std::ops::Range;

use fearless_simd::{Level, Select, Simd, SimdBase, SimdMask, dispatch, f32x16, u32x16};

use super::{
    accumulator::ScoreAccumulator, candidate::Candidate, pruning::ScoreThreshold,
    second_stage::RERANKED,
};
use crate::index::{
    bits::{BLOCK, ones},
    dense::SimilarityEstimate,
    filter::{Filter, FilteredSegment},
    lexical::LexicalQuery,
    plan::DenseQuery,
    segment::DocId,
};

/// Where at most this many products of a block are left, their cosines are computed at once: that
/// reads less memory than the sketches of the block. Measured with `bench-scan`: from 6 to 12 make
/// no difference, 0 or 2 cost a fifth more.
const FEW: u32 = 8;

/// The threshold is raised after this many candidates, and after each segment.
const RAISED_AFTER: usize = 2 * RERANKED;

/// Products that are compared at once.
const LANES: usize = 16;

/// What all segments of a scan share.
pub(super) struct CandidateScan<'a> {
    pub(super) lexical: &'a LexicalQuery<'a>,
    pub(super) dense: Option<&'a DenseQuery>,
    /// Whether cosines are computed without sketches.
    pub(super) exact: bool,
    /// The fingerprint of a title that equals the query.
    pub(super) title_fingerprint: u32,
    /// The product whose key is the query: its segment and document number.
    pub(super) key: Option<(usize, usize)>,
    pub(super) filter: Filter<'a>,
    /// Whether every product that passes the filter is eligible. If not, texts decide later, and
    /// no product may raise the threshold.
    pub(super) is_final: bool,
}

impl CandidateScan<'_> {
    /// The candidates of the segments, which are numbered from `first`, in order of segment and
    /// document. `None` for `threshold` keeps all products with a term. The segments are divided
    /// among at most `threads` threads, each of which raises a threshold of its own.
    pub(super) fn run(
        &self,
        first: usize,
        segments: &[FilteredSegment<'_>],
        threshold: Option<&mut ScoreThreshold<'_>>,
        threads: usize,
    ) -> Vec<Candidate> {
        let Some(threshold) = threshold else { return self.run_here(first, segments, None) };
        if threads < 2 || segments.len() < 2 {
            return self.run_here(first, segments, Some(threshold));
        }
        let (own, others) = segments.split_at(share_of(segments, threads));
        let mut threshold_of_others = threshold.clone();
        let candidates = std::thread::scope(|scope| {
            let others = scope.spawn(|| {
                let threshold = Some(&mut threshold_of_others);
                self.run(first + own.len(), others, threshold, threads - 1)
            });
            let mut candidates = self.run_here(first, own, Some(&mut *threshold));
            match others.join() {
                Ok(others) => candidates.extend(others),
                Err(panic) => std::panic::resume_unwind(panic),
            }
            candidates
        });
        threshold.merge(&threshold_of_others);
        candidates
    }

    /// The candidates of segments that this thread scans.
    fn run_here(
        &self,
        first: usize,
        segments: &[FilteredSegment<'_>],
        mut threshold: Option<&mut ScoreThreshold<'_>>,
    ) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        ScoreAccumulator::with(|accumulator| {
            for (number, segment) in (first..).zip(segments) {
                // The caller checks the deadline again and reports it.
                if self.filter.is_timed_out() {
                    break;
                }
                let len = segment.live.segment.len();
                accumulator.accumulate(self.lexical, number, segment.few(), len);
                let scan = SegmentScan { number, segment: *segment, scan: self };
                match &mut threshold {
                    None => scan.keep_matches(accumulator, &mut candidates),
                    Some(threshold) => scan.keep_passing(accumulator, threshold, &mut candidates),
                }
            }
        });
        candidates
    }
}

/// How many of the first segments one of `threads` threads takes: about its share of the products.
fn share_of(segments: &[FilteredSegment<'_>], threads: usize) -> usize {
    let len = |segment: &FilteredSegment<'_>| segment.live.segment.len();
    let share = segments.iter().map(len).sum::<usize>() / threads;
    let up_to = segments.iter().scan(0, |sum, segment| {
        *sum += len(segment);
        Some(*sum)
    });
    let taken = up_to.take_while(|sum| *sum <= share).count();
    taken.clamp(1, segments.len() - 1)
}

/// The scan of one segment.
struct SegmentScan<'a, 's> {
    number: usize,
    segment: FilteredSegment<'a>,
    scan: &'s CandidateScan<'s>,
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
}

impl LexicalBlock<'_> {
    /// Products that are candidates whatever their score.
    fn certain(&self) -> u64 {
        self.exact_titles | self.key
    }
}

impl SegmentScan<'_, '_> {
    fn blocks(&self) -> Range<usize> {
        0..self.segment.live.segment.len().div_ceil(BLOCK)
    }

    fn block<'b>(&self, number: usize, matched: u64, scores: &'b [f32; BLOCK]) -> LexicalBlock<'b> {
        let exact_titles = with_title(self.segment, number, matched, self.scan.title_fingerprint);
        let key = match self.scan.key {
            Some((segment, doc)) if (segment, doc / BLOCK) == (self.number, number) => {
                1 << (doc % BLOCK)
            }
            _ => 0,
        };
        LexicalBlock { number, matched, scores, exact_titles, key }
    }

    /// Keeps all products with a term that pass the filter.
    fn keep_matches(&self, accumulator: &mut ScoreAccumulator, candidates: &mut Vec<Candidate>) {
        for number in self.blocks() {
            accumulator.drain_block(number, |matched, scores| {
                let block = self.block(number, matched, scores);
                let kept = matched | block.key;
                let passing = self.scan.filter.passing(self.segment, number, kept);
                let unknown = &SimilarityEstimate::UNKNOWN;
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
        if self.scan.is_final {
            self.raise_by_lexical(accumulator, threshold);
        }
        let Some(dense) = self.scan.dense else { return };
        let mut from = candidates.len();
        let mut estimate = SimilarityEstimate::UNKNOWN;
        let blocks = self.blocks();
        let last = blocks.end.saturating_sub(1);
        for number in blocks {
            accumulator.drain_block(number, |matched, scores| {
                let block = self.block(number, matched, scores);
                self.scan_block(&block, dense, threshold, &mut estimate, candidates);
            });
            let is_time = number == last || candidates.len() >= from + RAISED_AFTER;
            if self.scan.is_final && is_time {
                self.raise_by_best(&mut candidates[from..], threshold);
                from = candidates.len();
            }
        }
    }

    /// Keeps the products of a block that may pass the threshold. `estimate` is scratch space.
    #[inline]
    fn scan_block(
        &self,
        block: &LexicalBlock<'_>,
        dense: &DenseQuery,
        threshold: &ScoreThreshold<'_>,
        estimate: &mut SimilarityEstimate,
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
        let is_estimated = possible.count_ones() > FEW;
        let passing = if is_estimated {
            let vectors = self.segment.live.vectors();
            vectors.estimate(block.number, &dense.vector, self.scan.exact, estimate);
            self.passing(block, threshold, estimate) & possible | block.certain()
        } else {
            estimate.known = 0;
            possible & self.existing(block.number)
        };
        for at in ones(self.scan.filter.passing(self.segment, block.number, passing)) {
            let mut candidate = self.candidate(block, at, estimate);
            let lexical = candidate.lexical;
            if !is_estimated && (candidate.is_certain() || threshold.may_pass(lexical, 1.0)) {
                self.rescore_exact(&mut candidate);
            }
            let similarity = candidate.upper_bound().dense_score();
            if candidate.is_certain() || threshold.may_pass(lexical, similarity) {
                candidates.push(candidate);
            }
        }
    }

    /// The places of a block that may pass with a cosine of 1; all, or none, where the greatest
    /// score of the block decides. May contain places behind the last product.
    #[inline]
    fn possible(&self, block: &LexicalBlock<'_>, threshold: &ScoreThreshold<'_>) -> u64 {
        let (scale, bonus) = self.scale_and_bonus();
        let most = match block.matched {
            0 => 0.0,
            _ => greatest(block.scores) * scale + bonus,
        };
        if !threshold.may_pass(most, 1.0) {
            return 0;
        }
        match block.matched {
            0 => u64::MAX,
            _ => self.passing(block, threshold, &SimilarityEstimate::GREATEST),
        }
    }

    /// The products of a block that may pass the threshold.
    #[inline]
    fn passing(
        &self,
        block: &LexicalBlock<'_>,
        threshold: &ScoreThreshold<'_>,
        estimate: &SimilarityEstimate,
    ) -> u64 {
        let scale_and_bonus = self.scale_and_bonus();
        dispatch!(
            Level::new(),
            simd => passing(simd, threshold, block.scores, scale_and_bonus, estimate)
        )
    }

    /// The places of a block that have a product.
    fn existing(&self, block: usize) -> u64 {
        let left = self.segment.live.segment.len() - block * BLOCK;
        u64::MAX >> (BLOCK - BLOCK.min(left))
    }

    /// Raises the threshold by the products with the best lexical match.
    fn raise_by_lexical(&self, accumulator: &ScoreAccumulator, threshold: &mut ScoreThreshold<'_>) {
        let (scale, bonus) = self.scale_and_bonus();
        for number in self.blocks() {
            let (matched, scores) = accumulator.block(number);
            let raises = |lexical: f32| threshold.would_raise_coverage(lexical);
            if matched == 0 || !raises(greatest(scores) * scale + bonus) {
                continue;
            }
            let matched = matched & self.scan.filter.open(self.segment, number);
            let raising = ones(matched).filter(|at| raises(scores[*at] * scale + bonus));
            let raising = raising.fold(0, |bits, at| bits | 1 << at);
            let block = self.block(number, raising, scores);
            let raising = raising & !block.exact_titles;
            for at in ones(self.scan.filter.passing(self.segment, number, raising)) {
                let mut best = self.candidate(&block, at, &SimilarityEstimate::UNKNOWN);
                if threshold.would_raise_coverage(best.lexical) {
                    self.rescore_exact(&mut best);
                    threshold.raise(best.signals());
                }
            }
        }
    }

    /// Raises the threshold by the best of these candidates.
    fn raise_by_best(&self, candidates: &mut [Candidate], threshold: &mut ScoreThreshold<'_>) {
        let fusion = threshold.fusion();
        let score = |candidate: &Candidate| fusion.score(candidate.signals());
        let others = candidates.iter_mut().filter(|candidate| !candidate.is_exact_title);
        let best = others.max_by(|one, other| score(one).total_cmp(&score(other)));
        if let Some(best) = best {
            self.rescore_exact(best);
            threshold.raise(best.signals());
        }
        self.shortlist(candidates, threshold);
    }

    /// Raises the threshold by those of these candidates that may be among the best.
    fn shortlist(&self, candidates: &mut [Candidate], threshold: &mut ScoreThreshold<'_>) {
        if threshold.usual().is_none() {
            return;
        }
        let fusion = threshold.fusion();
        let least = threshold.worst_shortlisted(&fusion);
        let scored = candidates.iter_mut().map(|one| (fusion.score(one.signals()), one));
        let mut promising: Vec<_> = scored.filter(|(score, _)| *score > least).collect();
        if promising.len() > RERANKED {
            promising.select_nth_unstable_by(RERANKED, |(one, _), (other, _)| other.total_cmp(one));
            promising.truncate(RERANKED);
        }
        for (_, candidate) in &mut promising {
            if candidate.is_estimated() {
                self.rescore_exact(candidate);
            }
        }
        threshold.shortlist(promising.iter().map(|(_, candidate)| candidate.signals()));
    }

    fn rescore_exact(&self, candidate: &mut Candidate) {
        if let Some(dense) = self.scan.dense {
            let product = (usize::from(candidate.doc), candidate.exact_similarity());
            self.segment.live.vectors().cosines(&dense.vector, std::iter::once(product));
        }
    }

    /// The factor that normalises lexical scores, and the greatest bigram bonus.
    fn scale_and_bonus(&self) -> (f32, f32) {
        (self.scan.lexical.scale(), self.scan.lexical.max_bigram_bonus())
    }

    /// The candidate at a place of a block, with its exact lexical match.
    #[inline]
    fn candidate(
        &self,
        block: &LexicalBlock<'_>,
        at: usize,
        estimate: &SimilarityEstimate,
    ) -> Candidate {
        let doc = block.number * BLOCK + at;
        let lexical = match block.matched >> at & 1 == 1 {
            true => self.scan.lexical.normalised(block.scores[at], self.number, doc),
            false => 0.0,
        };
        let is_known = estimate.known >> at & 1 == 1;
        Candidate {
            segment: self.number as u32,
            doc: doc as DocId,
            is_exact_title: block.exact_titles >> at & 1 == 1,
            is_key: block.key >> at & 1 == 1,
            lexical,
            similarity: if is_known { estimate.similarities[at] } else { f32::NAN },
            error_bound: if is_known { estimate.error_bounds[at] } else { 0.0 },
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

/// The products of a block that may pass the threshold by the upper bounds of their lexical match
/// (score times `scale` plus the greatest `bonus`) and of their similarity.
#[inline(always)]
fn passing<S: Simd>(
    simd: S,
    threshold: &ScoreThreshold<'_>,
    scores: &[f32; BLOCK],
    (scale, bonus): (f32, f32),
    estimate: &SimilarityEstimate,
) -> u64 {
    let zero = f32x16::splat(simd, 0.0);
    let mut passing = 0;
    for from in (0..BLOCK).step_by(LANES) {
        let lanes = from..from + LANES;
        let score = f32x16::from_slice(simd, &scores[lanes.clone()]);
        let lexical = score.simd_gt(zero).select(score * scale + bonus, zero);
        let similarity = f32x16::from_slice(simd, &estimate.similarities[lanes.clone()])
            + f32x16::from_slice(simd, &estimate.error_bounds[lanes]);
        passing |= threshold.may_pass_each(lexical, similarity) << from;
    }
    // Without a vector, the dense score is the lexical score. Such products are rare.
    for at in ones(!estimate.known) {
        let lexical = if scores[at] > 0.0 { scores[at] * scale + bonus } else { 0.0 };
        let may_pass = threshold.may_pass(lexical, lexical * lexical);
        passing = passing & !(1 << at) | u64::from(may_pass) << at;
    }
    passing
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
