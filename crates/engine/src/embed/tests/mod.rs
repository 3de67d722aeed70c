//! Tests of all embedders, and of the built-in model against the training code.

mod agreement;
mod conformance;
pub(crate) mod endpoint;
mod folders;
mod remote;

use std::path::{Path, PathBuf};

use super::{BuiltIn, ModelFiles};

/// A model in the real format with random weights.
fn tiny_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny-model")
}

pub(crate) fn tiny_model() -> BuiltIn {
    BuiltIn::new(ModelFiles::in_folder(&tiny_folder()).unwrap(), 2).unwrap()
}
