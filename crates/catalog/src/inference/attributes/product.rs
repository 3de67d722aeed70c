//! What all texts of a product and its merchant's attributes state together.

use super::{description, merchant, title};
use crate::product::{
    attributes::Attributes,
    inferred::{Attribute, ProductAttributes},
};

/// What a product's merchant and texts state. For each attribute the first that states it decides:
/// the merchant, the title, the description.
pub fn infer_product(title: &str, description: &str, merchant: &Attributes) -> ProductAttributes {
    let (in_title, kinds) = title::infer_title(title);
    let in_description = description::infer_description(description, kinds);
    let mut all = ProductAttributes::default();
    for attribute in Attribute::ALL {
        let by_merchant = match merchant.is_empty() {
            true => None,
            false => merchant::stated(attribute, merchant),
        };
        let in_texts = [in_title, in_description].map(|said| said.stated.get(attribute));
        match (by_merchant, in_texts) {
            (Some(bits), _) => all.set(attribute, bits, true),
            (None, [0, 0]) => {
                let mentioned = in_title.mentioned.union(in_description.mentioned);
                all.mentioned.set(attribute, mentioned.get(attribute));
            }
            (None, [0, bits]) => all.set(attribute, bits, false),
            (None, [bits, _]) => all.set(attribute, bits, true),
        }
    }
    all
}
