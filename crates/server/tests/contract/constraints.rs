//! Conditions written in the query: no result ever breaks one, and the answer says what was read.

use serde_json::{Value, json};
use testkit::{
    Answer, Client, NO_IDS, Role, SEARCH, Shop, TestServer, editor, product, product_named,
};

use crate::snapshot::snapshot;

fn priced(title: &str, price: &str) -> Value {
    json!({"title": title, "price": price})
}

fn described(title: &str, description: &str) -> Value {
    json!({"title": title, "description": description, "price": "$5"})
}

/// The ids that a query finds, ascending; the total must be their number.
fn found(client: &Client, body: Value) -> Vec<u64> {
    let mut ids = in_order(&client.post(SEARCH, body).expect(200));
    ids.sort_unstable();
    ids
}

fn in_order(answer: &Answer) -> Vec<u64> {
    let ids = answer.ids();
    assert_eq!(answer.body["total"], ids.len());
    ids
}

#[test]
fn a_price_is_kept_exactly_and_in_its_currency() {
    let (_shop, editor) = editor();
    let sofa = |price: &str| editor.create(priced("Sofa", price));
    let cheap = sofa("$19.99");
    let nearly = sofa("$899.99");
    let exactly = sofa("$900.00");
    let above = sofa("$900.01");
    let euro = sofa("€100");
    let lamp = editor.create(priced("Lamp", "$5"));
    for (query, expected) in [
        ("sofa under $900", &[cheap, nearly][..]),
        ("sofa under nine hundred dollars", &[cheap, nearly]),
        ("sofa up to $900", &[cheap, nearly, exactly]),
        ("sofa up to 900", &[cheap, nearly, exactly, euro]),
        ("sofa under 900 euros", &[euro]),
        ("sofa over $900", &[above]),
        ("sofa at least $900", &[exactly, above]),
        ("sofa between $899.99 and $900", &[nearly, exactly]),
        ("sofa over $20 under $900.01", &[nearly, exactly]),
        ("sofa about $1000", &[nearly, exactly, above]),
        ("sofa under twenty dollars", &[cheap]),
        ("sofa under $1", &[]),
        ("under $20", &[cheap, lamp]),
    ] {
        assert_eq!(found(&editor, json!({"query": query})), expected, "{query}");
    }
    let edit = json!({"price": "$950"});
    editor.put(&product(cheap), edit).expect(200);
    assert_eq!(found(&editor, json!({"query": "sofa under $900"})), [nearly], "a changed price");
}

#[test]
fn excluded_products_are_neither_returned_nor_counted() {
    let (_shop, editor) = editor();
    let create = |title: &str, text: &str| editor.create(described(title, text));
    let leather = create("Brown shoe", "Made of leather.");
    let in_title = create("Leather shoe", "Brown.");
    let canvas = create("Canvas shoe", "Light.");
    let denied = create("Vegan shoe", "Leather-free, with no leather at all.");
    let both = create("Odd shoe", "No leather lining, but leather outside.");
    let rubber = create("Shoe", "Leather, with a rubber sole.");
    let sole = create("Shoe", "With a leather sole.");
    let without = json!({"query": "shoe without leather"});
    assert_eq!(found(&editor, without), [canvas, denied]);
    assert_eq!(
        found(&editor, json!({"query": "shoes without leather soles"})),
        [leather, in_title, canvas, denied, both, rubber]
    );
    assert_eq!(found(&editor, json!({"query": "shoe -canvas -leather"})), [denied]);
    let off = json!({"query": "shoe without leather", "understand": {"exclusions": false}});
    assert_eq!(found(&editor, off).len(), 7);
    let edit = json!({"description": "Of cork."});
    editor.put(&product(sole), edit).expect(200);
    let without = json!({"query": "shoe without leather"});
    assert_eq!(found(&editor, without), [canvas, denied, sole], "a changed text");
}

#[test]
fn product_names_are_not_parsed_as_conditions() {
    let (_shop, editor) = editor();
    let shoes = editor.create(priced("Under Armour running shoes", "$120"));
    let socks = editor.create(priced("No show socks", "$9"));
    for (query, id) in [("under armour shoes", shoes), ("no show socks", socks)] {
        let answer = editor.post(SEARCH, json!({"query": query})).expect(200);
        assert_eq!(answer.ids(), [id]);
        let mut understood = answer.body["understood"].clone();
        understood.as_object_mut().unwrap().remove("category");
        assert_eq!(
            understood,
            json!({"constraints": [], "exclusions": [], "sort": null, "corrections": [],
                "attributes": [], "residual": query})
        );
    }
}

#[test]
fn each_kind_of_condition_can_be_switched_off() {
    let (_shop, editor) = editor();
    let cheap = editor.create(priced("Sofa", "$20"));
    let dear = editor.create(priced("Sofa under 900", "$2000"));
    let query = "sofa under 900";
    assert_eq!(found(&editor, json!({"query": query})), [cheap]);
    for switches in [json!({}), json!({"price": true}), json!({"exclusions": false})] {
        let body = json!({"query": query, "understand": switches});
        assert_eq!(found(&editor, body), [cheap]);
    }
    let off = json!({"query": query, "understand": {"price": false}});
    let answer = editor.post(SEARCH, off).expect(200);
    assert_eq!(in_order(&answer), [dear, cheap], "the words are searched for");
    assert_eq!(answer.body["understood"]["constraints"], json!([]));
    let cheapest = json!({"query": "cheapest sofa", "understand": {"sort": false}});
    let answer = editor.post(SEARCH, cheapest).expect(200);
    assert_eq!(answer.body["understood"]["sort"], Value::Null);
}

