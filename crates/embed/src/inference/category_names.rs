//! The names of a category and of all below it: a *beret* is a hat, and so is a *flat cap*.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use catalog::{product::inferred::CategoryIndex, text::analysis::content_words};
use parking_lot::Mutex;

use super::taxonomy;
use crate::ThingName;

/// Names of further categories are left out, those of the deepest ones first.
const MAX_NAMES: usize = 64;
/// Names with more words are descriptions.
const MAX_WORDS: usize = 3;
/// What is called so belongs to a thing and is not one.
const PARTS: [&str; 3] = ["Accessories", "Parts", "Replacement"];

/// Of the categories that were asked for.
static NAMES: LazyLock<Mutex<HashMap<CategoryIndex, Arc<[ThingName]>>>> =
    LazyLock::new(Mutex::default);

/// The names of a category and of all below it, except its parts and accessories.
pub fn names_below(category: CategoryIndex) -> Arc<[ThingName]> {
    Arc::clone(NAMES.lock().entry(category).or_insert_with(|| find(category)))
}

fn find(category: CategoryIndex) -> Arc<[ThingName]> {
    let taxonomy = taxonomy();
    let is_part = |one: CategoryIndex| PARTS.iter().any(|part| taxonomy.name(one).contains(part));
    let mut level = vec![category];
    let mut names: Vec<ThingName> = Vec::new();
    while !level.is_empty() && names.len() < MAX_NAMES {
        for words in level.iter().flat_map(|one| parts(taxonomy.name(*one))).map(content_words) {
            let is_new = names.iter().all(|name| name.words != words);
            if (1..=MAX_WORDS).contains(&words.len()) && is_new {
                names.push(ThingName { words, weight: 1.0 });
            }
        }
        let below = level.iter().flat_map(|one| taxonomy.children(*one));
        level = below.filter(|one| !is_part(*one)).collect();
    }
    names.truncate(MAX_NAMES);
    names.into()
}

/// The names in the name of a category. Of "Chairs & Sofas" these are two, of "Chair & Sofa Covers" the
/// last one alone.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    let (others, last) = name.rsplit_once(" & ").unwrap_or(("", name));
    let others = others.split([',', '&']).map(str::trim).filter(|part| part.ends_with('s'));
    others.chain(std::iter::once(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str) -> Vec<String> {
        let category = taxonomy().parse(path).unwrap();
        names_below(category).iter().map(|name| name.words.join(" ")).collect()
    }

    #[test]
    fn a_category_has_the_names_of_all_below_it_but_not_of_its_accessories() {
        let hats = names("Apparel & Accessories > Clothing Accessories > Hats");
        assert_eq!(hats[0], "hat");
        assert!(
            ["beret", "flat cap"].iter().all(|name| hats.contains(&(*name).into())),
            "{hats:?}"
        );
        let sofas = names("Furniture");
        assert!(sofas.contains(&"sofa".into()) && sofas.len() == MAX_NAMES, "{sofas:?}");
        assert!(!sofas.iter().any(|name| name.contains("accessory")), "{sofas:?}");
    }

    #[test]
    fn only_things_are_names() {
        let parts = |name| parts(name).collect::<Vec<_>>();
        assert_eq!(parts("Hats"), ["Hats"]);
        assert_eq!(parts("Coats & Jackets"), ["Coats", "Jackets"]);
        assert_eq!(
            parts("Armchairs, Recliners & Sleeper Chairs"),
            ["Armchairs", "Recliners", "Sleeper Chairs"]
        );
        assert_eq!(parts("Chair & Sofa Covers"), ["Sofa Covers"]);
    }
}
