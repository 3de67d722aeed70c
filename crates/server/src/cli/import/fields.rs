//! The fields of a product, and the columns that they are read from.

use std::{fmt, str::FromStr};

use catalog::product::attributes::AttributeName;

use super::attributes::Kind;

/// What kind of source the records come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// JSON objects: typed, and with no fields but the known ones.
    Json,
    /// Tables of any origin, our own exports among them.
    Table,
    /// Shopify's product export.
    Shopify,
    /// A Google Merchant feed.
    Merchant,
}

/// What a column can be taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Title,
    Description,
    Price,
    /// The currency of prices that have none.
    Currency,
    Hidden,
    /// The contrary of hidden.
    Published,
    /// `active`, or one of the words for hidden.
    Status,
    Media,
    Key,
    Url,
    /// All attributes, as a JSON object.
    Attributes,
    /// One attribute.
    Attribute(AttributeName, Kind),
    /// The attribute that another column names; `number` names it where that is no usable name.
    Option {
        named_by: String,
        number: u8,
    },
}

impl Field {
    /// The fields of which a product has one each.
    pub(super) const SINGLE: [Self; 11] = [
        Self::Title,
        Self::Description,
        Self::Price,
        Self::Currency,
        Self::Hidden,
        Self::Published,
        Self::Status,
        Self::Media,
        Self::Key,
        Self::Url,
        Self::Attributes,
    ];
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Title => "title",
            Self::Description => "description",
            Self::Price => "price",
            Self::Currency => "currency",
            Self::Hidden => "hidden",
            Self::Published => "published",
            Self::Status => "status",
            Self::Media => "media",
            Self::Key => "key",
            Self::Url => "url",
            Self::Attributes => "attributes",
            Self::Attribute(name, kind) => {
                let of_kind = |(_, named): &&(&str, Kind)| named == kind && *kind != Kind::Text;
                let suffix = Kind::NAMED.iter().find(of_kind);
                write!(f, "attributes.{name}")?;
                return suffix.map_or(Ok(()), |(kind, _)| write!(f, ":{kind}"));
            }
            Self::Option { named_by, .. } => return write!(f, "attributes.({named_by})"),
        };
        f.write_str(name)
    }
}

impl FromStr for Field {
    type Err = String;

    fn from_str(raw: &str) -> Result<Self, String> {
        let wanted = raw.trim().to_lowercase();
        if let Some(attribute) = wanted.strip_prefix("attributes.") {
            let (name, kind) = attribute.split_once(':').unwrap_or((attribute, "text"));
            let name = AttributeName::parse(name).map_err(|why| format!("{raw:?}: {why}"))?;
            let kind = Kind::NAMED.iter().find(|(known, _)| *known == kind).ok_or_else(|| {
                let known = Kind::NAMED.map(|(known, _)| known).join(", ");
                format!("{kind:?} is not a type of attribute; known are {known}")
            })?;
            return Ok(Self::Attribute(name, kind.1));
        }
        Self::SINGLE.into_iter().find(|field| field.to_string() == wanted).ok_or_else(|| {
            let known = Self::SINGLE.map(|field| field.to_string()).join(", ");
            format!("{raw:?} is not a field; known are {known}, attributes.NAME")
        })
    }
}

/// One part of `--map`: a field and the column it is read from. A field with an empty column is
/// not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapped {
    pub(super) field: Field,
    pub(super) column: String,
}

impl FromStr for Mapped {
    type Err = String;

    fn from_str(raw: &str) -> Result<Self, String> {
        let (field, column) =
            raw.split_once('=').ok_or("must be FIELD=COLUMN, such as title=Name")?;
        Ok(Self { field: field.parse()?, column: column.trim().to_owned() })
    }
}

impl fmt::Display for Mapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.field, self.column)
    }
}

/// A name without case, spaces and punctuation: `Body (HTML)` is `bodyhtml`.
pub(super) fn simplified(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// One column that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) field: Field,
    pub(super) name: String,
    /// Whether it was derived from the name of the column.
    pub(super) guessed: bool,
}
