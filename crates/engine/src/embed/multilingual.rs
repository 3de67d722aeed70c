//! The instant encoder for other languages: a table of letter groups that puts a text where the
//! English text lies that means the same.
//!
//! Which rows a text has is stated in `training/multilingual/spelling.py`, rule by rule; the format
//! of the file in `training/multilingual/export.py`. A text belongs to another language if its rows
//! vote for that, or if most of its letters are not Latin.

use std::{borrow::Cow, iter, ops::RangeInclusive};

use fearless_simd::{Level, dispatch};
use unicode_categories::UnicodeCategories;
use unicode_normalization::UnicodeNormalization;

use super::{
    fnv,
    instant::{MAX_DIMS, add_rows, read_u32},
};

const MAGIC: &[u8; 8] = b"SKMULT01";
/// Eight integers and two floats follow the magic bytes.
const HEADER_BYTES: usize = MAGIC.len() + 10 * 4;
/// A scale and a vote.
const BYTES_BESIDE_ROW: usize = 2 + 1;
/// Only this many rows of a text count.
const MAX_ROWS: usize = 2048;
/// The first words of a text vote on its language, until they have this many rows.
const VOTERS: usize = 512;

/// The table.
pub(super) struct Multilingual {
    bytes: Cow<'static, [u8]>,
    dims: usize,
    rows: usize,
    ngram_sizes: RangeInclusive<usize>,
    /// Of scripts that are written without spaces.
    dense_ngram_sizes: RangeInclusive<usize>,
    /// The size of the filter of known words, and how many of its bits each word sets.
    filter_bits: u32,
    probes: u32,
    vote_constant: f32,
    vote_scale: f32,
}

/// Why the table cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadTable {
    #[error("is no multilingual table")]
    Magic,
    #[error("has a header that makes no sense")]
    Header,
    #[error("has {found} bytes where its header tells of {expected}")]
    Size { expected: usize, found: usize },
    #[error("has a scale that is no number")]
    Scale,
}

/// The beginning of a text as rows.
#[derive(Default)]
struct Reading {
    rows: Vec<u32>,
    letters: usize,
    latin_letters: usize,
}

impl Multilingual {
    pub(super) fn new(bytes: Cow<'static, [u8]>) -> Result<Self, BadTable> {
        if !bytes.starts_with(MAGIC) || bytes.len() < HEADER_BYTES {
            return Err(BadTable::Magic);
        }
        let [dims, rows, short, long, dense_short, dense_long, bits, probes, constant, scale] =
            std::array::from_fn(|i| read_u32(&bytes[MAGIC.len() + 4 * i..]));
        let sizes_make_sense = |short, long| 1 <= short && short <= long && long <= 16;
        let [vote_constant, vote_scale] = [constant, scale].map(f32::from_bits);
        if !sizes_make_sense(short, long)
            || !sizes_make_sense(dense_short, dense_long)
            || !(1..=MAX_DIMS as u32).contains(&dims)
            || rows == 0
            || bits == 0
            || bits % 8 != 0
            || !vote_constant.is_finite()
            || !vote_scale.is_finite()
        {
            return Err(BadTable::Header);
        }
        let [dims, rows] = [dims, rows].map(|size| size as usize);
        let expected = HEADER_BYTES + rows * (dims + BYTES_BESIDE_ROW) + bits as usize / 8;
        if bytes.len() != expected {
            return Err(BadTable::Size { expected, found: bytes.len() });
        }
        let table = Self {
            bytes,
            dims,
            rows,
            ngram_sizes: short as usize..=long as usize,
            dense_ngram_sizes: dense_short as usize..=dense_long as usize,
            filter_bits: bits,
            probes,
            vote_constant,
            vote_scale,
        };
        match (0..rows).all(|row| table.scale(row).is_finite()) {
            true => Ok(table),
            false => Err(BadTable::Scale),
        }
    }

    pub(super) fn dims(&self) -> usize {
        self.dims
    }

