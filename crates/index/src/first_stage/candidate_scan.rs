//! The candidate scan: visits every segment and keeps the products that may be relevant (phases 2
//! to 5 of [`crate::scoring`]).

use std::ops::Range;

use fearless_simd::{Level, Simd, SimdBase, SimdMask, dispatch, f32x16};

use super::{
    accumulator::ScoreAccumulator,
    block_bounds::BlockBounds,
    candidate::Candidate,
    fitting::{FitMatcher, FitQuery},
    nearest::Nearest,
    pruning::ScoreThreshold,
};
use crate::{
    bits::{BLOCK, BitSet, ones},
    dense::{BlockSimilarities, QueryVector},
    filter::{Filter, FilteredSegment},
    lexical::LexicalQuery,
    parallel,
    plan::DenseQuery,
    rerank_query::RERANKED,
    segment::DocId,
};

/// The threshold is raised after this many candidates, and after each segment.
const RAISED_AFTER: usize = RERANKED;

/// The most products, about, that raise it before any other is compared.
const MAX_RAISING: usize = 4 * RERANKED;

/// Where at most this many products of a block may pass, they are compared one by one: that reads
/// less memory than the whole block.
const FEW: usize = 8;
/// They are compared after this many, so that their memory accesses do not wait for each other.
const COMPARED_AT_ONCE: usize = 64;

/// Products whose bounds are computed at once.
const LANES: usize = 16;
const ALL_LANES: u64 = (1 << LANES) - 1;

