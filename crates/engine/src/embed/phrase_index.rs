//! The phrase index: phrases that shoppers use, each with the vector of the products it stands for.
//!
//! It covers what the model does not generalise: "telly" leads to televisions because that was
//! written down. The training step `phrasebook` makes the file; its README has the format.

use std::{borrow::Cow, sync::OnceLock};

use fearless_simd::{Level, dispatch};

use super::Vector;

const MAGIC: &[u8; 8] = b"SKPHRA01";
const HEADER_BYTES: usize = MAGIC.len() + 4 * NUMBER_BYTES;
const NUMBER_BYTES: usize = size_of::<u32>();

/// How many of the nearest phrases contribute.
const NEIGHBOURS: usize = 5;
/// How many of the nearest phrases vote for what the query asks for, and how many things remain.
const VOTERS: usize = 12;
const THINGS: usize = 6;
/// The minimum number of candidates that are rescored: those with the least Hamming distance of
/// their signs.
const RESCORED: usize = 256;
/// Phrases whose signs are compared together.
const BLOCK: usize = 64;
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
    /// What the phrases stand for, by thing: the share of each, greatest first.
    pub(super) things: Vec<(usize, f32)>,
}

/// The phrases and their targets.
pub(super) struct PhraseIndex {
    dims: usize,
    phrases: usize,
    bytes: Cow<'static, [u8]>,
    /// Computed at the first search: tests and commands without a search do not need it.
    sketches: OnceLock<Sketches>,
}

/// Sign bits for a fast first pass.
struct Sketches {
    /// Which coordinates are negative, a bit each: for each block of phrases, the first word of
    /// each phrase, then the second of each, and so on.
    signs: Box<[[u64; BLOCK]]>,
    /// The reciprocal of each phrase's length.
    factors: Box<[f32]>,
}

