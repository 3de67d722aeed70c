//! The files of a model, embedded in this program or in a folder.

use std::{borrow::Cow, fmt, path::Path};

use serde::Deserialize;
use thiserror::Error;

/// The manifest, which names the dimensions and the scales of the others.
const MANIFEST: &str = "model.json";
/// Words that the vocabulary has only in pieces, one per line, sorted.
pub(super) const WORDS: &str = "words.txt";
/// Phrases of shoppers, and the products they stand for.
pub(super) const PHRASES: &str = "phrases.bin";
/// The names of those products, by thing.
pub(super) const NAMES: &str = "names.tsv";
/// The table for other languages.
pub(super) const MULTILINGUAL: &str = "multilingual.bin";
/// The longest input that the deep encoder was trained for, in tokens.
const MOST_TOKENS: usize = 512;

/// The files of a model.
pub struct ModelFiles {
    /// `model.json`
    pub manifest: Cow<'static, [u8]>,
    /// `vocab.txt`
    pub vocabulary: Cow<'static, [u8]>,
    /// `words.txt`
    pub words: Cow<'static, [u8]>,
    /// `phrases.bin`
    pub phrases: Cow<'static, [u8]>,
    /// `names.tsv`
    pub names: Cow<'static, [u8]>,
    /// `instant.bin`
    pub instant: Cow<'static, [u8]>,
    /// `deep.onnx`
    pub deep: Cow<'static, [u8]>,
    /// `multilingual.bin`; empty for a model of English texts alone.
    pub multilingual: Cow<'static, [u8]>,
}

/// Why a model's files cannot be used.
#[derive(Debug, Error)]
#[error("the model file {file} {problem}")]
pub struct BrokenModel {
    file: String,
    problem: String,
}

impl BrokenModel {
    pub(super) fn new(file: impl Into<String>, problem: impl fmt::Display) -> Self {
        Self { file: file.into(), problem: problem.to_string() }
    }
}

/// The manifest in `model.json`. Unknown fields (thresholds, layers) are ignored.
#[derive(Deserialize)]
pub(super) struct Manifest {
    pub(super) model: String,
    pub(super) dims: usize,
    pub(super) max_tokens: usize,
    pub(super) deep: DeepFile,
    pub(super) instant: File,
    pub(super) vocab: String,
}

#[derive(Deserialize)]
pub(super) struct File {
    pub(super) file: String,
}

#[derive(Deserialize)]
pub(super) struct DeepFile {
    pub(super) file: String,
    /// The longest input of the deep encoder, in tokens, if it is shorter than that of the instant one.
    max_tokens: Option<usize>,
}

impl Manifest {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, BrokenModel> {
        let manifest: Self = serde_json::from_slice(bytes)
            .map_err(|error| BrokenModel::new(MANIFEST, format!("cannot be read: {error}")))?;
        for most in [manifest.max_tokens, manifest.deep_tokens()] {
            if !(3..=MOST_TOKENS).contains(&most) {
                let problem = format!("asks for texts of {most} tokens");
                return Err(BrokenModel::new(MANIFEST, problem));
            }
        }
        Ok(manifest)
    }

    /// The longest input of the deep encoder, in tokens.
    pub(super) fn deep_tokens(&self) -> usize {
        self.deep.max_tokens.unwrap_or(self.max_tokens)
    }
}

impl ModelFiles {
    /// The files embedded in this program.
    pub fn embedded() -> Self {
        Self {
            manifest: models::MANIFEST.as_slice().into(),
            vocabulary: models::VOCABULARY.as_slice().into(),
            words: models::WORDS.as_slice().into(),
            phrases: models::PHRASES.as_slice().into(),
            names: models::NAMES.as_slice().into(),
            instant: models::INSTANT.as_slice().into(),
            deep: models::DEEP.as_slice().into(),
            multilingual: models::MULTILINGUAL.as_slice().into(),
        }
    }

    /// The files in a folder.
    pub fn in_folder(folder: &Path) -> Result<Self, BrokenModel> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read(&path).map(Cow::Owned).map_err(|error| {
                BrokenModel::new(path.display().to_string(), format!("cannot be read: {error}"))
            })
        };
        // Folders of earlier versions have fewer files.
        let read_if_there =
            |name: &str| std::fs::read(folder.join(name)).unwrap_or_default().into();
        let manifest = read(MANIFEST)?;
        let names = Manifest::read(&manifest)?;
        Ok(Self {
            vocabulary: read(&names.vocab)?,
            words: read(WORDS)?,
            phrases: read(PHRASES)?,
            names: read_if_there(NAMES),
            multilingual: read_if_there(MULTILINGUAL),
            instant: read(&names.instant.file)?,
            deep: read(&names.deep.file)?,
            manifest,
        })
    }

    /// Whether the instant encoder is the embedded one.
    pub(super) fn has_embedded_encoder(&self) -> bool {
        let of = |files: &Self| {
            let Self { manifest, vocabulary, words, instant, multilingual, .. } = files;
            [manifest, vocabulary, words, instant, multilingual].map(|bytes| bytes.as_ptr_range())
        };
        of(self) == of(&Self::embedded())
    }
}
