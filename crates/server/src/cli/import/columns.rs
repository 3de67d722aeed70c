//! Maps columns to product fields: by `--map`, otherwise by their names.

use std::{fmt, str::FromStr};

/// What a column can be taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

impl Field {
    const ALL: [Self; 8] = [
        Self::Title,
        Self::Description,
        Self::Price,
        Self::Currency,
        Self::Hidden,
        Self::Published,
        Self::Status,
        Self::Media,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Description => "description",
            Self::Price => "price",
            Self::Currency => "currency",
            Self::Hidden => "hidden",
            Self::Published => "published",
            Self::Status => "status",
            Self::Media => "media",
        }
    }

    /// Simplified names that are taken to mean this field, the surest first.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Title => {
                &["title", "name", "producttitle", "productname", "itemname", "itemtitle"]
            }
            Self::Description => &[
                "description",
                "bodyhtml",
                "body",
                "productdescription",
                "longdescription",
                "details",
                "summary",
                "content",
                "text",
            ],
            Self::Price => &[
                "price",
                "variantprice",
                "productprice",
                "unitprice",
                "regularprice",
                "sellingprice",
                "listprice",
            ],
            Self::Currency => &["currency", "pricecurrency", "currencycode"],
            Self::Hidden => &["hidden"],
            Self::Published => &["published", "publishedononlinestore", "visible"],
            // In other tables than Shopify's it may mean anything.
            Self::Status => &[],
            Self::Media => &[
                "media",
                "imagesrc",
                "productimageurl",
                "imagelink",
                "image",
                "imageurl",
                "images",
                "imageurls",
                "mainimage",
                "picture",
                "pictures",
                "photo",
                "additionalimagelink",
                "additionalimages",
            ],
        }
    }
}

impl FromStr for Field {
    type Err = String;

    fn from_str(raw: &str) -> Result<Self, String> {
        let known = Self::ALL.map(Self::as_str).join(", ");
        let wanted = raw.trim().to_lowercase();
        Self::ALL
            .into_iter()
            .find(|field| field.as_str() == wanted)
            .ok_or_else(|| format!("{raw:?} is not a field; known are {known}"))
    }
}

/// One part of `--map`: a field and the column it is read from.
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
        write!(f, "{}={}", self.field.as_str(), self.column)
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

/// The columns that are read, of those with these names. A field is read from one column; pictures
/// are read from all that have some.
pub(super) fn choose<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    mapped: &[Mapped],
    with_status: bool,
) -> Vec<Column> {
    let simple: Vec<_> = names.map(|name| (name, simplified(name))).collect();
    let mut columns = Vec::new();
    for field in Field::ALL {
        let said: Vec<_> = mapped.iter().filter(|part| part.field == field).collect();
        if !said.is_empty() {
            columns.extend(said.iter().filter_map(|part| {
                let wanted = simplified(&part.column);
                let exact = simple.iter().find(|(name, _)| *name == part.column);
                let (name, _) =
                    exact.or_else(|| simple.iter().find(|(_, simple)| *simple == wanted))?;
                Some(Column { field, name: (*name).to_owned(), guessed: false })
            }));
            continue;
        }
        let meant = field
            .names()
            .iter()
            .chain((field == Field::Status && with_status).then_some(&"status"));
        let taken = |name: &str| mapped.iter().any(|part| part.column == name);
        let found = meant.flat_map(|meaning| {
            simple.iter().filter(move |(name, simple)| simple == meaning && !taken(name))
        });
        let mut seen: Vec<&str> = Vec::new();
        for (name, _) in found {
            if seen.contains(name) || (field != Field::Media && !seen.is_empty()) {
                continue;
            }
            seen.push(name);
            let guessed = *name != field.as_str();
            columns.push(Column { field, name: (*name).to_owned(), guessed });
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(names: &[&str], mapped: &str, expected: &str) {
        let mapped: Vec<Mapped> =
            mapped.split_terminator(',').map(|part| part.parse().unwrap()).collect();
        let found: Vec<_> = choose(names.iter().copied(), &mapped, false)
            .into_iter()
            .map(|column| {
                let how = if column.guessed { "~" } else { "=" };
                format!("{}{how}{}", column.field.as_str(), column.name)
            })
            .collect();
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn common_names_are_understood() {
        check(&["title", "price", "media"], "", "title=title price=price media=media");
        check(
            &["Product Name", "Body (HTML)", "Unit Price", "Currency", "Weight", "image_url"],
            "",
            "title~Product Name description~Body (HTML) price~Unit Price currency~Currency \
             media~image_url",
        );
        check(&["name", "title"], "", "title=title");
        check(
            &["image_link", "additional_image_link"],
            "",
            "media~image_link media~additional_image_link",
        );
        check(&["status", "state"], "", "");
    }

    #[test]
    fn what_is_said_counts_more_than_what_is_guessed() {
        check(&["Name", "title", "Cost"], "title=Name,price=cost", "title=Name price=Cost");
        check(&["price", "name"], "title=price", "title=price");
        check(&["title"], "price=Cost", "title=title");
    }

    #[test]
    fn a_wrong_map_is_refused() {
        for (raw, said) in [("colour=Red", "not a field"), ("title", "FIELD=COLUMN")] {
            let error = raw.parse::<Mapped>().unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
