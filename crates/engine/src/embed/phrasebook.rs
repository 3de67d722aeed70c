//! What do people look for who say such things? A book of phrases that shoppers use, each with
//! the place where the goods lie that it stands for.
//!
//! A model generalises, a book remembers: "telly" leads to televisions because somebody wrote it
//! down, whatever the weights make of the word. Made by the training's step `phrasebook`; the
//! format is in its README.

use std::{borrow::Cow, sync::OnceLock};

use fearless_simd::{Level, dispatch};

use super::Vector;

const MAGIC: &[u8; 8] = b"SKPHRA01";
const HEADER_BYTES: usize = MAGIC.len() + 4 * NUMBER_BYTES;
const NUMBER_BYTES: usize = size_of::<u32>();

/// How many of the nearest phrases are asked.
const ASKED: usize = 5;
/// How many are looked at closely, at least: those whose signs are nearest.
const LOOKED_AT: usize = 256;
/// Phrases whose signs are compared together.
const BLOCK: usize = 64;
/// A phrase so much further away than the nearest counts a third of it.
const REACH: f32 = 0.04;

/// What phrases near a query stand for.
#[derive(Clone, Debug, PartialEq)]
pub struct PhraseMatch {
    /// How near the nearest phrase is: 1 for the same words.
    pub similarity: f32,
    /// Where the things lie that such phrases stand for.
    pub target: Vector,
}

/// The phrases and what they stand for.
pub(super) struct PhraseBook {
    dims: usize,
    phrases: usize,
    bytes: Cow<'static, [u8]>,
    /// Made when it is needed first: tests and commands that never search do without.
    sketches: OnceLock<Sketches>,
}

/// What is compared before the numbers are.
struct Sketches {
    /// Which numbers are below zero, a bit each: for each block of phrases, the first word of
    /// each, then the second of each, and so on.
    signs: Box<[[u64; BLOCK]]>,
    /// The reciprocal of each phrase's length.
    factors: Box<[f32]>,
}

impl PhraseBook {
    /// Reads a book.
    pub(super) fn new(bytes: Cow<'static, [u8]>) -> Result<Self, &'static str> {
        if bytes.len() < HEADER_BYTES || !bytes.starts_with(MAGIC) {
            return Err("is no phrase book");
        }
        let number = |at: usize| number_at(&bytes, MAGIC.len() + at * NUMBER_BYTES);
        let (dims, phrases, things) = (number(0), number(1), number(2));
        let size = || {
            let vectors = phrases.checked_add(things)?.checked_mul(dims)?;
            vectors.checked_add(phrases.checked_mul(NUMBER_BYTES)?)?.checked_add(HEADER_BYTES)
        };
        if dims == 0 || size() != Some(bytes.len()) {
            return Err("is cut short or too long");
        }
        let book = Self { dims, phrases, bytes, sketches: OnceLock::new() };
        if (0..phrases).any(|phrase| book.thing_of(phrase) >= things) {
            return Err("has phrases for things it does not have");
        }
        Ok(book)
    }

    /// How many numbers a vector has.
    pub(super) fn dims(&self) -> usize {
        self.dims
    }

    /// What the phrases nearest to a query stand for; `None` if the query or the book says nothing.
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
        near.truncate(ASKED);
        let similarity = near.first()?.0;
        let mut sum = vec![0.0; self.dims];
        for (cosine, phrase) in near {
            let thing = self.thing(self.thing_of(phrase));
            let share = ((cosine - similarity) / REACH).exp() * factor(signed(thing));
            sum.iter_mut().zip(signed(thing)).for_each(|(sum, x)| *sum += share * f32::from(x));
        }
        Some(PhraseMatch { similarity, target: Vector::towards(sum)? })
    }

