//! What an exclusion in another language excludes in an English shop: "ohne Leder" is about leather.

use super::Exclusion;
use crate::inference::attributes::english_names;

impl Exclusion {
    /// The same exclusion in English, a list with one for every English word; empty if the word names
    /// neither a color nor a material, or is English.
    pub(in crate::query::parser) fn in_english(&self) -> impl Iterator<Item = Self> {
        let names = match &*self.words {
            [word] if !self.is_claim => english_names(word),
            _ => Vec::new(),
        };
        names.into_iter().map(|name| Self {
            words: name.split(' ').map(Box::from).collect(),
            span: self.span.clone(),
            is_claim: false,
        })
    }
}