    /// How much a text looks like another language than English: not at all below 0, and infinitely
    /// if most of its letters are not Latin. A text without letters is English.
    pub(super) fn foreignness(&self, text: &str) -> f32 {
        let read = self.read(text, VOTERS);
        match 2 * read.latin_letters >= read.letters {
            true if read.rows.is_empty() => f32::NEG_INFINITY,
            true => self.vote(&read.rows),
            false => f32::INFINITY,
        }
    }

    /// The sum of a text's rows; all zero for a text without letters.
    pub(super) fn sum(&self, text: &str) -> Vec<f32> {
        let mut read = self.read(text, MAX_ROWS);
        read.rows.truncate(MAX_ROWS);
        let table = &self.bytes[HEADER_BYTES + BYTES_BESIDE_ROW * self.rows..];
        let rows = || read.rows.iter().map(|row| (*row as usize, self.scale(*row as usize)));
        let mut sum = vec![0.0; self.dims];
        dispatch!(Level::new(), _ => add_rows(table, rows(), &mut sum));
        sum
    }

    /// Whether a lower-case word is one of another language, as far as the training had it. Any word
    /// of a script without spaces counts as one.
    pub(super) fn knows(&self, word: &str) -> bool {
        if starts_dense(word) {
            return true;
        }
        let hashed = fnv::hash(fnv::OFFSET, fold(word).as_bytes());
        let filter = &self.bytes[self.bytes.len() - self.filter_bits as usize / 8..];
        (0..self.probes).all(|probe| {
            let step = (hashed >> 32) as u32 | 1;
            let bit = (hashed as u32).wrapping_add(probe.wrapping_mul(step)) % self.filter_bits;
            filter[bit as usize / 8] >> (bit % 8) & 1 == 1
        })
    }

    /// Positive if the rows say that their text is not English.
    fn vote(&self, rows: &[u32]) -> f32 {
        let votes = &self.bytes[HEADER_BYTES + 2 * self.rows..];
        let sum: i32 = rows.iter().map(|row| i32::from(votes[*row as usize].cast_signed())).sum();
        self.vote_constant + self.vote_scale * sum as f32
    }

    /// The upper half of a 32-bit float.
    fn scale(&self, row: usize) -> f32 {
        let half = self.bytes[HEADER_BYTES + 2 * row..].first_chunk();
        f32::from_bits(u32::from(half.map_or(0, |half| u16::from_le_bytes(*half))) << 16)
    }

    /// The first words of a text, until they have `limit` rows.
    fn read(&self, text: &str, limit: usize) -> Reading {
        let mut read = Reading::default();
        for_each_word(text, |word| {
            self.read_word(word, &mut read);
            read.rows.len() < limit
        });
        read
    }

    fn read_word(&self, word: &str, read: &mut Reading) {
        let letters = || word.chars().filter(|part| is_letter(*part));
        read.letters += letters().count();
        read.latin_letters += letters().filter(|letter| is_latin(*letter)).count();
        if starts_dense(word) {
            return self.push_ngrams(word, &self.dense_ngram_sizes, &mut read.rows);
        }
        let folded = fold(word);
        let marked = format!("<{folded}>");
        read.rows.push(self.row(marked.as_bytes()));
        self.push_ngrams(&marked, &self.ngram_sizes, &mut read.rows);
        if folded != word {
            read.rows.push(self.row(format!("<{word}>").as_bytes()));
        }
    }

    fn push_ngrams(&self, word: &str, sizes: &RangeInclusive<usize>, rows: &mut Vec<u32>) {
        let starts = word.char_indices().map(|(at, _)| at);
        let letters: Vec<usize> = starts.chain(iter::once(word.len())).collect();
        for size in sizes.clone() {
            let ngrams = letters.windows(size + 1).map(|ends| &word[ends[0]..ends[size]]);
            rows.extend(ngrams.map(|ngram| self.row(ngram.as_bytes())));
        }
    }

