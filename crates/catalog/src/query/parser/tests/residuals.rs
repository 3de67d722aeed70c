//! Sort orders, stop words, and the residual text.

use expect_test::expect;

use super::check;

#[test]
fn sort_hints() {
    check("cheapest laptop", expect!["laptop | cheapest first"]);
    check("the cheapest running shoes", expect!["running shoes | cheapest first"]);
    check("least expensive tv", expect!["tv | cheapest first"]);
    check("most expensive watch", expect!["watch | dearest first"]);
    check("priciest watch", expect!["watch | dearest first"]);
    check("newest iphone", expect!["iphone | newest first"]);
    check("latest samsung phone", expect!["samsung phone | newest first"]);
    check("most recent books", expect!["books | newest first"]);
    check("new arrivals dresses", expect!["dresses | newest first"]);
    check("laptops price low to high", expect!["laptops | cheapest first"]);
    check("laptops high to low", expect!["laptops | dearest first"]);
    check("cheapest and newest phone", expect!["newest phone | cheapest first"]);
    check("cheapest laptop under $500", expect!["laptop | price < 500 USD; cheapest first"]);
}

#[test]
fn conversational_phrases_are_removed() {
    check("i am looking for a red sofa", expect!["red sofa |"]);
    check("I'm looking for something to sit on", expect!["sit |"]);
    check("do you have umbrellas", expect!["umbrellas |"]);
    check("something to keep coffee hot", expect!["keep coffee hot |"]);
    check("a gift for my wife", expect!["gift wife |"]);
    check("show me lamps please", expect!["lamps |"]);
    check("can you find me a blue kettle", expect!["blue kettle |"]);
    check("i would like to buy a lamp under $40", expect!["lamp | price < 40 USD"]);
    check(
        "help me find a birthday present under 30 euros",
        expect!["birthday present | price < 30 EUR"],
    );
    check("do you sell wd-40", expect!["wd-40 |"]);
    check("have you got any AA batteries?", expect!["AA batteries? |"]);
}

#[test]
fn a_condition_alone_leaves_nothing() {
    check("under $20", expect![" | price < 20 USD"]);
    check("something under $20", expect![" | price < 20 USD"]);
    check("show me something under 20 please", expect![" | price < 20"]);
    check("cheapest", expect![" | cheapest first"]);
    check("without leather", expect![" | not leather"]);
    check("anything between $5 and $10?", expect![" | 5 <= price <= 10 USD"]);
}

#[test]
fn names_keep_their_shape() {
    check("state-of-the-art headphones", expect!["state-of-the-art headphones |"]);
    check(
        "plug-and-play usb-c hub, under $30",
        expect!["plug-and-play usb-c hub | price < 30 USD"],
    );
    check("T-Shirt (blue), under $20!", expect!["T-Shirt (blue) | price < 20 USD"]);
    check("the who", expect!["the who |"]);
    check("to be or not to be", expect!["not |"]);
    check("AC/DC t-shirt under 30", expect!["AC/DC t-shirt | price < 30"]);
    check("red   shoes", expect!["red   shoes |"]);
}
