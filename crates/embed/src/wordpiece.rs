//! BERT's uncased WordPiece tokenizer, identical to the one of the training.
//!
//! Characters are normalised (control characters removed, accents stripped, lower case, CJK
//! characters separated), words end at white space and around punctuation, and each word is split
//! into the longest pieces of the vocabulary. The text is read once, into reusable buffers, until
//! enough pieces are found.

use std::borrow::Cow;

use catalog::text::fnv;
use unicode_categories::UnicodeCategories;
use unicode_normalization::char::decompose_canonical;

/// Words with more characters than this are unknown.
const MAX_WORD_CHARS: usize = 100;
/// The prefix of a piece that continues a word.
const CONTINUES: &str = "##";

/// The bits of a slot with a piece's number plus one; the other bits hold part of its hash.
const NUMBER_BITS: u32 = 20;
const NUMBER_MASK: u32 = (1 << NUMBER_BITS) - 1;

/// A vocabulary, one piece per line, with a hash table over it.
pub(super) struct WordPiece {
    text: Cow<'static, str>,
    /// Where each piece begins in `text`; it ends at the line break before the next.
    starts: Vec<u32>,
    /// Open addressing; zero is empty.
    slots: Box<[u32]>,
    longest_piece: usize,
    unknown: u32,
    first: u32,
    last: u32,
}

/// Buffers for tokenization, reusable for the next text.
#[derive(Default)]
pub(super) struct Pieces {
    /// The pieces found.
    pub(super) numbers: Vec<u32>,
    /// The word, unless it has too many characters.
    word: String,
    chars: usize,
    /// Where each character of the word ends, and the hash of the piece that would end there.
    ends: Vec<(usize, u64)>,
}

/// Why the vocabulary cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadVocabulary {
    #[error("has no piece {0}")]
    Missing(&'static str),
    #[error("has too many pieces")]
    TooLarge,
}

