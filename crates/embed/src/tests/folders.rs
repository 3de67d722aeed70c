//! Broken model folders are rejected with a helpful message.

use std::fs;

use tempfile::TempDir;

use crate::{BuiltIn, ModelFiles, testing::tiny_folder};

/// The error for the tiny model after `damage` was applied to one of its files.
fn error_after(file: &str, damage: impl FnOnce(Vec<u8>) -> Option<Vec<u8>>) -> String {
    let folder = TempDir::new().unwrap();
    for name in ["model.json", "vocab.txt", "words.txt", "phrases.bin", "instant.bin", "deep.onnx"]
    {
        fs::copy(tiny_folder().join(name), folder.path().join(name)).unwrap();
    }
    let path = folder.path().join(file);
    match damage(fs::read(&path).unwrap()) {
        Some(bytes) => fs::write(&path, bytes).unwrap(),
        None => fs::remove_file(&path).unwrap(),
    }
    let opened = ModelFiles::in_folder(folder.path()).and_then(|weights| BuiltIn::new(weights, 1));
    opened.unwrap_err().to_string()
}

fn replaced(bytes: Vec<u8>, from: &str, to: &str) -> Option<Vec<u8>> {
    Some(String::from_utf8(bytes).unwrap().replacen(from, to, 1).into_bytes())
}

#[test]
fn missing_files_are_named() {
    for file in ["model.json", "vocab.txt", "words.txt", "phrases.bin", "instant.bin", "deep.onnx"]
    {
        let error_after = error_after(file, |_| None);
        assert!(error_after.contains(&format!("{file} cannot be read: ")), "{error_after}");
    }
}

#[test]
fn mismatched_files_are_reported() {
    let dims = error_after("model.json", |bytes| replaced(bytes, "\"dims\": 8", "\"dims\": 9"));
    assert_eq!(dims, "the model file instant.bin has 8 dimensions instead of 9");
    let tokens = error_after("model.json", |bytes| {
        replaced(bytes, "\"max_tokens\": 24", "\"max_tokens\": 1")
    });
    assert_eq!(tokens, "the model file model.json asks for texts of 1 tokens");
    let pieces = error_after("vocab.txt", |bytes| replaced(bytes, "sofa\n", ""));
    assert!(pieces.starts_with("the model file instant.bin is for "), "{pieces}");
    let special = error_after("vocab.txt", |bytes| replaced(bytes, "[CLS]", "[CSL]"));
    assert_eq!(special, "the model file vocab.txt has no piece [CLS]");
}

#[test]
fn corrupt_files_are_reported() {
    assert!(
        error_after("model.json", |_| Some(b"{".to_vec()))
            .starts_with("the model file model.json cannot be read: ")
    );
    assert_eq!(
        error_after("vocab.txt", |_| Some(vec![0xff])),
        "the model file vocab.txt is not UTF-8"
    );
    assert_eq!(
        error_after("instant.bin", |_| Some(b"what".to_vec())),
        "the model file instant.bin is no instant table"
    );
    let cut = error_after("instant.bin", |mut bytes| bytes.pop().map(|_| bytes));
    assert!(cut.contains("bytes where its header tells of"), "{cut}");
    let graph = error_after("deep.onnx", |bytes| Some(bytes[..bytes.len() / 2].to_vec()));
    assert!(graph.starts_with("the model file deep.onnx "), "{graph}");
}
