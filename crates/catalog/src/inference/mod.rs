//! Inference: what the texts of a product and of a query state beyond their words.

pub mod attributes;
