//! What is inferred about a product, as values: [`crate::inference`] infers them.

mod attributes;
mod category;
mod values;

use super::attributes::Attributes;
pub use attributes::ProductAttributes;
pub use category::{CategoryIndex, InferredCategory};
pub use values::{Attribute, ENCODED_BYTES, InferredAttributes};
pub(crate) use values::{
    BABY, BED_SIZES, CERAMIC, FABRICS, KIDS, MEDIUM, METALLIC, PETS, STONE, WOOD,
};

/// What the service infers about a product from its texts and its merchant's attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Inferred {
    /// Attributes.
    pub attributes: ProductAttributes,
    /// Where it belongs in the taxonomy; `None` if that is not likely enough.
    pub category: Option<InferredCategory>,
    /// Where it belongs most likely, however likely that is: evidence of the ranking, shown nowhere.
    pub likely_category: Option<CategoryIndex>,
    /// What its title calls it, however unlikely that is: likewise.
    pub named_category: Option<CategoryIndex>,
}

/// In place of a confidence, where there is no category.
const NO_CATEGORY: u8 = u8::MAX;
/// In place of the number of a likely or named category.
const NONE: u16 = u16::MAX;

impl Inferred {
    /// The version of the inference: rules, canonical values, model and taxonomy. It increases with
    /// every change after which products get other values, or values another encoding.
    pub const VERSION: u8 = 7;
    /// The length of [`Self::to_bytes`].
    pub const BYTES: usize = 1 + ProductAttributes::BYTES + 2 + 1 + 2 + 2;

    /// The stored form: the version, the attributes, the category's number and its confidence,
    /// and the numbers of the likely and of the named category.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let (attributes, category) = bytes[1..].split_at_mut(ProductAttributes::BYTES);
        attributes.copy_from_slice(&self.attributes.to_bytes());
        category[2] = NO_CATEGORY;
        if let Some(inferred) = self.category {
            category[..2].copy_from_slice(&inferred.category.0.to_le_bytes());
            category[2] = inferred.confidence;
        }
        let number = |category: Option<CategoryIndex>| category.map_or(NONE, |category| category.0);
        category[3..5].copy_from_slice(&number(self.likely_category).to_le_bytes());
        category[5..].copy_from_slice(&number(self.named_category).to_le_bytes());
        bytes[0] = Self::VERSION;
        bytes
    }

    /// Reverses [`Self::to_bytes`]; `None` for another version of the inference.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let [Self::VERSION, rest @ ..] = bytes else { return None };
        let (attributes, category) = rest.split_first_chunk()?;
        let &[c0, c1, confidence, l0, l1, n0, n1] = category else { return None };
        let category = CategoryIndex(u16::from_le_bytes([c0, c1]));
        let is_known = confidence != NO_CATEGORY;
        let known = |bytes| {
            let number = u16::from_le_bytes(bytes);
            (number != NONE).then_some(CategoryIndex(number))
        };
        Some(Self {
            attributes: ProductAttributes::from_bytes(*attributes),
            category: is_known.then_some(InferredCategory { category, confidence }),
            likely_category: known([l0, l1]),
            named_category: known([n0, n1]),
        })
    }

    /// The inferred values that count for a name, a bit each. Zero if the merchant states the
    /// attribute: what merchants state takes precedence.
    pub fn values_of(&self, attribute: Attribute, merchant: &Attributes) -> u64 {
        match merchant.get(attribute.name()) {
            Some(_) => 0,
            None => self.attributes.values.get(attribute),
        }
    }

    /// The number of the category.
    pub fn category_index(&self) -> Option<CategoryIndex> {
        self.category.map(|inferred| inferred.category)
    }
}
