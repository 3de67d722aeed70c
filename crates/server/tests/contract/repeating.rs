//! The query cache: repeated queries are answered from it, and never with outdated results.

use serde_json::json;
use testkit::{Client, Role, SEARCH, TestServer, product, product_named};

/// How many searches were answered from memory so far, and how many were not.
fn kept(server: &TestServer) -> (u64, u64) {
    let metrics = server.stranger().get("/metrics").expect(200).text;
    let count = |outcome: &str| {
        let start = format!("shopkeeper_search_cache_total{{outcome=\"{outcome}\"}} ");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&start));
        line.map_or(0, |count| count.parse().unwrap())
    };
    (count("hit"), count("miss"))
}

fn found(client: &Client, body: serde_json::Value) -> (Vec<u64>, u64) {
    let answer = client.post(SEARCH, body).expect(200);
    (answer.ids(), answer.body["total"].as_u64().unwrap())
}

#[test]
fn a_repeated_query_is_answered_from_memory_until_the_shop_changes() {
    let server = TestServer::start(&["--model-kind", "off"]);
    let shop = server.shop();
    let editor = shop.as_role(Role::Editor);
    let first = editor.create(product_named("Velvet sofa"));
    assert_eq!(editor.find("sofa"), [first]);
    let (hits, _) = kept(&server);
    for _ in 0..3 {
        assert_eq!(editor.find("sofa"), [first]);
    }
    assert_eq!(kept(&server).0, hits + 3);

    // Every kind of write shows in the very next search.
    let second = editor.create(product_named("Leather sofa"));
    assert_eq!(found(&editor, json!({"query": "sofa"})).1, 2);
    editor.put(&product(second), json!({"title": "Leather chair"})).expect(200);
    assert_eq!(editor.find("sofa"), [first]);
    editor.put(&product(first), json!({"hidden": true})).expect(200);
    assert_eq!(found(&editor, json!({"query": "sofa"})), (vec![], 0));
    editor.put(&product(first), json!({"hidden": false, "price": "$7"})).expect(200);
    let answer = editor.post(SEARCH, json!({"query": "sofa"})).expect(200);
    assert_eq!(answer.body["products"][0]["price"], "$7");
    editor.delete(&product(first)).expect(204);
    assert_eq!(found(&editor, json!({"query": "sofa"})), (vec![], 0));
}

#[test]
fn requests_that_differ_have_separate_cache_entries() {
    let server = TestServer::start(&["--model-kind", "off"]);
    let (shop, other) = (server.shop(), server.shop());
    let (editor, stranger) = (shop.as_role(Role::Editor), other.as_role(Role::Editor));
    let shopper = shop.as_role(Role::Shopper);
    let seen = editor.create(product_named("Sofa under 900"));
    let hidden = editor.create(json!({"title": "Sofa", "price": "$5", "hidden": true}));
    let query = "sofa under $900";
    let all = json!({"query": query, "include_hidden": true});
    // Twice, so that the second time everything that could be mixed up is there.
    for _ in 0..2 {
        assert_eq!(found(&editor, all.clone()).1, 2);
        assert_eq!(found(&shopper, json!({"query": query})), (vec![seen], 1));
        shopper.post(SEARCH, all.clone()).refused(403, "insufficient_role");
        assert_eq!(found(&stranger, all.clone()), (vec![], 0));
        let one = json!({"query": query, "include_hidden": true, "limit": 1});
        let next = json!({"query": query, "include_hidden": true, "limit": 1, "offset": 1});
        let pages = [found(&editor, one).0, found(&editor, next).0].concat();
        assert!(pages == [seen, hidden] || pages == [hidden, seen], "{pages:?}");
        let as_words = json!({"query": "900 sofa under $3", "understand": {"price": false}});
        assert_eq!(found(&editor, as_words), (vec![seen], 1));
        assert_eq!(found(&editor, json!({"query": "900 sofa under $3"})), (vec![], 0));
    }
    assert!(kept(&server).0 >= 7, "{:?}", kept(&server));
}

#[test]
fn the_query_cache_can_be_switched_off() {
    let server = TestServer::start(&["--model-kind", "off", "--index-query-cache-bytes", "0"]);
    let editor = server.shop().as_role(Role::Editor);
    let id = editor.create(product_named("Velvet sofa"));
    for _ in 0..2 {
        assert_eq!(editor.find("sofa"), [id]);
    }
    assert_eq!(kept(&server), (0, 0));
}
