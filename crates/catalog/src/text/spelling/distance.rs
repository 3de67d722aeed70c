//! Weighted edit distance (Damerau–Levenshtein, restricted to adjacent transpositions).
//!
//! Likely typos cost less: a doubled letter, one vowel for another, letters that sound alike or are
//! adjacent on the keyboard. The first letter is rarely wrong, so an edit there costs more.

use crate::text::analysis::MAX_WORD_BYTES;

/// The cost of an ordinary edit.
pub(super) const EDIT: f32 = 1.0;
const DOUBLED: f32 = 0.5;
const SWAPPED: f32 = 0.8;
const VOWEL_FOR_VOWEL: f32 = 0.7;
const ALIKE: f32 = 0.7;
const SILENT: f32 = 0.8;
const FIRST_LETTER: f32 = 0.6;

/// Letters that sound alike in some words.
const SOUND_ALIKE: &[(u8, u8)] = &[
    (b'c', b'k'),
    (b'c', b's'),
    (b's', b'z'),
    (b'g', b'j'),
    (b'i', b'y'),
    (b'e', b'y'),
    (b'k', b'q'),
    (b'f', b'v'),
    (b'd', b't'),
    (b'm', b'n'),
];

/// The rows of the keyboard; adjacent letters of a row are easily confused.
const ROWS: [&[u8]; 3] = [b"qwertyuiop", b"asdfghjkl", b"zxcvbnm"];

/// The cost of turning one lower-case word into another; `None` if it exceeds `most`.
pub(super) fn distance(from: &str, to: &str, most: f32) -> Option<f32> {
    let (from, to) = (from.as_bytes(), to.as_bytes());
    if to.len() > MAX_WORD_BYTES {
        return None;
    }
    // The costs of the last row but one, of the last row and of the row at hand, in turn.
    let mut rows = [[0.0; MAX_WORD_BYTES + 1]; 3];
    let [before_last, last, row] = &mut rows;
    let (mut before_last, mut last, mut row) = (before_last, last, row);
    for at in 0..to.len() {
        last[at + 1] = last[at] + letter(to, at);
    }
    for (i, from_letter) in from.iter().enumerate() {
        let deleted = letter(from, i);
        row[0] = last[0] + deleted;
        let mut least = row[0];
        for (j, to_letter) in to.iter().enumerate() {
            let place = if i == 0 || j == 0 { FIRST_LETTER } else { 0.0 };
            let replaced = match from_letter == to_letter {
                true => last[j],
                false => last[j] + replacement(*from_letter, *to_letter) + place,
            };
            let mut best = replaced.min(last[j + 1] + deleted).min(row[j] + letter(to, j));
            if i > 0 && j > 0 && *from_letter == to[j - 1] && from[i - 1] == *to_letter {
                let place = if i == 1 || j == 1 { FIRST_LETTER } else { 0.0 };
                best = best.min(before_last[j - 1] + SWAPPED + place);
            }
            row[j + 1] = best;
            least = least.min(best);
        }
        // A transposition may still continue from the row before.
        if least > most + EDIT {
            return None;
        }
        (before_last, last, row) = (last, row, before_last);
    }
    Some(last[to.len()]).filter(|cost| *cost <= most)
}

/// The cost of inserting or deleting a letter.
fn letter(word: &[u8], at: usize) -> f32 {
    let is_same = |other: Option<&u8>| other == Some(&word[at]);
    if at == 0 {
        return EDIT + FIRST_LETTER;
    }
    if is_same(word.get(at - 1)) {
        DOUBLED
    } else if matches!(word[at], b'e' | b'h') {
        SILENT
    } else {
        EDIT
    }
}

/// The cost of replacing one letter with another.
#[inline]
fn replacement(one: u8, other: u8) -> f32 {
    let number = |letter: u8| usize::from(letter.wrapping_sub(b'a'));
    let of_letter = REPLACEMENTS.get(number(one)).and_then(|costs| costs.get(number(other)));
    of_letter.copied().unwrap_or(EDIT)
}

const LETTERS: usize = 26;

/// Replacement costs, precomputed: the inner loop needs one per pair of letters.
const REPLACEMENTS: [[f32; LETTERS]; LETTERS] = {
    let mut costs = [[EDIT; LETTERS]; LETTERS];
    let mut one = 0;
    while one < LETTERS {
        let mut other = 0;
        while other < LETTERS {
            costs[one][other] = cost_of(b'a' + one as u8, b'a' + other as u8);
            other += 1;
        }
        one += 1;
    }
    costs
};

const fn cost_of(one: u8, other: u8) -> f32 {
    if is_vowel(one) && is_vowel(other) {
        return VOWEL_FOR_VOWEL;
    }
    if sound_alike(one, other) || are_neighbours(one, other) { ALIKE } else { EDIT }
}

const fn is_vowel(letter: u8) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u')
}

const fn sound_alike(one: u8, other: u8) -> bool {
    let mut at = 0;
    while at < SOUND_ALIKE.len() {
        let (left, right) = SOUND_ALIKE[at];
        if left == one && right == other || left == other && right == one {
            return true;
        }
        at += 1;
    }
    false
}

const fn are_neighbours(one: u8, other: u8) -> bool {
    let mut row = 0;
    while row < ROWS.len() {
        let mut at = 1;
        while at < ROWS[row].len() {
            let (left, right) = (ROWS[row][at - 1], ROWS[row][at]);
            if left == one && right == other || left == other && right == one {
                return true;
            }
            at += 1;
        }
        row += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cost(from: &str, to: &str) -> f32 {
        distance(from, to, 100.0).unwrap()
    }

    #[test]
    fn likely_typos_cost_less() {
        assert_eq!(cost("same", "same"), 0.0);
        assert_eq!(cost("runing", "running"), DOUBLED);
        assert_eq!(cost("cieling", "ceiling"), SWAPPED);
        assert_eq!(cost("galvinized", "galvanized"), VOWEL_FOR_VOWEL);
        assert_eq!(cost("spectrazide", "spectraside"), ALIKE);
        assert!(cost("onda", "honda") > cost("hona", "honda"));
    }

    #[test]
    fn letters_that_are_easily_confused_cost_less() {
        for (one, other, expected) in [
            (b'a', b'u', VOWEL_FOR_VOWEL),
            (b'c', b'k', ALIKE),
            (b'q', b'w', ALIKE),
            (b'p', b'o', ALIKE),
            (b'q', b'p', EDIT),
            (b'p', b'a', EDIT),
            (b'7', b'a', EDIT),
            (b'{', b'`', EDIT),
        ] {
            assert_eq!((replacement(one, other), replacement(other, one)), (expected, expected));
        }
    }

    #[test]
    fn a_cost_above_the_limit_is_none() {
        assert_eq!(distance("lamp", "sofa", 2.0), None);
        assert_eq!(distance("", "abc", 2.0), None);
    }

    proptest! {
        #[test]
        fn distance_is_symmetric(one in "[a-f]{0,9}", other in "[a-f]{0,9}") {
            prop_assert!((cost(&one, &other) - cost(&other, &one)).abs() < 1e-4);
        }

        #[test]
        fn the_limit_does_not_change_the_cost(one in "[a-f]{0,9}", other in "[a-f]{0,9}", most in 0.0_f32..4.0) {
            let cost = cost(&one, &other);
            prop_assert_eq!(distance(&one, &other, most), Some(cost).filter(|cost| *cost <= most));
        }
    }
}
