//! What all texts of a product and its merchant's attributes state together.

use super::values::{Attribute, ENCODED_BYTES, InferredAttributes};
use super::{description, merchant, title};
use crate::attributes::Attributes;

/// What is known of a product, and on which evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProductAttributes {
    /// What is stated.
    pub values: InferredAttributes,
    /// A bit for each attribute, in the order of [`Attribute::ALL`]: its values are stated by the
    /// title or the merchant, not by the description.
    prominent: u8,
}

impl ProductAttributes {
    /// The length of [`Self::to_bytes`].
    pub const BYTES: usize = ENCODED_BYTES + 1;

    /// Whether the title or the merchant states the attribute, not the description alone.
    pub fn is_prominent(&self, attribute: Attribute) -> bool {
        self.prominent & (1 << attribute as u8) != 0
    }

    /// The bit of [`Self::is_prominent`] for each attribute.
    pub fn prominent(&self) -> u8 {
        self.prominent
    }

    /// A fixed layout: the values, then the evidence.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..ENCODED_BYTES].copy_from_slice(&self.values.to_bytes());
        bytes[ENCODED_BYTES] = self.prominent;
        bytes
    }

    /// Reverses [`Self::to_bytes`]. Bits that mean nothing are dropped.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let mut values = [0; ENCODED_BYTES];
        values.copy_from_slice(&bytes[..ENCODED_BYTES]);
        let known = (1 << Attribute::ALL.len()) - 1;
        let prominent = bytes[ENCODED_BYTES] & known;
        Self { values: InferredAttributes::from_bytes(values), prominent }
    }

    /// The bits of one attribute in the layout of [`Self::to_bytes`], without the others.
    #[inline]
    pub fn bits_in(bytes: &[u8; Self::BYTES], attribute: Attribute) -> u64 {
        InferredAttributes::bits_in(bytes, attribute)
    }

    fn set(&mut self, attribute: Attribute, bits: u64, is_prominent: bool) {
        self.values.set(attribute, bits);
        if is_prominent && bits != 0 {
            self.prominent |= 1 << attribute as u8;
        }
    }
}

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
        match (by_merchant, in_title.get(attribute)) {
            (Some(bits), _) => all.set(attribute, bits, true),
            (None, 0) => all.set(attribute, in_description.get(attribute), false),
            (None, bits) => all.set(attribute, bits, true),
        }
    }
    all
}
