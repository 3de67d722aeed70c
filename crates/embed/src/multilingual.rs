//! The instant encoder for other languages: a table of letter groups that puts a text where the
//! English text lies that means the same.
//!
//! Which rows a text has is stated in `training/multilingual/spelling.py`, rule by rule; the format
//! of the file in `training/multilingual/export.py`. A text belongs to another language if its rows
//! vote for that, or if most of its letters are not Latin.

use std::{borrow::Cow, iter, ops::RangeInclusive};

use catalog::text::{
    analysis::{base_letters, is_accent},
    fnv,
};
use unicode_categories::UnicodeCategories;
use unicode_normalization::UnicodeNormalization;

use super::instant::{MAX_DIMS, add_rows, read_u32};

const MAGIC: &[u8; 8] = b"SKMULT01";
/// Eight integers and two floats follow the magic bytes.
const HEADER_BYTES: usize = MAGIC.len() + 10 * 4;
/// A scale and a vote.
const BYTES_BESIDE_ROW: usize = 2 + 1;
/// Only this many rows of a text count.
const MAX_ROWS: usize = 2048;
/// The first words of a text vote on its language, until they have this many rows.
const VOTERS: usize = 512;
/// ASCII words up to this length are read without allocating.
const MAX_SHORT_WORD: usize = 62;

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

/// What the first words of a text say about its language.
#[derive(Default)]
struct Poll {
    /// Of the rows; positive for another language.
    votes: i32,
    rows: usize,
    letters: usize,
    latin_letters: usize,
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
        let mut poll = Poll::default();
        for_each_word(text, |word| {
            self.poll_word(word, &mut poll);
            poll.rows < VOTERS
        });
        match 2 * poll.latin_letters >= poll.letters {
            true if poll.rows == 0 => f32::NEG_INFINITY,
            true => self.vote_constant + self.vote_scale * poll.votes as f32,
            false => f32::INFINITY,
        }
    }

    /// Counts a word like [`Self::read_word`] and adds up the votes of its rows.
    fn poll_word(&self, word: &str, poll: &mut Poll) {
        let votes = &self.bytes[HEADER_BYTES + 2 * self.rows..][..self.rows];
        let vote = |row: u32| i32::from(votes[row as usize].cast_signed());
        let mut marked = [0; MAX_SHORT_WORD + 2];
        if let Some(marked) = marked.get_mut(..word.len() + 2)
            && word.is_ascii()
        {
            let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
            poll.letters += letters;
            poll.latin_letters += letters;
            marked[0] = b'<';
            marked[1..=word.len()].copy_from_slice(word.as_bytes());
            marked[word.len() + 1] = b'>';
            let mut add = |hashed: u64| {
                poll.rows += 1;
                poll.votes += vote(self.row_of(hashed));
            };
            add(fnv::hash_64(fnv::OFFSET_64, marked));
            for_each_ngram_hash(marked, &self.ngram_sizes, add);
            return;
        }
        let mut read = Reading::default();
        self.read_word(word, &mut read);
        poll.letters += read.letters;
        poll.latin_letters += read.latin_letters;
        poll.rows += read.rows.len();
        poll.votes += read.rows.iter().map(|row| vote(*row)).sum::<i32>();
    }

    /// The sum of a text's rows; all zero for a text without letters.
    pub(super) fn sum(&self, text: &str) -> Vec<f32> {
        let mut read = self.read(text, MAX_ROWS);
        read.rows.truncate(MAX_ROWS);
        let table = &self.bytes[HEADER_BYTES + BYTES_BESIDE_ROW * self.rows..];
        let scaled = |row: &u32| (*row as usize, self.scale(*row as usize));
        let rows: Vec<_> = read.rows.iter().map(scaled).collect();
        let mut sum = vec![0.0; self.dims];
        add_rows(table, &rows, &mut sum);
        sum
    }

    /// Whether a lower-case word is one of another language, as far as the training had it. Any word
    /// of a script without spaces counts as one.
    pub(super) fn knows(&self, word: &str) -> bool {
        if starts_dense(word) {
            return true;
        }
        let hashed = fnv::hash_64(fnv::OFFSET_64, fold(word).as_bytes());
        let filter = &self.bytes[self.bytes.len() - self.filter_bits as usize / 8..];
        (0..self.probes).all(|probe| {
            let step = (hashed >> 32) as u32 | 1;
            let bit = (hashed as u32).wrapping_add(probe.wrapping_mul(step)) % self.filter_bits;
            filter[bit as usize / 8] >> (bit % 8) & 1 == 1
        })
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
        self.row_of(fnv::hash_64(fnv::OFFSET_64, ngram))
    }

    fn row_of(&self, hashed: u64) -> u32 {
        let (hashed, rows) = ((hashed >> 32) as u32 ^ hashed as u32, self.rows as u32);
        // Spares a division for each row of a table with a usual size.
        if rows.is_power_of_two() { hashed & (rows - 1) } else { hashed % rows }
    }
}

