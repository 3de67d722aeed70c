//! Writes that are expensive to index.

use std::thread;

use serde_json::{Value, json};
use testkit::{BULK, Role, SEARCH, TestServer, product, product_named};

/// One character that is 18 when normalised.
const EXPANDING: &str = "\u{FDFA}";

/// Products with the longest descriptions that fit into one request.
fn expanding_products() -> Vec<Value> {
    let description = format!("marker {}", EXPANDING.repeat(19_900));
    let product = json!({"title": "Rug", "price": "$5", "description": description});
    vec![product; 69]
}

#[test]
fn texts_that_expand_are_visible_once_written() {
    let server = TestServer::start(&[]);
    let (heavy, other) = (server.shop(), server.shop());
    let (heavy, other) = (heavy.as_role(Role::Editor), other.as_role(Role::Editor));
    // Both in memory.
    for client in [&heavy, &other] {
        client.create(product_named("Lamp"));
        client.find("lamp");
    }
    let body = json!({"products": expanding_products()});
    thread::scope(|scope| {
        scope.spawn(|| {
            heavy.post(BULK, body).expect(201);
            let found = heavy.post(SEARCH, json!({"query": "marker"})).expect(200);
            assert_eq!(found.body["total"], 69);
        });
        for _ in 0..5 {
            let lamp = other.create(product_named("Reading lamp"));
            assert!(other.find("lamp").contains(&lamp));
        }
    });
}

#[test]
fn a_product_with_a_long_text_is_hidden_and_shown() {
    let shop = TestServer::start(&[]).shop();
    let editor = shop.as_role(Role::Editor);
    let long = editor.create(expanding_products()[0].clone());
    for hidden in [true, false, true] {
        editor.put(&product(long), json!({"hidden": hidden})).expect(200);
        let expected: &[u64] = if hidden { &[] } else { &[long] };
        assert_eq!(editor.find("marker"), expected);
    }
}
