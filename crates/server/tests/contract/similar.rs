//! Similar products: the nearest of the shop's own, and only what the asker gets to see.

use std::sync::Arc;

use serde_json::json;
use testkit::{Client, NO_IDS, Role, TestServer, editor, product, product_named};

use crate::snapshot::snapshot;

/// A server whose products keep the vectors they are written with: nothing moves by itself.
fn server() -> Arc<TestServer> {
    TestServer::start(&["--model-kind", "built-in", "--model-background", "false"])
}

fn address(id: u64) -> String {
    format!("{}/similar", product(id))
}

fn hidden(title: &str) -> serde_json::Value {
    json!({"title": title, "price": "$5", "hidden": true})
}

#[track_caller]
fn like(client: &Client, id: u64) -> Vec<u64> {
    client.get(&address(id)).expect(200).ids()
}

#[test]
fn the_nearest_products_come_first_and_ties_by_id() {
    let server = server();
    let editor = server.shop().as_role(Role::Editor);
    let sofa = editor.create(json!({
        "title": "Grey velvet sofa",
        "description": "Three seats, washable covers.",
        "price": "$899.00",
        "media": [{"url": "https://example.com/sofa.jpg", "type": "image"}],
    }));
    let drill = editor.create(product_named("Cordless drill"));
    assert_eq!(like(&editor, sofa), NO_IDS, "a drill is nothing like a sofa");
    let second = editor.create(json!({
        "title": "Green velvet sofa",
        "description": "Three seats, washable covers.",
        "price": "$799.00",
    }));
    let third = editor.create(json!({
        "title": "Green velvet sofa",
        "description": "Three seats, washable covers.",
        "price": "$5",
    }));
    assert_eq!(like(&editor, sofa), [second, third], "what means the same is in order of id");
    assert_eq!(like(&editor, second), [third, sofa], "what means the same is nearest");
    assert_eq!(like(&editor, third), [second, sofa]);
    assert_eq!(like(&editor, drill), NO_IDS);

    let nearest = editor.get(&format!("{}?limit=1", address(third))).expect(200);
    assert_eq!(nearest.ids(), [second]);
    let of_samples = format!("/v1/products/{third}/similar?limit=1");
    assert_eq!(editor.get(&of_samples).expect(200).body, nearest.body);
    // The products are those that a read gives.
    assert_eq!(nearest.body["products"][0], editor.get(&product(second)).expect(200).body);
    editor.delete(&product(second)).expect(204);
    snapshot("similar", &editor.get(&address(third)).expect(200));
    assert_eq!(like(&editor, third), [sofa], "a write shows in the very next answer");
    editor.put(&product(sofa), json!({"title": "Cordless drill", "description": ""})).expect(200);
    assert_eq!(like(&editor, third), NO_IDS);
    assert_eq!(like(&editor, sofa), [drill]);
    editor.get(&address(second)).refused(404, "not_found");
}

#[test]
fn hidden_and_foreign_products_stay_unseen() {
    let server = server();
    let (shop, other) = (server.shop(), server.shop());
    let [shopper, viewer, editor] =
        [Role::Shopper, Role::Viewer, Role::Editor].map(|role| shop.as_role(role));
    let stranger = other.as_role(Role::Admin);
    let ids = editor.create_all(["Velvet sofa".to_owned(), "Velvet sofa".to_owned()]);
    let secret = editor.create(hidden("Velvet sofa"));
    let foreign = stranger.create(product_named("Velvet sofa"));

    for client in [&shopper, &viewer, &editor] {
        assert_eq!(like(client, ids[0]), [ids[1]], "without a word, hidden ones are left out");
    }
    let all = |id: u64| format!("{}?include_hidden=true", address(id));
    for client in [&viewer, &editor] {
        assert_eq!(client.get(&all(ids[0])).expect(200).ids(), [ids[1], secret]);
        assert_eq!(like(client, secret), ids);
        assert_eq!(client.get(&all(secret)).expect(200).ids(), ids);
    }
    shopper.get(&address(secret)).refused(404, "not_found");
    for asked in [all(ids[0]), all(secret), format!("{}&limit=0&x=1", all(ids[0]))] {
        shopper.get(&asked).refused(403, "insufficient_role");
    }

    assert_eq!(stranger.get(&all(foreign)).expect(200).ids(), NO_IDS);
    stranger.get(&all(ids[0])).refused(404, "not_found");
    editor.get(&all(foreign)).refused(404, "not_found");

    editor.put(&product(ids[1]), json!({"hidden": true})).expect(200);
    assert_eq!(like(&shopper, ids[0]), NO_IDS);
    editor.put(&product(secret), json!({"hidden": false})).expect(200);
    assert_eq!(like(&shopper, ids[0]), [secret]);
}

#[test]
fn without_a_model_there_are_no_similar_products() {
    let server = TestServer::start(&["--model-kind", "off"]);
    let editor = server.shop().as_role(Role::Editor);
    let ids = editor.create_all(["Velvet sofa".to_owned(), "Velvet sofa".to_owned()]);
    let answer = editor.get(&address(ids[0])).expect(200);
    assert_eq!(answer.body, json!({"products": []}));
    editor.get(&address(ids[1] + 1)).refused(404, "not_found");
}

#[test]
fn invalid_parameters_are_refused() {
    let (_shop, editor) = editor();
    let id = editor.create(product_named("Sofa"));
    for (parameters, faults) in [
        ("limit=0", &["limit out_of_range"][..]),
        ("limit=51", &["limit out_of_range"]),
        ("limit=-1", &["limit out_of_range"]),
        ("limit=ten", &["limit wrong_type"]),
        ("limit=5&limit=6", &["limit repeated"]),
        ("include_hidden=yes", &["include_hidden wrong_type"]),
        ("include_hidden=", &["include_hidden wrong_type"]),
        ("offset=1", &["offset unknown_parameter"]),
        ("limit=0&q=x", &["limit out_of_range", "q unknown_parameter"]),
    ] {
        editor.get(&format!("{}?{parameters}", address(id))).faults(faults);
    }
    for parameters in ["limit=1", "limit=50", "include_hidden=true", "include_hidden=false"] {
        editor.get(&format!("{}?{parameters}", address(id))).expect(200);
    }
    for unknown in ["0", "999999999", "99999999999999999999", "-1"] {
        editor.get(&format!("/api/v1/products/{unknown}/similar")).refused(404, "not_found");
    }
    editor.get("/api/v1/products/sofa/similar").faults(&["product_id wrong_type"]);
    editor.post(&address(id), json!({})).refused(405, "method_not_allowed");
}
