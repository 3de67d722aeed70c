//! Does every embedder keep its promises, and does ours agree with the training's code?

mod agreement;
mod conformance;
pub(crate) mod endpoint;
mod folders;
mod remote;

use std::path::{Path, PathBuf};

use super::{BuiltIn, Weights};

/// A model of the real one's format with random weights.
fn tiny_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny-model")
}

pub(crate) fn tiny_model() -> BuiltIn {
    BuiltIn::new(Weights::in_folder(&tiny_folder()).unwrap(), 2).unwrap()
}
