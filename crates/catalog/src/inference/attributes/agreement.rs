//! How far a product agrees with an attribute that a query asks for.

use std::{collections::HashMap, sync::LazyLock};

use super::query::QueryAttribute;
use crate::product::inferred::{Attribute, BABY, KIDS, PETS, ProductAttributes};

const BY_TITLE: f32 = 1.0;
const BY_DESCRIPTION: f32 = 0.7;
/// A text says the word, but may not say it of the product.
const MENTIONED: f32 = 0.5;
const CONTRADICTS_IN_TITLE: f32 = -1.0;
/// The description states another value, or texts just mention one.
const MAY_CONTRADICT: f32 = -0.3;
/// A product for pets, named in its description only, where people were asked for.
const FOR_PETS_BY_DESCRIPTION: f32 = -0.5;
/// The share of an agreement that is left if a query says "navy" and the product just "blue".
const OTHER_SHADE: f32 = 0.4;
/// The same for materials: who asks for a copper pan does not want one of steel, though both are metal.
const OTHER_SPECIES: f32 = 0.2;

/// From -1 to 1: positive if the product agrees, 0 if it states and mentions nothing, negative if it
/// states or mentions another value. `says_special`: its texts say the special word of the query, or a
/// [twin](twins) of it.
pub fn agreement(query: &QueryAttribute, product: &ProductAttributes, says_special: bool) -> f32 {
    let attribute = query.attribute;
    let accepted = accepted(attribute, query.values);
    let (stated, mentioned) = (product.values.get(attribute), product.mentioned.get(attribute));
    let is_prominent = product.is_prominent(attribute);
    if (stated | mentioned) & accepted != 0 {
        let agrees = match stated != 0 {
            true if is_prominent => BY_TITLE,
            true => BY_DESCRIPTION,
            false => MENTIONED,
        };
        return match attribute {
            _ if query.special.is_none() || says_special => agrees,
            Attribute::Material => agrees * OTHER_SPECIES,
            _ => agrees * OTHER_SHADE,
        };
    }
    match attribute {
        _ if stated | mentioned == 0 => 0.0,
        _ if is_prominent => CONTRADICTS_IN_TITLE,
        Attribute::Audience if stated & PETS != 0 => FOR_PETS_BY_DESCRIPTION,
        _ => MAY_CONTRADICT,
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
