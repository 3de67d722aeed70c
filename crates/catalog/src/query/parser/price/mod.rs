//! Price conditions in a query: "under $50", "between 20 and 40 euros", "can't pay more than 80".
//!
//! - [`rules`] recognises conditions; [`cues`] has their phrases, [`negation`] the negations before
//!   them, and [`context`] the words that make a number something else than a price.
//! - [`amount`] reads amounts, with [`currency`], [`numerals`] for numbers in words and
//!   [`east_asian`] for those with 万 and the like.
//! - [`constraint`] is the result. [`range`] and [`interval`] are forms of it that are fast to
//!   evaluate in memory and in SQL.

mod amount;
mod constraint;
mod context;
mod cues;
mod currency;
mod east_asian;
mod interval;
mod negation;
mod numerals;
mod range;
mod rules;

pub use constraint::{Bound, PriceConstraint, PriceKind};
pub(super) use context::takes_number;
pub(super) use cues::{is_cue_at, is_suffix_at};
pub use interval::PriceInterval;
pub(super) use negation::negator_before;
pub use range::PriceRange;
pub(super) use rules::parse;
