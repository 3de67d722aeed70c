//! Random products and the queries that are run on them.

use catalog::{
    price::Price,
    product::{Description, Draft, Title},
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

/// Queries with words, typos, codes, sizes, conditions, orders, and combinations of these.
pub(in crate::search) const QUERIES: [&str; 31] = [
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
    Draft { hidden: rng.usize(..9) == 0, ..product(&title, description, price) }
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
