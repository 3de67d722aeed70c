//! The phrase index: phrases that shoppers use, each with the vector of the products it stands for.
//!
//! It covers what the model does not generalise: "telly" leads to televisions because that was
//! written down. A phrase has a key and a target in the space of each encoder: a query with a deep
//! vector is looked up by that, any other one, of another language too, by its instant vector. The
//! training step `phrasebook` makes the file; its README has the format.

mod space;

use std::borrow::Cow;

use self::space::Space;
use super::Vector;

const MAGIC: &[u8; 8] = b"SKPHRA02";
const NUMBER_BYTES: usize = size_of::<u32>();
/// The numbers of phrases and of targets; for each space its dimension and that of its keys.
const HEADER_NUMBERS: usize = 6;

/// How many of the nearest phrases contribute.
const NEIGHBOURS: usize = 5;
/// How many of the nearest phrases vote for what the query asks for, and how many things remain.
const VOTERS: usize = 12;
const THINGS: usize = 6;
/// A phrase that is further from the query than the nearest one by this much gets a third of its
/// weight.
const DECAY: f32 = 0.04;

/// What the phrases near a query stand for.
#[derive(Clone, Debug, PartialEq)]
pub struct PhraseMatch {
    /// The cosine of the nearest phrase: 1 for the same words.
    pub similarity: f32,
    /// The weighted direction of the products that the phrases stand for.
    pub target: Vector,
    /// The same in the space of the deep encoder.
    pub deep_target: Vector,
    /// What the phrases stand for, by thing: the share of each, greatest first.
    pub(super) things: Vec<(usize, f32)>,
}

/// The phrases and what they stand for.
pub(super) struct PhraseIndex {
    /// The target of each phrase, as little-endian numbers.
    target_numbers: Cow<'static, [u8]>,
    targets: usize,
    instant: Space,
    deep: Space,
}

