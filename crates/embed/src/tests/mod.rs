//! Tests of all embedders, and of the built-in model against the training code.

mod agreement;
mod conformance;
mod folders;
mod remote;