impl PhraseIndex {
    /// Parses a file.
    pub(super) fn new(bytes: Cow<'static, [u8]>) -> Result<Self, &'static str> {
        if bytes.len() < HEADER_BYTES || !bytes.starts_with(MAGIC) {
            return Err("is not a phrase index");
        }
        let number = |at: usize| number_at(&bytes, MAGIC.len() + at * NUMBER_BYTES);
        let (dims, phrases, targets) = (number(0), number(1), number(2));
        let size = || {
            let vectors = phrases.checked_add(targets)?.checked_mul(dims)?;
            vectors.checked_add(phrases.checked_mul(NUMBER_BYTES)?)?.checked_add(HEADER_BYTES)
        };
        if dims == 0 || size() != Some(bytes.len()) {
            return Err("has the wrong length");
        }
        let index = Self { dims, phrases, bytes, sketches: OnceLock::new() };
        if (0..phrases).any(|phrase| index.target_of(phrase) >= targets) {
            return Err("has phrases without a target");
        }
        Ok(index)
    }

    /// The dimension of the vectors.
    pub(super) fn dims(&self) -> usize {
        self.dims
    }

    /// What the phrases nearest to a query stand for; `None` for the zero vector or an empty index.
    pub(super) fn phrase_match(&self, query: &Vector) -> Option<PhraseMatch> {
        let stored = query.stored();
        let wanted = stored.numbers();
        let length = factor(wanted.iter().copied());
        if length == 0.0 || wanted.len() != self.dims {
            return None;
        }
        let nearest = self.nearest_by_signs(wanted);
        let mut near: Vec<(f32, usize)> = Vec::with_capacity(nearest.len());
        dispatch!(Level::new(), _ => {
            for phrase in nearest {
                let dot = dot(wanted, self.phrase(phrase));
                near.push((dot as f32 * length * self.sketches().factors[phrase], phrase));
            }
        });
        near.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let similarity = near.first()?.0;
        let things = self.things(&near, similarity);
        near.truncate(NEIGHBOURS);
        let mut sum = vec![0.0; self.dims];
        for (cosine, phrase) in near {
            let target = self.target(self.target_of(phrase));
            let share = ((cosine - similarity) / DECAY).exp() * factor(signed(target));
            sum.iter_mut().zip(signed(target)).for_each(|(sum, x)| *sum += share * f32::from(x));
        }
        Some(PhraseMatch { similarity, target: Vector::normalized(sum)?, things })
    }

    /// The things that the nearest phrases stand for, each with its share, greatest first. `near` is
    /// sorted.
    fn things(&self, near: &[(f32, usize)], similarity: f32) -> Vec<(usize, f32)> {
        let mut things: Vec<(usize, f32)> = Vec::new();
        for (cosine, phrase) in near.iter().take(VOTERS) {
            let (thing, vote) = (self.target_of(*phrase), ((cosine - similarity) / DECAY).exp());
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

    /// Number of things that phrases stand for.
    pub(super) fn targets(&self) -> usize {
        number_at(&self.bytes, MAGIC.len() + 2 * NUMBER_BYTES)
    }

    /// The phrases with the least Hamming distance, including all ties with the last of them.
    fn nearest_by_signs(&self, wanted: &[i8]) -> Vec<usize> {
        let wanted: Vec<u64> = signs(wanted.iter().copied()).collect();
        let signs = &self.sketches().signs;
        dispatch!(Level::new(), _ => {
            let mut distances = distances(&wanted, signs);
            distances.truncate(self.phrases);
            // Bisection finds the distance in a few vectorised passes; a histogram would have to go
            // one by one.
            let (mut low, mut high) = (0, self.dims as u16);
            while low < high {
                let middle = low.midpoint(high);
                match up_to(&distances, middle) < RESCORED {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            within(&distances, low)
        })
    }

    fn sketches(&self) -> &Sketches {
        self.sketches.get_or_init(|| Sketches {
            signs: (0..self.phrases).step_by(BLOCK).flat_map(|at| self.signs_from(at)).collect(),
            factors: (0..self.phrases).map(|at| factor(signed(self.phrase(at)))).collect(),
        })
    }

    /// The signs of a block of phrases from one on.
    fn signs_from(&self, first: usize) -> Vec<[u64; BLOCK]> {
        let mut block = vec![[0; BLOCK]; self.dims.div_ceil(BLOCK)];
        for (at, phrase) in (first..self.phrases).take(BLOCK).enumerate() {
            for (of_all, word) in block.iter_mut().zip(signs(signed(self.phrase(phrase)))) {
                of_all[at] = word;
            }
        }
        block
    }

    /// The target of a phrase.
    fn target_of(&self, phrase: usize) -> usize {
        number_at(&self.bytes, HEADER_BYTES + phrase * NUMBER_BYTES)
    }

    fn phrase(&self, phrase: usize) -> &[u8] {
        self.vector(phrase)
    }

    fn target(&self, target: usize) -> &[u8] {
        self.vector(self.phrases + target)
    }

    fn vector(&self, at: usize) -> &[u8] {
        let start = HEADER_BYTES + self.phrases * NUMBER_BYTES + at * self.dims;
        &self.bytes[start..start + self.dims]
    }
}

/// A little-endian integer.
fn number_at(bytes: &[u8], at: usize) -> usize {
    bytes[at..at + NUMBER_BYTES]
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | usize::from(*byte))
}

fn signed(bytes: &[u8]) -> impl Iterator<Item = i8> {
    bytes.iter().map(|byte| byte.cast_signed())
}

/// The sign bits of a vector.
fn signs(mut numbers: impl Iterator<Item = i8>) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let mut chunk = numbers.by_ref().take(u64::BITS as usize).enumerate().peekable();
        chunk.peek()?;
        Some(chunk.fold(0, |bits, (at, x)| bits | u64::from(x < 0) << at))
    })
}

/// The reciprocal of a vector's length; 0 for the zero vector.
fn factor(numbers: impl Iterator<Item = i8>) -> f32 {
    let square: u32 = numbers.map(|x| u32::from(x.unsigned_abs()).pow(2)).sum();
    if square == 0 { 0.0 } else { (square as f32).sqrt().recip() }
}

/// The Hamming distance of each phrase.
///
/// Plain code, which the compiler vectorises for each instruction set.
#[inline(always)]
fn distances(wanted: &[u64], signs: &[[u64; BLOCK]]) -> Vec<u16> {
    let mut all = vec![0; signs.len() / wanted.len() * BLOCK];
    let blocks = all.as_chunks_mut::<BLOCK>().0;
    for (block, all) in signs.chunks_exact(wanted.len()).zip(blocks) {
        let mut distances = [0_u64; BLOCK];
        for (words, wanted) in block.iter().zip(wanted) {
            for at in 0..BLOCK {
                distances[at] += u64::from((words[at] ^ wanted).count_ones());
            }
        }
        for at in 0..BLOCK {
            all[at] = distances[at] as u16;
        }
    }
    all
}

/// The number of phrases within this distance.
#[inline(always)]
fn up_to(distances: &[u16], most: u16) -> usize {
    // Summed in chunks that are short enough for the sums to fit the type of a distance.
    let mut count = 0;
    for chunk in distances.chunks(1 << 15) {
        let mut of_chunk = 0_u16;
        for distance in chunk {
            of_chunk += u16::from(*distance <= most);
        }
        count += usize::from(of_chunk);
    }
    count
}

/// The phrases within this distance.
#[inline(always)]
fn within(distances: &[u16], most: u16) -> Vec<usize> {
    let mut near = Vec::with_capacity(2 * RESCORED);
    for (at, block) in distances.chunks(BLOCK).enumerate() {
        let mut least = u16::MAX;
        for distance in block {
            least = least.min(*distance);
        }
        if least <= most {
            let places = (at * BLOCK..).zip(block).filter(|(_, distance)| **distance <= most);
            near.extend(places.map(|(place, _)| place));
        }
    }
    near
}

/// The inner product of a query and a phrase.
#[inline(always)]
fn dot(query: &[i8], phrase: &[u8]) -> i32 {
    let len = query.len().min(phrase.len());
    let (query, phrase) = (&query[..len], &phrase[..len]);
    let mut sum = 0;
    for at in 0..len {
        sum += i32::from(i16::from(query[at]) * i16::from(phrase[at].cast_signed()));
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An index of these phrases, each with its target and its vector, and these targets.
    fn file(phrases: &[(u32, &[i8])], targets: &[&[i8]]) -> Vec<u8> {
        let dims = targets.first().map_or(1, |target| target.len()) as u32;
        let mut bytes = MAGIC.to_vec();
        for number in [dims, phrases.len() as u32, targets.len() as u32, 0] {
            bytes.extend(number.to_le_bytes());
        }
        phrases.iter().for_each(|(target, _)| bytes.extend(target.to_le_bytes()));
        let vectors = phrases.iter().map(|(_, vector)| *vector).chain(targets.iter().copied());
        vectors.for_each(|vector| bytes.extend(vector.iter().map(|x| x.cast_unsigned())));
        bytes
    }

    fn towards(numbers: &[f32]) -> Vector {
        Vector::normalized(numbers.to_vec()).unwrap()
    }

    #[test]
    fn the_nearest_phrase_dominates() {
        let bytes = file(
            &[(0, &[127, 0, 0]), (1, &[0, 127, 0]), (1, &[0, 100, 10])],
            &[&[10, 0, 10], &[0, 0, -5]],
        );
        let index = PhraseIndex::new(bytes.into()).unwrap();
        let found = index.phrase_match(&towards(&[0.0, 1.0, 0.0])).unwrap();
        assert!(found.similarity > 0.999, "{}", found.similarity);
        assert!(found.target.cosine(&towards(&[0.0, 0.0, -1.0])) > 0.999, "{:?}", found.target);
        let found = index.phrase_match(&towards(&[1.0, 0.1, 0.0])).unwrap();
        assert!(found.target.cosine(&towards(&[1.0, 0.0, 1.0])) > 0.999, "{:?}", found.target);
    }

    #[test]
    fn the_zero_vector_and_an_empty_index_match_nothing() {
        let bytes = file(&[(0, &[127, 0])], &[&[1, 1]]);
        let full = PhraseIndex::new(bytes.into()).unwrap();
        assert_eq!(full.phrase_match(&towards(&[0.0, 0.0])), None);
        assert_eq!(full.phrase_match(&towards(&[1.0, 0.0, 0.0])), None);
        let empty = PhraseIndex::new(file(&[], &[&[1, 1]]).into()).unwrap();
        assert_eq!(empty.phrase_match(&towards(&[1.0, 0.0])), None);
    }

    /// The candidates, counted one by one.
    fn naive(index: &PhraseIndex, wanted: &[i8]) -> Vec<usize> {
        let distance = |phrase: usize| {
            let pairs = wanted.iter().zip(signed(index.phrase(phrase)));
            pairs.filter(|(one, other)| (**one < 0) != (*other < 0)).count()
        };
        let distances: Vec<usize> = (0..index.phrases).map(distance).collect();
        let mut sorted = distances.clone();
        sorted.sort_unstable();
        let most = sorted.get(RESCORED - 1).or(sorted.last()).copied().unwrap_or(0);
        (0..index.phrases).filter(|phrase| distances[*phrase] <= most).collect()
    }

    #[test]
    fn candidates_are_the_nearest_by_signs() {
        let bytes = include_bytes!("../../../../models/phrases.bin");
        let index = PhraseIndex::new(bytes.as_slice().into()).unwrap();
        for phrase in (0..index.phrases).step_by(index.phrases / 3) {
            let wanted: Vec<i8> = signed(index.phrase(phrase)).collect();
            let nearest = index.nearest_by_signs(&wanted);
            assert!(nearest.contains(&phrase) && nearest.len() >= RESCORED);
            assert_eq!(nearest, naive(&index, &wanted));
            let opposite: Vec<i8> = wanted.iter().map(|x| -x).collect();
            assert_eq!(index.nearest_by_signs(&opposite), naive(&index, &opposite));
        }
    }

    proptest! {
        #[test]
        fn candidates_are_exact_for_any_index(
            phrases in prop::collection::vec(prop::array::uniform3(-2_i8..=2), 0..600),
            wanted in prop::array::uniform3(-2_i8..=2),
        ) {
            let phrases: Vec<(u32, &[i8])> = phrases.iter().map(|one| (0, &one[..])).collect();
            let index = PhraseIndex::new(file(&phrases, &[&[1, 1, 1]]).into()).unwrap();
            prop_assert_eq!(index.nearest_by_signs(&wanted), naive(&index, &wanted));
        }
    }

    #[test]
    fn broken_files_are_rejected() {
        let whole = file(&[(0, &[127, 0])], &[&[1, 1]]);
        let error = |bytes: Vec<u8>| PhraseIndex::new(bytes.into()).err();
        assert_eq!(error(whole.clone()), None);
        assert_eq!(error(Vec::new()), Some("is not a phrase index"));
        assert_eq!(error(whole[..whole.len() - 1].to_vec()), Some("has the wrong length"));
        assert_eq!(error([whole, vec![0]].concat()), Some("has the wrong length"));
        let stray = file(&[(1, &[127, 0])], &[&[1, 1]]);
        assert_eq!(error(stray), Some("has phrases without a target"));
    }
}
