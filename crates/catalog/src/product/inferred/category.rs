//! The inferred category of a product.

/// The number of a category. Numbers belong to one edition of the taxonomy; ids are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CategoryIndex(pub u16);

impl CategoryIndex {
    pub(crate) fn at(self) -> usize {
        usize::from(self.0)
    }
}

/// A category with the probability that the product belongs there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InferredCategory {
    /// The category.
    pub category: CategoryIndex,
    /// How likely its ancestor of level two (level one for a root) is, in hundredths.
    pub confidence: u8,
}
