//! What tests of embedders share: a tiny model, and an endpoint that misbehaves.
#![allow(clippy::unwrap_used, missing_docs)]

mod endpoint;

use std::path::{Path, PathBuf};

pub use endpoint::{Act, DIMS, Endpoint, FakeTime, KEY, TIMEOUT, remote};

use crate::{BuiltIn, ModelFiles};

/// A model in the real format with random weights.
pub fn tiny_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny-model")
}

/// The model in that folder.
pub fn tiny_model() -> BuiltIn {
    BuiltIn::new(ModelFiles::in_folder(&tiny_folder()).unwrap(), 2).unwrap()
}
