//! The numbers of products within their segment.

/// The number of a product within its segment.
pub(crate) type DocId = u16;

/// The most products of a segment: as many as [`DocId`] can number.
pub(crate) const MAX_PRODUCTS: usize = 1 << DocId::BITS;
