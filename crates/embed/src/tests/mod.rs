//! Tests of all embedders, and of the built-in model against the training code.

mod conformance;
mod folders;
mod golden;
mod remote;
