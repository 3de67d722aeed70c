//! Bulk requests: good elements succeed although others fail, and the answer says which.

use serde_json::{Value, json};
use testkit::{BULK, Client, PRODUCTS, RequestExt, Role, Shop, editor, product, product_named};

use crate::snapshot::snapshot;

/// The faults of a bulk answer, each as `index field code`.
fn faults(body: &Value) -> Vec<String> {
    let fault = |fault: &Value| {
        assert!(fault["message"].as_str().is_some_and(|message| !message.is_empty()));
        let field = fault.get("field").map_or("-", |field| field.as_str().unwrap());
        format!("{} {field} {}", fault["index"], fault["code"].as_str().unwrap())
    };
    body["errors"].as_array().unwrap().iter().map(fault).collect()
}

fn titles(client: &Client) -> Vec<String> {
    let list = client.get(PRODUCTS).expect(200).body;
    list.as_array().unwrap().iter().map(|p| p["title"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn all_good_products_are_created_in_order() {
    let (_shop, editor) = editor();
    let body =
        json!({"products": [product_named("One"), product_named("Two"), product_named("Three")]});
    let answer = editor.post(BULK, body).expect(201);
    snapshot("bulk_create", &answer);
    let listed = editor.get(PRODUCTS);
    assert_eq!(answer.body["created_ids"], json!(listed.ids()));
    assert_eq!(titles(&editor), ["One", "Two", "Three"]);
}

#[test]
fn good_products_are_created_although_others_fail() {
    let (_shop, editor) = editor();
    let body = json!({"products": [
        product_named("Good"),
        {"title": " ", "price": 5, "colour": "red"},
        7,
        {"id": 99, "title": "Also good", "price": "19,99 €", "hidden": true},
        {"id": 99, "title": "No price"},
        null,
    ]});
    let answer = editor.post(BULK, body).expect(201);
    snapshot("bulk_create_with_errors", &answer);
    assert_eq!(
        faults(&answer.body),
        [
            "1 title blank",
            "1 price invalid_price",
            "1 colour unknown_field",
            "2 - wrong_type",
            "4 price required",
            "5 - wrong_type",
        ]
    );
    let errors = answer.body["errors"].as_array().unwrap();
    assert!(errors.iter().all(|error| error.get("id").is_none()));
    assert_eq!(titles(&editor), ["Good", "Also good"]);
}

#[test]
fn a_bulk_create_of_bad_products_alone_creates_none() {
    let (_shop, editor) = editor();
    let answer = editor.post(BULK, json!({"products": [{}]})).expect(201);
    assert_eq!(answer.body["created_count"], 0);
    assert_eq!(answer.body["created_ids"], json!([]));
    assert_eq!(faults(&answer.body), ["0 title required", "0 price required"]);
    assert_eq!(editor.get(PRODUCTS).total_count(), 0);
}

#[test]
fn good_updates_happen_although_others_fail() {
    let (_shop, editor) = editor();
    let ids = editor.create_all(["One", "Two", "Three"].map(String::from));
    let body = json!({"products": [
        {"id": ids[2], "title": "Third"},
        {"id": ids[1], "title": "", "price": "$"},
        {"id": 999_999_999, "title": "Nothing"},
        {"title": "Whose?"},
        {"id": ids[0], "hidden": true, "price": "$7"},
        {"id": ids[0]},
        {"id": "1", "hidden": true},
        {"id": 0, "hidden": true},
        "x",
    ]});
    let answer = editor.put(BULK, body).expect(200);
    snapshot("bulk_update_with_errors", &answer);
    assert_eq!(answer.body["updated_count"], 2);
    assert_eq!(answer.body["updated_ids"], json!([ids[2], ids[0]]));
    assert_eq!(
        faults(&answer.body),
        [
            "1 title blank",
            "1 price invalid_price",
            "2 - not_found",
            "3 id required",
            "5 - no_change",
            "6 id wrong_type",
            "7 id out_of_range",
            "8 - wrong_type",
        ]
    );
    let errors = answer.body["errors"].as_array().unwrap();
    let named: Vec<_> =
        errors.iter().map(|error| error.get("id").and_then(Value::as_u64)).collect();
    let (one, two) = (Some(ids[0]), Some(ids[1]));
    assert_eq!(named, [two, two, Some(999_999_999), None, one, None, None, None]);
    assert_eq!(titles(&editor), ["One", "Two", "Third"]);
    let first = editor.get(&product(ids[0])).body;
    assert_eq!((&first["hidden"], &first["price"]), (&json!(true), &json!("$7")));
}

#[test]
fn the_same_product_twice_is_updated_in_order() {
    let (_shop, editor) = editor();
    let id = editor.create(product_named("Start"));
    let body = json!({"products": [
        {"id": id, "title": "First", "price": "$1"},
        {"id": id, "title": "Second"},
        {"id": id, "description": "Third"},
    ]});
    let answer = editor.put(BULK, body).expect(200);
    assert_eq!(answer.body["updated_count"], 3);
    assert_eq!(answer.body["updated_ids"], json!([id, id, id]));
    let product = editor.get(&product(id)).body;
    assert_eq!(
        (&product["title"], &product["price"], &product["description"]),
        (&json!("Second"), &json!("$1"), &json!("Third"))
    );
}

#[test]
fn a_bulk_delete_counts_what_was_there_once() {
    let (_shop, editor) = editor();
    let ids = editor.create_all(["One", "Two", "Three"].map(String::from));
    let body = json!({"product_ids": [ids[0], ids[0], 999_999_999, ids[2], ids[0]]});
    let answer = editor.bulk_delete(body.clone()).expect(200);
    snapshot("bulk_delete", &answer);
    assert_eq!(answer.body, json!({"deleted_count": 2}));
    assert_eq!(titles(&editor), ["Two"]);
    assert_eq!(editor.bulk_delete(body).expect(200).body, json!({"deleted_count": 0}));
}

#[test]
fn one_bad_id_keeps_a_bulk_delete_from_happening() {
    let (_shop, editor) = editor();
    let id = editor.create(product_named("Kept"));
    let body = json!({"product_ids": [id, "2", 0, null, 1.5]});
    editor.bulk_delete(body).faults(&[
        "product_ids[1] wrong_type",
        "product_ids[2] out_of_range",
        "product_ids[3] wrong_type",
        "product_ids[4] wrong_type",
    ]);
    assert_eq!(titles(&editor), ["Kept"]);
}

/// Every bulk endpoint with its array and a good element.
fn endpoints(id: u64) -> [(&'static str, &'static str, Value); 3] {
    [
        ("POST", "products", product_named("New")),
        ("PUT", "products", json!({"id": id, "title": "New"})),
        ("DELETE", "product_ids", json!(id)),
    ]
}

#[test]
fn a_hundred_elements_are_accepted() {
    for (method, field, element) in endpoints(1) {
        let (_shop, editor) = editor();
        let body = json!({field: vec![element; 100]});
        let status = if method == "POST" { 201 } else { 200 };
        editor.request(method, BULK).json(&body).answer().expect(status);
    }
}

#[test]
fn too_many_none_or_no_array_is_refused_and_nothing_written() {
    let (_shop, editor) = editor();
    let id = editor.create(product_named("Kept"));
    for (method, field, element) in endpoints(id) {
        let check = |body: Value, faults: &[&str]| {
            editor.request(method, BULK).json(&body).answer().faults(faults);
            assert_eq!(titles(&editor), ["Kept"]);
        };
        check(json!({field: vec![element.clone(); 101]}), &[&format!("{field} too_many")]);
        check(json!({field: []}), &[&format!("{field} empty")]);
        check(json!({}), &[&format!("{field} required")]);
        check(json!({field: null}), &[&format!("{field} wrong_type")]);
        check(json!({field: element}), &[&format!("{field} wrong_type")]);
        check(json!([element]), &["- wrong_type"]);
        check(json!({field: [element], "dry_run": true}), &["dry_run unknown_field"]);
    }
}

#[test]
fn products_of_another_shop_are_neither_updated_nor_deleted() {
    let (_shop, mine) = editor();
    let theirs = Shop::open().as_role(Role::Editor);
    let id = mine.create(product_named("Mine"));
    let answer = theirs.put(BULK, json!({"products": [{"id": id, "title": "Yours"}]})).expect(200);
    assert_eq!(answer.body["updated_count"], 0);
    assert_eq!(faults(&answer.body), ["0 - not_found"]);
    let answer = theirs.bulk_delete(json!({"product_ids": [id]})).expect(200);
    assert_eq!(answer.body, json!({"deleted_count": 0}));
    assert_eq!(titles(&mine), ["Mine"]);
}
