//! Words: how texts are folded, split into terms and corrected, by the same rules for products and
//! queries.

pub mod analysis;
pub mod correction;
pub mod fnv;
pub mod language;
pub(crate) mod lexer;
pub mod spelling;
pub mod validation;
pub mod vocabulary;
pub mod word_forms;
