//! The instant encoder: a text's vector is the direction of a sum of table rows.
//!
//! A word of the vocabulary selects one row. A word that had to be split is rare or misspelled; its
//! letters tell more than its pieces, so the rows of its hashed character n-grams are added.
//!
//! The file format: `SKINST01`; six little-endian 32-bit integers (dimensions, pieces, n-gram rows,
//! shortest and longest n-gram, zero); a 32-bit float scale per row; the rows, one signed byte per
//! coordinate.

use std::borrow::Cow;

use catalog::text::fnv;
use fearless_simd::{Level, dispatch};

use super::wordpiece::{Pieces, WordPiece};

const MAGIC: &[u8; 8] = b"SKINST01";
const HEADER_BYTES: usize = 32;
/// An upper limit for the dimensions in a valid header.
pub(super) const MAX_DIMS: usize = 4096;

/// The table.
pub(super) struct Instant {
    bytes: Cow<'static, [u8]>,
    scales: Vec<f32>,
    dims: usize,
    pieces: usize,
    ngram_rows: u32,
    ngram_sizes: std::ops::RangeInclusive<usize>,
}

/// Buffers for encoding, reusable for the next text.
#[derive(Default)]
pub(super) struct Rows {
    numbers: Vec<u32>,
    /// The rows with their scales.
    scaled: Vec<(usize, f32)>,
    spelled: String,
    /// Where each letter of `spelled` begins, and the end of the last one.
    letters: Vec<usize>,
}

/// Why the table cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadTable {
    #[error("is no instant table")]
    Magic,
    #[error("has a header that makes no sense")]
    Header,
    #[error("has {found} bytes where its header tells of {expected}")]
    Size { expected: usize, found: usize },
    #[error("has a scale that is no number")]
    Scale,
}

impl Instant {
    pub(super) fn new(bytes: Cow<'static, [u8]>) -> Result<Self, BadTable> {
        if !bytes.starts_with(MAGIC) || bytes.len() < HEADER_BYTES {
            return Err(BadTable::Magic);
        }
        let [dims, pieces, ngram_rows, shortest, longest, _] =
            std::array::from_fn(|i| read_u32(&bytes[MAGIC.len() + 4 * i..]) as usize);
        let sizes_make_sense = 1 <= shortest && shortest <= longest && longest <= 16;
        if dims == 0 || dims > MAX_DIMS || pieces == 0 || !sizes_make_sense {
            return Err(BadTable::Header);
        }
        let rows = pieces + ngram_rows;
        let expected = HEADER_BYTES + rows * (dims + 4);
        if bytes.len() != expected {
            return Err(BadTable::Size { expected, found: bytes.len() });
        }
        let scales: Vec<f32> = bytes[HEADER_BYTES..HEADER_BYTES + 4 * rows]
            .chunks_exact(4)
            .map(|bytes| f32::from_bits(read_u32(bytes)))
            .collect();
        if !scales.iter().all(|scale| scale.is_finite()) {
            return Err(BadTable::Scale);
        }
        let ngram_rows = ngram_rows as u32;
        Ok(Self { bytes, scales, dims, pieces, ngram_rows, ngram_sizes: shortest..=longest })
    }

    pub(super) fn dims(&self) -> usize {
        self.dims
    }

    /// The number of pieces that its vocabulary must have.
    pub(super) fn pieces(&self) -> usize {
        self.pieces
    }

    /// The sum of the rows of a text's first `prefix` pieces, which end a word, and the sum of all;
    /// zeros where no piece is known.
    pub(super) fn sums(
        &self,
        vocabulary: &WordPiece,
        pieces: &[u32],
        prefix: usize,
        rows: &mut Rows,
    ) -> [Vec<f32>; 2] {
        rows.numbers.clear();
        let (prefix, rest) = pieces.split_at(prefix);
        self.push_rows(vocabulary, prefix, rows);
        let prefix_rows = rows.numbers.len();
        self.push_rows(vocabulary, rest, rows);
        let table = &self.bytes[HEADER_BYTES + 4 * self.scales.len()..];
        let scaled = rows.numbers.iter().map(|row| (*row as usize, self.scales[*row as usize]));
        rows.scaled.clear();
        rows.scaled.extend(scaled);
        let (prefix, rest) = rows.scaled.split_at(prefix_rows);
        let mut sum = vec![0.0; self.dims];
        add_rows(table, prefix, &mut sum);
        let prefix_sum = sum.clone();
        add_rows(table, rest, &mut sum);
        [prefix_sum, sum]
    }