impl WordPiece {
    /// The vocabulary in `text`, one piece per line; the line number is the piece's number.
    pub(super) fn new(text: Cow<'static, str>) -> Result<Self, BadVocabulary> {
        if u32::try_from(text.len()).is_err() {
            return Err(BadVocabulary::TooLarge);
        }
        let body = text.strip_suffix('\n').unwrap_or(&text);
        let mut starts = vec![0];
        starts.extend(body.match_indices('\n').map(|(at, _)| at as u32 + 1));
        if starts.len() >= NUMBER_MASK as usize {
            return Err(BadVocabulary::TooLarge);
        }
        let slots = vec![0; (starts.len() * 2).next_power_of_two()].into();
        let mut made =
            Self { text, starts, slots, longest_piece: 0, unknown: 0, first: 0, last: 0 };
        for number in 0..made.starts.len() as u32 {
            made.insert(number);
        }
        let special = |name: &'static str| {
            made.find(name.as_bytes(), 0, fnv::hash_64(fnv::OFFSET_64, name.as_bytes()))
                .ok_or(BadVocabulary::Missing(name))
        };
        (made.unknown, made.first, made.last) =
            (special("[UNK]")?, special("[CLS]")?, special("[SEP]")?);
        Ok(made)
    }

    /// The number of pieces.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether a normalised word is a single piece.
    pub(super) fn contains(&self, word: &str) -> bool {
        self.find(word.as_bytes(), 0, fnv::hash_64(fnv::OFFSET_64, word.as_bytes())).is_some()
    }

    /// The piece for words that cannot be split into pieces.
    pub(super) fn unknown(&self) -> u32 {
        self.unknown
    }

    /// The pieces that begin and end every text of the deep encoder.
    pub(super) fn special_pieces(&self) -> (u32, u32) {
        (self.first, self.last)
    }

    /// The spelling of a piece, without the mark of one that continues a word.
    pub(super) fn spelling(&self, number: u32) -> &str {
        let piece = self.piece(number);
        piece.strip_prefix(CONTINUES).unwrap_or(piece)
    }

    /// Whether a piece continues a word.
    pub(super) fn continues(&self, number: u32) -> bool {
        self.text.as_bytes()[self.starts[number as usize] as usize..]
            .starts_with(CONTINUES.as_bytes())
    }

    /// Writes the first `limit` pieces of a text into `pieces.numbers`.
    pub(super) fn tokenize(&self, text: &str, limit: usize, pieces: &mut Pieces) {
        pieces.numbers.clear();
        self.append(text, limit, pieces);
    }

    /// Appends the pieces of a text, until there are `limit`. It begins with a new word.
    pub(super) fn append(&self, text: &str, limit: usize, pieces: &mut Pieces) {
        pieces.clear_word();
        let mut rest = text;
        while pieces.numbers.len() < limit
            && let Some(letter) = rest.chars().next()
        {
            let plain = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
            if plain > 0 {
                pieces.push_plain(&rest[..plain]);
                rest = &rest[plain..];
            } else {
                self.push_char(letter, pieces);
                rest = &rest[letter.len_utf8()..];
            }
        }
        self.end_word(pieces);
        pieces.numbers.truncate(limit);
    }

    /// Appends a character that is no ASCII letter or digit.
    fn push_char(&self, letter: char, pieces: &mut Pieces) {
        if matches!(letter, ' ' | '\t' | '\n' | '\r') {
            self.end_word(pieces);
        } else if letter.is_ascii_punctuation() {
            self.push_separate(letter, pieces);
        } else if letter == '\u{fffd}' || letter.is_other() {
            // Control characters are skipped.
        } else if letter.is_whitespace() {
            self.end_word(pieces);
        } else {
            let cjk = is_cjk(letter);
            if cjk {
                self.end_word(pieces);
            }
            // Marks are dropped here, so their canonical order does not matter.
            decompose_canonical(letter, |part| {
                if !part.is_mark_nonspacing() {
                    part.to_lowercase().for_each(|lower| self.push_normalised(lower, pieces));
                }
            });
            if cjk {
                self.end_word(pieces);
            }
        }
    }

    /// Appends a normalised character.
    fn push_normalised(&self, letter: char, pieces: &mut Pieces) {
        if letter.is_whitespace() {
            self.end_word(pieces);
        } else if letter.is_ascii_punctuation() || letter.is_punctuation() {
            self.push_separate(letter, pieces);
        } else {
            pieces.push(letter);
        }
    }

    fn push_separate(&self, letter: char, pieces: &mut Pieces) {
        self.end_word(pieces);
        pieces.push(letter);
        self.end_word(pieces);
    }

    /// Ends the word, if there is one: most words are a piece.
    fn end_word(&self, pieces: &mut Pieces) {
        if pieces.chars == 0 {
            return;
        }
        let word = pieces.word.as_bytes();
        if pieces.chars > MAX_WORD_CHARS {
            pieces.numbers.push(self.unknown);
        } else if let Some(number) = self.find(word, 0, fnv::hash_64(fnv::OFFSET_64, word)) {
            pieces.numbers.push(number);
        } else {
            self.split_word(pieces);
        }
        pieces.clear_word();
    }

    /// Splits the word into pieces, greedily the longest first, or makes all of it unknown.
    fn split_word(&self, pieces: &mut Pieces) {
        let Pieces { numbers, word, ends, .. } = pieces;
        ends.clear();
        ends.extend(word.char_indices().map(|(at, letter)| (at + letter.len_utf8(), 0)));
        let word = word.as_bytes();
        let before = numbers.len();
        let mut start = 0;
        let mut letter = 0;
        while start < word.len() {
            let marks = if start == 0 { "" } else { CONTINUES };
            let mut state = fnv::hash_64(fnv::OFFSET_64, marks.as_bytes());
            let mut at = start;
            let mut reach = letter;
            for (end, hashed) in &mut ends[letter..] {
                if *end - start + marks.len() > self.longest_piece {
                    break;
                }
                state = fnv::hash_64(state, &word[at..*end]);
                *hashed = state;
                at = *end;
                reach += 1;
            }
            let found = (letter..reach).rev().find_map(|last| {
                let (end, hashed) = ends[last];
                Some((last + 1, end, self.find(&word[start..end], marks.len(), hashed)?))
            });
            let Some((next, end, number)) = found else {
                numbers.truncate(before);
                numbers.push(self.unknown);
                break;
            };
            numbers.push(number);
            (letter, start) = (next, end);
        }
    }

    /// The number of the piece with this spelling, after `marks` bytes of [`CONTINUES`].
    fn find(&self, spelled: &[u8], marks: usize, hashed: u64) -> Option<u32> {
        let wrap = self.slots.len() - 1;
        let mut at = hashed as usize & wrap;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return None;
            }
            if slot & !NUMBER_MASK == tag(hashed) {
                let number = (slot & NUMBER_MASK) - 1;
                let piece = self.piece(number).as_bytes();
                if piece.len() == marks + spelled.len() && piece[marks..] == *spelled {
                    return Some(number);
                }
            }
            at = (at + 1) & wrap;
        }
    }

    /// Inserts a piece into the table; of equal ones the last wins.
    fn insert(&mut self, number: u32) {
        let piece = self.piece(number).as_bytes();
        let (length, hashed) = (piece.len(), fnv::hash_64(fnv::OFFSET_64, piece));
        let wrap = self.slots.len() - 1;
        let mut at = hashed as usize & wrap;
        while self.slots[at] != 0
            && self.piece((self.slots[at] & NUMBER_MASK) - 1) != self.piece(number)
        {
            at = (at + 1) & wrap;
        }
        self.slots[at] = tag(hashed) | (number + 1);
        self.longest_piece = self.longest_piece.max(length);
    }

    fn piece(&self, number: u32) -> &str {
        let start = self.starts[number as usize] as usize;
        let end = match self.starts.get(number as usize + 1) {
            Some(next) => *next as usize - 1,
            None => self.text.strip_suffix('\n').unwrap_or(&self.text).len(),
        };
        &self.text[start..end]
    }
}

