//! The products of the demo shop: one table per department, validated by the catalog's rules.

use catalog::{
    product::{
        Description, Draft, Title,
        attributes::Attributes,
        http_url::InvalidUrl,
        key::Key,
        media::{Media, MediaKind},
        price::{InvalidPrice, Price},
    },
    text::validation::InvalidText,
};
use thiserror::Error;

use super::{
    attributes::{self, InvalidAttributes},
    pictures,
};

/// The header of every table.
const COLUMNS: [&str; 7] =
    ["title", "price", "image", "description", "key", "attributes", "hidden"];
/// The value of the last column for hidden products.
const HIDDEN: &str = "hidden";

macro_rules! departments {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"), "/../../demo/catalog/", $name, ".tsv"
        )))),+]
    };
}

/// Every department with its table. A test compares with the folder.
const DEPARTMENTS: &[(&str, &str)] = departments![
    "audio-tv",
    "automotive",
    "baby",
    "bags-luggage",
    "beauty-care",
    "bedroom-bath",
    "camping-cycling",
    "computers-phones",
    "cookware",
    "decor-lighting",
    "garden",
    "groceries",
    "health-home",
    "jewelry-watches",
    "living-room",
    "mens-clothing",
    "music",
    "outdoor-clothing",
    "party-gifts",
    "pets",
    "photo-gaming",
    "scarves-hats-gloves",
    "shoes",
    "small-appliances",
    "sports-fitness",
    "stationery-crafts",
    "tableware",
    "tools-hardware",
    "toys-games",
    "womens-clothing",
];

/// A product of the demo shop.
#[derive(Debug)]
pub(crate) struct DemoProduct {
    title: Title,
    price: Price,
    description: Description,
    key: Key,
    attributes: Attributes,
    hidden: bool,
    /// The path of its picture below the folder of pictures.
    picture: String,
}

/// An invalid line of a table.
#[derive(Debug, Error)]
#[error("{department}.tsv, line {line}")]
pub(crate) struct InvalidProduct {
    department: &'static str,
    line: usize,
    source: Flaw,
}

