//! Inference: what the texts of a product and of a query state beyond their words.

pub mod attributes;
pub mod category;
mod resemblance;

pub use self::resemblance::{MAX_RESEMBLANCE, resemblance};
use self::{
    attributes::{Attribute, ProductAttributes},
    category::CategoryIndex,
};
use crate::attributes::Attributes;

/// What the service infers about a product from its texts and its merchant's attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Inferred {
    /// Attributes.
    pub attributes: ProductAttributes,
    /// Where it belongs in the taxonomy; `None` if that is not likely enough.
    pub category: Option<category::Inferred>,
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
            category: is_known.then_some(category::Inferred { category, confidence }),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attributes::{AttributeName, AttributeValue};

    fn green_dress() -> Inferred {
        let attributes = attributes::infer_product("Green linen dress", "", Attributes::none());
        let category = CategoryIndex(0x1234);
        let certain = category::Inferred { category, confidence: 93 };
        let (likely_category, named_category) = (Some(category), Some(CategoryIndex(0x2345)));
        Inferred { attributes, category: Some(certain), likely_category, named_category }
    }

    #[test]
    fn stored_values_are_read_back_and_other_versions_are_not() {
        let without = Inferred { category: None, ..green_dress() };
        for inferred in [green_dress(), without, Inferred::default()] {
            let bytes = inferred.to_bytes();
            assert_eq!(bytes.len(), 21);
            assert_eq!(Inferred::from_bytes(&bytes), Some(inferred));
            let mut other = bytes;
            other[0] += 1;
            for bad in [&other[..], &bytes[..20], &[bytes.as_slice(), &[0]].concat(), &[]] {
                assert_eq!(Inferred::from_bytes(bad), None);
            }
        }
    }

    #[test]
    fn what_the_merchant_states_takes_precedence() {
        let green = Attribute::Color.bit("green").unwrap();
        assert_eq!(green_dress().values_of(Attribute::Color, Attributes::none()), green);
        let color = AttributeName::parse("color").unwrap();
        let stated = Attributes::new(vec![(color, AttributeValue::Text("Moss".into()))]);
        assert_eq!(green_dress().values_of(Attribute::Color, &stated), 0);
        assert_ne!(green_dress().values_of(Attribute::Material, &stated), 0);
    }
}