    fn row(&self, ngram: &[u8]) -> u32 {
        let hashed = fnv::hash(fnv::OFFSET, ngram);
        ((hashed >> 32) as u32 ^ hashed as u32) % self.rows as u32
    }
}

/// Splits a text into normalised words, which have a letter, and end at every other character and
/// where scripts with and without spaces meet. Stops where `read` returns `false`.
pub(super) fn for_each_word(text: &str, read: impl FnMut(&str) -> bool) {
    match text.is_ascii() {
        true => split(text.chars().map(|letter| letter.to_ascii_lowercase()), read),
        false => split(text.nfkc().flat_map(char::to_lowercase), read),
    }
}

fn split(normalised: impl Iterator<Item = char>, mut read: impl FnMut(&str) -> bool) {
    let mut word = String::new();
    for letter in normalised.chain(iter::once(' ')) {
        let is_inside = is_part_of_word(letter);
        if !word.is_empty() && (!is_inside || is_dense(letter) != starts_dense(&word)) {
            if word.chars().any(is_letter) && !read(&word) {
                return;
            }
            word.clear();
        }
        if is_inside {
            word.push(letter);
        }
    }
}

fn starts_dense(word: &str) -> bool {
    word.chars().next().is_some_and(is_dense)
}

/// A lower-case word without diacritics.
pub(super) fn fold(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return word.into();
    }
    let is_diacritic = |part: &char| ('\u{300}'..='\u{36f}').contains(part);
    let plain = word.nfd().filter(|part| !is_diacritic(part)).nfc();
    let mut folded = String::with_capacity(word.len());
    for letter in plain {
        match letter {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'þ' => folded.push_str("th"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' | 'ð' => folded.push('d'),
            'ı' => folded.push('i'),
            'ς' => folded.push('σ'),
            other => folded.push(other),
        }
    }
    folded.into()
}

fn is_letter(letter: char) -> bool {
    if letter.is_ascii() { letter.is_ascii_alphabetic() } else { letter.is_letter() }
}

fn is_part_of_word(letter: char) -> bool {
    match letter.is_ascii() {
        true => letter.is_ascii_alphanumeric(),
        false => letter.is_letter() || letter.is_mark() || letter.is_number(),
    }
}

fn is_latin(letter: char) -> bool {
    matches!(letter, ..'\u{250}' | '\u{1e00}'..='\u{1eff}')
}

