//! The phrases in the space of one encoder: their keys, those nearest to a query, and the targets.
//!
//! A key has fewer dimensions than the space, the principal ones turned at random, with four bits each.
//! A lookup is limited by reading memory, so the first pass reads one word per phrase: the signs of
//! the 64 coordinates with the greatest variance, of which the query's side has four bits each. The
//! best of it are compared exactly. A phrase is missed if more than [`RESCORED`] others have a
//! better sketch; the tests state how often that happens.

use std::{borrow::Cow, cmp::Reverse, sync::OnceLock};

use fearless_simd::{Level, Simd, dispatch, i16x32, prelude::*};

use crate::{Vector, vector::dot};

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

/// The phrases in the space of one encoder.
pub(super) struct Space {
    /// The directions that keys are made of, as signed bytes.
    axes: Rows,
    keys: Packed,
    targets: Packed,
    /// Computed at the first search: tests and commands without a search do not need it.
    sketches: OnceLock<Sketches>,
}

/// Vectors of signed bytes: only their directions matter.
struct Rows {
    dims: usize,
    bytes: Cow<'static, [u8]>,
}

/// Vectors of numbers of four bits, in two's complement: only their directions matter. A byte has a number of
/// the first half of a vector, and in its high bits one of the second half.
struct Packed {
    row_bytes: usize,
    bytes: Cow<'static, [u8]>,
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

impl Rows {
    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.dims)
    }
}

impl Packed {
    fn dims(&self) -> usize {
        2 * self.row_bytes
    }

    fn len(&self) -> usize {
        self.bytes.len() / self.row_bytes
    }

    /// Writes a row into `row`, which has as many numbers.
    #[inline(always)]
    fn unpack(&self, at: usize, row: &mut [i8]) {
        let packed = &self.bytes[at * self.row_bytes..][..self.row_bytes];
        let (low, high) = row.split_at_mut(self.row_bytes);
        for at in 0..packed.len() {
            low[at] = (packed[at] << 4).cast_signed() >> 4;
            high[at] = packed[at].cast_signed() >> 4;
        }
    }
}

