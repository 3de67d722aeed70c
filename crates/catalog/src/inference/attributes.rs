//! Attribute inference: reads color, material, pattern, audience and size out of product texts and
//! queries, as canonical values.
//!
//! A [lexicon] maps words to values and says how far each can be trusted. A text is
//! [read](reading) once into words, matches and zones ("with a white collar" is about a part, "for
//! a silver phone" about another product); then the rules of its kind decide which matches state
//! something: those for a [title], a [description], a merchant's
//! [attributes](merchant) and a [query]. Stating nothing is better than stating something
//! wrong.

mod agreement;
mod description;
mod lexicon;
mod merchant;
mod product;
mod query;
mod reading;
mod rules;
#[cfg(test)]
mod tests;
mod title;
mod value;

use self::lexicon::Origin;
use crate::product::inferred::Attribute;
pub use agreement::{agreement, twins};
pub use product::infer_product;
pub use query::{QueryAttribute, QueryAttributes, infer_query};
pub use value::parse_value;

/// Whether the lexicon contains a lower-case word that is no typo of another one.
pub fn is_lexicon_word(word: &str) -> bool {
    lexicon::info(word).is_some() && !lexicon::has_origin(word, Origin::Either)
}

/// Whether a folded word names a value of an attribute in another language than English.
pub fn is_foreign_attribute_word(word: &str) -> bool {
    lexicon::has_origin(word, Origin::Foreign)
}

/// What a folded word of another language, which names a color or a material, is called in English.
pub fn english_names(word: &str) -> Vec<&'static str> {
    let mut names = Vec::new();
    for attribute in [Attribute::Color, Attribute::Material] {
        for name in lexicon::foreign_values(word).values(attribute) {
            names.push(name);
            names.extend(match name {
                "grey" => Some("gray"),
                "wood" => Some("wooden"),
                _ => None,
            });
        }
    }
    names
}

/// Whether a lower-case word alone names a value of an attribute.
pub fn is_attribute_word(word: &str) -> bool {
    lexicon::info(word).is_some_and(|(info, is_inflected)| {
        info.longest(is_inflected, |_| "").is_some_and(|(meanings, _)| {
            meanings.iter().any(|meaning| meaning.attribute().is_some())
        })
    })
}
