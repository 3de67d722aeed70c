//! What is a product, what may be asked to become one, and what may change about it?

use std::{fmt, num::NonZeroU64, str::FromStr};

use jiff::Timestamp;
use thiserror::Error;

use crate::{
    change::Seq,
    media::Media,
    price::Price,
    text::{self, InvalidText},
};

/// The longest title, in characters after trimming.
pub const MAX_TITLE_CHARS: usize = 500;
/// The longest title as it is written, with the white space around it, in characters.
pub const MAX_PADDED_TITLE_CHARS: usize = 1000;
/// The longest description, in characters.
pub const MAX_DESCRIPTION_CHARS: usize = 20_000;

/// Ids fit a signed 64-bit integer, so that every database and client can hold them.
const MAX_ID: u64 = i64::MAX as u64;

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU64);

        impl $name {
            /// The id with this number, if it is positive and fits 63 bits.
            pub fn new(number: u64) -> Option<Self> {
                NonZeroU64::new(number).filter(|n| n.get() <= MAX_ID).map(Self)
            }

            /// The number.
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
    /// A product's number: assigned by the service, growing, never used twice.
    ProductId
}
id_type! {
    /// The number of a shop: whose products a caller sees.
    ShopId
}

/// Not a positive integer of at most 63 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("must be a positive integer")]
pub struct InvalidId;

/// A product's title: not blank, at most [`MAX_TITLE_CHARS`] without the white space around it and
/// [`MAX_PADDED_TITLE_CHARS`] with it, kept as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title(String);

impl Title {
    /// Accepts a title or says what is wrong with it.
    pub fn parse(raw: &str) -> Result<Self, InvalidText> {
        // The length comes first: nothing below looks at more than the limit.
        text::at_most(raw, MAX_PADDED_TITLE_CHARS)?;
        let said = raw.trim();
        if said.is_empty() {
            return Err(InvalidText::Blank);
        }
        text::at_most(said, MAX_TITLE_CHARS)?;
        text::without_control_characters(raw)?;
        Ok(Self(raw.to_owned()))
    }

    /// A title that was accepted before, possibly by other rules: it is not checked again.
    pub fn from_stored(raw: String) -> Self {
        Self(raw)
    }

    /// The title as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A product's description: may be empty, at most [`MAX_DESCRIPTION_CHARS`], kept as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description(String);

impl Description {
    /// Accepts a description or says what is wrong with it.
    pub fn parse(raw: &str) -> Result<Self, InvalidText> {
        text::at_most(raw, MAX_DESCRIPTION_CHARS)?;
        text::without_control_characters(raw)?;
        Ok(Self(raw.to_owned()))
    }

    /// A description that was accepted before, possibly by other rules: it is not checked again.
    pub fn from_stored(raw: String) -> Self {
        Self(raw)
    }

    /// The description as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A product that does not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Its title.
    pub title: Title,
    /// Its description.
    pub description: Description,
    /// Its price.
    pub price: Price,
    /// Whether search leaves it out.
    pub hidden: bool,
    /// Its pictures.
    pub media: Vec<Media>,
}

/// What an update changes: fields that are `None` stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// A new title.
    pub title: Option<Title>,
    /// A new description.
    pub description: Option<Description>,
    /// A new price.
    pub price: Option<Price>,
    /// A new visibility.
    pub hidden: Option<bool>,
    /// New pictures, in place of all that were there.
    pub media: Option<Vec<Media>>,
}

impl Patch {
    /// Whether nothing would change, whatever the product.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A product as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// Its number.
    pub id: ProductId,
    /// The shop it belongs to.
    pub shop: ShopId,
    /// Its title.
    pub title: Title,
    /// Its description.
    pub description: Description,
    /// Its price.
    pub price: Price,
    /// Whether search leaves it out.
    pub hidden: bool,
    /// Its pictures.
    pub media: Vec<Media>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last written.
    pub updated_at: Timestamp,
    /// The change that wrote it last: its version.
    pub version: Seq,
}

impl Product {
    /// The product that a draft becomes.
    pub fn create(id: ProductId, shop: ShopId, draft: Draft, at: Timestamp, version: Seq) -> Self {
        let Draft { title, description, price, hidden, media } = draft;
        Self {
            id,
            shop,
            title,
            description,
            price,
            hidden,
            media,
            created_at: at,
            updated_at: at,
            version,
        }
    }

    /// The product after a patch.
    pub fn apply(mut self, patch: Patch, at: Timestamp, version: Seq) -> Self {
        let Patch { title, description, price, hidden, media } = patch;
        self.title = title.unwrap_or(self.title);
        self.description = description.unwrap_or(self.description);
        self.price = price.unwrap_or(self.price);
        self.hidden = hidden.unwrap_or(self.hidden);
        self.media = media.unwrap_or(self.media);
        self.updated_at = at;
        self.version = version;
        self
    }
}

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

    #[test]
    fn a_title_is_measured_trimmed_and_kept_as_written() {
        let padded = format!("  {}\n", "x".repeat(MAX_TITLE_CHARS));
        assert_eq!(Title::parse(&padded).unwrap().as_str(), padded);
        assert_eq!(Title::parse(" \u{3000}\t"), Err(InvalidText::Blank));
        let long = "x".repeat(MAX_TITLE_CHARS + 1);
        assert_eq!(Title::parse(&long), Err(InvalidText::TooLong { max: MAX_TITLE_CHARS }));
        let padded = format!("Sofa{}", " ".repeat(MAX_PADDED_TITLE_CHARS - 4));
        assert_eq!(Title::parse(&padded).unwrap().as_str(), padded);
        let refused = InvalidText::TooLong { max: MAX_PADDED_TITLE_CHARS };
        assert_eq!(Title::parse(&format!("{padded} ")), Err(refused));
        assert_eq!(Title::parse(&" ".repeat(1 << 20)), Err(refused));
    }

    #[test]
    fn a_patch_changes_only_what_it_names() {
        let draft = Draft {
            title: Title::parse("Sofa").unwrap(),
            description: Description::parse("Soft").unwrap(),
            price: Price::parse("$5").unwrap(),
            hidden: false,
            media: vec![],
        };
        let (id, shop) = (ProductId::new(1).unwrap(), ShopId::new(1).unwrap());
        let before = Product::create(id, shop, draft, Timestamp::UNIX_EPOCH, Seq(1));
        let later = Timestamp::from_second(5).unwrap();
        let after =
            before.clone().apply(Patch { hidden: Some(true), ..Patch::default() }, later, Seq(2));
        assert_eq!(after, Product { hidden: true, updated_at: later, version: Seq(2), ..before });
    }
}
