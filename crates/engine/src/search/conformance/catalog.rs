//! Random products and the queries that are run on them.

use catalog::product::{
    Description, Draft, Title,
    attributes::{AttributeName, AttributeValue, Attributes, Number},
    key::Key,
    price::Price,
};

const NOUNS: [&str; 12] = [
    "sofa",
    "lamp",
    "desk lamp",
    "running shoes",
    "ladder 5 ft.",
    "WD-40 spray",
    "backpack",
    "water bottle",
    "garden hose",
    "t-shirt",
    "coffee table",
    "blanket",
];
const ADJECTIVES: [&str; 12] = [
    "red",
    "blue",
    "black",
    "soft",
    "large",
    "leather",
    "wooden",
    "waterproof",
    "cheap",
    "new",
    "steel toe",
    "vegan",
];
const DESCRIPTIONS: [&str; 8] = [
    "Made without leather.",
    "Leather-free and light.",
    "Fits every home",
    "18 x 18 in., 2 lb",
    "",
    "A gift for the whole family; no sugar.",
    "Soft leather sole with a steel toe",
    "Schuhe für 绿茶",
];
const PRICES: [&str; 8] = ["$5", "$19.99", "20.00 EUR", "£1,299", "¥1500", "$20", "EUR 0.5", "$99"];

/// Some are values of a product in several spellings.
const COLORS: [&str; 9] =
    ["red", "Red", "RED", "blue", "Bleu", "sky blue", "BLUE", "Grün", "leather brown"];
const BRANDS: [&str; 6] = ["Acme", "ACME", "Zyphronix", "Lamp & Sons", "O'Neil \\ 5 ft.", "Ácme"];
const MATERIALS: [&str; 6] =
    ["leather", "leather-free", "wool", "steel", "toe caps", "no leather, wool"];

/// Queries with words, typos, codes, sizes, conditions, orders, and combinations of these.
pub(in crate::search) const QUERIES: [&str; 37] = [
    "acme lamp",
    "zyphronixx",
    "wool",
    "sky blue sofa without wool",
    "without zyphronix",
    "leather sku",
    "red sofa",
    "sofas",
    "somthing soft to sit on",
    "blak lether lamp",
    "5' ladder",
    "wd40",
    "wd 40 spray under $20",
    "shoes without leather",
    "blue shoes not made of leather",
    "backpack without steel toe",
    "back pack",
    "under 20 euros",
    "over $50",
    "without leather",
    "between 5 and 20 dollars without steel toe",
    "cheapest lamp",
    "most expensive red lamp",
    "newest shoes",
    "cheapest without leather",
    "newest arrivals",
    "xyzzy qwrtz",
    "the who",
    "18\"x18\" blanket",
    "绿茶",
    "t shirts about $20",
    "leather leather red red",
    "watr botle",
    "lmap",
    "hose for the garden",
    "tble",
    "\0 nul\0 sofa '\\ | & !",
];

fn pick<'a>(rng: &mut fastrand::Rng, from: &[&'a str]) -> &'a str {
    from[rng.usize(..from.len())]
}

/// A random product; one in nine is hidden.
pub(in crate::search) fn draft(rng: &mut fastrand::Rng) -> Draft {
    let (first, second) = (pick(rng, &ADJECTIVES), pick(rng, &ADJECTIVES));
    let title = format!("{first} {second} {}", pick(rng, &NOUNS));
    let (description, price) = (pick(rng, &DESCRIPTIONS), pick(rng, &PRICES));
    Draft {
        hidden: rng.usize(..9) == 0,
        attributes: attributes(rng),
        key: key(rng),
        ..product(&title, description, price)
    }
}

/// A key that no other product has; one product in three has none.
fn key(rng: &mut fastrand::Rng) -> Option<Key> {
    let kind = ["", "SKU", "leather", "lamp-", " Zyphronix/"][rng.usize(..5)];
    (rng.usize(..3) > 0).then(|| Key::parse(&format!("{kind}{:x}", rng.u64(..))).unwrap())
}

/// Attributes of all types, some of which a product may lack.
fn attributes(rng: &mut fastrand::Rng) -> Attributes {
    let text =
        |rng: &mut fastrand::Rng, from: &[&str]| AttributeValue::Text(pick(rng, from).into());
    let number = |number: f64| AttributeValue::Number(Number::new(number).unwrap());
    let mut named = Vec::new();
    let mut add = |rng: &mut fastrand::Rng, name, value: AttributeValue| {
        if rng.usize(..4) > 0 {
            named.push((AttributeName::parse(name).unwrap(), value));
        }
    };
    let mut colors: Vec<Box<str>> =
        (0..1 + rng.usize(..3)).map(|_| pick(rng, &COLORS).into()).collect();
    colors.sort_unstable();
    colors.dedup();
    add(rng, "color", AttributeValue::Texts(colors.into()));
    let (brand, material) = (text(rng, &BRANDS), text(rng, &MATERIALS));
    add(rng, "brand", brand);
    add(rng, "material", material);
    let (size, weight) = (number(rng.u8(..6).into()), number(f64::from(rng.i16(..)) / 100.0));
    add(rng, "size", size);
    add(rng, "weight", weight);
    let is_in_stock = rng.bool();
    add(rng, "in_stock", AttributeValue::Boolean(is_in_stock));
    let mixed = match rng.usize(..3) {
        0 => number(5.0),
        1 => AttributeValue::Boolean(true),
        _ => AttributeValue::Text("5".into()),
    };
    add(rng, "mixed", mixed);
    Attributes::new(named)
}

/// Random products.
pub(in crate::search) fn drafts(rng: &mut fastrand::Rng, count: usize) -> Vec<Draft> {
    (0..count).map(|_| draft(rng)).collect()
}

/// A visible product.
pub(in crate::search) fn product(title: &str, description: &str, price: &str) -> Draft {
    Draft {
        description: Description::parse(description).unwrap(),
        ..Draft::new(Title::parse(title).unwrap(), Price::parse(price).unwrap())
    }
}