/// Hashes all n-grams of an ASCII text, each continued from the shorter one that begins it.
#[inline]
fn for_each_ngram_hash(text: &[u8], sizes: &RangeInclusive<usize>, mut found: impl FnMut(u64)) {
    let (shortest, longest) = (*sizes.start(), *sizes.end());
    for start in 0..(text.len() + 1).saturating_sub(shortest) {
        let ngrams = &text[start..text.len().min(start + longest)];
        let mut hashed = fnv::hash_64(fnv::OFFSET_64, &ngrams[..shortest]);
        found(hashed);
        for byte in &ngrams[shortest..] {
            hashed = fnv::hash_64(hashed, &[*byte]);
            found(hashed);
        }
    }
}

/// Splits a text into normalised words, which have a letter, and end at every other character and
/// where scripts with and without spaces meet. Stops where `read` returns `false`.
pub(super) fn for_each_word(text: &str, mut read: impl FnMut(&str) -> bool) {
    let mut word = String::new();
    // No character is composed with a space, so that parts can be normalised on their own.
    for part in text.split(' ') {
        let goes_on = match part.is_ascii() {
            true => split_ascii(part, &mut word, &mut read),
            false => split(part.nfkc().flat_map(char::to_lowercase), &mut word, &mut read),
        };
        if !goes_on {
            return;
        }
    }
}

/// Like [`split`], for ASCII, which is normalised but for its case.
fn split_ascii(part: &str, word: &mut String, read: &mut impl FnMut(&str) -> bool) -> bool {
    part.split(|letter: char| !letter.is_ascii_alphanumeric()).all(|written| {
        if !written.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            return true;
        }
        word.clear();
        word.push_str(written);
        word.make_ascii_lowercase();
        let goes_on = read(word);
        word.clear();
        goes_on
    })
}

/// Whether `read` never returned `false`.
fn split(
    normalised: impl Iterator<Item = char>,
    word: &mut String,
    read: &mut impl FnMut(&str) -> bool,
) -> bool {
    for letter in normalised.chain(iter::once(' ')) {
        let is_inside = is_part_of_word(letter);
        if !word.is_empty() && (!is_inside || is_dense(letter) != starts_dense(word)) {
            if word.chars().any(is_letter) && !read(word) {
                return false;
            }
            word.clear();
        }
        if is_inside {
            word.push(letter);
        }
    }
    true
}

fn starts_dense(word: &str) -> bool {
    word.chars().next().is_some_and(is_dense)
}

/// A lower-case word without diacritics.
pub(super) fn fold(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return word.into();
    }
    let plain = word.nfd().filter(|part| !is_accent(*part)).nfc();
    let mut folded = String::with_capacity(word.len());
    for letter in plain {
        match base_letters(letter) {
            Some(base) => folded.push_str(base),
            None => folded.push(letter),
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
mod tests;
