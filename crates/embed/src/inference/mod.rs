//! The inference of a product's category and attributes, with the model of this program.

mod category_dots;
mod category_embeddings;
mod category_names;

use std::sync::{Arc, LazyLock};

use catalog::{
    inference::{
        attributes::infer_product,
        category::{CategoryModel, CategoryNames, CategoryVectors, Taxonomy},
    },
    product::{attributes::Attributes, inferred::Inferred},
};

use self::category_dots::BlockedRows;
pub use self::{category_embeddings::CategoryEmbeddings, category_names::names_below};
use crate::{Embedding, Encoder, InstantEncoder, Text, Vector};

/// The merchant's attributes that may name the category, the most specific first.
const CATEGORY_NAMES: [&str; 5] =
    ["google_product_category", "product_type", "product_category", "category_name", "categories"];

static TAXONOMY: LazyLock<Arc<Taxonomy>> = LazyLock::new(|| {
    let taxonomy = Taxonomy::new(models::TAXONOMY.as_slice().into());
    Arc::new(taxonomy.unwrap_or_else(|error| unreachable!("the taxonomy {error}")))
});

static MODEL: LazyLock<CategoryModel> = LazyLock::new(|| {
    let bytes = models::CATEGORY.as_slice();
    let model = CategoryModel::new(bytes.into(), Arc::clone(&TAXONOMY))
        .unwrap_or_else(|error| unreachable!("the category model {error}"));
    let bytes = models::CATEGORY_VECTORS.as_slice();
    let vectors = CategoryVectors::new(bytes.into(), &TAXONOMY)
        .unwrap_or_else(|error| unreachable!("the vectors of categories: {error}"));
    let bytes = models::CATEGORY_NAMES.as_slice();
    let names = CategoryNames::new(bytes, &TAXONOMY)
        .unwrap_or_else(|error| unreachable!("the names of categories: {error}"));
    model.with_vectors(vectors).with_names(names)
});

/// The typical vectors of categories.
static TYPICAL_VECTORS: LazyLock<Option<BlockedRows>> = LazyLock::new(|| {
    let vectors = category_model().vectors()?;
    Some(BlockedRows::new(vectors.numbers(), vectors.dims()))
});

/// The taxonomy that the numbers of categories refer to.
pub fn taxonomy() -> &'static Taxonomy {
    &TAXONOMY
}

/// The model that finds the category of products and queries.
pub fn category_model() -> &'static CategoryModel {
    &MODEL
}

/// What the texts and attributes of a product state.
pub fn infer(title: &str, description: &str, attributes: &Attributes) -> Inferred {
    infer_with(title, description, attributes, None)
}

/// The same for a product that may have been encoded before.
pub fn infer_with(
    title: &str,
    description: &str,
    attributes: &Attributes,
    embedding: Option<&Embedding>,
) -> Inferred {
    let encoder = InstantEncoder::embedded();
    let is_known =
        |one: &&Embedding| one.encoder == Encoder::Instant && one.model == *encoder.model();
    let vector = match embedding.filter(is_known) {
        Some(embedding) => Some(embedding.vector.clone()),
        None => encoder.vector(Text::Product { title, description }),
    };
    let product_type = product_type(attributes);
    let dots = vector.and_then(|vector| dots(&vector));
    let placement = category_model().infer(title, description, product_type, dots.as_deref());
    Inferred {
        attributes: infer_product(title, description, attributes),
        category: placement.shown,
        likely_category: placement.likely,
        named_category: placement.named,
    }
}

/// The dot products of a vector with the typical vectors of categories; `None` if it is 0.
fn dots(vector: &Vector) -> Option<Vec<f32>> {
    let stored = vector.stored();
    let dots = category_dots(stored.numbers())?;
    (!vector.is_zero()).then(|| dots.iter().map(|dot| *dot as f32 * stored.scale()).collect())
}

/// The dot products of a quantised vector with the typical vectors of categories; `None` if it has other
/// dimensions.
pub fn category_dots(numbers: &[i8]) -> Option<Vec<i32>> {
    TYPICAL_VECTORS.as_ref()?.dots(numbers)
}

/// What the merchant calls the product's category.
fn product_type(attributes: &Attributes) -> Option<&str> {
    let stated = CATEGORY_NAMES.iter().find_map(|name| attributes.get(name))?;
    stated.texts().first().map(|text| &**text)
}

/// What a store holds, or what the texts state if that is missing or of another version.
pub fn stored_or_inferred(
    stored: Option<&[u8]>,
    title: &str,
    description: &str,
    attributes: &Attributes,
) -> Inferred {
    let is_known = |inferred: &Inferred| {
        let Inferred { likely_category, named_category, .. } = *inferred;
        let numbers = [inferred.category_index(), likely_category, named_category];
        numbers.into_iter().flatten().all(|at| usize::from(at.0) < taxonomy().len())
    };
    let stored = stored.and_then(Inferred::from_bytes).filter(is_known);
    stored.unwrap_or_else(|| infer(title, description, attributes))
}

