//! The numbers of products after a merge.

use crate::segment::DocId;

/// The new number of each product of a segment that is merged; `None` for a deleted one.
pub(super) type NewNumber<'a> = &'a dyn Fn(usize) -> Option<DocId>;
