//! The table against the training code, and its shortcuts against plain ones.

use proptest::prelude::*;
use serde::Deserialize;

use super::*;

const EMBEDDED: &[u8] = models::MULTILINGUAL.as_slice();

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

/// Positive if the rows say that their text is not English.
fn vote_of(table: &Multilingual, rows: &[u32]) -> f32 {
    let votes = &table.bytes[HEADER_BYTES + 2 * table.rows..];
    let sum: i32 = rows.iter().map(|row| i32::from(votes[*row as usize].cast_signed())).sum();
    table.vote_constant + table.vote_scale * sum as f32
}

fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for_each_word(text, |word| {
        words.push(word.to_owned());
        true
    });
    words
}

/// Marks, signs that decompose, ligatures, syllables that compose, and long words.
const TEXTS: &str = "([a-zA-Z0-9]{0,9}[ \n.,-]){0,60}|(\\PC|[a-zA-Z ´¨™½ﬁ\u{301}\u{308}\u{3099}が각ᄀ\u{1161}]){0,80}|[a-z]{50,80}";

proptest! {
    #[test]
    fn parts_of_a_text_have_the_words_of_the_whole(text in TEXTS) {
        let mut words = Vec::new();
        let whole = text.nfkc().flat_map(char::to_lowercase);
        split(whole, &mut String::new(), &mut |word: &str| {
            words.push(word.to_owned());
            true
        });
        prop_assert_eq!(words_of(&text), words);
    }

    #[test]
    fn votes_are_those_of_the_rows(text in TEXTS) {
        let table = Multilingual::new(EMBEDDED.into()).unwrap();
        let read = table.read(&text, VOTERS);
        let expected = match 2 * read.latin_letters >= read.letters {
            true if read.rows.is_empty() => f32::NEG_INFINITY,
            true => vote_of(&table, &read.rows),
            false => f32::INFINITY,
        };
        prop_assert_eq!(table.foreignness(&text).to_bits(), expected.to_bits());
    }
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
        let found = vote_of(&table, &table.read(&text, VOTERS).rows);
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
