//! The inferred attributes of a product, and on which evidence.

use super::values::{Attribute, ENCODED_BYTES, InferredAttributes};

/// What is known of a product, and on which evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProductAttributes {
    /// What is stated.
    pub values: InferredAttributes,
    /// What the texts mention, perhaps of something else: evidence of the ranking, shown nowhere. Only
    /// attributes that are not stated.
    pub mentioned: InferredAttributes,
    /// A bit for each attribute, in the order of [`Attribute::ALL`]: its values are stated by the
    /// title or the merchant, not by the description.
    prominent: u8,
}

impl ProductAttributes {
    /// The length of [`Self::to_bytes`].
    pub const BYTES: usize = ENCODED_BYTES + 2;

    /// Whether the title or the merchant states the attribute, not the description alone.
    pub fn is_prominent(&self, attribute: Attribute) -> bool {
        self.prominent & attribute.flag() != 0
    }

    /// The bit of [`Self::is_prominent`] for each attribute.
    pub fn prominent(&self) -> u8 {
        self.prominent
    }

    /// A fixed layout: the values, stated or mentioned, then a bit for each attribute that is prominent
    /// and for each that is just mentioned.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let values = self.values.union(self.mentioned);
        bytes[..ENCODED_BYTES].copy_from_slice(&values.to_bytes());
        let mentioned = Attribute::ALL.into_iter().filter(|one| self.mentioned.get(*one) != 0);
        bytes[ENCODED_BYTES] = self.prominent;
        bytes[ENCODED_BYTES + 1] = mentioned.fold(0, |bits, one| bits | one.flag());
        bytes
    }

    /// Reverses [`Self::to_bytes`]. Bits that mean nothing are dropped.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let mut values = [0; ENCODED_BYTES];
        values.copy_from_slice(&bytes[..ENCODED_BYTES]);
        let known = (1 << Attribute::ALL.len()) - 1;
        let prominent = bytes[ENCODED_BYTES] & known;
        let mut all = Self { prominent, ..Self::default() };
        all.values = InferredAttributes::from_bytes(values);
        if bytes[ENCODED_BYTES + 1] != 0 {
            for attribute in Attribute::ALL {
                if bytes[ENCODED_BYTES + 1] & attribute.flag() != 0 {
                    all.mentioned.set(attribute, all.values.get(attribute));
                    all.values.set(attribute, 0);
                }
            }
        }
        all
    }

    /// The stated values of one attribute in the layout of [`Self::to_bytes`], without the others.
    #[inline]
    pub fn bits_in(bytes: &[u8; Self::BYTES], attribute: Attribute) -> u64 {
        match bytes[ENCODED_BYTES + 1] & attribute.flag() {
            0 => InferredAttributes::bits_in(bytes, attribute),
            _ => 0,
        }
    }

    pub(crate) fn set(&mut self, attribute: Attribute, bits: u64, is_prominent: bool) {
        self.values.set(attribute, bits);
        if is_prominent && bits != 0 {
            self.prominent |= attribute.flag();
        }
    }
}
