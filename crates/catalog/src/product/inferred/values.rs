//! The canonical values of the inferred attributes, as bit sets.

/// An attribute that is inferred from texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attribute {
    /// `color`; shades count as their base.
    Color,
    /// `material`; species and alloys count as their family.
    Material,
    /// `pattern`.
    Pattern,
    /// `audience`: for whom it is made.
    Audience,
    /// `size`.
    Size,
}

const COLORS: &[&str] = &[
    "black",
    "white",
    "grey",
    "silver",
    "gold",
    "brown",
    "beige",
    "red",
    "pink",
    "orange",
    "yellow",
    "green",
    "blue",
    "purple",
    "multicolor",
];
const MATERIALS: &[&str] = &[
    "leather",
    "faux leather",
    "suede",
    "wood",
    "metal",
    "glass",
    "cotton",
    "denim",
    "wool",
    "cashmere",
    "silk",
    "satin",
    "linen",
    "velvet",
    "polyester",
    "nylon",
    "plastic",
    "rubber",
    "silicone",
    "ceramic",
    "bamboo",
    "rattan",
    "jute",
    "fleece",
    "stone",
    "paper",
    "canvas",
    "down",
    "cork",
    "fur",
    "faux fur",
    "felt",
    "concrete",
    "lace",
    "mesh",
    "foam",
];
const PATTERNS: &[&str] = &[
    "striped",
    "checked",
    "floral",
    "polka dot",
    "animal print",
    "camouflage",
    "geometric",
    "paisley",
    "tie-dye",
];
const AUDIENCES: &[&str] = &["women", "men", "kids", "baby", "dog", "cat"];
const SIZES: &[&str] =
    &["small", "medium", "large", "extra large", "twin", "full", "queen", "king"];

pub(crate) const METALLIC: u64 = bit_in(COLORS, "silver") | bit_in(COLORS, "gold");
pub(crate) const WOOD: u64 = bit_in(MATERIALS, "wood");
pub(crate) const STONE: u64 = bit_in(MATERIALS, "stone");
pub(crate) const CERAMIC: u64 = bit_in(MATERIALS, "ceramic");
pub(crate) const FABRICS: u64 =
    bit_in(MATERIALS, "silk") | bit_in(MATERIALS, "satin") | bit_in(MATERIALS, "linen");
pub(crate) const MEDIUM: u64 = bit_in(SIZES, "medium");
pub(crate) const BED_SIZES: u64 =
    bit_in(SIZES, "twin") | bit_in(SIZES, "full") | bit_in(SIZES, "queen") | bit_in(SIZES, "king");
pub(crate) const KIDS: u64 = bit_in(AUDIENCES, "kids");
pub(crate) const BABY: u64 = bit_in(AUDIENCES, "baby");
pub(crate) const PETS: u64 = bit_in(AUDIENCES, "dog") | bit_in(AUDIENCES, "cat");

/// The bit of a value, at compile time.
const fn bit_in(values: &[&str], value: &str) -> u64 {
    let mut at = 0;
    while !equal(values[at].as_bytes(), value.as_bytes()) {
        at += 1;
    }
    1 << at
}

const fn equal(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

impl Attribute {
    /// Its bit in a set of attributes.
    pub(crate) fn flag(self) -> u8 {
        1 << self as u8
    }

    /// All, in canonical order.
    pub const ALL: [Self; 5] =
        [Self::Color, Self::Material, Self::Pattern, Self::Audience, Self::Size];

    /// The name in filters, facets and responses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Color => "color",
            Self::Material => "material",
            Self::Pattern => "pattern",
            Self::Audience => "audience",
            Self::Size => "size",
        }
    }

    /// The attribute with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|attribute| attribute.name() == name)
    }

    /// The canonical values, in the order of their bits.
    pub const fn values(self) -> &'static [&'static str] {
        match self {
            Self::Color => COLORS,
            Self::Material => MATERIALS,
            Self::Pattern => PATTERNS,
            Self::Audience => AUDIENCES,
            Self::Size => SIZES,
        }
    }

    /// The bit of a canonical value.
    pub fn bit(self, value: &str) -> Option<u64> {
        let at = self.values().iter().position(|one| *one == value)?;
        Some(1 << at)
    }

    /// Where the encoding holds its values: the first bit, and how many bits.
    const fn field(self) -> (u32, u32) {
        match self {
            Self::Color => (0, 16),
            Self::Material => (16, 40),
            Self::Pattern => (56, 16),
            Self::Audience => (72, 8),
            Self::Size => (80, 8),
        }
    }
}

/// The length of [`InferredAttributes::to_bytes`].
pub const ENCODED_BYTES: usize = 11;

/// What a text states: sets of canonical values, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct InferredAttributes {
    materials: u64,
    colors: u16,
    patterns: u16,
    audiences: u8,
    sizes: u8,
}

impl InferredAttributes {
    /// Nothing is stated.
    pub const NONE: Self = Self { materials: 0, colors: 0, patterns: 0, audiences: 0, sizes: 0 };

    /// The values of one attribute. Bits that have no value are dropped.
    pub fn of(attribute: Attribute, bits: u64) -> Self {
        let mut one = Self::NONE;
        one.set(attribute, bits);
        one
    }

    /// The bits of an attribute's values.
    pub fn get(&self, attribute: Attribute) -> u64 {
        match attribute {
            Attribute::Color => u64::from(self.colors),
            Attribute::Material => self.materials,
            Attribute::Pattern => u64::from(self.patterns),
            Attribute::Audience => u64::from(self.audiences),
            Attribute::Size => u64::from(self.sizes),
        }
    }

