//! Filters: conditions as data, which select exactly what they say.

use serde_json::{Value, json};
use testkit::{Client, RequestExt, Role, SEARCH, Shop, TestServer, editor, product};

/// A shop with a few sofas, by key.
fn sofas(editor: &Client) -> impl Fn(&str) -> u64 {
    let sofa = |key: &str, price: &str, attributes: Value| {
        let body = json!({"title": format!("Sofa {key}"), "price": price, "key": key,
            "attributes": attributes});
        (key.to_owned(), editor.create(body))
    };
    let ids = [
        sofa("green", "$10", json!({"color": "Green", "seats": 2, "in_stock": true})),
        sofa("both", "$20.50", json!({"color": ["green", "RED"], "seats": 3, "in_stock": false})),
        sofa("red", "30 EUR", json!({"color": "Réd", "seats": 4.5, "material": "leather"})),
        sofa("odd", "$40", json!({"color": 7, "seats": "many", "in_stock": "yes"})),
        sofa("bare", "$50", json!({})),
    ];
    move |key| ids.iter().find(|(known, _)| known == key).unwrap().1
}

fn found(client: &Client, filter: &Value) -> Vec<u64> {
    let answer = client.post(SEARCH, json!({"filter": filter})).expect(200);
    assert_eq!(answer.body["total"], answer.ids().len());
    answer.ids()
}

#[test]
fn a_filter_selects_what_satisfies_all_conditions() {
    let (_shop, editor) = editor();
    let id = sofas(&editor);
    for (filter, keys) in [
        (json!({}), &["bare", "odd", "red", "both", "green"][..]),
        (json!({"color": ["green"]}), &["both", "green"]),
        (json!({"color": ["GREEN", "red"]}), &["red", "both", "green"]),
        (json!({"color": ["7"]}), &[]),
        (json!({"in_stock": true}), &["green"]),
        (json!({"in_stock": false}), &["both"]),
        (json!({"seats": {"min": 3}}), &["red", "both"]),
        (json!({"seats": {"min": 2, "max": 3}}), &["both", "green"]),
        (json!({"seats": {}}), &["red", "both", "green"]),
        (json!({"price": {"min": "20.50"}}), &["bare", "odd", "red", "both"]),
        (json!({"price": {"min": "20.51", "max": "40.00", "currency": "USD"}}), &["odd"]),
        (json!({"price": {"max": 30}}), &["red", "both", "green"]),
        (json!({"price": {"currency": "eur"}}), &["red"]),
        (json!({"color": ["green"], "seats": {"min": 3}}), &["both"]),
        (json!({"not": {"color": ["red"]}}), &["bare", "odd", "green"]),
        (json!({"not": {"color": ["green"], "price": {"min": "40"}}}), &["red"]),
        (json!({"color": ["green"], "not": {"in_stock": false}}), &["green"]),
        (json!({"unknown": ["x"]}), &[]),
        (json!({"not": {"unknown": ["x"]}}), &["bare", "odd", "red", "both", "green"]),
        (json!({"category": ["vp"]}), &[]),
    ] {
        let expected: Vec<_> = keys.iter().map(|key| id(key)).collect();
        assert_eq!(found(&editor, &filter), expected, "{filter}, newest first");
    }
}

#[test]
fn a_filter_restricts_a_query_and_pages() {
    let (_shop, editor) = editor();
    let id = sofas(&editor);
    editor.create(json!({"title": "Table", "price": "$10", "attributes": {"color": "green"}}));
    let search = |body: Value| editor.post(SEARCH, body).expect(200);
    let mut ids = search(json!({"query": "sofa", "filter": {"color": ["green"]}})).ids();
    ids.sort_unstable();
    assert_eq!(ids, [id("green"), id("both")]);
    let page = search(json!({"filter": {}, "limit": 2, "offset": 3}));
    assert_eq!(page.ids(), [id("red"), id("both")]);
    assert_eq!(page.body["total"], 6);
    assert_eq!(page.body["query"], "");
    assert_eq!(search(json!({"query": " \n", "filter": {}})).body["query"], " \n");
    // A condition in the text holds too.
    let both = search(json!({"query": "sofa under $20", "filter": {"color": ["green"]}}));
    assert_eq!(both.ids(), [id("green")]);
}

/// A condition in the text and the equivalent filter select the same products, in the same order.
#[test]
fn a_filter_is_like_the_condition_in_the_text() {
    let server = TestServer::start(&[]);
    let editor = server.shop().as_role(Role::Editor);
    let _ids = sofas(&editor);
    for (text, filter) in [
        ("up to $40", json!({"price": {"max": "40", "currency": "USD"}})),
        ("at least $20.50", json!({"price": {"min": "20.50", "currency": "USD"}})),
        (
            "between 10 and 30 euros",
            json!({"price": {"min": "10", "max": "30", "currency": "EUR"}}),
        ),
    ] {
        let said = editor.post(SEARCH, json!({"query": format!("sofa {text}")})).expect(200);
        let stated = editor.post(SEARCH, json!({"query": "sofa", "filter": filter})).expect(200);
        assert!(!said.ids().is_empty(), "{text}");
        assert_eq!(
            (said.ids(), &said.body["total"]),
            (stated.ids(), &stated.body["total"]),
            "{text}"
        );
    }
}

