//! How far a product agrees with an attribute that a query asks for.

use std::{collections::HashMap, sync::LazyLock};

use super::lexicon;
use super::product::ProductAttributes;
use super::query::QueryAttribute;
use super::values::{Attribute, BABY, KIDS, PETS};

const BY_TITLE: f32 = 1.0;
const BY_DESCRIPTION: f32 = 0.7;
/// The title says the word, but may not say it of the product.
const MENTIONED: f32 = 0.5;
const CONTRADICTS_IN_TITLE: f32 = -1.0;
const CONTRADICTS_IN_DESCRIPTION: f32 = -0.3;
/// A product for pets, named in its description only, where people were asked for.
const FOR_PETS_BY_DESCRIPTION: f32 = -0.5;
/// The share of an agreement that is left if a query says "navy" and the product just "blue".
const OTHER_SHADE: f32 = 0.4;

/// Which words of an attribute that a query asks for the texts of a product say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Says {
    /// The special word, or a [twin](twins) of it; ignored if the query has none.
    pub special: bool,
    /// One of the [words](words_for) for the values in the title.
    pub in_title: bool,
}

/// Single words, as they are indexed, that may name what a query asks for.
pub fn words_for(query: &QueryAttribute) -> impl Iterator<Item = &'static str> {
    lexicon::words_for(query.attribute, accepted(query.attribute, query.values))
}

/// From -1 to 1: positive if the product agrees, 0 if it states nothing, negative if it states
/// another value.
pub fn agreement(query: &QueryAttribute, product: &ProductAttributes, says: Says) -> f32 {
    let attribute = query.attribute;
    let stated = product.values.get(attribute);
    let is_prominent = stated != 0 && product.is_prominent(attribute);
    let agrees = match stated & accepted(attribute, query.values) != 0 {
        true if is_prominent => Some(BY_TITLE),
        true => Some(BY_DESCRIPTION),
        false => (says.in_title && !is_prominent).then_some(MENTIONED),
    };
    if let Some(agrees) = agrees {
        let is_other_shade = query.special.is_some() && !says.special;
        return if is_other_shade { agrees * OTHER_SHADE } else { agrees };
    }
    match (is_prominent, attribute) {
        _ if stated == 0 => 0.0,
        (true, _) => CONTRADICTS_IN_TITLE,
        (false, Attribute::Audience) if stated & PETS != 0 => FOR_PETS_BY_DESCRIPTION,
        (false, _) => CONTRADICTS_IN_DESCRIPTION,
    }
}

/// The values that satisfy a request: what is made for babies is made for children.
fn accepted(attribute: Attribute, asked: u64) -> u64 {
    match attribute {
        Attribute::Audience if asked & KIDS != 0 => asked | BABY,
        _ => asked,
    }
}

/// Sets of words for the same shade or species, a line each.
const TWINS: &str = include_str!("lexicon/twins.tsv");

static TWIN_SETS: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let sets = TWINS.lines().filter(|line| !line.starts_with('#'));
    let mut all = HashMap::new();
    for set in sets.map(|line| line.split('|').collect::<Vec<_>>()) {
        for word in &set {
            all.insert(*word, set.clone());
        }
    }
    all
});

/// The words that mean the same shade or species as a special word, itself included if it has any:
/// `burgundy` and `maroon`.
pub fn twins(special: &str) -> &'static [&'static str] {
    TWIN_SETS.get(special).map_or(&[], Vec::as_slice)
}
