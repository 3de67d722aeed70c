//! What the category of a product adds to its instant vector.
//!
//! The vector of a text is as good as its words: "U-shape family sectional (navy)" does not say that it is
//! a sofa. The index therefore holds the direction of the text's vector plus a share of the vector of the
//! category's path, "Furniture Sofas Sectional Sofas". The store keeps the vector of the text alone, so that
//! another category needs no other vector there.

use std::sync::{LazyLock, OnceLock};

use catalog::product::inferred::CategoryIndex;

use super::taxonomy;
use crate::{InstantEncoder, ModelId, StoredVector, StoredVectors, Text, TextLanguage, Vector};

/// What the category counts beside the text. Search is about as good from 0.2 to 0.5
/// (`docs/relevance.md`). Index files hold the sums: with any change here, increase their `FORMAT`.
const SHARE: f32 = 0.35;

/// The vectors of the paths of all categories, each made when it is first asked for.
pub struct CategoryEmbeddings(Box<[OnceLock<Option<StoredVector>>]>);

static EMBEDDINGS: LazyLock<CategoryEmbeddings> =
    LazyLock::new(|| CategoryEmbeddings((0..taxonomy().len()).map(|_| OnceLock::new()).collect()));

impl CategoryEmbeddings {
    /// Those in the space of a model; `None` if it is not the one that is embedded in this program.
    pub fn of(model: Option<&ModelId>) -> Option<&'static Self> {
        let is_embedded = model.is_some_and(|model| model == InstantEncoder::embedded().model());
        is_embedded.then(|| &*EMBEDDINGS)
    }

    /// Adds a category to the instant vector of a product.
    pub fn add_to(&self, vectors: &mut StoredVectors, category: Option<CategoryIndex>) {
        if let Some(added) = self.add(&vectors.vector, category) {
            vectors.vector = added;
        }
    }

    /// The vector of a product in this category; `None` if nothing is added to that of its text.
    fn add(&self, vector: &StoredVector, category: Option<CategoryIndex>) -> Option<StoredVector> {
        let category = self.get(category?)?;
        let text = vector.vector();
        if text.dims() != category.numbers().len() || text.is_zero() {
            return None;
        }
        let share = SHARE * category.scale();
        let pairs = text.as_slice().iter().zip(category.numbers());
        let sum = pairs.map(|(text, category)| text + share * f32::from(*category)).collect();
        Some(Vector::normalized(sum)?.stored())
    }

    fn get(&self, category: CategoryIndex) -> Option<&StoredVector> {
        let embed = || {
            let path = &taxonomy().path(category).join(" ");
            let language = TextLanguage::English;
            let path = Text::Request { sentence: path, words: path, language };
            Some(InstantEncoder::embedded().vector(path)?.stored())
        };
        self.0.get(usize::from(category.0))?.get_or_init(embed).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(text: &str) -> Vector {
        InstantEncoder::embedded().vector(Text::Query(text)).unwrap()
    }

    #[test]
    fn a_category_moves_a_product_toward_what_it_is_called() {
        let embedded = InstantEncoder::embedded().model();
        let embeddings = CategoryEmbeddings::of(Some(embedded)).unwrap();
        let sectional = vector("U-shape family sectional (navy)");
        let sofas = taxonomy().parse("Furniture > Sofas > Sectional Sofas");
        let added = embeddings.add(&sectional.stored(), sofas).unwrap().vector();
        let couch = vector("couch");
        assert!(added.cosine(&couch) > sectional.cosine(&couch) + 0.1);
        assert!(added.cosine(&sectional) > 0.9, "the text counts most");
    }

    #[test]
    fn nothing_is_added_without_a_category_or_to_what_is_similar_to_nothing() {
        let embeddings = CategoryEmbeddings::of(Some(InstantEncoder::embedded().model())).unwrap();
        let (sofa, sofas) = (vector("sofa").stored(), taxonomy().parse("Furniture > Sofas"));
        assert!(sofas.is_some() && embeddings.add(&sofa, sofas).is_some());
        assert_eq!(embeddings.add(&sofa, None), None);
        for other in [vec![0.0; vector("sofa").dims()], vec![1.0; 8]] {
            let other = Vector::normalized(other).unwrap().stored();
            assert_eq!(embeddings.add(&other, sofas), None);
        }
    }

    #[test]
    fn other_models_have_another_space() {
        assert!(CategoryEmbeddings::of(None).is_none());
        assert!(CategoryEmbeddings::of(Some(&ModelId::new("another"))).is_none());
    }
}