    /// Replaces the values of an attribute. Bits that have no value are dropped.
    pub fn set(&mut self, attribute: Attribute, bits: u64) {
        let bits = bits & ((1 << attribute.values().len()) - 1);
        match attribute {
            Attribute::Color => self.colors = bits as u16,
            Attribute::Material => self.materials = bits,
            Attribute::Pattern => self.patterns = bits as u16,
            Attribute::Audience => self.audiences = bits as u8,
            Attribute::Size => self.sizes = bits as u8,
        }
    }

    /// Adds values of an attribute.
    pub fn add(&mut self, attribute: Attribute, bits: u64) {
        self.set(attribute, self.get(attribute) | bits);
    }

    /// Whether nothing is stated.
    pub fn is_empty(&self) -> bool {
        *self == Self::NONE
    }

    /// What either states.
    pub fn union(mut self, other: Self) -> Self {
        for attribute in Attribute::ALL {
            self.add(attribute, other.get(attribute));
        }
        self
    }

    /// What both state.
    pub fn intersection(mut self, other: Self) -> Self {
        for attribute in Attribute::ALL {
            self.set(attribute, self.get(attribute) & other.get(attribute));
        }
        self
    }

    /// Attributes and canonical values, in canonical order.
    pub fn iter(&self) -> impl Iterator<Item = (Attribute, &'static str)> + use<> {
        let all = *self;
        Attribute::ALL
            .into_iter()
            .flat_map(move |attribute| all.values(attribute).map(move |value| (attribute, value)))
    }

    /// The canonical values of an attribute, in canonical order.
    pub fn values(&self, attribute: Attribute) -> impl Iterator<Item = &'static str> + use<> {
        let bits = self.get(attribute);
        let values = attribute.values().iter().enumerate();
        values.filter(move |(at, _)| bits & (1 << at) != 0).map(|(_, value)| *value)
    }

    /// The sets of all attributes in a fixed layout, little-endian.
    pub fn to_bytes(self) -> [u8; ENCODED_BYTES] {
        let mut packed = 0_u128;
        for attribute in Attribute::ALL {
            packed |= u128::from(self.get(attribute)) << attribute.field().0;
        }
        let mut bytes = [0; ENCODED_BYTES];
        bytes.copy_from_slice(&packed.to_le_bytes()[..ENCODED_BYTES]);
        bytes
    }

    /// The bits of one attribute at the start of at most 16 bytes in the layout of [`Self::to_bytes`]: for
    /// passes over many products.
    #[inline]
    pub(crate) fn bits_in<const LEN: usize>(bytes: &[u8; LEN], attribute: Attribute) -> u64 {
        let mut wide = [0; 16];
        wide[..LEN].copy_from_slice(bytes);
        let (start, _) = attribute.field();
        (u128::from_le_bytes(wide) >> start) as u64 & ((1 << attribute.values().len()) - 1)
    }

    /// Reverses [`Self::to_bytes`]. Bits that have no value are dropped.
    pub fn from_bytes(bytes: [u8; ENCODED_BYTES]) -> Self {
        let mut wide = [0; 16];
        wide[..ENCODED_BYTES].copy_from_slice(&bytes);
        let packed = u128::from_le_bytes(wide);
        let mut all = Self::NONE;
        for attribute in Attribute::ALL {
            let (start, len) = attribute.field();
            all.set(attribute, ((packed >> start) & ((1 << len) - 1)) as u64);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sets_are_small_and_every_value_has_a_bit_of_its_field() {
        assert!(size_of::<InferredAttributes>() <= 16);
        let mut end = 0;
        for attribute in Attribute::ALL {
            let (start, len) = attribute.field();
            assert_eq!(start, end);
            end = start + len;
            assert!(attribute.values().len() as u32 <= len, "{attribute:?}");
            assert_eq!(Attribute::by_name(attribute.name()), Some(attribute));
        }
        assert_eq!(end as usize, 8 * ENCODED_BYTES);
    }

    #[test]
    fn values_are_iterated_in_canonical_order() {
        let mut all = InferredAttributes::of(Attribute::Size, 0b1000_0000);
        all.add(Attribute::Color, 0b110);
        all.add(Attribute::Material, 1 << 35);
        let shown: Vec<_> = all.iter().map(|(one, value)| (one.name(), value)).collect();
        let expected =
            [("color", "white"), ("color", "grey"), ("material", "foam"), ("size", "king")];
        assert_eq!(shown, expected);
    }

    proptest! {
        #[test]
        fn encoding_round_trips(bits in any::<[u64; 5]>()) {
            let mut all = InferredAttributes::NONE;
            for (attribute, bits) in Attribute::ALL.into_iter().zip(bits) {
                all.set(attribute, bits);
            }
            prop_assert_eq!(InferredAttributes::from_bytes(all.to_bytes()), all);
        }

        #[test]
        fn any_bytes_decode(bytes in any::<[u8; ENCODED_BYTES]>()) {
            let all = InferredAttributes::from_bytes(bytes);
            prop_assert_eq!(InferredAttributes::from_bytes(all.to_bytes()), all);
        }

        #[test]
        fn sets_combine_by_attribute(one in any::<[u8; ENCODED_BYTES]>(), other in any::<[u8; ENCODED_BYTES]>()) {
            let (one, other) = (InferredAttributes::from_bytes(one), InferredAttributes::from_bytes(other));
            let both = one.intersection(other);
            prop_assert_eq!(one.union(other).union(both), one.union(other));
            for attribute in Attribute::ALL {
                prop_assert_eq!(both.get(attribute), one.get(attribute) & other.get(attribute));
            }
        }
    }
}