/// What all segments of a scan share.
pub(crate) struct CandidateScan<'a> {
    pub(crate) lexical: &'a LexicalQuery<'a>,
    pub(crate) dense: Option<&'a DenseQuery>,
    /// Whether cosines are estimated by sketches.
    pub(crate) sketched: bool,
    /// The fingerprint of a title that equals the query.
    pub(crate) title_fingerprint: u32,
    /// The product whose key is the query: its segment and document number.
    pub(crate) key: Option<(usize, usize)>,
    pub(crate) filter: Filter<'a>,
    /// What the second stage considers first.
    pub(crate) fitting: Option<&'a FitQuery<'a>>,
    /// The query's vector by the transformer, if the second stage considers the nearest products.
    pub(crate) deep: Option<&'a QueryVector>,
    /// Whether every product that passes the filter is eligible. If not, texts decide later, and
    /// no product may raise the threshold.
    pub(crate) is_final: bool,
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
    pub(crate) fn run(
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
        let mut nearest = Nearest::new();
        let mut candidates = match threshold {
            None => self.run_here(&parts, None, &mut nearest),
            Some(threshold) => self.run_on(threads, &parts, threshold, &mut nearest),
        };
        if let (Some(_), Some(dense)) = (self.deep, self.dense) {
            nearest.join(&mut candidates, |near| {
                let vectors = segments[near.segment as usize].live.vectors();
                let place = (usize::from(near.doc), &mut near.similarity);
                vectors.compare_each(&dense.vector, self.sketched, std::iter::once(place));
            });
        }
        candidates
    }

    /// The candidates of parts that are divided among threads.
    fn run_on(
        &self,
        threads: usize,
        parts: &[Part<'_>],
        threshold: &mut ScoreThreshold<'_>,
        nearest: &mut Nearest,
    ) -> Vec<Candidate> {
        if threads < 2 {
            return self.run_here(parts, Some(threshold), nearest);
        }
        let (own, others) = divided(parts, threads);
        let mut threshold_of_others = threshold.clone();
        let mut nearest_of_others = Nearest::new();
        let (mut candidates, from_others) = parallel::join(
            || self.run_here(&own, Some(&mut *threshold), &mut *nearest),
            || self.run_on(threads - 1, &others, &mut threshold_of_others, &mut nearest_of_others),
        );
        candidates.extend(from_others);
        threshold.merge(&threshold_of_others);
        nearest.merge(nearest_of_others);
        candidates
    }

    /// The candidates of parts that this thread scans.
    fn run_here(
        &self,
        parts: &[Part<'_>],
        mut threshold: Option<&mut ScoreThreshold<'_>>,
        nearest: &mut Nearest,
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
                if let Some(deep) = self.deep {
                    scan.keep_nearest(accumulator, deep, nearest);
                }
                accumulator.clear(&part.blocks);
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
    /// The products whose title has the fingerprint of the query, ascending.
    titled: &'a [DocId],
    fitting: Option<FitMatcher<'s>>,
}

/// The lexical scores of a block, as the accumulator has them.
struct LexicalBlock<'a> {
    number: usize,
    scores: &'a [f32; BLOCK],
    /// An upper bound of the similarities.
    similarity: f32,
    /// Products with a score.
    matched: u64,
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
        let titled = segment.live.segment.titles.docs(scan.title_fingerprint);
        Self { number, segment, blocks, scan, titled, fitting }
    }

    fn block<'b>(
        &self,
        number: usize,
        (matched, scores): (u64, &'b [f32; BLOCK]),
        similarity: f32,
    ) -> LexicalBlock<'b> {
        let exact_titles = if matched == 0 { 0 } else { matched & self.titled(number) };
        let (key, close) = (self.key(number), self.close(number));
        LexicalBlock { number, scores, similarity, matched, exact_titles, key, close }
    }

    /// The product of a block whose key is the query.
    #[inline]
    fn key(&self, block: usize) -> u64 {
        match self.scan.key {
            Some((segment, doc)) if (segment, doc / BLOCK) == (self.number, block) => {
                1 << (doc % BLOCK)
            }
            _ => 0,
        }
    }

    /// The products of a block that may fit the query.
    #[inline]
    fn close(&self, block: usize) -> u64 {
        self.fitting.as_ref().map_or(0, |fitting| fitting.close(block))
    }

    /// The bounds of all blocks.
    fn bounds(&self, accumulator: &ScoreAccumulator, dense: &DenseQuery) -> BlockBounds {
        let Range { start, end } = self.blocks;
        let (vectors, sketched) = (self.segment.live.vectors(), self.scan.sketched);
        let mut lexical = accumulator.greatest(&self.blocks);
        lexical.iter_mut().for_each(|greatest| *greatest *= self.scan.lexical.scale());
        let similarity = |block| vectors.greatest_cosine(block, &dense.vector, sketched);
        let close = self
            .fitting
            .as_ref()
            .map(|fitting| BitSet::from_flags((start..end).map(|block| fitting.close(block) != 0)));
        let titled = self.titled.iter().map(|doc| usize::from(*doc) / BLOCK);
        let key = self.scan.key.filter(|(segment, _)| *segment == self.number);
        let certain = titled.chain(key.map(|(_, doc)| doc / BLOCK));
        let certain = certain.filter(|block| self.blocks.contains(block));
        let certain = BitSet::with(end - start, certain.map(|block| block - start));
        BlockBounds::new(lexical, (start..end).map(similarity), close, certain)
    }

    /// The products of a block whose title has the fingerprint of the query.
    #[inline]
    fn titled(&self, block: usize) -> u64 {
        let block_of = |doc: &DocId| usize::from(*doc) / BLOCK;
        let first = self.titled.partition_point(|doc| block_of(doc) < block);
        let titled = self.titled[first..].iter().take_while(|doc| block_of(doc) == block);
        titled.fold(0, |bits, doc| bits | 1 << (usize::from(*doc) % BLOCK))
    }

    /// Keeps all products with a term that pass the filter.
    fn keep_matches(&self, accumulator: &ScoreAccumulator, candidates: &mut Vec<Candidate>) {
        for number in self.blocks.clone() {
            let block = self.block(number, accumulator.block(number), f32::INFINITY);
            let kept = block.matched | block.key;
            let passing = self.scan.filter.passing(self.segment, number, kept);
            candidates.extend(ones(passing).map(|at| self.candidate(&block, at)));
        }
    }

    /// Keeps all products that may pass the threshold, and raises it.
    fn keep_passing(
        &self,
        accumulator: &ScoreAccumulator,
        threshold: &mut ScoreThreshold<'_>,
        candidates: &mut Vec<Candidate>,
    ) {
        let Some(dense) = self.scan.dense else { return };
        let bounds = self.bounds(accumulator, dense);
        let mut passing = bounds.passing(threshold);
        let mut raised_from = f32::INFINITY;
        if self.scan.is_final {
            raised_from = self.raise_by_lexical(accumulator, &bounds, &passing, dense, threshold);
            passing = bounds.passing(threshold);
        }
        let mut from = candidates.len();
        let mut similarities = BlockSimilarities::UNKNOWN;
        let mut waiting = Vec::with_capacity(COMPARED_AT_ONCE + FEW);
        let mut next = passing.first_from(0);
        while let Some(at) = next {
            let number = self.blocks.start + at;
            let block = self.block(number, accumulator.block(number), bounds.similarity(at));
            let possible = self.possible(&block, dense, threshold);
            if possible.count_ones() as usize <= FEW {
                waiting.extend(ones(possible).map(|at| self.candidate(&block, at)));
            } else {
                self.keep_waiting(&mut waiting, dense, threshold, candidates);
                self.compare(number, dense, possible, &mut similarities);
                self.keep(&block, possible, threshold, &similarities, candidates);
            }
            let is_time = candidates.len() + waiting.len() >= from + RAISED_AFTER;
            if is_time || waiting.len() >= COMPARED_AT_ONCE {
                self.keep_waiting(&mut waiting, dense, threshold, candidates);
            }
            if is_time {
                self.raise_again(&candidates[from..], raised_from, threshold);
                passing = bounds.passing(threshold);
                from = candidates.len();
            }
            next = passing.first_from(at + 1);
        }
        self.keep_waiting(&mut waiting, dense, threshold, candidates);
        self.raise_again(&candidates[from..], raised_from, threshold);
    }

    /// Keeps the products that are nearest by the vector of the transformer and pass the filter.
    fn keep_nearest(
        &self,
        accumulator: &ScoreAccumulator,
        deep: &QueryVector,
        nearest: &mut Nearest,
    ) {
        let (live, sketched) = (self.segment.live, self.scan.sketched);
        let mut similarities = BlockSimilarities::UNKNOWN;
        for number in self.blocks.clone() {
            let open = self.scan.filter.open(self.segment, number);
            if open == 0 {
                continue;
            }
            live.deep().compare(number, deep, open, sketched, &mut similarities);
            let near = at_least(&similarities.cosines, 1.0, nearest.least());
            let near = near & open & similarities.known;
            if near == 0 {
                continue;
            }
            let block = self.block(number, accumulator.block(number), 1.0);
            for at in ones(self.scan.filter.passing(self.segment, number, near)) {
                let candidate = self.candidate(&block, at);
                let product = live.segment.ids.get(usize::from(candidate.doc));
                nearest.offer(
                    similarities.cosines[at],
                    product,
                    Candidate { fits: false, ..candidate },
                );
            }
        }
    }

    /// Compares products with the query and keeps those that pass.
    fn keep_waiting(
        &self,
        waiting: &mut Vec<Candidate>,
        dense: &DenseQuery,
        threshold: &ScoreThreshold<'_>,
        candidates: &mut Vec<Candidate>,
    ) {
        let (vectors, sketched) = (self.segment.live.vectors(), self.scan.sketched);
        let each = waiting.iter_mut().map(|one| (usize::from(one.doc), &mut one.similarity));
        vectors.compare_each(&dense.vector, sketched, each);
        for candidate in waiting.drain(..) {
            self.offer(candidate, threshold, candidates);
        }
    }

    /// Keeps a candidate if it passes the threshold and the filter.
    #[inline]
    fn offer(
        &self,
        mut candidate: Candidate,
        threshold: &ScoreThreshold<'_>,
        candidates: &mut Vec<Candidate>,
    ) {
        let (lexical, similarity) = (candidate.lexical, candidate.signals().dense_score());
        let may_pass =
            |fits| candidate.is_certain() || threshold.may_pass(lexical, similarity, fits);
        let passes = may_pass(false);
        let may_fit = candidate.fits && may_pass(true);
        let (block, place) =
            (usize::from(candidate.doc) / BLOCK, usize::from(candidate.doc) % BLOCK);
        if !(passes || may_fit) || self.scan.filter.passing(self.segment, block, 1 << place) == 0 {
            return;
        }
        let fits = |fitting: &FitMatcher<'_>| fitting.fits(candidate.doc);
        candidate.fits = may_fit && self.fitting.as_ref().is_some_and(fits);
        if passes || candidate.fits {
            candidates.push(candidate);
        }
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

    /// Keeps those products of a block that pass the threshold and the filter, of some that may.
    #[inline]
    fn keep(
        &self,
        block: &LexicalBlock<'_>,
        possible: u64,
        threshold: &ScoreThreshold<'_>,
        similarities: &BlockSimilarities,
        candidates: &mut Vec<Candidate>,
    ) {
        let passing = self.passing(block, threshold, similarities) & possible | block.certain();
        for at in ones(passing) {
            let is_known = similarities.known >> at & 1 == 1;
            let similarity = if is_known { similarities.cosines[at] } else { f32::NAN };
            let candidate = Candidate { similarity, ..self.candidate(block, at) };
            self.offer(candidate, threshold, candidates);
        }
    }

    /// The products of a block that attributes and exclusions admit, and that may pass with the greatest
    /// cosine that their cells allow.
    #[inline]
    fn possible(
        &self,
        block: &LexicalBlock<'_>,
        dense: &DenseQuery,
        threshold: &ScoreThreshold<'_>,
    ) -> u64 {
        let open = self.scan.filter.open(self.segment, block.number);
        // The bounds grow with the lexical match, so that one without a match decides.
        if open == 0 || block.similarity >= threshold.least_dense_score() {
            return open;
        }
        let (vectors, sketched) = (self.segment.live.vectors(), self.scan.sketched);
        let greatest = vectors.greatest_cosines(block.number, &dense.vector, sketched);
        (self.passing(block, threshold, &greatest) | block.certain()) & open
    }

    /// The products of a block that may pass the threshold.
    #[inline]
    fn passing(
        &self,
        block: &LexicalBlock<'_>,
        threshold: &ScoreThreshold<'_>,
        similarities: &BlockSimilarities,
    ) -> u64 {
        let bounds = ProductBounds {
            threshold,
            scores: block.scores,
            scale: self.scan.lexical.scale(),
            similarities,
        };
        dispatch!(Level::new(), simd => {
            // Without a match and a vector, the score is 0.
            let unmatched = bounds.near(simd) & similarities.known;
            let mut passing = bounds.passing(simd, block.matched | unmatched, false);
            if block.close & !passing != 0 {
                passing |= bounds.passing(simd, block.close & !passing, true);
            }
            passing
        })
    }

    /// Raises the threshold by the products with the best lexical match, of the blocks that may pass it,
    /// and returns from which match on.
    ///
    /// So the threshold is high before most vectors are read, often too high for any product without a
    /// match.
    fn raise_by_lexical(
        &self,
        accumulator: &ScoreAccumulator,
        bounds: &BlockBounds,
        passing: &BitSet,
        dense: &DenseQuery,
        threshold: &mut ScoreThreshold<'_>,
    ) -> f32 {
        let least = nth_greatest(bounds.lexical(), threshold.wanted());
        let mut waiting = Vec::new();
        for at in passing.iter().filter(|at| bounds.lexical()[*at] >= least) {
            // Any number of products may have the same score.
            if waiting.len() >= MAX_RAISING {
                break;
            }
            let number = self.blocks.start + at;
            let block = self.block(number, accumulator.block(number), bounds.similarity(at));
            let open = self.scan.filter.open(self.segment, number);
            let best = open & at_least(block.scores, self.scan.lexical.scale(), least);
            waiting.extend(ones(best & !block.certain()).map(|at| self.candidate(&block, at)));
        }
        let mut best = Vec::with_capacity(waiting.len());
        self.keep_waiting(&mut waiting, dense, threshold, &mut best);
        threshold.raise(best.iter());
        least
    }

    /// Raises the threshold by candidates that had not raised it: those with a match below `raised_from`.
    fn raise_again(
        &self,
        candidates: &[Candidate],
        raised_from: f32,
        threshold: &mut ScoreThreshold<'_>,
    ) {
        if self.scan.is_final {
            threshold.raise(candidates.iter().filter(|one| one.lexical < raised_from));
        }
    }

    /// The candidate at a place of a block, with its exact lexical match and without a similarity. It
    /// fits if it is close.
    #[inline]
    fn candidate(&self, block: &LexicalBlock<'_>, at: usize) -> Candidate {
        let lexical = match block.matched >> at & 1 == 1 {
            true => block.scores[at] * self.scan.lexical.scale(),
            false => 0.0,
        };
        Candidate {
            segment: self.number as u32,
            doc: (block.number * BLOCK + at) as DocId,
            is_exact_title: block.exact_titles >> at & 1 == 1,
            is_key: block.key >> at & 1 == 1,
            fits: block.close >> at & 1 == 1,
            is_near: false,
            lexical,
            similarity: f32::NAN,
        }
    }
}

