//! Free-from claims: "nickel-free", "lactose free", "free of nickel".

use expect_test::expect;

use super::{abstains, check};
use crate::{
    query::parser::{ParseOptions, parse},
    text::analysis::Alternative,
};

#[test]
fn claims_exclude_and_are_searched_for() {
    check("lactose free milk", expect!["lactose free milk | claims no lactose"]);
    check("lactose-free milk", expect!["lactose-free milk | claims no lactose"]);
    check("lactose free", expect!["lactose free | claims no lactose"]);
    check("nickel-free earrings", expect!["nickel-free earrings | claims no nickel"]);
    check("nickel free earrings", expect!["nickel free earrings | claims no nickel"]);
    check("earrings nickel free", expect!["earrings nickel free | claims no nickel"]);
    check("earrings free of nickel", expect!["earrings free nickel | claims no nickel"]);
    check("earrings free from nickel", expect!["earrings free nickel | claims no nickel"]);
    check(
        "earrings that are free of any nickel",
        expect!["earrings free nickel | claims no nickel"],
    );
    check("sugar-free gum", expect!["sugar-free gum | claims no sugar"]);
    check("gluten free bread", expect!["gluten free bread | claims no gluten"]);
    check("Leather-Free shoes", expect!["Leather-Free shoes | claims no leather"]);
    check("palm oil free spread", expect!["palm oil free spread | claims no palm oil"]);
    check("palm-oil-free spread", expect!["palm-oil-free spread | claims no palm oil"]);
    check("teflonium-free pan", expect!["teflonium-free pan | claims no teflonium"]);
    check("nuts free granola", expect!["nuts free granola | claims no nut"]);
    check("nickel-freie ohrringe", expect!["nickel-freie ohrringe | claims no nickel"]);
    check("ohrringe frei von nickel", expect!["ohrringe frei von nickel | claims no nickel"]);
    check("pan libre de gluten", expect!["pan libre de gluten | claims no gluten"]);
}

#[test]
fn lists_of_claims() {
    check(
        "gluten and dairy free cookies",
        expect!["gluten dairy free cookies | claims no gluten; claims no dairy"],
    );
    check(
        "gluten-free and dairy-free cookies",
        expect!["gluten-free dairy-free cookies | claims no gluten; claims no dairy"],
    );
    check(
        "gluten, dairy and soy free cookies",
        expect![
            "gluten, dairy soy free cookies | claims no gluten; claims no dairy; claims no soy"
        ],
    );
    check(
        "earrings free of lead and nickel",
        expect!["earrings free lead nickel | claims no lead; claims no nickel"],
    );
    check(
        "sugar free gum without mint under $5",
        expect!["sugar free gum | price < 5 USD; claims no sugar; not mint"],
    );
}

#[test]
fn a_negated_claim_excludes_products_that_make_it() {
    check("gum not sugar free", expect!["gum | not sugar free"]);
    check("gum not sugar-free", expect!["gum | not sugar free"]);
    abstains(&["earrings not free of nickel"]);
}

/// Long because each query is a line.
#[test]
fn names_that_look_like_claims_are_ignored() {
    abstains(&[
        "duty free bag",
        "duty-free bag",
        "hands free",
        "hands free car kit",
        "hands-free",
        "hands-free breast pump",
        "handsfree",
        "free standing",
        "free standing mirror",
        "free-standing bath",
        "freestanding bath",
        "free shipping",
        "leather bag free shipping",
        "leather free shipping",
        "free size",
        "cotton free size dress",
        "free people",
        "free people dress",
        "tax free",
        "tax-free",
        "carefree",
        "care free",
        "care-free curl",
        "toll free",
        "royalty free music",
        "royalty-free",
        "free range eggs",
        "egg free range",
        "nike free run",
        "nike free",
        "buy one get one free",
        "buy 2 get 1 free",
        "2 for 1 free",
        "books free",
        "free books",
        "free",
        "free of charge",
        "free from charge delivery",
        "hassle free",
        "stress-free",
        "wrinkle free shirt",
        "wrinkle-free shirt",
        "frost free fridge",
        "frost-free fridge",
        "wire free bra",
        "wire-free bra",
        "tool-free assembly",
        "maintenance-free battery",
        "tangle free leash",
        "smoke free grill",
        "fancy free",
        "feel free",
        "scot-free",
        "rust-free",
        "flicker-free light",
        "born free",
        "freedom",
        "x-free",
        "nickel -free",
    ]);
}

#[test]
fn the_shop_decides_about_unlisted_words() {
    let read = |knows: &dyn Fn(&str) -> bool| {
        ParseOptions::default().parse("teflonium free pan", knows).exclusions.len()
    };
    assert_eq!(read(&|_| false), 0);
    assert_eq!(read(&|word| word == "tefloniumfree"), 1);
}

#[test]
fn claims_can_be_switched_off() {
    let off = ParseOptions { exclusions: false, ..ParseOptions::default() };
    let read = off.parse("nickel-free earrings", &|_| false);
    assert!(read.exclusions.is_empty());
    assert_eq!(read.residual, "nickel-free earrings");
}

#[test]
fn a_claim_matches_every_form_that_products_use() {
    let ways = |query: &str| {
        let words = parse(query).terms();
        let shown = |way: &Alternative| way.words.join(if way.all { "+" } else { "," });
        let ways = words
            .terms()
            .iter()
            .map(|term| term.alternatives.iter().map(shown).collect::<Vec<_>>().join("|"));
        ways.collect::<Vec<_>>().join(" ")
    };
    // "free" alone is not asked for: "free shipping" is no claim.
    assert_eq!(ways("nickel-free earrings"), "nickelfree|nickel earring");
    assert_eq!(ways("nickel free earrings"), "nickel|nickelfree earring");
    assert_eq!(ways("earrings free of nickel"), "earring|earringsfree nickel|nickelfree");
}

#[test]
fn products_that_negate_the_word_are_allowed() {
    let parsed = parse("nickel-free earrings");
    for text in ["Nickel-free hoops", "Studs", "Hoops free of nickel", "Hoops. No nickel!"] {
        assert!(parsed.allows("Earrings", text, ""), "{text}");
    }
    for text in ["Nickel hoops", "Nickel-free hooks, nickel body"] {
        assert!(!parsed.allows("Earrings", text, ""), "{text}");
    }
}
