//! `POST /products/upsert`: products by key, created or changed.

use std::thread;

use serde_json::{Value, json};
use testkit::{Answer, Client, PRODUCTS, RequestExt, Role, Shop, editor, product, product_named};

use crate::snapshot::snapshot;

const UPSERT: &str = "/api/v1/products/upsert";

fn upsert(client: &Client, elements: Value) -> Value {
    client.post(UPSERT, json!({"products": elements})).expect(200).body
}

fn keyed(key: &str) -> Value {
    json!({"key": key, "title": format!("Product {key}"), "price": "$5"})
}

#[test]
fn an_unknown_key_creates_and_a_known_one_changes() {
    let (_shop, editor) = editor();
    let held = editor.create(keyed("A"));
    let before = editor.get(&product(held)).expect(200).body;
    let body = json!({"products": [
        keyed("B"),
        {"key": "A", "price": "$7", "attributes": {"color": "red"}},
        {"key": "C", "title": "No price"},
        {"key": "D"},
        {"title": "No key", "price": "$5"},
        {"key": "E", "title": " ", "price": "$5", "colour": 1},
        7,
    ]});
    let answer = editor.post(UPSERT, body).expect(200);
    snapshot("upsert", &answer);
    let body = answer.body;
    assert_eq!((&body["created_count"], &body["updated_count"]), (&json!(1), &json!(1)));
    assert_eq!(body["updated_ids"], json!([held]));
    let fault = |fault: &Value| {
        let text = |name: &str| fault.get(name).map_or("-", |value| value.as_str().unwrap());
        format!("{} {} {} {}", fault["index"], text("key"), text("field"), text("code"))
    };
    let faults: Vec<_> = body["errors"].as_array().unwrap().iter().map(fault).collect();
    assert_eq!(
        faults,
        [
            "2 C price required",
            "3 D title required",
            "3 D price required",
            "4 - key required",
            "5 E title blank",
            "5 E colour unknown_field",
            "6 - - wrong_type",
        ]
    );
    let after = editor.get(&product(held)).expect(200).body;
    assert_eq!((&after["title"], &after["created_at"]), (&before["title"], &before["created_at"]));
    assert_eq!((&after["price"], &after["attributes"]), (&json!("$7"), &json!({"color": "red"})));
    let created = body["created_ids"][0].as_u64().unwrap();
    assert_eq!(editor.get(&product(created)).expect(200).body["key"], "B");
    assert_eq!(editor.find("product b"), [created, held], "and is found at once");
    assert_eq!(editor.get(PRODUCTS).total_count(), 2);
}

#[test]
fn elements_with_one_key_are_applied_in_order() {
    let (_shop, editor) = editor();
    let body = upsert(
        &editor,
        json!([
            {"key": "A", "price": "$1"},
            keyed("A"),
            {"key": "A", "price": "$2"},
            {"key": "A"},
            {"key": "A", "title": "Last"},
        ]),
    );
    let id = body["created_ids"][0].as_u64().unwrap();
    assert_eq!(body["created_ids"], json!([id]));
    assert_eq!(body["updated_ids"], json!([id, id, id]));
    assert_eq!(body["errors"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&body["errors"][0]["index"], &body["errors"][0]["field"]),
        (&json!(0), &json!("title"))
    );
    let found = editor.get(&product(id)).expect(200).body;
    assert_eq!((&found["title"], &found["price"]), (&json!("Last"), &json!("$2")));
}

fn send(client: &Client, key: &str, body: &Value) -> Answer {
    client.request("POST", UPSERT).header("idempotency-key", key).json(body).answer()
}

#[test]
fn a_repeated_upsert_gets_the_first_answer() {
    let (_shop, editor) = editor();
    let body = json!({"products": [keyed("A"), {"key": "B"}]});
    let first = send(&editor, "sync-1", &body).expect(200);
    let id = first.body["created_ids"][0].as_u64().unwrap();
    editor.put(&product(id), json!({"title": "Changed since"})).expect(200);
    let again = send(&editor, "sync-1", &body);
    assert_eq!((again.status, &again.text), (200, &first.text));
    assert_eq!(editor.get(&product(id)).expect(200).body["title"], "Changed since");
    send(&editor, "sync-1", &json!({"products": [keyed("B")]})).refused(409, "conflict");
    // A key stands for one kind of request.
    let bulk = editor.request("POST", testkit::BULK).header("idempotency-key", "sync-1");
    bulk.json(&body).answer().refused(409, "conflict");
    let later = send(&editor, "sync-2", &body).expect(200).body;
    assert_eq!(later["updated_ids"], json!([id]));
    send(&editor, "", &body).faults(&["Idempotency-Key invalid_key"]);
}

#[test]
fn the_same_upsert_many_times_at_once_creates_one_product() {
    let (_shop, editor) = editor();
    let counts: Vec<_> = thread::scope(|scope| {
        let send = || upsert(&editor, json!([keyed("A")]))["created_count"].as_u64().unwrap();
        let sending: Vec<_> = (0..16).map(|_| scope.spawn(send)).collect();
        sending.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(counts.iter().sum::<u64>(), 1, "{counts:?}");
    assert_eq!(editor.get(PRODUCTS).total_count(), 1);
}

#[test]
fn an_upsert_is_for_editors_and_for_their_shop() {
    let (shop, editor) = editor();
    let body = json!({"products": [keyed("A")]});
    for role in [Role::Shopper, Role::Viewer] {
        shop.as_role(role).post(UPSERT, body.clone()).refused(403, "insufficient_role");
    }
    let theirs = upsert(&Shop::open().as_role(Role::Editor), json!([keyed("A")]));
    assert_eq!(theirs["created_count"], 1);
    assert_eq!(editor.get(PRODUCTS).total_count(), 0);
    editor.get(UPSERT).refused(405, "method_not_allowed");
    shop.as_role(Role::Admin).post("/v1/products/upsert", body).expect(200);
}

#[test]
fn too_many_none_or_no_elements_are_refused() {
    let (_shop, editor) = editor();
    let elements = |count: usize| (0..count).map(|n| keyed(&n.to_string())).collect::<Vec<_>>();
    assert_eq!(upsert(&editor, json!(elements(100)))["created_count"], 100);
    for (body, fault) in [
        (json!({"products": elements(101)}), "products too_many"),
        (json!({"products": []}), "products empty"),
        (json!({"products": {}}), "products wrong_type"),
        (json!({}), "products required"),
        (json!({"products": [keyed("x")], "dry_run": true}), "dry_run unknown_field"),
    ] {
        editor.post(UPSERT, body).faults(&[fault]);
    }
    editor.post(UPSERT, json!([product_named("x")])).faults(&["- wrong_type"]);
    assert_eq!(editor.get(PRODUCTS).total_count(), 100);
}
