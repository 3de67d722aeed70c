//! What the program's file contains.
#![allow(clippy::unwrap_used)]

use std::{collections::HashMap, fs, path::Path};

use testkit::Installation;

/// A file, and eight bytes from its middle.
struct Model {
    name: String,
    bytes: Vec<u8>,
    middle: usize,
}

impl Model {
    fn read(folder: &Path, name: &str) -> Self {
        let bytes = fs::read(folder.join(name)).unwrap();
        Self { name: name.to_owned(), middle: bytes.len() / 2, bytes }
    }

    fn marker(&self) -> u64 {
        u64::from_be_bytes(*self.bytes[self.middle..].first_chunk().unwrap())
    }

    fn is_around(&self, program: &[u8], at: usize) -> bool {
        at >= self.middle && program[at - self.middle..].starts_with(&self.bytes)
    }
}

#[test]
fn each_file_of_the_models_is_in_the_program_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let listed = fs::read_to_string(folder.join("models.rs")).unwrap();
    let names = listed.split('"').filter(|text| folder.join(text).is_file());
    let models = names.map(|name| Model::read(&folder, name));
    let models: HashMap<_, _> = models.map(|model| (model.marker(), model)).collect();
    assert_eq!(models.len(), 12);
    let program = fs::read(Installation::temporary().binary()).unwrap();
    let mut found = Vec::new();
    let may_end: Vec<bool> =
        (0..=u16::MAX).map(|end| models.keys().any(|marker| *marker as u16 == end)).collect();
    let mut last = 0;
    for (at, byte) in program.iter().enumerate() {
        last = last << 8 | u64::from(*byte);
        if may_end[usize::from(last as u16)]
            && let Some(model) = models.get(&last)
            && model.is_around(&program, at - 7)
        {
            found.push(&*model.name);
        }
    }
    found.sort_unstable();
    let mut all: Vec<_> = models.values().map(|model| &*model.name).collect();
    all.sort_unstable();
    assert_eq!(found, all);
}
