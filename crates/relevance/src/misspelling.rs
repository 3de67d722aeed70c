//! Misspells queries: one letter of one word, as a hurried shopper would.
//!
//! Judgments of correctly spelled queries then tell how much a typo costs. Judgments of queries that
//! shoppers misspelled tell less: the judged products were found by the words as they were written.

use ring::digest;

/// Shorter words are similar to too many others.
const MIN_LETTERS: usize = 5;
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";

/// The query with a typo in one word; `None` if no word is long enough. The same query always gets the
/// same typo.
pub(crate) fn misspell(query: &str) -> Option<String> {
    let mut words: Vec<&str> = query.split(' ').collect();
    let is_plain = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let can_be_misspelled = |at: &usize| words[*at].len() >= MIN_LETTERS && is_plain(words[*at]);
    let places: Vec<usize> = (0..words.len()).filter(can_be_misspelled).collect();
    let sum = digest::digest(&digest::SHA256, query.as_bytes());
    let mut numbers = sum.as_ref().iter().map(|byte| usize::from(*byte));
    let mut below = |end: usize| numbers.next()?.checked_rem(end);
    let at = places[below(places.len())?];
    let mut letters = words[at].as_bytes().to_vec();
    // The first letter and the last one are seldom wrong.
    let inside = 1 + below(letters.len() - 2)?;
    match below(4)? {
        0 => drop(letters.remove(inside)),
        1 => letters.insert(inside, letters[inside]),
        2 => letters.swap(inside, inside + 1),
        _ => letters[inside] = LETTERS[below(LETTERS.len())?],
    }
    let wrong = String::from_utf8(letters).ok().filter(|wrong| wrong != words[at])?;
    words[at] = &wrong;
    Some(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_letter_of_one_long_word_is_wrong() {
        for (query, expected) in [
            ("alligator clips", Some("alligator cllips")),
            ("white lacquer wall shelves", Some("white lcaquer wall shelves")),
            ("3 in. pvc cap", None),
            ("wd-40", None),
        ] {
            assert_eq!(misspell(query).as_deref(), expected);
        }
    }
}