/// Scripts that are written without spaces, or, as Hangul, in syllables.
fn is_dense(letter: char) -> bool {
    matches!(u32::from(letter),
        // Thai, Lao, Myanmar, Khmer, three signs, Hiragana, Katakana.
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3005..=0x3007 | 0x3040..=0x30FF
        | 0x31F0..=0x31FF
        // Han, Hangul, Han.
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF
        | 0x20000..=0x3FFFF)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    const EMBEDDED: &[u8] = include_bytes!("../../../../models/multilingual.bin");

    /// A text with what the training code says about it.
    #[derive(Deserialize)]
    struct Golden {
        text: String,
        rows: Vec<u32>,
        vote: f32,
        foreign: bool,
        /// Of each word in order, those of dense scripts excepted.
        known: Vec<bool>,
        /// The first numbers of the vector.
        vector: Vec<f32>,
    }

    #[test]
    fn the_table_agrees_with_the_training_code() {
        let table = Multilingual::new(EMBEDDED.into()).unwrap();
        let golden = include_bytes!("../../../../models/multilingual-golden.json");
        let golden: Vec<Golden> = serde_json::from_slice(golden).unwrap();
        assert!(golden.iter().any(|case| case.foreign) && golden.iter().any(|case| !case.foreign));
        for Golden { text, rows, vote, foreign, known, vector } in golden {
            let read = table.read(&text, MAX_ROWS);
            assert_eq!(read.rows, rows, "rows of {text:?}");
            let found = table.vote(&table.read(&text, VOTERS).rows);
            assert!((found - vote).abs() < 1e-3, "{found} instead of {vote} for {text:?}");
            assert_eq!(table.foreignness(&text) > 0.0, foreign, "{text:?}");
            let sum = table.sum(&text);
            let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
            for (found, expected) in sum.iter().zip(&vector) {
                assert!((found / length - expected).abs() < 1e-5, "{found} for {text:?}");
            }
            let text: String = text.nfkc().flat_map(char::to_lowercase).collect();
            let is_gap = |letter| !is_part_of_word(letter) || is_dense(letter);
            let words = text.split(is_gap).filter(|word| word.chars().any(is_letter));
            let found: Vec<bool> = words.map(|word| table.knows(word)).collect();
            assert_eq!(found, known, "words of {text:?}");
        }
    }

    #[test]
    fn words_of_other_languages_are_known_and_nonsense_is_not() {
        let table = Multilingual::new(EMBEDDED.into()).unwrap();
        for word in ["regenschirm", "rote", "vêtement", "vetement", "łóżko", "ботинки", "椅子"]
        {
            assert!(table.knows(word), "{word}");
        }
        for word in ["asdfgh", "xyzzy", "blorptangle", "hjkl", "qwertz", "ыфвапр"] {
            assert!(!table.knows(word), "{word}");
        }
    }

    /// A table of ten rows with scales of 1, no votes and an empty filter.
    fn file(dims: u32) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let sizes = [dims, 10, 3, 5, 1, 3, 16, 2];
        sizes.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        [-1.0_f32, 0.5].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        (0..10).for_each(|_| bytes.extend([0x80, 0x3f]));
        bytes.extend(vec![0; 10]);
        (0..10 * dims).for_each(|at| bytes.push((at * 7 % 255) as u8));
        bytes.extend([0; 2]);
        bytes
    }

    #[test]
    fn only_letters_and_other_scripts_count() {
        let table = Multilingual::new(file(4).into()).unwrap();
        assert_eq!(table.sum("12 - 34?"), [0.0; 4]);
        assert_ne!(table.sum("12 a"), [0.0; 4]);
        let is_foreign = |text| table.foreignness(text) > 0.0;
        assert!(!is_foreign("") && !is_foreign("12") && !is_foreign("stół"));
        assert!(is_foreign("стол 12") && is_foreign("table 折りたたみ椅子"));
        assert!(!table.knows("stół"));
        assert_eq!(table.read("Öl", 99).rows.len(), table.read("ol", 99).rows.len() + 1);
    }

    #[test]
    fn long_texts_are_read_in_part() {
        let table = Multilingual::new(file(4).into()).unwrap();
        let long = "regenschirm ".repeat(5000);
        assert!((MAX_ROWS..MAX_ROWS + 50).contains(&table.read(&long, MAX_ROWS).rows.len()));
        let endless = "a".repeat(100_000);
        assert_eq!(table.sum(&endless).len(), 4);
    }

    #[test]
    fn broken_files_are_rejected() {
        let refused = |bytes: Vec<u8>| Multilingual::new(bytes.into()).err();
        assert_eq!(refused(file(4)), None);
        assert_eq!(refused(b"SKMULT0".to_vec()), Some(BadTable::Magic));
        assert_eq!(refused(file(0)), Some(BadTable::Header));
        let header = |at: usize, number: u32| {
            let mut bytes = file(4);
            bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
            refused(bytes)
        };
        // Rows, n-grams, bits of the filter, constant of the votes.
        for (at, wrong) in [(12, 0), (16, 6), (32, 0), (32, 9), (40, f32::NAN.to_bits())] {
            assert_eq!(header(at, wrong), Some(BadTable::Header), "{wrong} at {at}");
        }
        let found = file(4).len();
        assert_eq!(header(12, 11), Some(BadTable::Size { expected: found + 7, found }));
        let mut wrong = file(4);
        wrong[HEADER_BYTES..HEADER_BYTES + 2].copy_from_slice(&[0xc0, 0x7f]);
        assert_eq!(refused(wrong), Some(BadTable::Scale));
    }
}
