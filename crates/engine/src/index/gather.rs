//! Which products may be relevant, and what speaks for each? Those with a word of the query or
//! near its meaning, as far as they may be seen and satisfy the conditions.

use std::ops::Range;

use catalog::fusion::Signals;
use fearless_simd::{Level, Simd, SimdBase, SimdMask, dispatch, u8x64};

use super::{
    bits::{BLOCK, ones},
    board::Board,
    collect::{Conditions, Source},
    lexical::Asked,
    plan::DenseQuery,
    segment::Doc,
    standard::Standard,
    vectors::Look,
};

/// So few products of a block are looked at closely at once: that reads less than the sketches of
/// all of them. Measured with `bench-scan`: from 6 to 12 make no difference, none or 2 cost a fifth
/// more.
const FEW: u32 = 8;

/// A product that may be relevant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) segment: u32,
    pub(super) doc: Doc,
    pub(super) is_title: bool,
    words: f32,
    /// Not a number for a product whose meaning is not known.
    similarity: f32,
    /// By how much that may be wrong.
    doubt: f32,
}

impl Candidate {
    /// What speaks for it, about.
    #[inline]
    pub(super) fn signals(&self) -> Signals {
        self.signals_of(self.similarity)
    }

    /// The most that may speak for it.
    #[inline]
    pub(super) fn most(&self) -> Signals {
        self.signals_of(self.similarity + self.doubt)
    }

    /// The least that speaks for it.
    #[inline]
    pub(super) fn least(&self) -> Signals {
        self.signals_of(self.similarity - self.doubt)
    }

    /// Whether a closer look could tell more.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.doubt > 0.0
    }

    /// The place for its similarity after a close look.
    pub(super) fn settle(&mut self) -> &mut f32 {
        self.doubt = 0.0;
        &mut self.similarity
    }

    #[inline]
    fn signals_of(&self, similarity: f32) -> Signals {
        let similarity = (!similarity.is_nan()).then_some(similarity);
        Signals { lexical: self.words, similarity, is_exact_title: self.is_title }
    }
}

/// How products are looked at to see whether they may be relevant.
pub(super) struct Search<'a> {
    pub(super) asked: &'a Asked<'a>,
    /// What is meant, if anybody knows.
    pub(super) meant: Option<&'a DenseQuery>,
    /// Whether every vector is looked at closely.
    pub(super) closely: bool,
    /// The fingerprint of a title that is the query.
    pub(super) title: u32,
    pub(super) conditions: Conditions<'a>,
    /// Whether all that satisfy the conditions will be found, if they are relevant.
    pub(super) is_final: bool,
}