impl Space {
    /// Reads a space with the dimensions of its vectors and of its keys. `take` gives the next rows of the
    /// file, so many of so many bytes.
    pub(super) fn read(
        [dims, key_dims]: [usize; 2],
        phrases: usize,
        targets: usize,
        take: &mut impl FnMut(usize, usize) -> Result<Cow<'static, [u8]>, &'static str>,
    ) -> Result<Self, &'static str> {
        if dims == 0 || dims % 2 != 0 || key_dims == 0 || key_dims % 2 != 0 {
            return Err("has keys of an odd dimension");
        }
        let axes = Rows { dims, bytes: take(key_dims, dims)? };
        let mut packed = |rows: usize, dims: usize| {
            Ok::<_, &'static str>(Packed { row_bytes: dims / 2, bytes: take(rows, dims / 2)? })
        };
        let (keys, targets) = (packed(phrases, key_dims)?, packed(targets, dims)?);
        Ok(Self { axes, keys, targets, sketches: OnceLock::new() })
    }

    /// The dimension of the vectors.
    pub(super) fn dims(&self) -> usize {
        self.axes.dims
    }

    /// The direction of these shares of targets.
    pub(super) fn direction(&self, shares: &[(f32, usize)]) -> Option<Vector> {
        let mut sum = vec![0.0; self.dims()];
        let mut target = vec![0; self.dims()];
        for (share, at) in shares {
            self.targets.unpack(*at, &mut target);
            let share = share * factor(&target);
            sum.iter_mut().zip(&target).for_each(|(sum, x)| *sum += share * f32::from(*x));
        }
        Vector::normalized(sum)
    }

    /// The phrases nearest to a query, at most this many, each with its cosine, nearest first. None
    /// for the zero vector.
    pub(super) fn nearest(&self, query: &Vector, most: usize) -> Vec<(f32, usize)> {
        let Some(wanted) = self.key(query) else { return Vec::new() };
        let wanted = wanted.stored();
        let wanted = wanted.numbers();
        let length = factor(wanted);
        let candidates = self.candidates(wanted);
        let mut near: Vec<(f32, usize)> = Vec::with_capacity(candidates.len());
        let (factors, mut key) = (&self.sketches().factors, vec![0; wanted.len()]);
        dispatch!(Level::new(), simd => {
            for phrase in candidates {
                self.keys.unpack(phrase, &mut key);
                let dot = dot(simd, wanted, &key);
                near.push((dot as f32 * length * factors[phrase], phrase));
            }
        });
        let nearest_first =
            |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if near.len() > most {
            near.select_nth_unstable_by(most, nearest_first);
            near.truncate(most);
        }
        near.sort_unstable_by(nearest_first);
        near
    }

    /// The key of a query.
    fn key(&self, query: &Vector) -> Option<Vector> {
        let stored = query.stored();
        let numbers = stored.numbers();
        if numbers.len() != self.dims() || numbers.iter().all(|x| *x == 0) {
            return None;
        }
        let key = dispatch!(Level::new(), simd => {
            self.axes.iter().map(|axis| dot(simd, numbers, axis) as f32).collect()
        });
        Vector::normalized(key)
    }

    /// At least [`RESCORED`] phrases, or all: those with the best sketches.
    fn candidates(&self, wanted: &[i8]) -> Vec<usize> {
        let (sketches, phrases) = (self.sketches(), self.keys.len());
        let planes = planes(sketches.coordinates.iter().map(|at| wanted[*at]));
        dispatch!(Level::new(), simd => {
            let mut scores = scores(&planes, &sketches.signs);
            // The last block has places without a phrase.
            scores.as_flattened_mut()[phrases..].fill(i16::MIN);
            let mut least = threshold(&scores.as_flattened()[..phrases]);
            loop {
                let best = at_least(simd, &scores, least);
                if best.len() >= RESCORED.min(phrases) {
                    break best;
                }
                least -= LOWER;
            }
        })
    }

    fn sketches(&self) -> &Sketches {
        self.sketches.get_or_init(|| {
            let phrases = self.keys.len();
            let mut key = vec![0; self.keys.dims()];
            let mut squares = vec![0_u64; key.len()];
            for phrase in 0..phrases {
                self.keys.unpack(phrase, &mut key);
                for (sum, x) in squares.iter_mut().zip(&key) {
                    *sum += u64::from(x.unsigned_abs()).pow(2);
                }
            }
            let mut coordinates: Box<[usize]> = (0..key.len()).collect();
            coordinates.sort_by_key(|at| Reverse(squares[*at]));
            let coordinates: Box<[usize]> =
                coordinates.into_iter().take(u64::BITS as usize).collect();
            let mut signs = vec![[0; BLOCK]; phrases.div_ceil(BLOCK)].into_boxed_slice();
            let mut factors = Vec::with_capacity(phrases);
            for (phrase, word) in signs.as_flattened_mut()[..phrases].iter_mut().enumerate() {
                self.keys.unpack(phrase, &mut key);
                for (bit, at) in coordinates.iter().enumerate() {
                    *word |= u64::from(key[*at] >= 0) << bit;
                }
                factors.push(factor(&key));
            }
            let factors = factors.into();
            Sketches { coordinates, signs, factors }
        })
    }
}