#[derive(Debug, Error)]
enum Flaw {
    #[error("the first line must name the columns: {}", COLUMNS.join(", "))]
    Columns,
    #[error("a line has six columns, and may have `hidden` as a seventh")]
    Shape,
    #[error("there is no picture {0}")]
    NoPicture(String),
    #[error("the text")]
    Text(#[from] InvalidText),
    #[error("the price")]
    Price(#[from] InvalidPrice),
    #[error("the attributes")]
    Attributes(#[from] InvalidAttributes),
}

/// The number of departments.
pub(crate) fn department_count() -> usize {
    DEPARTMENTS.len()
}

/// Every product of every department. Departments are interleaved, so that every page of the
/// catalog shows products of many.
pub(crate) fn all() -> Result<Vec<DemoProduct>, InvalidProduct> {
    let mut all: Vec<(f64, DemoProduct)> = Vec::new();
    for (department, table) in DEPARTMENTS {
        let mut lines = table.lines().zip(1usize..);
        let bad = |line, source| InvalidProduct { department, line, source };
        if !lines.next().is_some_and(|(first, _)| first.split('\t').eq(COLUMNS)) {
            return Err(bad(1, Flaw::Columns));
        }
        let count = table.lines().count() as f64;
        for (text, line) in lines {
            all.push((line as f64 / count, parse_line(text).map_err(|flaw| bad(line, flaw))?));
        }
    }
    // A stable sort keeps the order deterministic.
    all.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    Ok(all.into_iter().map(|(_, product)| product).collect())
}

fn parse_line(line: &str) -> Result<DemoProduct, Flaw> {
    let columns: Vec<&str> = line.split('\t').collect();
    let (columns, hidden) = match columns.as_slice() {
        [columns @ .., HIDDEN] => (columns, true),
        columns => (columns, false),
    };
    let [title, price, image, description, key, attributes] = *columns else {
        return Err(Flaw::Shape);
    };
    if !pictures::exists(image) {
        return Err(Flaw::NoPicture(image.to_owned()));
    }
    Ok(DemoProduct {
        title: Title::parse(title)?,
        price: Price::parse(price)?,
        description: Description::parse(description)?,
        key: Key::parse(key)?,
        attributes: attributes::parse(attributes)?,
        hidden,
        picture: pictures::path(image, title, description),
    })
}

impl DemoProduct {
    /// The draft of the product, with its picture below this URL.
    pub(crate) fn into_draft(self, pictures: &str) -> Result<Draft, InvalidUrl> {
        let address = format!("{pictures}{}", self.picture);
        Ok(Draft {
            description: self.description,
            hidden: self.hidden,
            key: Some(self.key),
            attributes: self.attributes,
            media: vec![Media::new(&address, MediaKind::Image)?],
            ..Draft::new(self.title, self.price)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    const PICTURES: &str = "http://127.0.0.1:7700/demo/images/";

    fn drafts() -> Vec<Draft> {
        let all = all().unwrap_or_else(|bad| panic!("{bad}: {}", bad.source));
        all.into_iter().map(|product| product.into_draft(PICTURES).unwrap()).collect()
    }

    #[test]
    fn every_table_of_the_folder_is_a_department() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../demo/catalog");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let known = DEPARTMENTS.iter().map(|(name, _)| format!("{name}.tsv"));
        assert_eq!(known.collect::<BTreeSet<_>>(), files);
    }

    #[test]
    fn the_shop_is_large_and_mixed_enough_to_try_things() {
        let drafts = drafts();
        assert!(drafts.len() >= 1200, "{} products", drafts.len());
        assert!(department_count() >= 25, "{} departments", department_count());
        let hidden = drafts.iter().filter(|draft| draft.hidden).count();
        assert!((30..=40).contains(&hidden), "{hidden} hidden");
        let mut by_currency: BTreeMap<String, usize> = BTreeMap::new();
        for draft in &drafts {
            *by_currency
                .entry(draft.price.money().unwrap().currency.code().to_owned())
                .or_default() += 1;
        }
        assert!(by_currency.len() >= 5, "{by_currency:?}");
        assert!(by_currency["USD"] * 2 > drafts.len(), "{by_currency:?}");
    }

    #[test]
    fn departments_are_mixed() {
        let department_of = |title: &str| {
            let holds =
                |table: &&str| table.lines().any(|line| line.split('\t').next() == Some(title));
            DEPARTMENTS.iter().position(|(_, table)| holds(table)).unwrap()
        };
        let drafts = drafts();
        let newest = drafts.iter().rev().filter(|draft| !draft.hidden).take(24);
        let departments: BTreeSet<usize> =
            newest.map(|draft| department_of(draft.title.as_str())).collect();
        assert!(departments.len() >= 12, "{departments:?}");
    }

    #[test]
    fn no_title_is_used_twice_and_every_product_is_described() {
        let mut titles = BTreeSet::new();
        for draft in drafts() {
            let title = draft.title.as_str().to_lowercase();
            assert!(draft.description.as_str().ends_with(['.', '!', '?']), "{title}");
            assert!(titles.insert(title.clone()), "{title} is there twice");
        }
    }

    /// The demo stands for a shop with facets: values that several products share, of every type.
    #[test]
    fn every_product_has_a_key_of_its_own_and_attributes() {
        let mut keys = BTreeSet::new();
        let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
        for draft in drafts() {
            let key = draft.key.unwrap();
            assert!(keys.insert(key.clone()), "{key:?} is there twice");
            assert!(draft.attributes.get("department").is_some(), "{key:?}");
            for (name, _) in draft.attributes.iter() {
                *by_name.entry(name.as_str().to_owned()).or_default() += 1;
            }
        }
        for name in ["color", "material", "brand", "audience", "width_cm", "waterproof"] {
            assert!(by_name[name] >= 20, "{name}: {by_name:?}");
        }
    }

    /// A title that names a base colour outside a longer name agrees with the attribute.
    #[test]
    fn the_colour_at_the_end_of_a_title_is_an_attribute() {
        let colours = ["black", "white", "grey", "red", "pink", "yellow", "green", "blue"];
        let mut checked = 0;
        for draft in drafts() {
            let Some((_, end)) = draft.title.as_str().rsplit_once(", ") else { continue };
            let end = end.to_lowercase();
            if !colours.contains(&end.as_str()) {
                continue;
            }
            let value = draft.attributes.get("color");
            let listed = value.is_some_and(|value| value.texts().iter().any(|text| **text == *end));
            assert!(listed, "{}: {value:?}", draft.title.as_str());
            checked += 1;
        }
        assert!(checked > 100, "{checked}");
    }

    /// Right answers are named by patterns of titles; one that fits nothing would ask for the impossible.
    #[test]
    fn every_pattern_of_the_everyday_requests_fits_a_visible_product() {
        let requests =
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../demo/requests.tsv"));
        let drafts = drafts();
        let mut queries = BTreeSet::new();
        for line in requests.lines().skip(1) {
            let columns: Vec<&str> = line.split('\t').collect();
            let [query, wanted, _] = columns[..] else { panic!("three columns: {line}") };
            assert!(queries.insert(query), "{query} is there twice");
            for pattern in wanted.split('|') {
                let pattern = regex::Regex::new(&format!(r"(?i)\b(?:{pattern})")).unwrap();
                let fits = |draft: &Draft| !draft.hidden && pattern.is_match(draft.title.as_str());
                assert!(drafts.iter().any(fits), "{query}: nothing fits {pattern}");
            }
        }
        assert!(queries.len() >= 60, "{} requests", queries.len());
    }

    #[test]
    fn a_faulty_line_is_refused_with_its_reason() {
        let refused = |line: &str| parse_line(line).unwrap_err().to_string();
        assert!(refused("Scarf\t$1").contains("six columns"));
        assert!(refused("Scarf\t$1\tscarf\tWarm.\tS-1\ta=b\tmaybe").contains("six columns"));
        assert_eq!(refused("Scarf\t$1\tyacht\tWarm.\tS-1\ta=b"), "there is no picture yacht");
        assert_eq!(refused("Scarf\t19\tscarf\tWarm.\tS-1\ta=b"), "the price");
        assert_eq!(refused(" \t$1\tscarf\tWarm.\tS-1\ta=b"), "the text");
        assert_eq!(refused("Scarf\t$1\tscarf\tWarm.\t\ta=b"), "the text");
        assert_eq!(refused("Scarf\t$1\tscarf\tWarm.\tS-1\ta"), "the attributes");
        assert!(parse_line("Scarf\t$1\tscarf\tWarm.\tS-1\ta=b\thidden").unwrap().hidden);
    }
}
