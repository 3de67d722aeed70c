//! The built-in model agrees with the Python code that trained it.

use std::{fs, path::Path};

use serde::Deserialize;

use super::{tiny_folder, tiny_model};
use crate::embed::{BuiltIn, Embedder, ModelFiles, Priority, Text, Vector};

/// A text with the expected result of every stage.
#[derive(Deserialize)]
struct Golden {
    text: String,
    tokens: Vec<u32>,
    rows: Vec<u32>,
    transformer_float: Vec<f32>,
    instant: Vec<f32>,
    deep: Vec<f32>,
}

fn check(model: &BuiltIn, golden: &Path) {
    let golden: Vec<Golden> = serde_json::from_slice(&fs::read(golden).unwrap()).unwrap();
    let mut total = 0.0;
    for case in &golden {
        let (tokens, rows) = model.stages(&case.text);
        assert_eq!(tokens, case.tokens, "tokens of {:?}", case.text);
        assert_eq!(rows, case.rows, "rows of {:?}", case.text);
        let query = Text::Query(&case.text);
        let near = |found: &Vector, expected: &[f32]| {
            let expected = Vector::normalized(expected.to_vec()).unwrap();
            if expected.is_zero() && found.is_zero() { 1.0 } else { found.cosine(&expected) }
        };
        let instant = near(&model.instant(query).unwrap().vector, &case.instant);
        assert!(instant >= 0.999, "{instant} {:?}", case.text);
        let deep = near(&model.deep(&[query], Priority::Search).unwrap()[0].vector, &case.deep);
        assert!(deep >= 0.985, "{deep} {:?}", case.text);
        total += near(&model.transformer(&case.text), &case.transformer_float);
    }
    let average = total / golden.len() as f32;
    assert!(average >= 0.985, "{average}");
}

#[test]
fn the_tiny_model_agrees_with_the_training_code() {
    check(&tiny_model(), &tiny_folder().join("golden.json"));
}

#[test]
fn the_built_in_model_agrees_with_the_training_code() {
    let model = BuiltIn::new(ModelFiles::embedded(), 1).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    check(&model, &root.join("../../models/golden.json"));
    difficult_texts_are_tokenized_alike(&model, &root.join("tests/data/wordpiece.json"));
}

/// Texts that are difficult to tokenize, with the result of the Python library: accents, other
/// scripts, joiners, control characters, words that are too long, and random characters.
fn difficult_texts_are_tokenized_alike(model: &BuiltIn, file: &Path) {
    #[derive(Deserialize)]
    struct Tricky {
        text: String,
        pieces: Vec<u32>,
    }
    let tricky: Vec<Tricky> = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    for case in &tricky {
        let (tokens, _) = model.stages(&case.text);
        assert_eq!(tokens[1..tokens.len() - 1], case.pieces, "{:?}", case.text);
    }
}

#[test]
fn known_words_are_recognised() {
    let model = BuiltIn::new(ModelFiles::embedded(), 1).unwrap();
    for word in ["sofa", "settee", "anorak", "hosiery", "lawnmower", "tv", "neck"] {
        assert_eq!(model.recognises(word), Some(true), "{word}");
    }
    for nonsense in ["asdfgh", "xyzzy", "blorptangle", "hjkl", "qw", "##ing", "", "[UNK]"] {
        assert_eq!(model.recognises(nonsense), Some(false), "{nonsense}");
    }
}