#[test]
fn a_filter_sees_every_write_at_once() {
    let (_shop, editor) = editor();
    let id = editor.create(json!({"title": "Sofa", "price": "$5", "attributes": {"color": "red"}}));
    let red = json!({"color": ["red"]});
    assert_eq!(found(&editor, &red), [id]);
    for (change, is_found) in [
        (json!({"attributes": {"color": "blue"}}), false),
        (json!({"attributes": {"color": ["blue", "red"]}}), true),
        (json!({"hidden": true}), false),
        (json!({"hidden": false}), true),
        (json!({"attributes": {}}), false),
        (json!({"attributes": {"color": "red"}}), true),
    ] {
        editor.put(&product(id), change.clone()).expect(200);
        assert_eq!(!found(&editor, &red).is_empty(), is_found, "{change}");
    }
    editor.delete(&product(id)).expect(204);
    assert_eq!(found(&editor, &red), testkit::NO_IDS);
}

#[test]
fn hidden_products_match_no_filter_of_a_shopper() {
    let (shop, editor) = editor();
    let id = editor.create(json!({"title": "Secret", "price": "$5", "hidden": true, "key": "S-1",
        "attributes": {"color": "ultraviolet"}}));
    let filter = json!({"color": ["ultraviolet"]});
    for role in [Role::Shopper, Role::Editor] {
        assert_eq!(found(&shop.as_role(role), &filter), testkit::NO_IDS);
        assert_eq!(shop.as_role(role).find("S-1"), testkit::NO_IDS, "nor is its key found");
    }
    let all = json!({"filter": filter, "include_hidden": true});
    shop.as_role(Role::Shopper).post(SEARCH, all.clone()).refused(403, "insufficient_role");
    assert_eq!(shop.as_role(Role::Viewer).post(SEARCH, all).expect(200).ids(), [id]);
    assert_eq!(found(&Shop::open().as_role(Role::Viewer), &filter), testkit::NO_IDS);
}

#[test]
fn an_invalid_filter_is_refused_with_its_path() {
    let (_shop, editor) = editor();
    for (filter, faults) in [
        (json!([]), &["filter wrong_type"][..]),
        (json!({"price": {"min": "50", "max": "10"}}), &["filter.price.min out_of_range"]),
        (json!({"price": {"min": "-1"}}), &["filter.price.min invalid_amount"]),
        (
            json!({"price": {"currency": "XXL", "to": 1}}),
            &["filter.price.currency unknown_currency", "filter.price.to unknown_field"],
        ),
        (json!({"not": {"size": {"min": 2, "max": 1}}}), &["filter.not.size.min out_of_range"]),
        (json!({"not": {"size": "x"}}), &["filter.not.size wrong_type"]),
        (json!({"color": ["a", 1]}), &["filter.color[1] wrong_type"]),
        (json!({"a b": true}), &["filter.a b invalid_name"]),
        (json!({"hidden": true}), &["filter.hidden invalid_name"]),
    ] {
        editor.post(SEARCH, json!({"query": "x", "filter": filter})).faults(faults);
    }
    editor.post(SEARCH, json!({"sort": "price"})).faults(&["query required"]);
}

/// A stranger with a public token can ask for much, and gets an answer before the search times out.
#[test]
fn the_largest_requests_of_a_shopper_are_answered() {
    let server = TestServer::start(&[]);
    let shop = server.shop();
    let editor = shop.as_role(Role::Editor);
    for chunk in 0..10 {
        let products: Vec<_> = (0..100)
            .map(|n| {
                let attributes: serde_json::Map<_, _> = (0..40)
                    .map(|a| (format!("a{a}"), json!(format!("v{}", (n + a + chunk) % 60))))
                    .collect();
                json!({"title": format!("Lamp {n}"), "price": "$5", "attributes": attributes})
            })
            .collect();
        let answer = editor.post(testkit::BULK, json!({"products": products})).expect(201);
        assert_eq!(answer.body["errors"], json!([]));
    }
    let shopper = shop.as_role(Role::Shopper);
    let values: Vec<_> = (0..50).map(|n| format!("v{n}")).collect();
    let condition = |prefix: &str| -> serde_json::Map<String, Value> {
        (0..25).map(|a| (format!("{prefix}{a}"), json!(values))).collect()
    };
    let mut filter = condition("a");
    filter.insert("not".to_owned(), Value::Object(condition("b")));
    let facets: Vec<_> = (0..20).map(|a| format!("a{a}")).collect();
    let body = json!({"query": "lamp", "filter": filter, "facets": facets, "facet_limit": 100, "limit": 50});
    let answer = shopper.post(SEARCH, body).expect(200);
    assert_eq!(answer.body["facets"].as_object().map(serde_json::Map::len), Some(20));

    // Deep and wide documents are refused while they are parsed.
    let post = |text: String| {
        let request = shopper.request("POST", SEARCH).header("content-type", "application/json");
        request.body(text).answer()
    };
    post(format!("{{\"filter\": {}1{}}}", "{\"not\":".repeat(100_000), "}".repeat(100_000)))
        .refused(400, "malformed_json");
    let wide: Vec<_> = (0..101).map(|n| format!("\"a{n}\":true")).collect();
    post(format!("{{\"filter\": {{{}}}}}", wide.join(","))).faults(&["- too_many"]);
    let long = vec!["\"x\""; 100_001].join(",");
    post(format!("{{\"filter\": {{\"a\": [{long}]}}}}")).faults(&["- too_many"]);
    post(format!("{{\"filter\": {{\"a\": [\"{}\"]}}}}", "x".repeat(1 << 20)))
        .faults(&["filter.a[0] too_long"]);
}
