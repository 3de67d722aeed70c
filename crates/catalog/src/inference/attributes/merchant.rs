//! What a merchant's attributes state.

use crate::{
    inference::attributes::parse_value,
    product::{
        attributes::{AttributeValue, Attributes},
        inferred::Attribute,
    },
};

/// The names under which merchants state an attribute.
fn names(attribute: Attribute) -> &'static [&'static str] {
    match attribute {
        Attribute::Color => &[
            "color", "colour", "colors", "colours", "farbe", "couleur", "colore", "cor", "kleur",
            "kolor", "farg", "farve", "farge", "barva", "renk",
        ],
        Attribute::Material => {
            &["material", "materials", "fabric", "matiere", "materiale", "materiaal"]
        }
        Attribute::Pattern => &["pattern", "patterns"],
        Attribute::Audience => &["audience", "age_group", "gender"],
        Attribute::Size => &["size", "sizes"],
    }
}

/// The values that a merchant states; `None` if they state nothing about the attribute. A value
/// that is not canonical, like size 42, still counts as stated.
pub(super) fn stated(attribute: Attribute, merchant: &Attributes) -> Option<u64> {
    let mut all = None;
    for name in names(attribute) {
        let Some(value) = merchant.get(name) else { continue };
        let bits = bits_of(attribute, value);
        let says_nothing = attribute == Attribute::Audience && bits == 0;
        if says_nothing {
            // "adult" leaves open for whom.
            continue;
        }
        // A girl's age group is kids, whatever the gender.
        if *name == "gender" && all.is_some() {
            break;
        }
        all = Some(all.unwrap_or_default() | bits);
    }
    all
}

fn bits_of(attribute: Attribute, value: &AttributeValue) -> u64 {
    value.texts().iter().fold(0, |bits, text| bits | parse_value(attribute, text))
}