/// The `n`-th greatest of some scores; the least above 0 if there are fewer.
fn nth_greatest(scores: &[f32], n: usize) -> f32 {
    let mut scores: Vec<f32> = scores.iter().copied().filter(|score| *score > 0.0).collect();
    if scores.len() > n {
        scores.select_nth_unstable_by(n - 1, |one, other| other.total_cmp(one));
        scores.truncate(n);
    }
    scores.into_iter().reduce(f32::min).unwrap_or(f32::INFINITY)
}

/// A bit for each score of a block that, times `scale`, is not less than `least`.
#[inline]
fn at_least(scores: &[f32; BLOCK], scale: f32, least: f32) -> u64 {
    dispatch!(Level::new(), simd => {
        let mut bits = 0;
        for from in (0..BLOCK).step_by(LANES) {
            let scores = f32x16::from_slice(simd, &scores[from..from + LANES]);
            bits |= (scores * scale).simd_ge(least).to_bitmask() << from;
        }
        bits
    })
}

/// The upper bounds of the products of a block.
struct ProductBounds<'a> {
    threshold: &'a ScoreThreshold<'a>,
    scores: &'a [f32; BLOCK],
    /// The lexical match is the score times this.
    scale: f32,
    similarities: &'a BlockSimilarities,
}

impl ProductBounds<'_> {
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
