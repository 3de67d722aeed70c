//! The statistics of a shop contain data of this shop only.

use serde_json::{Value, json};
use testkit::{Client, PRODUCTS, Role, TestServer, product, product_named};

const FIGURES: &str = "/api/v1/figures";

fn figures(client: &Client) -> Value {
    client.get(FIGURES).expect(200).body
}

#[test]
fn products_searches_and_writes_are_counted() {
    let server = TestServer::start(&[]);
    let editor = server.shop().as_role(Role::Editor);
    let sofa = editor.create(product_named("Sofa"));
    editor.create(product_named("Stool"));
    editor.put(&product(sofa), json!({"hidden": true})).expect(200);
    editor.post(PRODUCTS, json!({"title": "no price"})).expect(422);
    editor.find("stool");
    let figures = figures(&editor);
    assert_eq!(figures["role"], "EDITOR");
    assert_eq!(figures["products"], json!({"visible": 1, "hidden": 1}));
    for (work, count) in [("searches", 1), ("writes", 4)] {
        let work = &figures[work];
        assert_eq!(work["count"], count);
        assert_eq!(work["failed"], 0);
        let times = work["times"].as_array().unwrap();
        let sum: u64 = times.iter().map(|time| time["count"].as_u64().unwrap()).sum();
        assert_eq!(sum, count);
        let longest = times.last().unwrap()["up_to_ms"].as_f64().unwrap();
        assert_eq!(work["p99_ms"].as_f64(), Some(longest));
    }
    assert!(figures["process"]["memory_bytes"].as_u64().unwrap() > 1 << 20);
    assert_eq!(figures["process"]["vectors_waiting"], json!(null), "there is no model");
}

#[test]
fn products_waiting_for_vectors_are_counted() {
    let server = TestServer::start(&["--model-kind", "built-in"]);
    let editor = server.shop().as_role(Role::Editor);
    editor.create(product_named("Sofa"));
    assert!(figures(&editor)["process"]["vectors_waiting"].as_u64().unwrap() <= 1);
}

#[test]
fn statistics_contain_nothing_of_other_shops() {
    let server = TestServer::start(&[]);
    let busy = server.shop().as_role(Role::Editor);
    busy.create(product_named("Sofa"));
    busy.find("sofa");
    let mut quiet = figures(&server.shop().as_role(Role::Editor));
    quiet["process"] = json!("[process]");
    quiet["shop_id"] = json!("[shop]");
    let answer = json!(quiet);
    insta::assert_json_snapshot!("figures_of_a_quiet_shop", answer);
}

#[test]
fn process_statistics_require_access_to_the_metrics() {
    let server = TestServer::start(&["--metrics-public", "false"]);
    let shop = server.shop();
    assert_eq!(figures(&shop.as_role(Role::Editor))["process"], json!(null));
    assert!(figures(&shop.as_role(Role::Admin))["process"].is_object());
}
