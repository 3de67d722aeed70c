//! The order of results that a request asks for.

use thiserror::Error;

use crate::{product::attributes::AttributeName, query::parser::SortOrder};

/// An order of results. Products without a value come last; ties are ordered by relevance, then id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// The most relevant first.
    Relevance,
    /// By price within each currency; the most frequent currency first.
    Price(Direction),
    /// The latest created first.
    Newest,
    /// The first created first.
    Oldest,
    /// By a numeric attribute.
    Attribute(AttributeName, Direction),
}

/// The direction of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The least first.
    Ascending,
    /// The greatest first.
    Descending,
}

/// A text that names no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "must be relevance, price, -price, newest, oldest or a numeric attribute, with - for descending"
)]
pub struct InvalidSort;

impl Sort {
    /// Reads an order as requests write it.
    pub fn parse(raw: &str) -> Result<Self, InvalidSort> {
        let (direction, field) = match raw.strip_prefix('-') {
            Some(field) => (Direction::Descending, field),
            None => (Direction::Ascending, raw),
        };
        match (raw, field) {
            ("relevance", _) => Ok(Self::Relevance),
            ("newest", _) => Ok(Self::Newest),
            ("oldest", _) => Ok(Self::Oldest),
            (_, "price") => Ok(Self::Price(direction)),
            (_, "relevance" | "newest" | "oldest") => Err(InvalidSort),
            _ => {
                let name = AttributeName::parse(field).map_err(|_| InvalidSort)?;
                Ok(Self::Attribute(name, direction))
            }
        }
    }
}

impl From<SortOrder> for Sort {
    fn from(order: SortOrder) -> Self {
        match order {
            SortOrder::PriceAscending => Self::Price(Direction::Ascending),
            SortOrder::PriceDescending => Self::Price(Direction::Descending),
            SortOrder::Newest => Self::Newest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_as_requests_write_them() {
        let size = || AttributeName::parse("size").unwrap();
        for (raw, sort) in [
            ("relevance", Sort::Relevance),
            ("price", Sort::Price(Direction::Ascending)),
            ("-price", Sort::Price(Direction::Descending)),
            ("newest", Sort::Newest),
            ("oldest", Sort::Oldest),
            ("size", Sort::Attribute(size(), Direction::Ascending)),
            ("-size", Sort::Attribute(size(), Direction::Descending)),
        ] {
            assert_eq!(Sort::parse(raw), Ok(sort), "{raw}");
        }
        for bad in ["", "-", "--price", "-newest", "-relevance", "Price", "id", "category", "a b"] {
            assert_eq!(Sort::parse(bad), Err(InvalidSort), "{bad}");
        }
    }
}