#[test]
fn a_query_of_conditions_only_lists_matches_newest_first() {
    let shop = Shop::open();
    let editor = shop.as_role(Role::Editor);
    let lamp = editor.create(priced("Lamp", "$5"));
    let sofa = editor.create(priced("Sofa", "$500"));
    let rug = editor.create(priced("Rug", "$15"));
    let hidden = editor.create(json!({"title": "Mug", "price": "$4", "hidden": true}));
    let search = |body: Value| in_order(&editor.post(SEARCH, body).expect(200));
    for query in ["under $20", "show me something under 20 please", "newest under $20", "?! <$20"] {
        assert_eq!(search(json!({"query": query})), [rug, lamp], "{query}");
    }
    let all = json!({"query": "under $20", "include_hidden": true});
    assert_eq!(search(all), [hidden, rug, lamp]);
    assert_eq!(shop.as_role(Role::Shopper).find("under $20"), [rug, lamp]);
    assert_eq!(search(json!({"query": "cheapest"})), [lamp, rug, sofa]);
    assert_eq!(search(json!({"query": "anything without leather"})), [rug, sofa, lamp]);
}

#[test]
fn hidden_products_stay_out_whatever_they_cost() {
    let shop = Shop::open();
    let editor = shop.as_role(Role::Editor);
    let shown = editor.create(priced("Kettle", "$20"));
    let hidden = editor.create(json!({"title": "Kettle", "price": "$10", "hidden": true}));
    for query in ["kettle under $50", "cheapest kettle", "kettle without leather", "under $50"] {
        assert_eq!(shop.as_role(Role::Shopper).find(query), [shown], "{query}");
        let all = json!({"query": query, "include_hidden": true});
        assert_eq!(found(&editor, all), [shown, hidden], "{query}");
    }
}

#[test]
fn an_order_is_kept_within_what_matches() {
    let (_shop, editor) = editor();
    let middle = editor.create(priced("Phone", "$200"));
    let cheap = editor.create(priced("Phone", "$99.90"));
    let dear = editor.create(priced("Phone", "$1,000"));
    editor.create(priced("Lamp", "$1"));
    for (query, expected) in [
        ("cheapest phone", [cheap, middle, dear]),
        ("most expensive phone", [dear, middle, cheap]),
        ("newest phone", [dear, cheap, middle]),
    ] {
        let answer = editor.post(SEARCH, json!({"query": query})).expect(200);
        assert_eq!(in_order(&answer), expected, "{query}");
    }
    let answer = editor.post(SEARCH, json!({"query": "cheapest phone over $100"})).expect(200);
    assert_eq!(in_order(&answer), [middle, dear]);
}

#[test]
fn pages_of_a_condition_follow_each_other_without_gap_or_repeat() {
    // Without a model: its better vectors arrive between two pages, as a write might.
    let server = TestServer::start(&[]);
    let editor = server.shop().as_role(Role::Editor);
    for round in 0..40 {
        let title = format!("Lamp{}", " of brass".repeat(round % 4));
        editor.create(priced(&title, &format!("${}", round % 13 + 1)));
    }
    for query in ["lamp under $10", "under $10", "cheapest lamp under $10", "lamp under $10 -oak"] {
        let page = |limit: usize, offset: usize| {
            let body = json!({"query": query, "limit": limit, "offset": offset});
            let answer = editor.post(SEARCH, body).expect(200);
            assert_eq!(answer.body["total"], 28, "{query}");
            answer.ids()
        };
        let whole = page(50, 0);
        assert_eq!(whole.len(), 28);
        let paged: Vec<_> = (0..28).step_by(5).flat_map(|offset| page(5, offset)).collect();
        assert_eq!(paged, whole, "{query}");
        assert_eq!(page(5, 28), NO_IDS);
    }
}

#[test]
fn the_answer_reports_how_the_query_was_parsed() {
    let (_shop, editor) = editor();
    editor.create(product_named("Red shoe"));
    let query = "I'm looking for the cheapest réd shoes between $4 and $50 without leather";
    let answer = editor.post(SEARCH, json!({"query": query})).expect(200);
    assert_eq!(answer.body["total"], 1);
    snapshot("search_understood", &answer);
}

#[test]
fn a_language_other_than_english_is_reported() {
    let (_shop, editor) = editor();
    editor.create(product_named("Red shoe"));
    for (query, language) in [
        ("schuhe unter 50 Euro", json!("de")),
        ("chaussures à moins de 50 euros", json!("fr")),
        ("zapatos sin cuero", json!("es")),
        ("buty poniżej 100 zł", json!("pl")),
        ("1万円以下の椅子", json!("ja")),
        ("red shoes without leather", Value::Null),
        ("sofa", Value::Null),
    ] {
        let answer = editor.post(SEARCH, json!({"query": query})).expect(200);
        let understood = answer.body["understood"].as_object().unwrap();
        assert_eq!(understood.get("language").cloned().unwrap_or_default(), language, "{query}");
        assert_eq!(understood.contains_key("language"), !language.is_null(), "{query}");
    }
}
