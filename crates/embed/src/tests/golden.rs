//! The built-in model gives what the Python code that trained it gives.

use std::{fs, path::Path};

use serde::Deserialize;

use crate::{
    BuiltIn, Embedder, ModelFiles, Priority, Text, TextLanguage, Vector,
    testing::{tiny_folder, tiny_model},
};

/// A text with the expected result of every stage.
#[derive(Deserialize)]
struct Golden {
    text: String,
    tokens: Vec<u32>,
    rows: Vec<u32>,
    transformer_float: Vec<f32>,
    instant: Vec<f32>,
}

fn check(model: &BuiltIn, golden: &Path) {
    let golden: Vec<Golden> = serde_json::from_slice(&fs::read(golden).unwrap()).unwrap();
    let mut transformers = Vec::new();
    for case in &golden {
        let (tokens, rows) = model.stages(&case.text);
        // The training code does not cut a text as short as the service does.
        let (last, others) = tokens.split_last().unwrap();
        assert!(case.tokens.starts_with(others), "tokens of {:?}", case.text);
        assert_eq!(case.tokens.last(), Some(last), "tokens of {:?}", case.text);
        assert_eq!(rows, case.rows, "rows of {:?}", case.text);
        let query = Text::Query(&case.text);
        let near = |found: &Vector, expected: &[f32]| {
            let expected = Vector::normalized(expected.to_vec()).unwrap();
            if expected.is_zero() && found.is_zero() { 1.0 } else { found.cosine(&expected) }
        };
        let instant = near(&model.instant(query).unwrap().vector, &case.instant);
        assert!(instant >= 0.999, "{instant} {:?}", case.text);
        let deep = model.deep(&[query], Priority::Search).unwrap().remove(0);
        assert_eq!(deep.vector, model.instant(query).unwrap().vector, "{:?}", case.text);
        if tokens.len() == case.tokens.len() {
            let transformer = near(&deep.deep.unwrap(), &case.transformer_float);
            assert!(transformer >= 0.985, "{transformer} {:?}", case.text);
            transformers.push(transformer);
        }
    }
    assert!(transformers.len() + 1 >= golden.len(), "one text is too long");
    let average = transformers.iter().sum::<f32>() / transformers.len() as f32;
    assert!(average >= 0.995, "{average}");
}

#[test]
fn the_tiny_model_gives_what_the_training_code_gives() {
    check(&tiny_model(), &tiny_folder().join("golden.json"));
}

#[test]
fn the_built_in_model_gives_what_the_training_code_gives() {
    let model = english_model();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    check(&model, &root.join("../../models/golden.json"));
    difficult_texts_are_tokenized_alike(&model, &root.join("tests/data/wordpiece.json"));
}

/// What the deep encoder reads of a text at most, without the first and the last token.
const MOST_PIECES: usize = 46;

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
        let read = case.pieces.len().min(MOST_PIECES);
        assert_eq!(tokens[1..tokens.len() - 1], case.pieces[..read], "{:?}", case.text);
    }
}

#[test]
fn known_words_are_recognised() {
    let model = BuiltIn::new(ModelFiles::embedded(), 1).unwrap();
    for word in ["sofa", "settee", "anorak", "hosiery", "lawnmower", "tv", "neck"] {
        assert_eq!(model.recognises(word, TextLanguage::English), Some(true), "{word}");
    }
    for nonsense in ["asdfgh", "xyzzy", "blorptangle", "hjkl", "qw", "##ing", "", "[UNK]"] {
        for language in [TextLanguage::English, TextLanguage::Other] {
            assert_eq!(model.recognises(nonsense, language), Some(false), "{nonsense}");
        }
    }
}

/// The built-in model without the table for other languages.
fn english_model() -> BuiltIn {
    BuiltIn::new(ModelFiles { multilingual: Default::default(), ..ModelFiles::embedded() }, 1)
        .unwrap()
}

#[test]
fn the_embedded_model_shares_its_instant_encoder() {
    assert!(BuiltIn::new(ModelFiles::embedded(), 1).unwrap().has_embedded_encoder());
    assert!(!english_model().has_embedded_encoder());
}

#[test]
fn the_table_for_other_languages_does_not_change_english_vectors() {
    let (with, without) = (BuiltIn::new(ModelFiles::embedded(), 1).unwrap(), english_model());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let column = |path: &str, column: usize| -> Vec<String> {
        let text = fs::read_to_string(root.join(path)).unwrap();
        let lines = text.lines().skip(1);
        lines.filter_map(|line| Some(line.split('\t').nth(column)?.to_owned())).collect()
    };
    let queries = column("training/data/everyday-requests.tsv", 0);
    assert!(queries.len() > 300);
    for query in queries.iter().map(|query| Text::Query(query)) {
        assert_eq!(with.instant(query), without.instant(query), "{query:?}");
    }
    for query in queries.iter().step_by(40).map(|query| Text::Query(query)) {
        let deep = |model: &BuiltIn| model.deep(&[query], Priority::Search).unwrap();
        assert_eq!(deep(&with), deep(&without), "{query:?}");
    }
}

#[test]
fn texts_in_other_languages_have_instant_vectors_near_english_ones() {
    let (with, without) = (BuiltIn::new(ModelFiles::embedded(), 1).unwrap(), english_model());
    let german = Text::Product { title: "Regenschirm", description: "Ein Schirm gegen den Regen." };
    let texts = [Text::Query("red shelf"), Text::Query("rotes Regal"), german, Text::Query("雨伞")];
    let found = with.deep(&texts, Priority::Search).unwrap();
    for (text, found) in texts.into_iter().zip(&found).skip(1) {
        assert_eq!(found.deep, None, "{text:?}");
        assert_ne!(with.instant(text), without.instant(text), "{text:?}");
    }
    assert!(found[0].deep.is_some());
    assert_eq!(found[..1], without.deep(&texts[..1], Priority::Search).unwrap());
    let umbrella = with.instant(Text::Query("umbrella")).unwrap().vector;
    for (at, text) in texts.iter().enumerate().skip(2) {
        let near = found[at].vector.cosine(&umbrella);
        let far = found[at].vector.cosine(&found[0].vector);
        assert!(near > 0.5 && near > far + 0.3, "{near} {text:?}");
    }
    let near = found[1].vector.cosine(&found[0].vector);
    assert!(near > 0.5, "{near}");
}

#[test]
fn the_words_of_a_query_tell_its_language() {
    let model = BuiltIn::new(ModelFiles::embedded(), 1).unwrap();
    for query in ["chaussures rouges", "zapatos rojos", "buty zimowe", "зимние ботинки", "雨伞"]
    {
        assert_eq!(model.language_of(query), Some(TextLanguage::Other), "{query}");
    }
    // Brands and made-up words look foreign.
    for query in ["red shoes", "videogames ps4", "kwikset lever lido", "aveeno shampoo"] {
        assert_ne!(model.language_of(query), Some(TextLanguage::Other), "{query}");
    }
    for query in ["table", "robe noire", ""] {
        assert_eq!(model.language_of(query), None, "{query:?}");
    }
    assert_eq!(english_model().language_of("雨伞"), Some(TextLanguage::English));
}