    /// The sum of a text's rows; all zero for a text without a known piece.
    pub(super) fn sum(&self, vocabulary: &WordPiece, pieces: &Pieces, rows: &mut Rows) -> Vec<f32> {
        let [_, sum] = self.sums(vocabulary, &pieces.numbers, 0, rows);
        sum
    }

    fn push_rows(&self, vocabulary: &WordPiece, pieces: &[u32], rows: &mut Rows) {
        let mut word = 0;
        for next in 1..=pieces.len() {
            let ends = pieces.get(next).is_none_or(|piece| !vocabulary.continues(*piece));
            if ends {
                self.word_rows(vocabulary, &pieces[word..next], rows);
                word = next;
            }
        }
    }

    fn word_rows(&self, vocabulary: &WordPiece, word: &[u32], rows: &mut Rows) {
        if word == [vocabulary.unknown()] {
            return;
        }
        rows.numbers.extend_from_slice(word);
        if word.len() < 2 || self.ngram_rows == 0 {
            return;
        }
        let Rows { numbers, spelled, letters, .. } = rows;
        spelled.clear();
        spelled.push('<');
        word.iter().for_each(|piece| spelled.push_str(vocabulary.spelling(*piece)));
        spelled.push('>');
        letters.clear();
        letters.extend(spelled.char_indices().map(|(at, _)| at));
        letters.push(spelled.len());
        numbers.push(self.ngram_row(spelled.as_bytes()));
        for size in self.ngram_sizes.clone() {
            for ends in letters.windows(size + 1) {
                numbers.push(self.ngram_row(&spelled.as_bytes()[ends[0]..ends[size]]));
            }
        }
    }

    fn ngram_row(&self, ngram: &[u8]) -> u32 {
        self.pieces as u32 + fnv::hash_32(fnv::OFFSET_32, ngram) % self.ngram_rows
    }
}

/// Adds rows of a table, each times its scale, to `sum`.
pub(super) fn add_rows(table: &[u8], rows: &[(usize, f32)], sum: &mut [f32]) {
    dispatch!(Level::new(), _ => add_rows_inline(table, rows, sum));
}

/// Plain code, which the compiler vectorises for each instruction set that [`dispatch`] compiles it
/// for; the order of additions is the same in all of them, and so is the sum. It adds up a few
/// columns of all rows before the next ones, because their sums fit into registers.
#[inline(always)]
fn add_rows_inline(table: &[u8], rows: &[(usize, f32)], sum: &mut [f32]) {
    const COLUMNS: usize = 64;
    let dims = sum.len();
    let (blocks, rest) = sum.as_chunks_mut::<COLUMNS>();
    let first_of_rest = dims - rest.len();
    for (block, sum) in blocks.iter_mut().enumerate() {
        let mut sums = *sum;
        for (row, scale) in rows {
            let Some(numbers) = table[row * dims + block * COLUMNS..].first_chunk::<COLUMNS>()
            else {
                continue;
            };
            for column in 0..COLUMNS {
                sums[column] += scale * f32::from(numbers[column].cast_signed());
            }
        }
        *sum = sums;
    }
    for (row, scale) in rows {
        let numbers = &table[row * dims + first_of_rest..(row + 1) * dims];
        for (sum, number) in rest.iter_mut().zip(numbers) {
            *sum += scale * f32::from(number.cast_signed());
        }
    }
}

impl Rows {
    /// The rows whose sum the last text was.
    #[cfg(test)]
    pub(super) fn numbers(&self) -> &[u32] {
        &self.numbers
    }
}

