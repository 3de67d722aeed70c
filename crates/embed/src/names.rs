//! The names of the things that phrases stand for.
//!
//! The file has a line for each thing of the phrase index, in its order: names, a tab, other names,
//! separated by `|`.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use catalog::text::analysis::content_words;

/// What another name counts, where the name itself counts 1.
const OTHER_NAME: f32 = 0.9;
/// Names with more words are descriptions.
const MAX_WORDS: usize = 3;

/// A thing that a query may ask for.
#[derive(Clone, Debug, PartialEq)]
pub struct Thing {
    /// How much of the query's neighbourhood stands for it; all shares add up to 1.
    pub share: f32,
    /// Its names.
    pub names: Arc<[ThingName]>,
}

/// A name of a thing.
#[derive(Clone, Debug, PartialEq)]
pub struct ThingName {
    /// Its words as they are indexed; one to three.
    pub words: Vec<Box<str>>,
    /// What a title counts that says it, from 0 to 1.
    pub weight: f32,
}

/// The names of all things.
pub(super) struct Names {
    text: Cow<'static, str>,
    /// Of each line. Computed at the first search.
    lines: OnceLock<Box<[Line]>>,
}

/// A line of the file.
struct Line {
    end: u32,
    /// Parsed at the first search that needs them.
    names: OnceLock<Arc<[ThingName]>>,
}

impl Names {
    /// Parses the file of a phrase index with this many things. It may be empty.
    pub(super) fn new(bytes: Cow<'static, [u8]>, things: usize) -> Result<Self, &'static str> {
        let text = match bytes {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed).ok(),
            Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).ok(),
        };
        let text = text.ok_or("is not UTF-8")?;
        let lines = text.bytes().filter(|byte| *byte == b'\n').count();
        match lines == things || text.is_empty() {
            true => Ok(Self { text, lines: OnceLock::new() }),
            false => Err("has not a line for each thing of the phrase index"),
        }
    }

    /// The names of a thing.
    pub(super) fn of(&self, thing: usize) -> Arc<[ThingName]> {
        let lines = self.lines.get_or_init(|| {
            let ends = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            ends.map(|(at, _)| Line { end: at as u32, names: OnceLock::new() }).collect()
        });
        let Some(line) = lines.get(thing) else { return Arc::default() };
        let start = thing.checked_sub(1).map_or(0, |before| lines[before].end as usize + 1);
        let parsed = || parse(&self.text[start..line.end as usize]);
        Arc::clone(line.names.get_or_init(parsed))
    }
}

fn parse(line: &str) -> Arc<[ThingName]> {
    let (own, others) = line.split_once('\t').unwrap_or((line, ""));
    let mut names: Vec<ThingName> = Vec::new();
    for (list, weight) in [(own, 1.0), (others, OTHER_NAME)] {
        for words in list.split('|').map(content_words) {
            let is_new = names.iter().all(|name| name.words != words);
            if (1..=MAX_WORDS).contains(&words.len()) && is_new {
                names.push(ThingName { words, weight });
            }
        }
    }
    names.into()
}
