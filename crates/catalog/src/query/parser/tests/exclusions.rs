//! Exclusions.

use expect_test::expect;

use super::check;

#[test]
fn negations_exclude_the_next_word() {
    check("shoes without leather", expect!["shoes | not leather"]);
    check("shoes not black", expect!["shoes | not black"]);
    check("cereal no sugar", expect!["cereal | not sugar"]);
    check("non-leather shoes", expect!["shoes | not leather"]);
    check("non leather shoes", expect!["shoes | not leather"]);
    check("headphones except sony", expect!["headphones | not sony"]);
    check("headphones excluding sony", expect!["headphones | not sony"]);
    check("headphones but not sony", expect!["headphones | not sony"]);
    check("headphones other than sony", expect!["headphones | not sony"]);
    check("headphones anything but sony", expect!["headphones | not sony"]);
    check("dress -red", expect!["dress | not red"]);
    check("-red dress", expect!["dress | not red"]);
    check("dress w/o sleeves", expect!["dress | not sleeve"]);
    check("shoes without any leather", expect!["shoes | not leather"]);
    check("jacket without a hood", expect!["jacket | not hood"]);
    check("shoes not made of leather", expect!["shoes | not leather"]);
    check("shoes not in black", expect!["shoes | not black"]);
    check("tv not by samsung", expect!["tv | not samsung"]);
    check("cereal with no sugar", expect!["cereal | not sugar"]);
    check("cereal that has no sugar", expect!["cereal | not sugar"]);
    check("i don't want leather shoes", expect!["shoes | not leather"]);
    check("shoes, no laces", expect!["shoes | not lace"]);
    check("not black shoes", expect!["shoes | not black"]);
    check("no sugar cereal", expect!["cereal | not sugar"]);
    check("without leather shoes", expect!["shoes | not leather"]);
    check("dress -polka-dot", expect!["dress | not polka dot"]);
    check("yoga mat that doesn't contain latex", expect!["yoga mat | not latex"]);
    check("chocolate not containing nuts", expect!["chocolate | not nut"]);
    check("phones that aren't apple", expect!["phones | not apple"]);
    check("find a bag without leather", expect!["bag | not leather"]);
    check("i need a jacket with no hood", expect!["jacket | not hood"]);
    check("show me a watch not made in china", expect!["watch | not china"]);
    check("boots that are not brown", expect!["boots | not brown"]);
}

#[test]
fn lists_exclude_each() {
    check("shoes not leather or suede", expect!["shoes | not leather; not suede"]);
    check("snack no nuts and no gluten", expect!["snack | not nut; not gluten"]);
    check("snack without nuts or gluten", expect!["snack | not nut; not gluten"]);
    check("snack without nuts and gluten", expect!["snack | not nut; not gluten"]);
    check("shoes not black and waterproof", expect!["shoes waterproof | not black"]);
    check(
        "bag without leather or fur under $50",
        expect!["bag | price < 50 USD; not leather; not fur"],
    );
    check("shoes not black, not white", expect!["shoes | not black; not white"]);
    check("shoes -red -blue", expect!["shoes | not red; not blue"]);
    check("denim look with no zip and loads of give", expect!["denim look loads give | not zip"]);
}

#[test]
fn phrases_of_two_words() {
    check("spread with no palm oil for sandwiches", expect!["spread sandwiches | not palm oil"]);
    check("spread no palm oil", expect!["spread | not palm oil"]);
    check("shoes without leather soles", expect!["shoes | not leather sole"]);
    check("jacket without faux fur", expect!["jacket | not faux fur"]);
    check("bag not dark blue", expect!["bag | not dark blue"]);
    check("shoes without laces black", expect!["shoes black | not lace"]);
    check("jacket without hood for men", expect!["jacket men | not hood"]);
}

#[test]
fn with_prices() {
    check(
        "red shoes under $50 without leather",
        expect!["red shoes | price < 50 USD; not leather"],
    );
    check("headphones not sony under 100", expect!["headphones | price < 100; not sony"]);
    check("no more than $50 no leather bag", expect!["bag | price <= 50 USD; not leather"]);
    check(
        "cheapest phone not samsung over 200",
        expect!["phone | price > 200; not samsung; cheapest first"],
    );
}
