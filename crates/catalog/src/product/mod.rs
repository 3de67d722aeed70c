//! Products, drafts of new ones, and patches.

pub mod access;
pub mod attributes;
pub mod change;
pub mod currency;
pub mod http_url;
pub mod id;
pub mod inferred;
pub mod key;
pub mod media;
pub mod price;

use jiff::Timestamp;

pub use self::id::{InvalidId, ProductId, ShopId};
use self::{
    attributes::Attributes, change::Seq, http_url::ProductUrl, inferred::Inferred, key::Key,
    media::Media, price::Price,
};
pub use crate::text::validation::MAX_DESCRIPTION_CHARS;
use crate::text::validation::{self, InvalidText};

/// The longest title, in characters, without surrounding white space.
pub const MAX_TITLE_CHARS: usize = 500;
/// The longest title, in characters, with surrounding white space.
pub const MAX_PADDED_TITLE_CHARS: usize = 1000;

/// A product's title: not blank, at most [`MAX_TITLE_CHARS`] without surrounding white space and
/// [`MAX_PADDED_TITLE_CHARS`] with it, stored as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title(String);

impl Title {
    /// Validates a title.
    pub fn parse(raw: &str) -> Result<Self, InvalidText> {
        // The length is checked first, so that nothing below processes more than the limit.
        validation::at_most(raw, MAX_PADDED_TITLE_CHARS)?;
        let trimmed = raw.trim();
        if trimmed.is_empty() {
            return Err(InvalidText::Blank);
        }
        validation::at_most(trimmed, MAX_TITLE_CHARS)?;
        validation::without_control_characters(raw)?;
        Ok(Self(raw.to_owned()))
    }

    /// A title from the store, which earlier rules may have accepted; it is not validated again.
    pub fn from_stored(raw: String) -> Self {
        Self(raw)
    }

    /// The title as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A product's description: may be empty, at most [`MAX_DESCRIPTION_CHARS`], stored as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description(String);

impl Description {
    /// Validates a description.
    pub fn parse(raw: &str) -> Result<Self, InvalidText> {
        validation::at_most(raw, MAX_DESCRIPTION_CHARS)?;
        validation::without_control_characters(raw)?;
        Ok(Self(raw.to_owned()))
    }

    /// A description from the store, which earlier rules may have accepted; it is not validated
    /// again.
    pub fn from_stored(raw: String) -> Self {
        Self(raw)
    }

    /// The description as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The content of a product to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Indexed with more weight than the description.
    pub title: Title,
    /// May be empty.
    pub description: Description,
    /// As written and as parsed.
    pub price: Price,
    /// Whether it is excluded from search.
    pub hidden: bool,
    /// At most [`crate::product::media::MAX_ITEMS`].
    pub media: Vec<Media>,
    /// The merchant's identifier, unique within the shop.
    pub key: Option<Key>,
    /// The product's page.
    pub url: Option<ProductUrl>,
    /// What the merchant states besides the texts.
    pub attributes: Attributes,
}

/// An update: fields that are `None` keep their value.
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
    /// New pictures, which replace all current ones.
    pub media: Option<Vec<Media>>,
    /// A new key; `Some(None)` removes it.
    pub key: Option<Option<Key>>,
    /// A new page; `Some(None)` removes it.
    pub url: Option<Option<ProductUrl>>,
    /// New attributes, which replace all current ones.
    pub attributes: Option<Attributes>,
}

impl Draft {
    /// A visible product with a title and a price, and nothing else.
    pub fn new(title: Title, price: Price) -> Self {
        Self {
            title,
            description: Description::default(),
            price,
            hidden: false,
            media: Vec::new(),
            key: None,
            url: None,
            attributes: Attributes::default(),
        }
    }
}

impl Patch {
    /// Whether it changes no field of any product.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A stored product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// Unique over all shops.
    pub id: ProductId,
    /// Its owner.
    pub shop: ShopId,
    /// Indexed with more weight than the description.
    pub title: Title,
    /// May be empty.
    pub description: Description,
    /// As written and as parsed.
    pub price: Price,
    /// Whether it is excluded from search.
    pub hidden: bool,
    /// At most [`crate::product::media::MAX_ITEMS`].
    pub media: Vec<Media>,
    /// The merchant's identifier, unique within the shop.
    pub key: Option<Key>,
    /// The product's page.
    pub url: Option<ProductUrl>,
    /// What the merchant states besides the texts.
    pub attributes: Attributes,
    /// What its texts and attributes state.
    pub inferred: Inferred,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last written.
    pub updated_at: Timestamp,
    /// The sequence number of its last change.
    pub version: Seq,
}

impl Product {
    /// The product that a draft becomes. `inferred` is what the draft states.
    pub fn create(
        id: ProductId,
        shop: ShopId,
        draft: Draft,
        inferred: Inferred,
        at: Timestamp,
        version: Seq,
    ) -> Self {
        let Draft { title, description, price, hidden, media, key, url, attributes } = draft;
        Self {
            id,
            shop,
            title,
            description,
            price,
            hidden,
            media,
            key,
            url,
            attributes,
            inferred,
            created_at: at,
            updated_at: at,
            version,
        }
    }

    /// The product after a patch. What is inferred stays as it is: it follows the texts and
    /// attributes of the result, which the caller infers again.
    pub fn apply(mut self, patch: Patch, at: Timestamp, version: Seq) -> Self {
        let Patch { title, description, price, hidden, media, key, url, attributes } = patch;
        self.title = title.unwrap_or(self.title);
        self.description = description.unwrap_or(self.description);
        self.price = price.unwrap_or(self.price);
        self.hidden = hidden.unwrap_or(self.hidden);
        self.media = media.unwrap_or(self.media);
        self.key = key.unwrap_or(self.key);
        self.url = url.unwrap_or(self.url);
        self.attributes = attributes.unwrap_or(self.attributes);
        self.updated_at = at;
        self.version = version;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_measured_without_padding_and_stored_as_written() {
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
        let description = Description::parse("Soft").unwrap();
        let draft = Draft::new(Title::parse("Sofa").unwrap(), Price::parse("$5").unwrap());
        let draft = Draft { description, ..draft };
        let (id, shop) = (ProductId::new(1).unwrap(), ShopId::new(1).unwrap());
        let inferred = Inferred::default();
        let before = Product::create(id, shop, draft, inferred, Timestamp::UNIX_EPOCH, Seq(1));
        let later = Timestamp::from_second(5).unwrap();
        let after =
            before.clone().apply(Patch { hidden: Some(true), ..Patch::default() }, later, Seq(2));
        assert_eq!(after, Product { hidden: true, updated_at: later, version: Seq(2), ..before });
    }
}
