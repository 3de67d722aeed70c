//! Inference: what the texts of a product and of a query state beyond their words.

pub mod attributes;
pub mod category;
mod resemblance;

pub use self::resemblance::{MAX_RESEMBLANCE, resemblance};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::{
        attributes::{AttributeName, AttributeValue, Attributes},
        inferred::{Attribute, CategoryIndex, Inferred, InferredCategory},
    };

    fn green_dress() -> Inferred {
        let attributes = attributes::infer_product("Green linen dress", "", Attributes::none());
        let category = CategoryIndex(0x1234);
        let shown = InferredCategory { category, confidence: 93 };
        let (likely_category, named_category) = (Some(category), Some(CategoryIndex(0x2345)));
        Inferred { attributes, category: Some(shown), likely_category, named_category }
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
