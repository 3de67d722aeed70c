//! Which words of a text say what the thing is, and where they stand.
//!
//! The training has the same rules, `training/category/features.py`; a change here is one there.

use crate::{
    inference::attributes::is_attribute_word,
    text::{analysis::fold_into, fnv},
};

/// Where a word stands: the last word before a comma or a preposition names the thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Place {
    Head = 0,
    BeforeHead = 1,
    Modifier = 2,
    LaterHead = 3,
    LaterBeforeHead = 4,
    LaterModifier = 5,
    For = 6,
    With = 7,
    Description = 8,
}

/// The number of places.
pub(super) const PLACES: usize = 9;
/// The words of a title that are looked at.
const MOST_WORDS: usize = 32;
/// The words and bytes of a description that are looked at.
const MOST_DESCRIPTION_WORDS: usize = 40;
const MOST_DESCRIPTION_BYTES: usize = 600;
/// Longer titles are cut.
const MOST_TITLE_BYTES: usize = 600;
/// The most words of a name.
const MOST_NAME_WORDS: usize = 3;
const UNITS: &[&str] = &[
    "in", "inch", "ft", "foot", "feet", "cm", "mm", "m", "oz", "lb", "kg", "g", "mg", "ml", "l",
    "w", "v", "gal", "qt", "pk", "pc", "piece", "count", "ct", "x", "sq", "yd", "amp", "watt",
    "volt", "hz", "gb", "tb", "mb", "ah", "mah", "degree",
];

fn is_break(c: char) -> bool {
    matches!(c, ',' | ';' | ':' | '|' | '(' | ')' | '[' | ']' | '{' | '}' | '–' | '—' | '•' | '·')
}

/// What the words after a preposition are about; `None` for a word that is none.
fn role_after(word: &str) -> Option<Role> {
    match word {
        "for" | "fit" | "compatible" => Some(Role::For),
        "with" | "w" | "without" | "in" | "by" | "from" | "featuring" | "including" | "include"
        | "made" | "plus" => Some(Role::With),
        _ => None,
    }
}

#[rustfmt::skip]
fn is_stop_word(word: &str) -> bool {
    matches!(
        word,
        "a" | "an" | "the" | "of" | "and" | "or" | "on" | "to" | "at" | "is" | "as" | "per"
        | "this" | "that" | "your" | "our" | "my" | "its" | "it" | "you" | "be" | "are" | "no"
        | "non" | "not" | "only" | "new"
    )
}

/// A word or a pair of words, hashed, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Feature {
    pub(super) hash: u32,
    pub(super) place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Thing,
    For,
    With,
}

/// A part of a text: words between breaks or prepositions.
struct Part {
    role: Role,
    words: std::ops::Range<usize>,
}

/// A word: its place in the text, and its hash.
struct Word {
    start: usize,
    end: usize,
    hash: u32,
    /// Whether a number follows, which ends a phrase.
    is_before_number: bool,
}

/// The folded text, its words and its parts: buffers that are reused.
#[derive(Default)]
pub(super) struct Words {
    folded: String,
    text: String,
    words: Vec<Word>,
    parts: Vec<Part>,
}

impl Words {
    /// Appends the words and pairs of a title.
    pub(super) fn title(&mut self, text: &str, features: &mut Vec<Feature>) {
        self.read(cut(text, MOST_TITLE_BYTES), MOST_WORDS);
        let (mut first, mut head) = (true, None);
        for part in &self.parts {
            let words = &self.words[part.words.clone()];
            for (at, word) in words.iter().enumerate() {
                let place = place(part.role, first, words.len() - 1 - at);
                if let (Role::For, Some(head)) = (part.role, head) {
                    let hash = self.joined(head, " for ", word);
                    features.push(Feature { hash, place: Place::Head });
                }
                features.push(Feature { hash: word.hash, place });
                if at > 0 {
                    let hash = self.joined(&words[at - 1], " ", word);
                    features.push(Feature { hash, place });
                }
            }
            if part.role == Role::Thing {
                (first, head) = (false, words.last());
            }
        }
    }

    /// Appends the hashes of what may name the thing in the title that was read last: the last words of its
    /// first part, the most words first, then those of the other parts, then those of the phrases in them.
    pub(super) fn names(&self, names: &mut Vec<u32>) {
        let things = || self.parts.iter().filter(|part| part.role == Role::Thing);
        for part in things() {
            self.names_at_end(&self.words[part.words.clone()], names);
        }
        for part in things() {
            let words = &self.words[part.words.clone()];
            for end in 1..words.len() {
                if self.ends_phrase(&words[end - 1], &words[end]) {
                    self.names_at_end(&words[..end], names);
                }
            }
        }
    }

    /// Appends the hashes of the last words, the most words first.
    fn names_at_end(&self, words: &[Word], names: &mut Vec<u32>) {
        for count in (1..=words.len().min(MOST_NAME_WORDS)).rev() {
            let words = &words[words.len() - count..];
            let first = words.first().map_or(fnv::OFFSET_32, |word| word.hash);
            names.push(words[1..].iter().fold(first, |hash, word| self.followed(hash, " ", word)));
        }
    }

