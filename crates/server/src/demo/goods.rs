//! What does the demo shop sell? One table of products per department, read with the catalog's own rules.

use catalog::{
    media::{InvalidMediaUrl, Media, MediaKind},
    price::{InvalidPrice, Price},
    product::{Description, Draft, Title},
    text::InvalidText,
};
use thiserror::Error;

use super::pictures;

/// The columns of a table, as its first line has them.
const COLUMNS: [&str; 5] = ["title", "price", "image", "description", "hidden"];
/// What the last column says of a product that search leaves out.
const HIDDEN: &str = "hidden";

macro_rules! departments {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"), "/../../demo/catalog/", $name, ".tsv"
        )))),+]
    };
}

/// Every department with its table. A test compares with the folder.
const DEPARTMENTS: &[(&str, &str)] = departments!["scarves-hats-gloves"];

/// A product of the demo shop.
#[derive(Debug)]
pub(crate) struct Goods {
    title: Title,
    price: Price,
    description: Description,
    hidden: bool,
    /// The path of its picture below the folder of pictures.
    picture: String,
}

/// What is wrong with a line of a table.
#[derive(Debug, Error)]
#[error("{department}.tsv, line {line}")]
pub(crate) struct BadGoods {
    department: &'static str,
    line: usize,
    source: Flaw,
}

#[derive(Debug, Error)]
enum Flaw {
    #[error("the first line must name the columns: title, price, image, description, hidden")]
    Columns,
    #[error("a line has four columns, and may have `hidden` as a fifth")]
    Shape,
    #[error("there is no picture {0}")]
    NoPicture(String),
    #[error("the text")]
    Text(#[from] InvalidText),
    #[error("the price")]
    Price(#[from] InvalidPrice),
}

/// How many departments there are.
pub(crate) fn department_count() -> usize {
    DEPARTMENTS.len()
}

/// Every product of every department, in order.
pub(crate) fn all() -> Result<Vec<Goods>, BadGoods> {
    let mut all = Vec::new();
    for (department, table) in DEPARTMENTS {
        let mut lines = table.lines().zip(1..);
        let bad = |line, source| BadGoods { department, line, source };
        if !lines.next().is_some_and(|(first, _)| first.split('\t').eq(COLUMNS)) {
            return Err(bad(1, Flaw::Columns));
        }
        for (text, line) in lines {
            all.push(goods(text).map_err(|flaw| bad(line, flaw))?);
        }
    }
    Ok(all)
}

fn goods(line: &str) -> Result<Goods, Flaw> {
    let columns: Vec<&str> = line.split('\t').collect();
    let (title, price, image, description, hidden) = match columns[..] {
        [title, price, image, description] => (title, price, image, description, false),
        [title, price, image, description, HIDDEN] => (title, price, image, description, true),
        _ => return Err(Flaw::Shape),
    };
    if !pictures::exists(image) {
        return Err(Flaw::NoPicture(image.to_owned()));
    }
    Ok(Goods {
        title: Title::parse(title)?,
        price: Price::parse(price)?,
        description: Description::parse(description)?,
        hidden,
        picture: pictures::path(image, &[title, description]),
    })
}

impl Goods {
    /// The product with its picture at this address.
    pub(crate) fn into_draft(self, pictures: &str) -> Result<Draft, InvalidMediaUrl> {
        let address = format!("{pictures}{}", self.picture);
        Ok(Draft {
            title: self.title,
            description: self.description,
            price: self.price,
            hidden: self.hidden,
            media: vec![Media::new(&address, MediaKind::Image)?],
        })
    }
}
