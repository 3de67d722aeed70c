//! The trained model: it agrees with the training code, and is quick.

use std::sync::{Arc, LazyLock};

use expect_test::expect;

use super::*;
use crate::product::inferred::InferredCategory;

/// The classifier of words alone.
static WORDS: LazyLock<CategoryModel> = LazyLock::new(words);

static MODEL: LazyLock<CategoryModel> = LazyLock::new(|| {
    let vectors = models::CATEGORY_VECTORS.as_slice();
    let names = models::CATEGORY_NAMES.as_slice();
    let words = words();
    let vectors = CategoryVectors::new(vectors.into(), words.taxonomy()).unwrap();
    let names = CategoryNames::new(names, words.taxonomy()).unwrap();
    words.with_vectors(vectors).with_names(names)
});

fn words() -> CategoryModel {
    let taxonomy = models::TAXONOMY.as_slice();
    let model = models::CATEGORY.as_slice();
    let taxonomy = Arc::new(Taxonomy::new(taxonomy.into()).unwrap());
    CategoryModel::new(model.into(), taxonomy).unwrap()
}

/// Awkward titles; `python -m category.agreement` prints what the training code says.
const TITLES: &[&str] = &[
    "Acme - Case for Apple® iPhone® 7 Plus - Rose Gold",
    "Steel Watch Strap for Apple Watch 38mm",
    "Men's Chronograph Watch, Leather Strap",
    "Dog Toy Rope with Knots",
    "12 in. x 24 in. Glazed Porcelain Floor & Wall Tile (16 sq. ft./case)",
    "The Gardener (Paperback)",
    "Crème Brûlée Dishes, 4-Pack",
    "Navy Armchair",
    "Brushed Nickel 2-Handle Faucet with Drain",
    "Zxqv 3000",
    "",
];

fn answers() -> String {
    let answer = |title: &str| match WORDS.infer(title, "", None, None).shown {
        Some(InferredCategory { category, confidence }) => {
            format!("{title}: {} {confidence}\n", WORDS.taxonomy().id(category))
        }
        None => format!("{title}: -\n"),
    };
    TITLES.iter().map(|title| answer(title)).collect()
}

#[test]
fn the_training_code_agrees() {
    expect![[r#"
        Acme - Case for Apple® iPhone® 7 Plus - Rose Gold: el-4-8-4-2 100
        Steel Watch Strap for Apple Watch 38mm: aa-6-10-1 100
        Men's Chronograph Watch, Leather Strap: aa-6-11 100
        Dog Toy Rope with Knots: ap-2-3-7 99
        12 in. x 24 in. Glazed Porcelain Floor & Wall Tile (16 sq. ft./case): ha-2-18-2 100
        The Gardener (Paperback): me-1-3 100
        Crème Brûlée Dishes, 4-Pack: hg-11-2-1-10 96
        Navy Armchair: fr 85
        Brushed Nickel 2-Handle Faucet with Drain: ha-10-2-4-2-1 100
        Zxqv 3000: -
        : -
    "#]]
    .assert_eq(&answers());
}

#[test]
fn every_category_is_found_by_its_path() {
    let taxonomy = MODEL.taxonomy();
    for category in taxonomy.all() {
        assert_eq!(taxonomy.with_id(taxonomy.id(category)), Some(category));
        assert_eq!(taxonomy.parse(&taxonomy.path(category).join(" > ")), Some(category));
    }
}

#[test]
fn queries_name_things() {
    let (category, share) = MODEL.infer_query("navy armchair").likely()[0];
    assert_eq!(MODEL.taxonomy().path(category)[..2], ["Furniture", "Chairs"]);
    assert!(share > 0.3, "{share}");
    for (query, path) in [
        ("blanket", "Home & Garden > Linens & Bedding > Bedding > Blankets"),
        ("jumper", "Apparel & Accessories > Clothing > Clothing Tops > Sweaters"),
        ("couch", "Furniture > Sofas"),
        // Categories for children and for mothers have the same name.
        ("sweater for men", "Apparel & Accessories > Clothing > Clothing Tops > Sweaters"),
        // Several categories.
        ("t-shirt", "Apparel & Accessories > Clothing"),
        ("pants", "Apparel & Accessories > Clothing"),
    ] {
        let category = MODEL.infer_query(query).category(MODEL.taxonomy());
        let found = category.map(|category| MODEL.taxonomy().path(category).join(" > "));
        assert_eq!(found.as_deref(), Some(path), "{query}");
    }
}

#[test]
fn a_query_names_all_categories_of_a_name() {
    let tops = "Apparel & Accessories > Clothing > Clothing Tops > T-Shirts";
    let children = "Apparel & Accessories > Clothing > Baby & Children's Clothing > Baby & Children's Tops > T-Shirts";
    let categories = MODEL.infer_query("t-shirt");
    for path in [tops, children] {
        let named = categories.names(MODEL.taxonomy(), MODEL.taxonomy().parse(path));
        assert_eq!(named, Some(1.0), "{path}");
    }
    let sofas = MODEL.taxonomy().parse("Furniture > Sofas");
    assert_eq!(categories.names(MODEL.taxonomy(), sofas), Some(0.0));
}

#[test]
fn a_query_is_restricted_to_what_is_below_a_category() {
    let taxonomy = MODEL.taxonomy();
    let restricted = |query: &str, id: &str| {
        let mut categories = MODEL.infer_query(query);
        categories.restrict_to(taxonomy, taxonomy.with_id(id).unwrap());
        categories.category(taxonomy).map(|category| taxonomy.id(category))
    };
    assert_eq!(restricted("sofa", "fr"), Some("fr-22"));
    assert_eq!(restricted("sofa", "ap"), None);
    // The likeliest of what is left.
    let (bowl, pet_bowl) = (restricted("bowl", "hg"), restricted("bowl", "ap"));
    assert!(bowl.unwrap().starts_with("hg-") && pet_bowl.unwrap().starts_with("ap-"));
}

#[test]
fn a_title_may_call_a_thing_by_a_name_of_its_own() {
    for (title, path) in [
        (
            "Guernsey, worsted, navy, gents",
            "Apparel & Accessories > Clothing > Clothing Tops > Sweaters",
        ),
        (
            "Peacoat, melton wool, navy",
            "Apparel & Accessories > Clothing > Outerwear > Coats & Jackets",
        ),
        ("Canvas hi-tops, black, unisex", "Apparel & Accessories > Shoes > Sneakers"),
    ] {
        let likely = MODEL.infer(title, "", None, None).likely.unwrap();
        let found = MODEL.taxonomy().path(likely).join(" > ");
        assert!(found.starts_with(path), "{title}: {found}");
    }
}

#[test]
fn close_categories_are_those_that_agree() {
    let taxonomy = MODEL.taxonomy();
    for query in ["navy armchair", "shirt", "toy", "pants for a dog", "gift", "cosy evening", ""] {
        let categories = MODEL.infer_query(query);
        for at_least in [0.05, 0.25, 0.6] {
            let close = categories.close(taxonomy, at_least);
            for category in taxonomy.all() {
                let is_close = close.iter().any(|range| range.contains(&category.0));
                let agreement = categories.names(taxonomy, Some(category));
                let agreement =
                    agreement.unwrap_or_else(|| categories.agreement(taxonomy, category));
                assert_eq!(is_close, agreement >= at_least, "{query} {}", taxonomy.id(category));
            }
        }
    }
    assert!(!MODEL.infer_query("shirt").close(taxonomy, 0.25).is_empty());
}