    /// Whether a noun phrase ends between two words of a part: before a number or an attribute, which
    /// stands before the thing if it is part of its name.
    fn ends_phrase(&self, word: &Word, next: &Word) -> bool {
        let is_attribute = |word: &Word| is_attribute_word(&self.text[word.start..word.end]);
        word.is_before_number || is_attribute(next) && !is_attribute(word)
    }

    /// Appends the words and pairs of a description's beginning.
    pub(super) fn description(&mut self, text: &str, features: &mut Vec<Feature>) {
        self.read(cut(text, MOST_DESCRIPTION_BYTES), MOST_DESCRIPTION_WORDS);
        let place = Place::Description;
        features.extend(self.words.iter().map(|word| Feature { hash: word.hash, place }));
        for pair in self.words.windows(2) {
            features.push(Feature { hash: self.joined(&pair[0], " ", &pair[1]), place });
        }
    }

    /// The hash of two words and what is between them.
    fn joined(&self, first: &Word, between: &str, second: &Word) -> u32 {
        self.followed(first.hash, between, second)
    }

    /// The hash of what has a hash, what is between, and a word.
    fn followed(&self, first: u32, between: &str, word: &Word) -> u32 {
        let word = &self.text[word.start..word.end];
        fnv::hash_32(fnv::hash_32(first, between.as_bytes()), word.as_bytes())
    }

    /// Splits a text into parts and its first words.
    fn read(&mut self, text: &str, most_words: usize) {
        self.text.clear();
        self.words.clear();
        self.parts.clear();
        let mut folded = std::mem::take(&mut self.folded);
        folded.clear();
        fold_into(&mut folded, text);
        folded.push(' ');
        let mut reader = Reader { words: self, role: Role::Thing, start: 0, after_number: false };
        // A word is a part of the text, unless there are apostrophes in it.
        let (mut start, mut joined) = (None, String::new());
        let mut before = ' ';
        let mut chars = folded.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if c.is_alphanumeric() {
                start = start.or(Some(at));
            } else if matches!(c, '\'' | '`') {
                joined.push_str(&folded[start.take().unwrap_or(at)..at]);
            } else {
                let last = &folded[start.take().unwrap_or(at)..at];
                if joined.is_empty() {
                    reader.piece(last);
                } else {
                    joined.push_str(last);
                    reader.piece(&joined);
                    joined.clear();
                }
                let is_dash = c == '-'
                    && before == ' '
                    && chars.peek().is_some_and(|(_, after)| *after == ' ');
                if c != ' ' && (is_dash || is_break(c)) {
                    reader.close();
                    reader.role = Role::Thing;
                    reader.after_number = false;
                }
                if reader.words.words.len() >= most_words {
                    break;
                }
            }
            before = c;
        }
        reader.close();
        self.folded = folded;
    }
}

struct Reader<'a> {
    words: &'a mut Words,
    role: Role,
    /// The first word of the open part.
    start: usize,
    after_number: bool,
}

impl Reader<'_> {
    fn piece(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        let is_number = !piece.chars().any(char::is_alphabetic);
        if piece.starts_with(|c: char| c.is_ascii_digit())
            && let Some(last) = self.words.words[self.start..].last_mut()
        {
            last.is_before_number = true;
        }
        let is_unit = self.after_number && UNITS.contains(&piece);
        // A unit may follow another: "36 in. W" is not "with".
        self.after_number = is_number || is_unit;
        if self.after_number {
            return;
        }
        let text = &mut self.words.text;
        let start = text.len();
        push_singular(text, piece);
        let word = &text[start..];
        if let Some(role) = role_after(word) {
            self.close();
            self.role = role;
        } else if word.chars().nth(1).is_some() && !is_stop_word(word) {
            let hash = fnv::hash_32(fnv::OFFSET_32, word.as_bytes());
            let end = text.len();
            self.words.words.push(Word { start, end, hash, is_before_number: false });
        }
    }

    fn close(&mut self) {
        let end = self.words.words.len();
        if end > self.start {
            self.words.parts.push(Part { role: self.role, words: self.start..end });
        }
        self.start = end;
    }
}

/// The place of a word that has this many others behind it in its part.
fn place(role: Role, first: bool, behind: usize) -> Place {
    match (role, first, behind) {
        (Role::For, ..) => Place::For,
        (Role::With, ..) => Place::With,
        (_, true, 0) => Place::Head,
        (_, true, 1) => Place::BeforeHead,
        (_, true, _) => Place::Modifier,
        (_, false, 0) => Place::LaterHead,
        (_, false, 1) => Place::LaterBeforeHead,
        (_, false, _) => Place::LaterModifier,
    }
}

/// Appends a word without the ending of its plural. Cruder than the analysis for search, and never
/// shown: it only has to be the same in training.
fn push_singular(into: &mut String, word: &str) {
    let keeps =
        word.chars().count() < 4 || ["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    let stem = match word.strip_suffix('s') {
        Some(stem) if !keeps => stem,
        _ => return into.push_str(word),
    };
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.chars().count() > 1) {
        into.push_str(stem);
        into.push('y');
    } else if ["sse", "she", "che", "xe", "zze"].iter().any(|end| stem.ends_with(end)) {
        into.push_str(&stem[..stem.len() - 1]);
    } else {
        into.push_str(stem);
    }
}

fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
