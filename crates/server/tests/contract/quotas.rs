//! What a shop may store: distinct attribute names, and quotas of products and bytes.

use serde_json::{Map, Value, json};
use testkit::{
    Answer, BULK, Client, PRODUCTS, Role, TestServer, editor, printed, product, product_named,
};

use crate::{mcp::refused, snapshot::snapshot};

const UPSERT: &str = "/api/v1/products/upsert";
/// The most distinct attribute names of a shop.
const MAX_NAMES: usize = 5_000;
/// The most attributes of a product.
const EACH: usize = 40;

fn with_names<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Value {
    let attributes: Map<_, _> =
        names.into_iter().map(|name| (name.as_ref().to_owned(), json!(1))).collect();
    json!({"title": "Lamp", "price": "$5", "attributes": attributes})
}

/// Creates products with this many distinct names.
fn fill_names(editor: &Client, count: usize) -> Vec<u64> {
    let names: Vec<_> = (0..count).map(|n| format!("n{n}")).collect();
    let products: Vec<_> = names.chunks(EACH).map(with_names).collect();
    let bulks = products.chunks(100);
    bulks.flat_map(|bulk| created(&editor.post(BULK, json!({"products": bulk})))).collect()
}

/// The ids of the products that a bulk create has created.
fn created(answer: &Answer) -> Vec<u64> {
    let ids = answer.body["created_ids"].as_array().unwrap().iter();
    ids.map(|id| id.as_u64().unwrap()).collect()
}

/// Index, field and code of the errors of a bulk response.
fn faults(body: &Value) -> Vec<String> {
    let fault = |one: &Value| format!("{} {} {}", one["index"], one["field"], one["code"]);
    let faults = body["errors"].as_array().unwrap().iter();
    faults.map(|one| fault(one).replace('"', "")).collect()
}

#[test]
fn a_shop_has_at_most_5000_attribute_names() {
    let (shop, editor) = editor();
    let filled = fill_names(&editor, MAX_NAMES - 1);
    let code = "attribute_names_exhausted";
    let products = [with_names(["n0"]), with_names(["n0", "a"]), with_names(["b", "n1"])];
    let answer = editor.post(BULK, json!({"products": products})).expect(201);
    snapshot("attribute_names_exhausted_in_bulk", &answer);
    assert_eq!(faults(&answer.body), [format!("2 attributes {code}")]);
    let made = created(&answer);

    let answer = editor.post(PRODUCTS, with_names(["b"])).refused(409, code);
    snapshot("attribute_names_exhausted", &answer);
    let attributes = |name: &str| json!({"attributes": {name: 1}});
    editor.put(&product(made[0]), attributes("b")).refused(409, code);
    editor.put(&product(made[0]), attributes("n4")).expect(200);
    editor.put(&product(made[0]), json!({"title": "Rug"})).expect(200);
    refused(&editor, "create_product", with_names(["b"]), code);
    let patch = json!({"id": made[0], "attributes": {"b": 1}});
    refused(&editor, "update_product", patch.clone(), code);
    let edits = json!({"products": [patch, {"id": made[1], "attributes": {"b": 1}}]});
    let answer = editor.put(BULK, edits).expect(200);
    assert_eq!(faults(&answer.body), [format!("0 attributes {code}")], "the second frees `a`");
    let element = |key: &str, name: &str| json!({"key": key, "title": "Rug", "price": "$5", "attributes": {name: 1}});
    let elements = [element("A", "n1"), element("B", "c"), element("A", "c"), element("A", "b")];
    let answer = editor.post(UPSERT, json!({"products": elements})).expect(200);
    let expected = [format!("1 attributes {code}"), format!("2 attributes {code}")];
    assert_eq!(faults(&answer.body), expected);
    assert_eq!(answer.body["errors"][0]["key"], "B");

    // A name that no product has makes room; other shops have names of their own.
    editor.delete(&product(filled[0])).expect(204);
    editor.post(PRODUCTS, with_names(["c"])).expect(201);
    let other = shop.server.shop().as_role(Role::Editor);
    other.post(PRODUCTS, with_names(["d"])).expect(201);
}

#[test]
fn quotas_limit_the_products_of_a_shop() {
    let server = TestServer::start(&[]);
    let shop = server.shop();
    let first = shop.as_role(Role::Editor).create(product_named("Lamp"));
    let (number, token) = (shop.number, shop.token(Role::Editor));
    drop(shop);
    // What was stored before the quota counts.
    let server = server.restart(&["--quota-products", "3"]);
    let editor = server.client(&token);
    let products = [product_named("Rug"), product_named("Sofa"), product_named("Bed")];
    let answer = editor.post(BULK, json!({"products": products})).expect(201);
    assert_eq!(faults(&answer.body), ["2 null quota_exhausted"]);
    let answer = editor.post(PRODUCTS, product_named("Bed")).refused(409, "quota_exhausted");
    snapshot("quota_exhausted", &answer);
    refused(&editor, "create_product", product_named("Bed"), "quota_exhausted");
    let elements = [
        json!({"key": "A", "title": "Bed", "price": "$5"}),
        json!({"key": "B", "title": "Bed", "price": "$5"}),
    ];
    let answer = editor.post(UPSERT, json!({"products": elements})).expect(200);
    assert_eq!(faults(&answer.body), ["0 null quota_exhausted", "1 null quota_exhausted"]);
    editor.put(&product(first), json!({"title": "Lamp, and a long title"})).expect(200);
    editor.delete(&product(first)).expect(204);
    editor.create(product_named("Bed"));
    let status = printed(server.command(&["status", "--json"]));
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["shops"][0]["shop_id"], number);
    // "Rug", "Sofa", "Bed", each with "$5" and "[]".
    assert_eq!(status["shops"][0]["bytes"], 10 + 3 * 4);
}

#[test]
fn quotas_limit_the_bytes_of_a_shop() {
    // A lamp has eight bytes: its title, "$5" and "[]".
    let server = TestServer::start(&["--quota-bytes", "1KiB"]);
    let editor = server.shop().as_role(Role::Editor);
    let lamp = editor.create(product_named("Lamp"));
    let with_text = |bytes: usize| json!({"description": "x".repeat(bytes)});
    editor.put(&product(lamp), with_text(1024 - 8)).expect(200);
    let answer = editor.put(&product(lamp), with_text(1024 - 7));
    let answer = answer.refused(409, "quota_exhausted");
    assert!(answer.body["detail"].as_str().unwrap().contains("1024 bytes"), "{}", answer.text);
    editor.post(PRODUCTS, product_named("Rug")).refused(409, "quota_exhausted");
    editor.put(&product(lamp), json!({"hidden": true})).expect(200);
    editor.put(&product(lamp), json!({"title": "Rugs"})).expect(200);
    let edits = json!({"products": [
        {"id": lamp, "title": "Lamps"},
        {"id": lamp, "description": "short"},
        {"id": lamp, "title": "Lamps"},
    ]});
    assert_eq!(faults(&editor.put(BULK, edits).expect(200).body), ["0 null quota_exhausted"]);
    editor.create(product_named("Rug"));
}
