//! How far what is inferred about two products makes them similar, besides their vectors.

use super::category::Taxonomy;
use crate::product::inferred::{Attribute, CategoryIndex, Inferred};

/// The greatest resemblance. Cosines of similar products differ by about that much.
pub const MAX_RESEMBLANCE: f32 = 0.15;
/// What another audience takes away: no dog coat beside a coat.
const OTHER_AUDIENCE: f32 = 0.15;

/// What is added to the cosine of two products: the same category counts most, another audience
/// takes away. Colors and materials do not count: a sofa in another color is similar, a curtain in
/// the same one is not.
pub fn resemblance(taxonomy: &Taxonomy, one: &Inferred, other: &Inferred) -> f32 {
    let category = match (one.likely_category, other.likely_category) {
        (Some(one), Some(other)) => MAX_RESEMBLANCE * shared_path(taxonomy, one, other),
        _ => 0.0,
    };
    let [for_one, for_other] =
        [one, other].map(|inferred| inferred.attributes.values.get(Attribute::Audience));
    let is_for_others = for_one != 0 && for_other != 0 && for_one & for_other == 0;
    category - if is_for_others { OTHER_AUDIENCE } else { 0.0 }
}

/// The share of the longer path that both have in common, from 0 to 1.
fn shared_path(taxonomy: &Taxonomy, one: CategoryIndex, other: CategoryIndex) -> f32 {
    let longer = taxonomy.depth(one).max(taxonomy.depth(other));
    let common = taxonomy.common_ancestor(one, other).map_or(0, |common| taxonomy.depth(common));
    f32::from(common) / f32::from(longer.max(1))
}