/// All products that may be relevant, in order of segment and number, of segments from this number
/// on. What is found is held against the standard, and raises it. The work is shared by so many
/// threads, as far as there are segments for them.
pub(super) fn gather(
    first: usize,
    sources: &[Source<'_>],
    search: &Search<'_>,
    standard: Option<&mut Standard<'_>>,
    threads: usize,
) -> Vec<Candidate> {
    let Some(standard) = standard else { return gather_from(first, sources, search, None) };
    if threads < 2 || sources.len() < 2 {
        return gather_from(first, sources, search, Some(standard));
    }
    let own = share_of(sources, threads);
    let (own, others) = sources.split_at(own);
    let mut of_others = standard.clone();
    let gathered = std::thread::scope(|scope| {
        let others = scope
            .spawn(|| gather(first + own.len(), others, search, Some(&mut of_others), threads - 1));
        let mut gathered = gather_from(first, own, search, Some(&mut *standard));
        match others.join() {
            Ok(others) => gathered.extend(others),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        gathered
    });
    standard.join(&of_others);
    gathered
}

/// How many of the first segments one of so many threads takes: about its share of the products.
fn share_of(sources: &[Source<'_>], threads: usize) -> usize {
    let len = |source: &Source<'_>| source.live.segment.len();
    let share = sources.iter().map(len).sum::<usize>() / threads;
    let up_to = sources.iter().scan(0, |sum, source| {
        *sum += len(source);
        Some(*sum)
    });
    let taken = up_to.take_while(|sum| *sum <= share).count();
    taken.clamp(1, sources.len() - 1)
}

/// What one thread gathers.
fn gather_from(
    first: usize,
    sources: &[Source<'_>],
    search: &Search<'_>,
    mut standard: Option<&mut Standard<'_>>,
) -> Vec<Candidate> {
    let mut gathered = Vec::new();
    Board::lend(|board| {
        for (at, source) in (first..).zip(sources) {
            // The search will see it, too, and say so.
            if search.conditions.is_timed_out() {
                break;
            }
            let segment = InSegment { at, source: *source, search };
            board.write(search.asked, at, source.live.segment.len());
            match &mut standard {
                None => segment.gather_by_words(board, &mut gathered),
                Some(standard) => segment.gather_by_both(board, standard, &mut gathered),
            }
        }
    });
    gathered
}

/// A segment that is searched.
struct InSegment<'a, 's> {
    at: usize,
    source: Source<'a>,
    search: &'s Search<'s>,
}

impl InSegment<'_, '_> {
    fn blocks(&self) -> Range<usize> {
        0..self.source.live.segment.len().div_ceil(BLOCK)
    }

    /// All that say a word.
    fn gather_by_words(&self, board: &mut Board, gathered: &mut Vec<Candidate>) {
        for block in self.blocks() {
            board.take(block, |matched, scores| {
                let titled = titled(self.source, block, matched, self.search.title);
                let passing = self.search.conditions.passing(self.source, block, matched);
                gathered.extend(ones(passing).map(|place| {
                    let words = self.words(block, place, scores[place]);
                    self.candidate(block, place, words, titled, &Look::NOTHING)
                }));
            });
        }
    }

    /// All that may be relevant beside what was found before.
    fn gather_by_both(
        &self,
        board: &mut Board,
        standard: &mut Standard<'_>,
        gathered: &mut Vec<Candidate>,
    ) {
        if self.search.is_final {
            self.raise_by_words(board, standard);
        }
        let Some(meant) = self.search.meant else { return };
        let from = gathered.len();
        let vectors = self.source.live.vectors();
        let (share, more) = self.share_and_more();
        let mut look = Look::NOTHING;
        for block in self.blocks() {
            board.take(block, |matched, scores| {
                let most = if matched == 0 { 0.0 } else { greatest(scores) * share + more };
                let titled = titled(self.source, block, matched, self.search.title);
                let is_hopeless = !standard.may_pass(most, 1.0);
                if is_hopeless && titled == 0 {
                    return;
                }
                let hopeful = |known, similarities: &_, doubts: &_| {
                    let near = (known, similarities, doubts);
                    dispatch!(
                        Level::new(),
                        simd => hopeful(simd, standard, scores, (share, more), near)
                    )
                };
                // Those that could be relevant if they were as near as can be.
                let could_be = if is_hopeless {
                    0
                } else if matched == 0 {
                    u64::MAX
                } else {
                    hopeful(u64::MAX, &[1.0; BLOCK], &[0.0; BLOCK])
                };
                let could_be = could_be | titled;
                let is_sketched = could_be.count_ones() > FEW;
                let hopeful = if is_sketched {
                    vectors.look(block, &meant.vector, self.search.closely, &mut look);
                    hopeful(look.known, &look.similarities, &look.doubts) & could_be | titled
                } else {
                    look.known = 0;
                    could_be & self.there(block)
                };
                let passing = self.search.conditions.passing(self.source, block, hopeful);
                for place in ones(passing) {
                    let words = match matched >> place & 1 == 1 {
                        true => self.words(block, place, scores[place]),
                        false => 0.0,
                    };
                    let mut candidate = self.candidate(block, place, words, titled, &look);
                    if !is_sketched && (candidate.is_title || standard.may_pass(words, 1.0)) {
                        self.look_closely(&mut candidate);
                    }
                    if candidate.is_title
                        || standard.may_pass(words, candidate.most().dense_score())
                    {
                        gathered.push(candidate);
                    }
                }
            });
        }
        if self.search.is_final {
            self.raise_by_both(&mut gathered[from..], standard);
        }
    }

    /// Which places of a block have a product.
    fn there(&self, block: usize) -> u64 {
        let left = self.source.live.segment.len() - block * BLOCK;
        u64::MAX >> (BLOCK - BLOCK.min(left))
    }

    /// Raises the standard by the products that say most, as far as their words alone tell.
    fn raise_by_words(&self, board: &Board, standard: &mut Standard<'_>) {
        let (share, more) = self.share_and_more();
        for block in self.blocks() {
            let (matched, scores) = board.look(block);
            let raises = |words: f32| standard.would_be_raised(words);
            if matched == 0 || !raises(greatest(scores) * share + more) {
                continue;
            }
            let telling = ones(matched).filter(|at| raises(scores[*at] * share + more));
            let telling = telling.fold(0, |telling, at| telling | 1 << at);
            let titled = titled(self.source, block, telling, self.search.title);
            let passing = self.search.conditions.passing(self.source, block, telling & !titled);
            for place in ones(passing) {
                let words = self.words(block, place, scores[place]);
                if standard.would_be_raised(words) {
                    let mut best = self.candidate(block, place, words, 0, &Look::NOTHING);
                    self.look_closely(&mut best);
                    standard.raise(best.signals());
                }
            }
        }
    }

    /// Raises the standard by the best of these candidates.
    fn raise_by_both(&self, candidates: &mut [Candidate], standard: &mut Standard<'_>) {
        let fusion = standard.fusion();
        let score = |candidate: &Candidate| fusion.score(candidate.signals());
        let others = candidates.iter_mut().filter(|candidate| !candidate.is_title);
        let best = others.max_by(|one, other| score(one).total_cmp(&score(other)));
        if let Some(best) = best {
            self.look_closely(best);
            standard.raise(best.signals());
        }
    }

    fn look_closely(&self, candidate: &mut Candidate) {
        if let Some(meant) = self.search.meant {
            let place = (usize::from(candidate.doc), candidate.settle());
            self.source.live.vectors().look_closely(&meant.vector, std::iter::once(place));
        }
    }

    /// What turns a score by word into a part of the most there could be, and how much more that
    /// can become.
    fn share_and_more(&self) -> (f32, f32) {
        (self.search.asked.share(), self.search.asked.most_for_neighbours())
    }

    /// How well a product's words match that has this score.
    #[inline]
    fn words(&self, block: usize, place: usize, score: f32) -> f32 {
        let asked = self.search.asked;
        score * asked.share() + asked.for_neighbours(self.at, block * BLOCK + place)
    }

    #[inline]
    fn candidate(
        &self,
        block: usize,
        place: usize,
        words: f32,
        titled: u64,
        look: &Look,
    ) -> Candidate {
        let is_known = look.known >> place & 1 == 1;
        Candidate {
            segment: self.at as u32,
            doc: (block * BLOCK + place) as Doc,
            is_title: titled >> place & 1 == 1,
            words,
            similarity: if is_known { look.similarities[place] } else { f32::NAN },
            doubt: if is_known { look.doubts[place] } else { 0.0 },
        }
    }
}

/// The greatest of a block's scores.
#[inline]
fn greatest(scores: &[f32; BLOCK]) -> f32 {
    dispatch!(Level::new(), _ => {
        // Numbers that are not below zero are in the order of their bits, which any instruction
        // set compares.
        f32::from_bits(scores.iter().fold(0, |greatest, score| greatest.max(score.to_bits())))
    })
}

/// Which products of a block may be relevant, given their scores by word, each of which counts a
/// `share` and may become more by at most so much.
///
/// Plain code: compiled for each instruction set, it becomes the instructions of that set.
#[inline(always)]
fn hopeful<S: Simd>(
    simd: S,
    standard: &Standard<'_>,
    scores: &[f32; BLOCK],
    (share, more): (f32, f32),
    (known, similarities, doubts): (u64, &[f32; BLOCK], &[f32; BLOCK]),
) -> u64 {
    let words = |score: f32| if score > 0.0 { score * share + more } else { 0.0 };
    let mut hopeful = [0; BLOCK];
    for at in 0..BLOCK {
        let nearest = similarities[at] + doubts[at];
        hopeful[at] = u8::from(standard.may_pass(words(scores[at]), nearest));
    }
    let mut hopeful = bits(simd, &hopeful);
    // Rarely any.
    for place in ones(!known) {
        let words = words(scores[place]);
        let is_hopeful = standard.may_pass(words, words * words);
        hopeful = hopeful & !(1 << place) | u64::from(is_hopeful) << place;
    }
    hopeful
}

/// Which of a block's numbers are not 0.
#[inline(always)]
fn bits<S: Simd>(simd: S, flags: &[u8; BLOCK]) -> u64 {
    u8x64::from_slice(simd, flags).simd_gt(0).to_bitmask()
}

/// Which of some products of a block have the title.
#[inline]
fn titled(source: Source<'_>, block: usize, matched: u64, title: u32) -> u64 {
    let titles = &source.live.segment.titles[block * BLOCK..];
    match titles.first_chunk() {
        _ if matched == 0 => 0,
        Some(titles) => matched & dispatch!(Level::new(), simd => equal(simd, titles, title)),
        None => {
            let has_title = |at: &usize| titles.get(*at) == Some(&title);
            ones(matched).filter(has_title).fold(0, |bits, at| bits | 1 << at)
        }
    }
}

/// Which titles of a block are this one.
#[inline(always)]
fn equal<S: Simd>(_: S, titles: &[u32; BLOCK], title: u32) -> u64 {
    let each = titles.iter().enumerate();
    each.fold(0, |bits, (at, other)| bits | u64::from(*other == title) << at)
}