impl PhraseIndex {
    /// Parses a file.
    pub(super) fn new(bytes: Cow<'static, [u8]>) -> Result<Self, &'static str> {
        let header_bytes = MAGIC.len() + HEADER_NUMBERS * NUMBER_BYTES;
        if bytes.len() < header_bytes || !bytes.starts_with(MAGIC) {
            return Err("is not a phrase index of this version");
        }
        let (header, mut rest) = split(bytes, header_bytes);
        let number = |at: usize| number_at(&header, MAGIC.len() + at * NUMBER_BYTES);
        let (phrases, targets) = (number(0), number(1));
        let mut take = |rows: usize, row_bytes: usize| {
            let len = rows.checked_mul(row_bytes).filter(|len| *len <= rest.len());
            let (taken, left) =
                split(std::mem::take(&mut rest), len.ok_or("has the wrong length")?);
            rest = left;
            Ok(taken)
        };
        let target_numbers = take(phrases, NUMBER_BYTES)?;
        let mut space =
            |at: usize| Space::read([number(at), number(at + 1)], phrases, targets, &mut take);
        let (instant, deep) = (space(2)?, space(4)?);
        if !rest.is_empty() {
            return Err("has the wrong length");
        }
        let index = Self { target_numbers, targets, instant, deep };
        if (0..phrases).any(|phrase| index.target_of(phrase) >= targets) {
            return Err("has phrases without a target");
        }
        Ok(index)
    }

    /// The dimensions of the instant and of the deep vectors.
    pub(super) fn dims(&self) -> [usize; 2] {
        [self.instant.dims(), self.deep.dims()]
    }

    /// Number of things that phrases stand for.
    pub(super) fn targets(&self) -> usize {
        self.targets
    }

    /// What the phrases nearest to a query stand for; `None` for the zero vector or an empty index.
    pub(super) fn phrase_match(
        &self,
        query: &Vector,
        deep: Option<&Vector>,
    ) -> Option<PhraseMatch> {
        let near = match deep {
            Some(deep) => self.deep.nearest(deep, VOTERS),
            None => self.instant.nearest(query, VOTERS),
        };
        let (similarity, _) = *near.first()?;
        let neighbours = near.iter().take(NEIGHBOURS);
        let shares: Vec<(f32, usize)> = neighbours
            .map(|(cosine, phrase)| (vote(*cosine, similarity), self.target_of(*phrase)))
            .collect();
        Some(PhraseMatch {
            similarity,
            target: self.instant.direction(&shares)?,
            deep_target: self.deep.direction(&shares)?,
            things: self.things(&near, similarity),
        })
    }

    /// The things that the nearest phrases stand for, each with its share, greatest first. `near` is
    /// sorted.
    fn things(&self, near: &[(f32, usize)], similarity: f32) -> Vec<(usize, f32)> {
        let mut things: Vec<(usize, f32)> = Vec::new();
        for (cosine, phrase) in near {
            let (thing, vote) = (self.target_of(*phrase), vote(*cosine, similarity));
            match things.iter_mut().find(|(known, _)| *known == thing) {
                Some((_, votes)) => *votes += vote,
                None => things.push((thing, vote)),
            }
        }
        let sum: f32 = things.iter().map(|(_, votes)| votes).sum();
        things.iter_mut().for_each(|(_, votes)| *votes /= sum);
        things.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        things.truncate(THINGS);
        things
    }

    /// The target of a phrase.
    fn target_of(&self, phrase: usize) -> usize {
        number_at(&self.target_numbers, phrase * NUMBER_BYTES)
    }
}

/// The weight of a phrase beside the nearest one.
fn vote(cosine: f32, nearest: f32) -> f32 {
    ((cosine - nearest) / DECAY).exp()
}

/// The first `at` bytes and the others. Bytes of this program are not copied.
fn split(bytes: Cow<'static, [u8]>, at: usize) -> (Cow<'static, [u8]>, Cow<'static, [u8]>) {
    match bytes {
        Cow::Borrowed(bytes) => (bytes[..at].into(), bytes[at..].into()),
        Cow::Owned(mut bytes) => {
            let rest = bytes.split_off(at);
            (bytes.into(), rest.into())
        }
    }
}

/// A little-endian integer.
fn number_at(bytes: &[u8], at: usize) -> usize {
    bytes[at..at + NUMBER_BYTES]
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | usize::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index of these phrases, each with its target and its keys, and these targets, of two numbers in
    /// both spaces.
    fn file(phrases: &[(u32, [i8; 2])], targets: &[[i8; 2]]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for number in [phrases.len() as u32, targets.len() as u32, 2, 2, 2, 2] {
            bytes.extend(number.to_le_bytes());
        }
        phrases.iter().for_each(|(target, _)| bytes.extend(target.to_le_bytes()));
        let packed = |[low, high]: [i8; 2]| (low & 15 | high << 4).cast_unsigned();
        for _ in 0..2 {
            // The axes are those of the space.
            bytes.extend([127, 0, 0, 127]);
            bytes.extend(phrases.iter().map(|(_, key)| packed(*key)));
            bytes.extend(targets.iter().map(|target| packed(*target)));
        }
        bytes
    }

    fn towards(numbers: &[f32]) -> Vector {
        Vector::normalized(numbers.to_vec()).unwrap()
    }

    #[test]
    fn the_nearest_phrase_dominates() {
        let bytes = file(&[(0, [7, 0]), (1, [0, 7]), (1, [-1, 7])], &[[5, 5], [0, -5]]);
        let index = PhraseIndex::new(bytes.into()).unwrap();
        let (right, up) = (towards(&[1.0, 0.1]), towards(&[0.0, 1.0]));
        let found = index.phrase_match(&up, None).unwrap();
        assert!(found.similarity > 0.999, "{}", found.similarity);
        assert!(found.target.cosine(&towards(&[0.0, -1.0])) > 0.999, "{:?}", found.target);
        let found = index.phrase_match(&right, None).unwrap();
        assert!(found.target.cosine(&towards(&[1.0, 1.0])) > 0.999, "{:?}", found.target);
        let by_deep = index.phrase_match(&up, Some(&right)).unwrap();
        assert_eq!((&by_deep.target, &by_deep.deep_target), (&found.target, &found.deep_target));
    }

    #[test]
    fn the_zero_vector_and_an_empty_index_match_nothing() {
        let full = PhraseIndex::new(file(&[(0, [7, 0])], &[[1, 1]]).into()).unwrap();
        assert_eq!(full.phrase_match(&towards(&[0.0, 0.0]), None), None);
        assert_eq!(full.phrase_match(&towards(&[1.0, 0.0, 0.0]), None), None);
        let empty = PhraseIndex::new(file(&[], &[[1, 1]]).into()).unwrap();
        assert_eq!(empty.phrase_match(&towards(&[1.0, 0.0]), None), None);
    }

    #[test]
    fn broken_files_are_rejected() {
        let whole = file(&[(0, [7, 0])], &[[1, 1]]);
        let error = |bytes: Vec<u8>| PhraseIndex::new(bytes.into()).err();
        assert_eq!(error(whole.clone()), None);
        assert_eq!(error(Vec::new()), Some("is not a phrase index of this version"));
        assert_eq!(error(whole[..whole.len() - 1].to_vec()), Some("has the wrong length"));
        assert_eq!(error([whole.clone(), vec![0]].concat()), Some("has the wrong length"));
        let huge = [&whole[..8], &[255; 24], &whole[32..]].concat();
        assert_eq!(error(huge), Some("has the wrong length"));
        let mut odd = whole;
        odd[8 + 3 * 4] = 1;
        assert_eq!(error(odd), Some("has keys of an odd dimension"));
        let stray = file(&[(1, [7, 0])], &[[1, 1]]);
        assert_eq!(error(stray), Some("has phrases without a target"));
    }
}
