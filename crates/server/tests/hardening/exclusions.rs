//! Exclusions are exact, and read a bounded number of texts, whatever boilerplate products have.

use serde_json::{Value, json};
use testkit::{BULK, Client, Role, SEARCH, TestServer};

/// Words that deny others in the description of every product: "free", "no", "without".
const BOILERPLATE: &str =
    "Free shipping on all orders, no questions asked, returns without a fuss.";
const FILLER: &str = "A shirt for every day that keeps its shape and its colour, wash after wash. \
    Cut wide, with a collar of its own kind and buttons that stay where they are.";

fn is_long() -> bool {
    std::env::var("HARDENING").is_ok_and(|form| form == "long")
}

/// What the product of this number is made of: a third is of cotton, a third says that it is not,
/// and a third says nothing of it.
fn material(number: usize) -> &'static str {
    ["Made of cotton.", "It is cotton-free.", "Made of wool."][number % 3]
}

fn fill(editor: &Client, count: usize) {
    for first in (0..count).step_by(100) {
        let one = |number: usize| {
            let description = format!("{FILLER} {} {BOILERPLATE}", material(number));
            json!({"title": format!("Shirt {number}"), "description": description, "price": "$20"})
        };
        let products: Vec<Value> = (first..count.min(first + 100)).map(one).collect();
        editor.post(BULK, json!({"products": products})).expect(201);
    }
}

#[test]
fn boilerplate_leaves_no_exclusion_undecided() {
    let shop = TestServer::start(&[]).shop();
    let editor = shop.as_role(Role::Editor);
    let count = if is_long() { 20_000 } else { 3_000 };
    fill(&editor, count);
    for query in ["shirt not cotton", "not cotton", "shirt without cotton under $50"] {
        let answer = editor.post(SEARCH, json!({"query": query})).expect(200);
        assert_eq!(answer.body["total"], count - count.div_ceil(3), "{query}");
        assert_eq!(answer.body["total_is_exact"], Value::Null, "{query}");
    }
}

#[test]
fn where_texts_decide_a_bounded_number_is_read_and_no_condition_is_broken() {
    let shop = TestServer::start(&[]).shop();
    let editor = shop.as_role(Role::Editor);
    let count = 1_300;
    for first in (0..count).step_by(100) {
        let one = |number: usize| {
            let description = match number % 2 {
                0 => "Dark leather throughout",
                _ => "Leather laces and a dark sole",
            };
            json!({"title": format!("Shoe {number}"), "description": description, "price": "$20"})
        };
        let products: Vec<Value> = (first..first + 100).map(one).collect();
        editor.post(BULK, json!({"products": products})).expect(201);
    }
    for query in ["shoe without dark leather", "without dark leather"] {
        let answer = editor.post(SEARCH, json!({"query": query, "limit": 50})).expect(200);
        assert_eq!(answer.body["total_is_exact"], false, "{query}");
        let total = answer.body["total"].as_u64().unwrap();
        assert!((400..=650).contains(&total), "{query}: {total}");
        let products = answer.body["products"].as_array().unwrap();
        assert_eq!(products.len(), 50, "{query}");
        let allowed = |product: &Value| product["description"] == "Leather laces and a dark sole";
        assert!(products.iter().all(allowed), "{query}");
    }
}