    /// The phrases whose signs differ least, and all that differ as little as the last of them.
    fn nearest_by_signs(&self, wanted: &[i8]) -> Vec<usize> {
        let wanted: Vec<u64> = signs(wanted.iter().copied()).collect();
        let signs = &self.sketches().signs;
        dispatch!(Level::new(), _ => {
            let mut distances = distances(&wanted, signs);
            distances.truncate(self.phrases);
            // Halving finds the distance in a few passes that compare many at a time; counting
            // how many there are of each would go one by one.
            let (mut low, mut high) = (0, self.dims as u16);
            while low < high {
                let middle = low.midpoint(high);
                match up_to(&distances, middle) < LOOKED_AT {
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

    /// The number of the thing that a phrase stands for.
    fn thing_of(&self, phrase: usize) -> usize {
        number_at(&self.bytes, HEADER_BYTES + phrase * NUMBER_BYTES)
    }

    fn phrase(&self, phrase: usize) -> &[u8] {
        self.vector(phrase)
    }

    fn thing(&self, thing: usize) -> &[u8] {
        self.vector(self.phrases + thing)
    }

    fn vector(&self, at: usize) -> &[u8] {
        let start = HEADER_BYTES + self.phrases * NUMBER_BYTES + at * self.dims;
        &self.bytes[start..start + self.dims]
    }
}

/// A little-endian number.
fn number_at(bytes: &[u8], at: usize) -> usize {
    bytes[at..at + NUMBER_BYTES]
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | usize::from(*byte))
}

fn signed(bytes: &[u8]) -> impl Iterator<Item = i8> {
    bytes.iter().map(|byte| byte.cast_signed())
}

/// Which numbers are below zero, a bit each.
fn signs(mut numbers: impl Iterator<Item = i8>) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let mut chunk = numbers.by_ref().take(u64::BITS as usize).enumerate().peekable();
        chunk.peek()?;
        Some(chunk.fold(0, |bits, (at, x)| bits | u64::from(x < 0) << at))
    })
}

/// The reciprocal of a vector's length; 0 for one that is nowhere.
fn factor(numbers: impl Iterator<Item = i8>) -> f32 {
    let square: u32 = numbers.map(|x| u32::from(x.unsigned_abs()).pow(2)).sum();
    if square == 0 { 0.0 } else { (square as f32).sqrt().recip() }
}

/// How many signs differ, for each phrase.
///
/// Plain code: compiled for each instruction set, it becomes the instructions of that set.
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

/// How many are no further than this.
#[inline(always)]
fn up_to(distances: &[u16], most: u16) -> usize {
    // Summed in chunks so short that numbers as wide as a distance can hold the sums.
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

/// Which are no further than this.
#[inline(always)]
fn within(distances: &[u16], most: u16) -> Vec<usize> {
    let mut near = Vec::with_capacity(2 * LOOKED_AT);
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

/// The product of a query and a phrase.
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

    /// A book of these phrases, each the thing it stands for and its vector, and these things.
    fn book(phrases: &[(u32, &[i8])], things: &[&[i8]]) -> Vec<u8> {
        let dims = things.first().map_or(1, |thing| thing.len()) as u32;
        let mut bytes = MAGIC.to_vec();
        for number in [dims, phrases.len() as u32, things.len() as u32, 0] {
            bytes.extend(number.to_le_bytes());
        }
        phrases.iter().for_each(|(thing, _)| bytes.extend(thing.to_le_bytes()));
        let vectors = phrases.iter().map(|(_, vector)| *vector).chain(things.iter().copied());
        vectors.for_each(|vector| bytes.extend(vector.iter().map(|x| x.cast_unsigned())));
        bytes
    }

    fn towards(numbers: &[f32]) -> Vector {
        Vector::towards(numbers.to_vec()).unwrap()
    }

    #[test]
    fn the_nearest_phrase_decides() {
        let bytes = book(
            &[(0, &[127, 0, 0]), (1, &[0, 127, 0]), (1, &[0, 100, 10])],
            &[&[10, 0, 10], &[0, 0, -5]],
        );
        let book = PhraseBook::new(bytes.into()).unwrap();
        let hint = book.phrase_match(&towards(&[0.0, 1.0, 0.0])).unwrap();
        assert!(hint.similarity > 0.999, "{}", hint.similarity);
        assert!(hint.target.cosine(&towards(&[0.0, 0.0, -1.0])) > 0.999, "{:?}", hint.target);
        let hint = book.phrase_match(&towards(&[1.0, 0.1, 0.0])).unwrap();
        assert!(hint.target.cosine(&towards(&[1.0, 0.0, 1.0])) > 0.999, "{:?}", hint.target);
    }

    #[test]
    fn nothing_is_said_of_nothing() {
        let bytes = book(&[(0, &[127, 0])], &[&[1, 1]]);
        let full = PhraseBook::new(bytes.into()).unwrap();
        assert_eq!(full.phrase_match(&towards(&[0.0, 0.0])), None);
        assert_eq!(full.phrase_match(&towards(&[1.0, 0.0, 0.0])), None);
        let empty = PhraseBook::new(book(&[], &[&[1, 1]]).into()).unwrap();
        assert_eq!(empty.phrase_match(&towards(&[1.0, 0.0])), None);
    }

    /// The numbers of the phrases that are looked at closely, counted one by one.
    fn naive(book: &PhraseBook, wanted: &[i8]) -> Vec<usize> {
        let distance = |phrase: usize| {
            let pairs = wanted.iter().zip(signed(book.phrase(phrase)));
            pairs.filter(|(one, other)| (**one < 0) != (*other < 0)).count()
        };
        let distances: Vec<usize> = (0..book.phrases).map(distance).collect();
        let mut sorted = distances.clone();
        sorted.sort_unstable();
        let most = sorted.get(LOOKED_AT - 1).or(sorted.last()).copied().unwrap_or(0);
        (0..book.phrases).filter(|phrase| distances[*phrase] <= most).collect()
    }

    #[test]
    fn those_looked_at_are_the_nearest_by_signs() {
        let bytes = include_bytes!("../../../../models/phrases.bin");
        let book = PhraseBook::new(bytes.as_slice().into()).unwrap();
        for phrase in (0..book.phrases).step_by(book.phrases / 3) {
            let wanted: Vec<i8> = signed(book.phrase(phrase)).collect();
            let nearest = book.nearest_by_signs(&wanted);
            assert!(nearest.contains(&phrase) && nearest.len() >= LOOKED_AT);
            assert_eq!(nearest, naive(&book, &wanted));
            let opposite: Vec<i8> = wanted.iter().map(|x| -x).collect();
            assert_eq!(book.nearest_by_signs(&opposite), naive(&book, &opposite));
        }
    }

    proptest! {
        #[test]
        fn any_book_is_looked_at_as_far(
            phrases in prop::collection::vec(prop::array::uniform3(-2_i8..=2), 0..600),
            wanted in prop::array::uniform3(-2_i8..=2),
        ) {
            let phrases: Vec<(u32, &[i8])> = phrases.iter().map(|one| (0, &one[..])).collect();
            let book = PhraseBook::new(book(&phrases, &[&[1, 1, 1]]).into()).unwrap();
            prop_assert_eq!(book.nearest_by_signs(&wanted), naive(&book, &wanted));
        }
    }

    #[test]
    fn broken_books_are_refused() {
        let whole = book(&[(0, &[127, 0])], &[&[1, 1]]);
        let said = |bytes: Vec<u8>| PhraseBook::new(bytes.into()).err();
        assert_eq!(said(whole.clone()), None);
        assert_eq!(said(Vec::new()), Some("is no phrase book"));
        assert_eq!(said(whole[..whole.len() - 1].to_vec()), Some("is cut short or too long"));
        assert_eq!(said([whole, vec![0]].concat()), Some("is cut short or too long"));
        let stray = book(&[(1, &[127, 0])], &[&[1, 1]]);
        assert_eq!(said(stray), Some("has phrases for things it does not have"));
    }
}
