//! The phrase index: phrases that shoppers use, each with the vector of the products it stands for.
//!
//! It covers what the model does not generalise: "telly" leads to televisions because that was
//! written down. The training step `phrasebook` makes the file; its README has the format.
//!
//! A lookup is limited by reading memory, so the first pass reads one word per phrase: the signs of
//! the 64 coordinates with the greatest variance, of which the query's side has four bits each. The
//! best of it are compared exactly. A phrase is missed if more than [`RESCORED`] others have a
//! better sketch; the tests state how often that happens.

use std::{borrow::Cow, cmp::Reverse, sync::OnceLock};

use fearless_simd::{Level, Simd, dispatch, i16x32, prelude::*};

use super::{Vector, vector::dot};

const MAGIC: &[u8; 8] = b"SKPHRA01";
const HEADER_BYTES: usize = MAGIC.len() + 4 * NUMBER_BYTES;
const NUMBER_BYTES: usize = size_of::<u32>();

/// How many of the nearest phrases contribute.
const NEIGHBOURS: usize = 5;
/// How many of the nearest phrases vote for what the query asks for, and how many things remain.
const VOTERS: usize = 12;
const THINGS: usize = 6;
/// The minimum number of candidates that are compared exactly.
const RESCORED: usize = 512;
/// The number that the first pass aims at: it knows the distribution of scores by a sample.
const AIM: usize = 576;
/// The least size of that sample.
const SAMPLE: usize = 4096;
/// How far the threshold is lowered if the aim was missed.
const LOWER: i16 = 4;
/// Phrases whose signs are compared together.
const BLOCK: usize = 64;
/// Bits per coordinate of a query, and its largest quantised number.
const PLANES: usize = 4;
const MAX_QUANTISED: i32 = (1 << (PLANES - 1)) - 1;
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

/// What the first pass reads.
struct Sketches {
    /// The coordinates with the greatest variance, one for each bit.
    coordinates: Box<[usize]>,
    /// Which of these coordinates are not negative, by phrase.
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
        let candidates = self.candidates(wanted);
        let mut near: Vec<(f32, usize)> = Vec::with_capacity(candidates.len());
        let factors = &self.sketches().factors;
        dispatch!(Level::new(), simd => {
            for phrase in candidates {
                let dot = dot(simd, wanted, self.phrase(phrase));
                near.push((dot as f32 * length * factors[phrase], phrase));
            }
        });
        let nearest_first =
            |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if near.len() > VOTERS {
            near.select_nth_unstable_by(VOTERS, nearest_first);
            near.truncate(VOTERS);
        }
        near.sort_unstable_by(nearest_first);
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

    /// At least [`RESCORED`] phrases, or all: those with the best sketches.
    fn candidates(&self, wanted: &[i8]) -> Vec<usize> {
        let sketches = self.sketches();
        let planes = planes(sketches.coordinates.iter().map(|at| wanted[*at]));
        dispatch!(Level::new(), simd => {
            let mut scores = scores(&planes, &sketches.signs);
            // The last block has places without a phrase.
            scores.as_flattened_mut()[self.phrases..].fill(i16::MIN);
            let mut least = threshold(&scores.as_flattened()[..self.phrases]);
            loop {
                let best = at_least(simd, &scores, least);
                if best.len() >= RESCORED.min(self.phrases) {
                    break best;
                }
                least -= LOWER;
            }
        })
    }

