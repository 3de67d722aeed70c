//! `Idempotency-Key`: a create can be sent again without creating again.

use std::thread;

use serde_json::{Value, json};
use testkit::{
    Answer, BULK, Client, PRODUCTS, RequestExt, Role, Shop, TestServer, editor, product,
    product_named,
};

use crate::snapshot::snapshot;

fn post(client: &Client, path: &str, key: &str, body: &Value) -> Answer {
    client.request("POST", path).header("idempotency-key", key).json(body).answer()
}

#[track_caller]
fn check_same(first: &Answer, again: &Answer) {
    assert_eq!((first.status, &first.text), (again.status, &again.text));
    for header in ["location", "content-type"] {
        assert_eq!(first.header(header), again.header(header), "{header}");
    }
}

#[test]
fn the_same_request_again_gets_the_first_answer() {
    let (_shop, editor) = editor();
    let first = post(&editor, PRODUCTS, "order-1", &product_named("Sofa")).expect(201);
    check_same(&first, &post(&editor, PRODUCTS, "order-1", &product_named("Sofa")));
    check_same(&first, &post(&editor, "/v1/products", "order-1", &product_named("Sofa")));
    assert_eq!(editor.get(PRODUCTS).total_count(), 1);
}

#[test]
fn without_a_key_the_same_request_creates_again() {
    let (_shop, editor) = editor();
    assert_ne!(editor.create(product_named("Sofa")), editor.create(product_named("Sofa")));
    let first = post(&editor, PRODUCTS, "order-1", &product_named("Sofa")).expect(201).id();
    assert_ne!(post(&editor, PRODUCTS, "order-2", &product_named("Sofa")).expect(201).id(), first);
}

#[test]
fn the_first_answer_stays_whatever_became_of_the_product() {
    let (_shop, editor) = editor();
    let first = post(&editor, PRODUCTS, "order-1", &product_named("Sofa")).expect(201);
    let path = product(first.id());
    editor.put(&path, json!({"title": "Couch", "hidden": true})).expect(200);
    check_same(&first, &post(&editor, PRODUCTS, "order-1", &product_named("Sofa")));
    assert_eq!(editor.get(&path).expect(200).body["title"], "Couch");
    editor.delete(&path).expect(204);
    check_same(&first, &post(&editor, PRODUCTS, "order-1", &product_named("Sofa")));
    editor.get(&path).refused(404, "not_found");
    assert_eq!(editor.get(PRODUCTS).total_count(), 0);
}

#[test]
fn the_first_answer_outlives_the_server() {
    let server = TestServer::start(&[]);
    let token = server.shop().token(Role::Editor);
    let first =
        post(&server.client(&token), PRODUCTS, "order-1", &product_named("Sofa")).expect(201);
    let server = server.restart(&[]);
    let editor = server.client(&token);
    check_same(&first, &post(&editor, PRODUCTS, "order-1", &product_named("Sofa")));
    post(&editor, PRODUCTS, "order-1", &product_named("Stool")).refused(409, "conflict");
    assert_eq!(editor.get(PRODUCTS).ids(), [first.id()]);
}

#[test]
fn another_request_under_the_same_key_is_a_conflict() {
    let (_shop, editor) = editor();
    post(&editor, PRODUCTS, "order-1", &product_named("Sofa")).expect(201);
    let other =
        post(&editor, PRODUCTS, "order-1", &product_named("Stool")).refused(409, "conflict");
    snapshot("conflict", &other);
    let bulk = json!({"products": [product_named("Sofa")]});
    post(&editor, BULK, "order-1", &bulk).refused(409, "conflict");
    post(&editor, BULK, "order-2", &bulk).expect(201);
    post(&editor, PRODUCTS, "order-2", &product_named("Sofa")).refused(409, "conflict");
    assert_eq!(editor.get(PRODUCTS).total_count(), 2);
}

#[test]
fn a_bulk_create_is_answered_again_with_its_errors() {
    let (_shop, editor) = editor();
    let body = json!({"products": [product_named("Sofa"), {"title": ""}, product_named("Stool")]});
    let first = post(&editor, BULK, "import-1", &body).expect(201);
    assert_eq!(first.body["created_count"], 2);
    assert_eq!(first.body["errors"].as_array().map(Vec::len), Some(2));
    editor.delete(&product(first.body["created_ids"][0].as_u64().unwrap())).expect(204);
    check_same(&first, &post(&editor, BULK, "import-1", &body));
    assert_eq!(editor.get(PRODUCTS).total_count(), 1);

    let bad = json!({"products": [{}]});
    let first = post(&editor, BULK, "import-2", &bad).expect(201);
    check_same(&first, &post(&editor, BULK, "import-2", &bad));
}

#[test]
fn a_refused_request_does_not_use_up_its_key() {
    let (_shop, editor) = editor();
    post(&editor, PRODUCTS, "order-1", &json!({"title": "Sofa"})).faults(&["price required"]);
    let first = post(&editor, PRODUCTS, "order-1", &product_named("Sofa")).expect(201);
    // What was refused before is another request now.
    post(&editor, PRODUCTS, "order-1", &json!({"title": "Sofa"})).faults(&["price required"]);
    check_same(&first, &post(&editor, PRODUCTS, "order-1", &product_named("Sofa")));
}

#[test]
fn a_key_belongs_to_a_shop() {
    let (mine, theirs) = (Shop::open(), Shop::open());
    let create = |shop: &Shop, body: &Value| {
        post(&shop.as_role(Role::Editor), PRODUCTS, "order-1", body).expect(201).id()
    };
    let first = create(&mine, &product_named("Sofa"));
    assert_ne!(create(&theirs, &product_named("Stool")), first);
    assert_eq!(create(&mine, &product_named("Sofa")), first);
}

#[test]
fn the_same_request_many_times_at_once_creates_one_product() {
    let (_shop, editor) = editor();
    let answers: Vec<_> = thread::scope(|scope| {
        let ask = || post(&editor, PRODUCTS, "order-1", &product_named("Sofa")).expect(201).text;
        let asking: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(editor.get(PRODUCTS).total_count(), 1);
}

#[test]
fn a_key_has_1_to_255_characters() {
    let (_shop, editor) = editor();
    post(&editor, PRODUCTS, &"k".repeat(255), &product_named("Sofa")).expect(201);
    for key in [&"k".repeat(256), "", " ", "schlüssel"] {
        post(&editor, PRODUCTS, key, &product_named("Sofa"))
            .faults(&["Idempotency-Key invalid_key"]);
        let bulk = json!({"products": [product_named("Sofa")]});
        post(&editor, BULK, key, &bulk).faults(&["Idempotency-Key invalid_key"]);
    }
    assert_eq!(editor.get(PRODUCTS).total_count(), 1);
}

#[test]
fn an_idempotency_key_grants_no_access() {
    let shop = Shop::open();
    let editor = shop.as_role(Role::Editor);
    post(&editor, PRODUCTS, "order-1", &product_named("Sofa")).expect(201);
    let viewer = shop.as_role(Role::Viewer);
    post(&viewer, PRODUCTS, "order-1", &product_named("Sofa")).refused(403, "insufficient_role");
}
