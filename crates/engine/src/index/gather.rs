//! Which products may be relevant, and what speaks for each? Those with a word of the query or
//! near its meaning, as far as they may be seen and satisfy the conditions.

use catalog::fusion::{Evidence, WEIGHTS};

use super::{
    bits::{BLOCK, ones},
    board::Board,
    collect::{Conditions, Source},
    lexical::Asked,
    plan::Meant,
    segment::Doc,
};

/// A product that may be relevant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) segment: u32,
    pub(super) doc: Doc,
    words: f32,
    /// Not a number for a product that is not near.
    similarity: f32,
    pub(super) is_title: bool,
}

impl Candidate {
    /// What speaks for it.
    #[inline]
    pub(super) fn evidence(&self) -> Evidence {
        let similarity = Some(self.similarity).filter(|similarity| !similarity.is_nan());
        Evidence { words: self.words, similarity, is_title: self.is_title }
    }
}

/// All products that may be relevant.
pub(super) fn gather<'a>(
    sources: impl Iterator<Item = Source<'a>>,
    asked: &Asked<'_>,
    meant: Option<&Meant>,
    title: u32,
    conditions: &Conditions<'_>,
) -> Vec<Candidate> {
    let share = asked.share();
    let has_hope = |evidence| meant.is_none_or(|meant| WEIGHTS.has_hope(meant.manner, evidence));
    let mut gathered = Vec::new();
    Board::lend(|board| {
        for (at, source) in sources.enumerate() {
            let len = source.live.segment.len();
            let vectors = source.live.vectors();
            let titles = &source.live.segment.titles;
            board.write(asked, at, len);
            let mut similarities = [f32::NAN; BLOCK];
            for block in 0..len.div_ceil(BLOCK) {
                let near = meant.map_or(0, |meant| vectors.near(block, &meant.vector));
                board.take(block, |matched, scores| {
                    let passing = conditions.passing(source, block, matched | near);
                    let near = near & passing;
                    if let Some(meant) = meant.filter(|_| near != 0) {
                        vectors.cosines(block, &meant.vector, near, &mut similarities);
                    }
                    for place in ones(passing) {
                        let is_near = near >> place & 1 == 1;
                        let similarity = if is_near { similarities[place] } else { f32::NAN };
                        let candidate = Candidate {
                            segment: at as u32,
                            doc: (block * BLOCK + place) as Doc,
                            words: scores[place] * share,
                            similarity,
                            is_title: titles[block * BLOCK + place] == title,
                        };
                        if has_hope(candidate.evidence()) {
                            gathered.push(candidate);
                        }
                    }
                });
            }
        }
    });
    gathered
}