    fn sketches(&self) -> &Sketches {
        self.sketches.get_or_init(|| {
            let mut squares = vec![0_u64; self.dims];
            for phrase in 0..self.phrases {
                for (sum, x) in squares.iter_mut().zip(self.phrase(phrase)) {
                    *sum += u64::from(x.cast_signed().unsigned_abs()).pow(2);
                }
            }
            let mut coordinates: Box<[usize]> = (0..self.dims).collect();
            coordinates.sort_by_key(|at| Reverse(squares[*at]));
            let coordinates: Box<[usize]> =
                coordinates.into_iter().take(u64::BITS as usize).collect();
            let mut signs = vec![[0; BLOCK]; self.phrases.div_ceil(BLOCK)].into_boxed_slice();
            for (phrase, word) in signs.as_flattened_mut()[..self.phrases].iter_mut().enumerate() {
                let phrase = self.phrase(phrase);
                for (bit, at) in coordinates.iter().enumerate() {
                    *word |= u64::from(phrase[*at].cast_signed() >= 0) << bit;
                }
            }
            let factors = (0..self.phrases).map(|at| factor(signed(self.phrase(at)))).collect();
            Sketches { coordinates, signs, factors }
        })
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

/// The reciprocal of a vector's length; 0 for the zero vector.
fn factor(numbers: impl Iterator<Item = i8>) -> f32 {
    let square: u32 = numbers.map(|x| u32::from(x.unsigned_abs()).pow(2)).sum();
    if square == 0 { 0.0 } else { (square as f32).sqrt().recip() }
}

/// The bit planes of a query's numbers, quantised in two's complement, lowest first.
fn planes(numbers: impl Iterator<Item = i8> + Clone) -> [u64; PLANES] {
    let largest = numbers.clone().map(|x| i32::from(x).abs()).max().unwrap_or(0).max(1);
    let mut planes = [0; PLANES];
    for (bit, x) in numbers.enumerate() {
        let scaled = 2 * i32::from(x) * MAX_QUANTISED;
        // Rounded to the nearest.
        let quantised = (scaled + largest * x.signum() as i32) / (2 * largest);
        for (at, plane) in planes.iter_mut().enumerate() {
            *plane |= u64::from(quantised >> at & 1 == 1) << bit;
        }
    }
    planes
}

/// The score of each phrase: the sum of the query's numbers where the phrase's are not negative.
///
/// Plain code, which the compiler vectorises for each instruction set.
#[inline(always)]
fn scores(planes: &[u64; PLANES], signs: &[[u64; BLOCK]]) -> Vec<[i16; BLOCK]> {
    let mut all = vec![[0; BLOCK]; signs.len()];
    for (words, scores) in signs.iter().zip(&mut all) {
        for at in 0..BLOCK {
            let mut sum = 0;
            for (bit, plane) in planes[..PLANES - 1].iter().enumerate() {
                sum += u64::from((words[at] & plane).count_ones()) << bit;
            }
            let sign = u64::from((words[at] & planes[PLANES - 1]).count_ones()) << (PLANES - 1);
            scores[at] = sum.wrapping_sub(sign) as i16;
        }
    }
    all
}

/// A score that about [`AIM`] of the scores reach.
#[inline(always)]
fn threshold(scores: &[i16]) -> i16 {
    let step = (scores.len() / SAMPLE).max(1);
    let mut sample = Vec::with_capacity(scores.len() / step + 1);
    for at in (0..scores.len()).step_by(step) {
        sample.push(scores[at]);
    }
    // Bisection finds it in a few vectorised passes; a histogram would have to go one by one.
    let bound = (u64::BITS as i16) << (PLANES - 1);
    let (mut low, mut high) = (-bound, bound);
    while low < high {
        let middle = low + (high - low + 1) / 2;
        let mut count = 0_u16;
        for score in &sample {
            count += u16::from(*score >= middle);
        }
        match usize::from(count) * step < AIM {
            true => high = middle - 1,
            false => low = middle,
        }
    }
    low
}

/// The phrases with at least this score.
#[inline(always)]
fn at_least<S: Simd>(simd: S, scores: &[[i16; BLOCK]], least: i16) -> Vec<usize> {
    let mut best = Vec::with_capacity(2 * AIM);
    let least = i16x32::splat(simd, least);
    for (at, block) in scores.iter().enumerate() {
        let (left, right) = block.split_at(BLOCK / 2);
        let left = i16x32::from_slice(simd, left).simd_ge(least).to_bitmask();
        let right = i16x32::from_slice(simd, right).simd_ge(least).to_bitmask();
        let mut reached = left | right << (BLOCK / 2);
        while reached != 0 {
            best.push(at * BLOCK + reached.trailing_zeros() as usize);
            reached &= reached - 1;
        }
    }
    best
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

    /// Checks the candidates against sums that are made one by one.
    fn check_candidates(index: &PhraseIndex, wanted: &[i8]) {
        let coordinates = &index.sketches().coordinates;
        let largest = coordinates.iter().map(|at| f32::from(wanted[*at]).abs()).fold(1.0, f32::max);
        let quantised =
            |at: usize| (f32::from(wanted[at]) / largest * MAX_QUANTISED as f32).round();
        let score = |phrase: usize| -> i32 {
            let phrase = index.phrase(phrase);
            let signs = coordinates.iter().filter(|at| phrase[**at].cast_signed() >= 0);
            signs.map(|at| quantised(*at) as i32).sum()
        };
        let found = index.candidates(wanted);
        assert!(found.is_sorted() && found.len() >= RESCORED.min(index.phrases));
        let worst = found.iter().map(|phrase| score(*phrase)).min();
        let expected: Vec<_> =
            (0..index.phrases).filter(|phrase| Some(score(*phrase)) >= worst).collect();
        assert_eq!(found, expected);
    }

    fn real() -> PhraseIndex {
        PhraseIndex::new(models::PHRASES.as_slice().into()).unwrap()
    }

    #[test]
    fn candidates_have_the_best_sketches() {
        let index = real();
        for phrase in (0..index.phrases).step_by(index.phrases / 3) {
            let wanted: Vec<i8> = signed(index.phrase(phrase)).collect();
            check_candidates(&index, &wanted);
            let found = index.candidates(&wanted);
            assert!(found.contains(&phrase) && found.len() < 4 * RESCORED, "{}", found.len());
            let opposite: Vec<i8> = wanted.iter().map(|x| -x).collect();
            check_candidates(&index, &opposite);
        }
    }

    proptest! {
        #[test]
        fn candidates_have_the_best_sketches_in_any_index(
            phrases in prop::collection::vec(prop::array::uniform3(-2_i8..=2), 0..1500),
            wanted in prop::array::uniform3(-2_i8..=2),
        ) {
            let phrases: Vec<(u32, &[i8])> = phrases.iter().map(|one| (0, &one[..])).collect();
            let index = PhraseIndex::new(file(&phrases, &[&[1, 1, 1]]).into()).unwrap();
            check_candidates(&index, &wanted);
        }
    }

    /// How often the first pass misses phrases. Queries are halfway between two phrases, at a cosine
    /// to the nearest one that real queries have too.
    #[test]
    fn candidates_nearly_always_include_the_nearest_phrases() {
        let index = real();
        let unit = |at: usize| {
            let factor = factor(signed(index.phrase(at)));
            signed(index.phrase(at)).map(move |x| f32::from(x) * factor)
        };
        let (mut cases, mut nearest_found, mut found) = (0, 0, 0);
        for at in (0..index.phrases).step_by(index.phrases / 60) {
            let other = (at * 7 + 31) % index.phrases;
            let query = Vector::normalized(unit(at).zip(unit(other)).map(|(a, b)| a + b).collect());
            let query = query.unwrap().stored();
            let similarity = |phrase: usize| {
                let (query, phrase_bytes) = (query.numbers(), index.phrase(phrase));
                let dot = dispatch!(Level::new(), simd => dot(simd, query, phrase_bytes));
                dot as f32 * index.sketches().factors[phrase]
            };
            let mut nearest: Vec<_> = (0..index.phrases).map(|at| (similarity(at), at)).collect();
            nearest.sort_by(|a, b| b.0.total_cmp(&a.0));
            let candidates = index.candidates(query.numbers());
            let is_found = |near: &&(f32, usize)| candidates.contains(&near.1);
            cases += 1;
            nearest_found += usize::from(is_found(&&nearest[0]));
            found += nearest.iter().take(VOTERS).filter(is_found).count();
        }
        let share = |found: usize, of: usize| found as f32 / of as f32;
        let (nearest, all) = (share(nearest_found, cases), share(found, cases * VOTERS));
        assert!(nearest >= 0.98 && all >= 0.9, "{nearest} {all}");
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