impl Pieces {
    fn push(&mut self, letter: char) {
        self.chars += 1;
        // For a word that is too long only its length matters.
        if self.chars <= MAX_WORD_CHARS {
            self.word.push(letter);
        }
    }

    /// Appends ASCII letters and digits.
    fn push_plain(&mut self, letters: &str) {
        self.chars += letters.len();
        if self.chars <= MAX_WORD_CHARS {
            let start = self.word.len();
            self.word.push_str(letters);
            self.word[start..].make_ascii_lowercase();
        }
    }

    fn clear_word(&mut self) {
        self.word.clear();
        self.chars = 0;
    }
}

/// The part of the hash that tells most other pieces apart without comparing their spelling.
fn tag(hashed: u64) -> u32 {
    (hashed >> 32) as u32 & !NUMBER_MASK
}

/// The blocks that BERT treats as CJK, including its mistake in the fifth.
fn is_cjk(letter: char) -> bool {
    matches!(u32::from(letter),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2B73F
        | 0x2B740..=0x2B81F | 0x2B920..=0x2CEAF | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const VOCABULARY: &str =
        "[PAD]\n[UNK]\n[CLS]\n[SEP]\nsofa\nso\n##fa\n##s\nbed\n-\n茶\nn\n##a\n##i\n##ve\nu\n";

    fn read(text: &str, limit: usize) -> String {
        let vocabulary = WordPiece::new(VOCABULARY.into()).unwrap();
        let mut pieces = Pieces::default();
        vocabulary.tokenize(text, limit, &mut pieces);
        let spelled: Vec<_> = pieces.numbers.iter().map(|n| vocabulary.piece(*n)).collect();
        spelled.join(" ")
    }

    #[test]
    fn the_longest_piece_wins() {
        assert_eq!(read("Sofa sofas  SO", 99), "sofa sofa ##s so");
    }

    #[test]
    fn a_word_without_pieces_is_unknown_as_a_whole() {
        assert_eq!(read("sofaz bed", 99), "[UNK] bed");
        assert_eq!(read(&"so".repeat(51), 99), "[UNK]");
        assert_eq!(read(&format!("so{}", "fa".repeat(49)), 3), "sofa ##fa ##fa");
    }

    #[test]
    fn characters_are_normalised() {
        assert_eq!(read("sofa-bed", 99), "sofa - bed");
        assert_eq!(read("Naïve", 99), "n ##a ##i ##ve");
        assert_eq!(read("bed茶bed", 99), "bed 茶 bed");
        assert_eq!(read("be\u{0}d\u{200b}\u{fffd} \u{a0}be\u{301}d", 99), "bed bed");
        assert_eq!(read("Ü", 99), "u");
    }

    #[test]
    fn reading_stops_at_the_limit() {
        assert_eq!(read("sofas sofas", 3), "sofa ##s sofa");
        assert_eq!(read("sofas", 0), "");
    }

    #[test]
    fn a_vocabulary_without_special_pieces_is_rejected() {
        let refused = WordPiece::new("[UNK]\n[SEP]\n".into()).err();
        assert_eq!(refused, Some(BadVocabulary::Missing("[CLS]")));
        assert_eq!(WordPiece::new("".into()).err(), Some(BadVocabulary::Missing("[UNK]")));
    }

    proptest! {
        #[test]
        fn any_text_is_tokenized(text in "\\PC*|.*", limit in 0_usize..20) {
            let vocabulary = WordPiece::new(VOCABULARY.into()).unwrap();
            let mut pieces = Pieces::default();
            vocabulary.tokenize(&text, limit, &mut pieces);
            prop_assert!(pieces.numbers.len() <= limit);
            let cut = pieces.numbers.clone();
            prop_assert!(cut.iter().all(|number| (*number as usize) < vocabulary.len()));
            vocabulary.tokenize(&text, usize::MAX, &mut pieces);
            prop_assert!(pieces.numbers.starts_with(&cut));
        }

        /// Greedily, by comparing with every piece.
        #[test]
        fn words_are_split_into_their_longest_pieces(
            text in "(so|fa|sofa|s|bed|n|a|i|ve|u|x| |-|SO){0,120}",
        ) {
            let mut words: Vec<String> = vec![String::new()];
            for letter in text.chars() {
                match letter {
                    ' ' | '-' => words.extend([letter.to_string(), String::new()]),
                    _ if letter.is_ascii_alphanumeric() => {
                        words.last_mut().unwrap().push(letter.to_ascii_lowercase());
                    }
                    _ => {}
                }
            }
            let text: String = words.concat();
            let mut expected: Vec<&str> = Vec::new();
            for word in words.iter().filter(|word| !word.trim().is_empty()) {
                let (before, mut rest) = (expected.len(), word.as_str());
                if word.len() > MAX_WORD_CHARS {
                    expected.push("[UNK]");
                    continue;
                }
                while !rest.is_empty() {
                    let mark = if rest.len() < word.len() { CONTINUES } else { "" };
                    let fits = |piece: &&str| {
                        piece.strip_prefix(mark).is_some_and(|piece| rest.starts_with(piece))
                    };
                    let longest = VOCABULARY.lines().filter(fits).max_by_key(|piece| piece.len());
                    let Some(piece) = longest else {
                        expected.truncate(before);
                        expected.push("[UNK]");
                        break;
                    };
                    expected.push(piece);
                    rest = &rest[piece.len() - mark.len()..];
                }
            }
            prop_assert_eq!(read(&text, usize::MAX), expected.join(" "));
        }

        #[test]
        fn a_text_that_ends_a_word_can_be_appended(
            title in "[a-z ]*|\\PC*", rest in "\\PC*", limit in 0_usize..9
        ) {
            let vocabulary = WordPiece::new(VOCABULARY.into()).unwrap();
            let (mut pieces, mut whole) = (Pieces::default(), Pieces::default());
            vocabulary.tokenize(&title, limit, &mut pieces);
            let rest = format!(". {rest}");
            vocabulary.append(&rest, limit, &mut pieces);
            vocabulary.tokenize(&format!("{title}{rest}"), limit, &mut whole);
            prop_assert_eq!(pieces.numbers, whole.numbers);
        }
    }
}
