//! What the program's file contains.
#![allow(clippy::unwrap_used)]

use std::{collections::HashMap, fs, path::Path};

use testkit::Installation;

/// How often each of these eight bytes occurs in a file.
fn occurrences(bytes: &[u8], wanted: impl Iterator<Item = u64>) -> HashMap<u64, usize> {
    let mut counts: HashMap<_, _> = wanted.map(|word| (word, 0)).collect();
    let may_end: Vec<bool> =
        (0..=u16::MAX).map(|end| counts.keys().any(|word| *word as u16 == end)).collect();
    let mut last = 0;
    for byte in bytes {
        last = last << 8 | u64::from(*byte);
        if may_end[usize::from(last as u16)]
            && let Some(count) = counts.get_mut(&last)
        {
            *count += 1;
        }
    }
    counts
}

#[test]
fn each_file_of_the_models_is_in_the_program_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let listed = fs::read_to_string(folder.join("models.rs")).unwrap();
    let names: Vec<_> = listed.split('"').filter(|text| folder.join(text).is_file()).collect();
    assert_eq!(names.len(), 12, "{names:?}");
    // Eight bytes from the middle of each, which occur in no other place of the files.
    let markers: HashMap<_, _> =
        names.iter().map(|name| (marker(&folder.join(name)), *name)).collect();
    assert_eq!(markers.len(), names.len());
    let program = fs::read(Installation::temporary().binary()).unwrap();
    for (marker, count) in occurrences(&program, markers.keys().copied()) {
        assert_eq!(count, 1, "{}", markers[&marker]);
    }
}

/// The first eight bytes after the middle of a file that occur in it once.
fn marker(file: &Path) -> u64 {
    let bytes = fs::read(file).unwrap();
    let middle = bytes[bytes.len() / 2..].windows(8);
    let words = middle.map(|window| u64::from_be_bytes(window.try_into().unwrap()));
    words.take(100).find(|word| occurrences(&bytes, [*word].into_iter())[word] == 1).unwrap()
}
