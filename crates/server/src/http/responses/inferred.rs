//! What the service infers about a product, in responses: its category and attributes.

use catalog::{
    product::{
        Product,
        inferred::{Attribute, InferredAttributes, InferredCategory},
    },
    ranking::facets::{CategoryCount, CategoryFacet},
};
use embed::inference::taxonomy;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// Where a product belongs, inferred from its texts and from the merchant's attributes that name a
/// category.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Category)]
pub(crate) struct CategoryBody {
    /// Its id in Shopify's product taxonomy.
    id: &'static str,
    /// The names from the root of the taxonomy down to the category.
    path: Vec<&'static str>,
    /// How likely it is, from 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    confidence: f64,
}

impl CategoryBody {
    pub(crate) fn of(product: &Product) -> Option<Self> {
        let InferredCategory { category, confidence } = product.inferred.category?;
        Some(Self {
            id: taxonomy().id(category),
            path: taxonomy().path(category),
            confidence: f64::from(confidence) / 100.0,
        })
    }
}

/// What the texts of a product state, as canonical values: *emerald* is `green`. Attributes that the
/// merchant states are left out, and so are those without values.
#[derive(Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = InferredAttributes)]
pub(crate) struct InferredAttributesBody {
    /// Its colors; shades count as their base.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    color: Vec<&'static str>,
    /// Its materials; species and alloys count as their family.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    material: Vec<&'static str>,
    /// Its patterns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pattern: Vec<&'static str>,
    /// For whom it is made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    audience: Vec<&'static str>,
    /// Its sizes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    size: Vec<&'static str>,
}

impl InferredAttributesBody {
    /// `None` if there are no values.
    pub(crate) fn of(product: &Product) -> Option<Self> {
        let values = |attribute: Attribute| {
            let bits = product.inferred.values_of(attribute, &product.attributes);
            InferredAttributes::of(attribute, bits).values(attribute).collect()
        };
        let body = Self {
            color: values(Attribute::Color),
            material: values(Attribute::Material),
            pattern: values(Attribute::Pattern),
            audience: values(Attribute::Audience),
            size: values(Attribute::Size),
        };
        (body != Self::default()).then_some(body)
    }
}

/// How results are distributed over categories: those directly below the one that is filtered by, or
/// below the deepest one that all results have in common.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CategoryFacet)]
pub(crate) struct CategoryFacetBody {
    /// Categories with the number of results in them or below, by descending count, then by id.
    values: Vec<CategoryCountBody>,
    /// The number of results without a category.
    missing: usize,
}

/// A category and the number of results in it or below.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CategoryCount)]
pub(crate) struct CategoryCountBody {
    /// Its id, for a filter.
    id: &'static str,
    /// Its name.
    label: &'static str,
    /// How many results belong to it.
    count: usize,
}

impl From<&CategoryFacet> for CategoryFacetBody {
    fn from(CategoryFacet { values, missing, .. }: &CategoryFacet) -> Self {
        let value = |CategoryCount { category, count }: &CategoryCount| CategoryCountBody {
            id: taxonomy().id(*category),
            label: taxonomy().name(*category),
            count: *count,
        };
        Self { values: values.iter().map(value).collect(), missing: *missing }
    }
}

/// The category of the product of examples.
pub(super) fn category_example() -> Value {
    json!({"id": "fr-22", "path": ["Furniture", "Sofas"], "confidence": 0.97})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_category_of_examples_exists() {
        let example = category_example();
        let category = taxonomy().with_id(example["id"].as_str().unwrap()).unwrap();
        assert_eq!(json!(taxonomy().path(category)), example["path"]);
    }
}
