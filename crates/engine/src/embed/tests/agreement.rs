//! Does this program make of a text what the training's own code makes of it?

use std::{fs, path::Path};

use serde::Deserialize;

use super::{tiny_folder, tiny_model};
use crate::embed::{BuiltIn, Embedder, Turn, Vector};

/// A text with what it must become at every stage.
#[derive(Deserialize)]
struct Golden {
    text: String,
    tokens: Vec<u32>,
    rows: Vec<u32>,
    deep_float: Vec<f32>,
    instant: Vec<f32>,
}

fn check(model: &BuiltIn, golden: &Path) {
    let golden: Vec<Golden> = serde_json::from_slice(&fs::read(golden).unwrap()).unwrap();
    let mut deep_total = 0.0;
    for case in &golden {
        let (tokens, rows) = model.stages(&case.text);
        assert_eq!(tokens, case.tokens, "tokens of {:?}", case.text);
        assert_eq!(rows, case.rows, "rows of {:?}", case.text);
        let expected = Vector::towards(case.instant.clone()).unwrap();
        let found = model.instant(&case.text).unwrap().vector;
        let near = found.cosine(&expected);
        assert!(near >= 0.999 || expected.is_zero() && found.is_zero(), "{near} {:?}", case.text);
        let expected = Vector::towards(case.deep_float.clone()).unwrap();
        let found = model.deep(&[&case.text], Turn::Search).unwrap().remove(0).vector;
        deep_total += f64::from(found.cosine(&expected));
    }
    let average = deep_total / golden.len() as f64;
    assert!(average >= 0.985, "{average}");
}

#[test]
fn the_tiny_model_agrees() {
    check(&tiny_model(), &tiny_folder().join("golden.json"));
}
