//! Ids of products and shops.

use std::{fmt, num::NonZeroU64, str::FromStr};

use thiserror::Error;

/// Ids fit a signed 64-bit integer, so that every database and client can hold them.
const MAX_ID: u64 = i64::MAX as u64;

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU64);

        impl $name {
            /// The id with this number; `None` unless it is positive and fits 63 bits.
            pub fn new(number: u64) -> Option<Self> {
                NonZeroU64::new(number).filter(|n| n.get() <= MAX_ID).map(Self)
            }

            /// The id as a number.
            pub fn get(self) -> u64 {
                self.0.get()
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(raw: &str) -> Result<Self, InvalidId> {
                raw.parse().ok().and_then(Self::new).ok_or(InvalidId)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

id_type! {
    /// The id of a product: assigned by the service, increasing, never reused.
    ProductId
}
id_type! {
    /// The id of a shop.
    ShopId
}

/// Not a positive integer of at most 63 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("must be a positive integer")]
pub struct InvalidId;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_positive_and_fit_63_bits() {
        assert_eq!(ProductId::new(0), None);
        assert_eq!(ProductId::new(1 << 63), None);
        assert_eq!("9223372036854775807".parse::<ProductId>().unwrap().get(), MAX_ID);
        for raw in ["", "0", "-1", "1.0", "bulk", "9223372036854775808"] {
            assert_eq!(raw.parse::<ProductId>(), Err(InvalidId), "{raw}");
        }
    }
}