/// The reciprocal of a vector's length; 0 for the zero vector.
fn factor(numbers: &[i8]) -> f32 {
    let square: u32 = numbers.iter().map(|x| u32::from(x.unsigned_abs()).pow(2)).sum();
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
    use crate::phrase_index::PhraseIndex;

    fn key(space: &Space, phrase: usize) -> Vec<i8> {
        let mut key = vec![0; space.keys.dims()];
        space.keys.unpack(phrase, &mut key);
        key
    }

    /// Checks the candidates against sums that are made one by one.
    fn check_candidates(space: &Space, wanted: &[i8]) {
        let coordinates = &space.sketches().coordinates;
        let largest = coordinates.iter().map(|at| f32::from(wanted[*at]).abs()).fold(1.0, f32::max);
        let quantised =
            |at: usize| (f32::from(wanted[at]) / largest * MAX_QUANTISED as f32).round();
        let score = |phrase: usize| -> i32 {
            let phrase = key(space, phrase);
            let signs = coordinates.iter().filter(|at| phrase[**at] >= 0);
            signs.map(|at| quantised(*at) as i32).sum()
        };
        let found = space.candidates(wanted);
        assert!(found.is_sorted() && found.len() >= RESCORED.min(space.keys.len()));
        let worst = found.iter().map(|phrase| score(*phrase)).min();
        let expected: Vec<_> =
            (0..space.keys.len()).filter(|phrase| Some(score(*phrase)) >= worst).collect();
        assert_eq!(found, expected);
    }

    /// Those of the embedded model.
    fn real() -> [Space; 2] {
        let index = PhraseIndex::new(models::PHRASES.as_slice().into()).unwrap();
        [index.instant, index.deep]
    }

    #[test]
    fn candidates_have_the_best_sketches() {
        for space in real() {
            let phrases = space.keys.len();
            for phrase in (0..phrases).step_by(phrases / 3) {
                let wanted: Vec<i8> = key(&space, phrase);
                check_candidates(&space, &wanted);
                let found = space.candidates(&wanted);
                assert!(found.contains(&phrase) && found.len() < 4 * RESCORED, "{}", found.len());
                let opposite: Vec<i8> = wanted.iter().map(|x| -x).collect();
                check_candidates(&space, &opposite);
            }
        }
    }

    proptest! {
        #[test]
        fn candidates_have_the_best_sketches_in_any_index(
            phrases in prop::collection::vec(prop::array::uniform4(-2_i8..=2), 0..1500),
            wanted in prop::array::uniform4(-2_i8..=2),
        ) {
            let packed = |[a, b, c, d]: &[i8; 4]| [(a & 15 | c << 4), (b & 15 | d << 4)];
            let mut bytes: Vec<u8> =
                phrases.iter().flat_map(packed).map(i8::cast_unsigned).collect();
            bytes.resize(phrases.len() * 2 + 18, 0);
            let mut rest = bytes.split_off(phrases.len() * 2);
            let mut parts = [rest.split_off(2), bytes, rest].into_iter();
            let mut take = |_, _| Ok(parts.next().unwrap().into());
            let space = Space::read([4, 4], phrases.len(), 1, &mut take).unwrap();
            check_candidates(&space, &wanted);
        }
    }

    /// How often the first pass misses phrases. Queries are halfway between two phrases, at a cosine
    /// to the nearest one that real queries have too.
    #[test]
    fn candidates_nearly_always_include_the_nearest_phrases() {
        for space in real() {
            let (nearest, all) = found_shares(&space, 12);
            assert!(nearest >= 0.98 && all >= 0.9, "{nearest} {all}");
        }
    }

    /// The shares of the nearest phrases, and of the nearest `most`, that are candidates.
    fn found_shares(space: &Space, most: usize) -> (f32, f32) {
        let phrases = space.keys.len();
        let unit = |at: usize| {
            let key = key(space, at);
            let factor = factor(&key);
            key.into_iter().map(move |x| f32::from(x) * factor)
        };
        let (mut cases, mut nearest_found, mut found) = (0, 0, 0);
        for at in (0..phrases).step_by(phrases / 60) {
            let other = (at * 7 + 31) % phrases;
            let query = Vector::normalized(unit(at).zip(unit(other)).map(|(a, b)| a + b).collect());
            let query = query.unwrap().stored();
            let similarity = |phrase: usize| {
                let (query, key) = (query.numbers(), key(space, phrase));
                let dot = dispatch!(Level::new(), simd => dot(simd, query, &key));
                dot as f32 * space.sketches().factors[phrase]
            };
            let mut nearest: Vec<_> = (0..phrases).map(|at| (similarity(at), at)).collect();
            nearest.sort_by(|a, b| b.0.total_cmp(&a.0));
            let candidates = space.candidates(query.numbers());
            let is_found = |near: &&(f32, usize)| candidates.contains(&near.1);
            cases += 1;
            nearest_found += usize::from(is_found(&&nearest[0]));
            found += nearest.iter().take(most).filter(is_found).count();
        }
        let share = |found: usize, of: usize| found as f32 / of as f32;
        (share(nearest_found, cases), share(found, cases * most))
    }
}