pub(super) fn read_u32(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    const VOCABULARY: &str = "[UNK]\n[CLS]\n[SEP]\nsofa\nbed\n##s\n";
    const PIECES: u32 = 6;
    const NGRAM_ROWS: u32 = 50;

    fn file(dims: u32) -> Vec<u8> {
        let rows = PIECES + NGRAM_ROWS;
        let mut bytes = MAGIC.to_vec();
        for number in [dims, PIECES, NGRAM_ROWS, 3, 5, 0] {
            bytes.extend(number.to_le_bytes());
        }
        (0..rows).for_each(|row| bytes.extend((0.5 + row as f32).to_le_bytes()));
        (0..rows * dims).for_each(|i| bytes.push((i * 7 % 255) as u8));
        bytes
    }

    fn sum(text: &str) -> (Vec<u32>, Vec<f32>) {
        let table = Instant::new(file(4).into()).unwrap();
        let vocabulary = WordPiece::new(VOCABULARY.into()).unwrap();
        let (mut pieces, mut rows) = (Pieces::default(), Rows::default());
        vocabulary.tokenize(text, 99, &mut pieces);
        let sum = table.sum(&vocabulary, &pieces, &mut rows);
        (rows.numbers, sum)
    }

    #[test]
    fn known_words_select_rows_and_unknown_ones_none() {
        let (rows, sum) = sum("sofa zzz bed");
        assert_eq!(rows, [3, 4]);
        let row =
            |r: u32, i: u32| (r as f32 + 0.5) * f32::from(((r * 4 + i) * 7 % 255) as u8 as i8);
        let expected: Vec<_> = (0..4).map(|i| row(3, i) + row(4, i)).collect();
        assert_eq!(sum, expected);
    }

    #[test]
    fn a_word_in_pieces_adds_its_ngrams() {
        let (rows, _) = sum("beds");
        // The whole word, four 3-grams, three 4-grams, two 5-grams.
        assert_eq!(rows.len(), 2 + 1 + 4 + 3 + 2);
        assert_eq!(rows[..2], [4, 5]);
        assert!(rows[2..].iter().all(|row| (PIECES..PIECES + NGRAM_ROWS).contains(row)));
    }

    proptest! {
        #[test]
        fn rows_are_added_in_their_order(
            dims in 1_usize..200,
            rows in vec((0_usize..5, -2.0_f32..2.0), 0..9),
            seed in any::<usize>(),
        ) {
            let byte = |at: usize| (at.wrapping_mul(seed | 1) >> 7) as u8;
            let table: Vec<u8> = (0..5 * dims).map(byte).collect();
            let mut sum = vec![0.5; dims];
            let mut expected = sum.clone();
            add_rows(&table, &rows, &mut sum);
            for (row, scale) in rows {
                for (at, sum) in expected.iter_mut().enumerate() {
                    *sum += scale * f32::from(table[row * dims + at].cast_signed());
                }
            }
            prop_assert_eq!(sum, expected);
        }
    }

    #[test]
    fn the_sum_of_the_first_words_is_that_of_their_text() {
        let table = Instant::new(file(4).into()).unwrap();
        let vocabulary = WordPiece::new(VOCABULARY.into()).unwrap();
        let (mut pieces, mut rows) = (Pieces::default(), Rows::default());
        vocabulary.tokenize("beds", 99, &mut pieces);
        let prefix = pieces.numbers.len();
        vocabulary.append(". sofa zzz", 99, &mut pieces);
        let sums = table.sums(&vocabulary, &pieces.numbers, prefix, &mut rows);
        assert_eq!(sums, ["beds", "beds. sofa zzz"].map(|text| sum(text).1));
    }

    #[test]
    fn texts_without_known_words_have_the_zero_vector() {
        assert_eq!(sum("zzz ?"), (vec![], vec![0.0; 4]));
    }

    #[test]
    fn broken_files_are_rejected() {
        let refused = |bytes: Vec<u8>| Instant::new(bytes.into()).err();
        assert_eq!(refused(vec![]), Some(BadTable::Magic));
        assert_eq!(refused(file(0)), Some(BadTable::Header));
        let mut short = file(4);
        short.pop();
        let (expected, found) = (short.len() + 1, short.len());
        assert_eq!(refused(short), Some(BadTable::Size { expected, found }));
        let mut wrong = file(4);
        wrong[HEADER_BYTES..HEADER_BYTES + 4].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(refused(wrong), Some(BadTable::Scale));
    }
}
