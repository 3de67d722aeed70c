//! Which products may be relevant, and what speaks for each? Those with a word of the query or
//! near its meaning, as far as they may be seen and satisfy the conditions.

use catalog::fusion::{Evidence, Hope};
use fearless_simd::{Level, Simd, dispatch};

use super::{
    bits::{BLOCK, ones},
    board::Board,
    collect::{Conditions, Source},
    lexical::Asked,
    plan::Meant,
    segment::Doc,
    vectors::Look,
};

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
    pub(super) fn evidence(&self) -> Evidence {
        self.evidence_of(self.similarity)
    }

    /// The most that may speak for it.
    #[inline]
    pub(super) fn most(&self) -> Evidence {
        self.evidence_of(self.similarity + self.doubt)
    }

    /// The least that speaks for it.
    #[inline]
    pub(super) fn least(&self) -> Evidence {
        self.evidence_of(self.similarity - self.doubt)
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
    fn evidence_of(&self, similarity: f32) -> Evidence {
        let similarity = (!similarity.is_nan()).then_some(similarity);
        Evidence { words: self.words, similarity, is_title: self.is_title }
    }
}

/// How products are looked at to see whether they may be relevant.
pub(super) struct Search<'a> {
    pub(super) asked: &'a Asked<'a>,
    /// What is meant, if anybody knows, and what that leaves hope for.
    pub(super) meant: Option<(&'a Meant, Hope)>,
    /// Whether every vector is looked at closely.
    pub(super) closely: bool,
    /// The fingerprint of a title that is the query.
    pub(super) title: u32,
    pub(super) conditions: Conditions<'a>,
}

/// All products that may be relevant, in order of segment and number.
pub(super) fn gather<'a>(
    sources: impl Iterator<Item = Source<'a>>,
    search: &Search<'_>,
) -> Vec<Candidate> {
    let share = search.asked.share();
    let most = search.asked.most_for_neighbours();
    let mut gathered = Vec::new();
    Board::lend(|board| {
        for (at, source) in sources.enumerate() {
            let len = source.live.segment.len();
            let vectors = source.live.vectors();
            board.write(search.asked, at, len);
            for block in 0..len.div_ceil(BLOCK) {
                let look = match &search.meant {
                    Some((meant, _)) => vectors.look(block, &meant.vector, search.closely),
                    None => Look::NOTHING,
                };
                board.take(block, |matched, scores| {
                    let titled = titled(source, block, matched, search.title);
                    let hopeful = match &search.meant {
                        Some((_, hope)) => dispatch!(
                            Level::new(),
                            simd => hopeful(simd, hope, scores, (share, most), &look)
                        ),
                        None => matched,
                    };
                    let passing = search.conditions.passing(source, block, hopeful | titled);
                    for place in ones(passing) {
                        let is_known = look.known >> place & 1 == 1;
                        let doc = block * BLOCK + place;
                        let words = match matched >> place & 1 == 1 {
                            true => scores[place] * share + search.asked.for_neighbours(at, doc),
                            false => 0.0,
                        };
                        let candidate = Candidate {
                            segment: at as u32,
                            doc: doc as Doc,
                            is_title: titled >> place & 1 == 1,
                            words,
                            similarity: if is_known { look.similarities[place] } else { f32::NAN },
                            doubt: if is_known { look.doubts[place] } else { 0.0 },
                        };
                        let is_hopeful = match &search.meant {
                            Some((_, hope)) => {
                                candidate.is_title
                                    || hope.is_left(words, candidate.most().worth_of_meaning())
                            }
                            None => true,
                        };
                        if is_hopeful {
                            gathered.push(candidate);
                        }
                    }
                });
            }
        }
    });
    gathered
}

/// Which products of a block may be relevant, given their scores by word, each of which counts a
/// `share` and may become more by at most so much.
///
/// Plain code: compiled for each instruction set, it becomes the instructions of that set.
#[inline(always)]
fn hopeful<S: Simd>(
    _: S,
    hope: &Hope,
    scores: &[f32; BLOCK],
    (share, more): (f32, f32),
    look: &Look,
) -> u64 {
    let each = scores.iter().zip(&look.similarities).zip(&look.doubts).enumerate();
    each.fold(0, |hopeful, (place, ((score, similarity), doubt))| {
        let words = if *score > 0.0 { score * share + more } else { 0.0 };
        let is_known = look.known >> place & 1 == 1;
        let meaning = if is_known { similarity + doubt } else { words * words };
        hopeful | u64::from(hope.is_left(words, meaning)) << place
    })
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