#[cfg(test)]
mod tests {
    use catalog::{
        inference::{MAX_RESEMBLANCE, resemblance},
        product::{
            attributes::{AttributeName, AttributeValue},
            inferred::{Attribute, CategoryIndex, InferredCategory},
        },
    };

    use super::*;
    use crate::ModelId;

    fn path(inferred: &Inferred) -> String {
        inferred
            .category_index()
            .map_or_else(String::new, |category| taxonomy().path(category).join(" > "))
    }

    #[test]
    fn a_product_gets_category_and_attributes() {
        let dress = infer("Green linen dress", "Light and airy.", Attributes::none());
        assert!(path(&dress).starts_with("Apparel & Accessories > Clothing"), "{}", path(&dress));
        let colors: Vec<_> = dress.attributes.values.values(Attribute::Color).collect();
        assert_eq!(colors, ["green"]);
        assert_eq!(infer("xqzv", "", Attributes::none()).category, None);
    }

    #[test]
    fn products_in_other_languages_get_a_category() {
        let washer = infer("Waschmaschine, Frontlader, 8 kg", "", Attributes::none());
        let category = washer.likely_category.map(|category| taxonomy().path(category).join(" > "));
        let category = category.unwrap_or_default();
        assert!(category.starts_with("Home & Garden > Household Appliances"), "{category}");
    }

    #[test]
    fn a_product_that_was_encoded_is_not_encoded_again() {
        let (title, description) = ("Green linen dress", "Light and airy.");
        let encoder = InstantEncoder::embedded();
        let own = encoder.vector(Text::Product { title, description }).unwrap();
        let other = encoder.vector(Text::Query("garden hose")).unwrap();
        let infer_with = |vector: &Vector, encoder, model: &ModelId| {
            let (model, vector) = (model.clone(), vector.clone());
            let embedding = Embedding { model, encoder, vector, deep: None };
            infer_with(title, description, Attributes::none(), Some(&embedding))
        };
        let dress = infer(title, description, Attributes::none());
        let (instant, model) = (Encoder::Instant, encoder.model());
        assert_eq!(infer_with(&own, instant, model), dress);
        assert_ne!(infer_with(&other, instant, model), dress, "the vector counts");
        assert_eq!(infer_with(&other, Encoder::Deep, model), dress);
        assert_eq!(infer_with(&other, instant, &ModelId::new("another")), dress);
    }

    #[test]
    fn the_merchants_category_decides() {
        let stated = |name: &str, text: &str| {
            let name = AttributeName::parse(name).unwrap();
            let attributes = Attributes::new(vec![(name, AttributeValue::Text(text.into()))]);
            path(&infer("Thing", "", &attributes))
        };
        let chairs = "Furniture > Chairs";
        for name in CATEGORY_NAMES {
            assert_eq!(stated(name, chairs), chairs);
        }
        assert_eq!(stated("brand", chairs), "");
    }

    #[test]
    fn what_is_stored_is_not_inferred_again_unless_it_means_nothing() {
        let other = infer("Red wool rug", "", Attributes::none());
        let read = |stored: Option<&[u8]>| {
            stored_or_inferred(stored, "Green linen dress", "", Attributes::none())
        };
        let own = infer("Green linen dress", "", Attributes::none());
        assert_ne!(own, other);
        assert_eq!(read(Some(&other.to_bytes())), other);
        assert_eq!(read(None), own);
        assert_eq!(read(Some(&[0; 16])), own);
        let category = CategoryIndex(u16::MAX - 1);
        let category = Some(InferredCategory { category, confidence: 90 });
        assert_eq!(read(Some(&Inferred { category, ..other }.to_bytes())), own);
    }

    #[test]
    fn a_sofa_in_another_color_resembles_a_sofa_more_than_curtains_in_the_same_one() {
        let texts = |title: &str| infer(title, "", Attributes::none());
        let to_sofa = |title: &str| {
            resemblance(taxonomy(), &texts("Navy velvet sofa for adults"), &texts(title))
        };
        assert_eq!(to_sofa("Navy velvet sofa"), MAX_RESEMBLANCE);
        assert!(to_sofa("Grey leather sofa") > to_sofa("Navy velvet curtains"));
        let coat = texts("Waterproof coat for women");
        let to_coat = |title: &str| resemblance(taxonomy(), &coat, &texts(title));
        assert!(to_coat("Waterproof coat") > to_coat("Waterproof coat for dogs"));
    }
}
