//! Facets: exact counts over all results.

use serde_json::{Value, json};
use testkit::{Client, Role, SEARCH, Shop, editor};

fn facets(client: &Client, body: Value) -> Value {
    client.post(SEARCH, body).expect(200).body["facets"].clone()
}

fn lamp(client: &Client, price: &str, attributes: Value) -> u64 {
    client.create(json!({"title": "Lamp", "price": price, "attributes": attributes}))
}

fn lamps(editor: &Client) {
    for (price, attributes) in [
        ("$10", json!({"color": "Red", "watt": 5, "new": true})),
        ("$20", json!({"color": ["red", "blue"], "watt": 7.5, "new": false})),
        ("$30", json!({"color": "RED", "watt": 10})),
        ("5 EUR", json!({"color": "red", "watt": "many"})),
        ("$40", json!({})),
    ] {
        lamp(editor, price, attributes);
    }
}

#[test]
fn values_are_counted_over_all_results() {
    let (_shop, editor) = editor();
    lamps(&editor);
    let body = json!({"query": "lamp", "limit": 1, "facets": ["color", "new", "watt", "shape"]});
    let answer = editor.post(SEARCH, body).expect(200);
    assert_eq!(answer.body["facets_are_exact"], true);
    let facets = &answer.body["facets"];
    assert_eq!(
        facets["color"],
        // Spellings that fold to the same are one value, written as most products write it.
        json!({"values": [{"value": "red", "count": 4}, {"value": "blue", "count": 1}], "missing": 1})
    );
    assert_eq!(
        facets["new"],
        json!({"values": [{"value": false, "count": 1}, {"value": true, "count": 1}], "missing": 3})
    );
    let watt = &facets["watt"];
    assert_eq!(watt["values"], json!([{"value": "many", "count": 1}]));
    assert_eq!((&watt["min"], &watt["max"], &watt["missing"]), (&json!(5), &json!(10), &json!(1)));
    assert_eq!(counted(&watt["histogram"]), 3);
    assert_eq!(facets["shape"], json!({"values": [], "missing": 5}));
    assert!(
        answer.text.find("\"color\":{") < answer.text.find("\"shape\":{"),
        "in requested order"
    );
}

fn counted(histogram: &Value) -> u64 {
    histogram.as_array().unwrap().iter().map(|bucket| bucket["count"].as_u64().unwrap()).sum()
}

#[test]
fn prices_are_counted_by_currency() {
    let (_shop, editor) = editor();
    lamps(&editor);
    let prices = facets(&editor, json!({"filter": {}, "facets": ["price"]}))["price"].clone();
    let prices = prices.as_array().unwrap();
    assert_eq!(prices.len(), 2);
    let [dollars, euros] = [&prices[0], &prices[1]];
    assert_eq!(
        (&dollars["currency"], &dollars["min"], &dollars["max"]),
        (&json!("USD"), &json!("10"), &json!("40"))
    );
    assert_eq!(counted(&dollars["histogram"]), 4);
    assert_eq!(
        *euros,
        json!({"currency": "EUR", "min": "5", "max": "5",
            "histogram": [{"from": "5", "to": "5", "count": 1}]})
    );
}

#[test]
fn a_facet_is_not_restricted_by_its_own_conditions() {
    let (_shop, editor) = editor();
    lamps(&editor);
    let count = |facets: &Value, name: &str, value: Value| {
        let values = facets[name]["values"].as_array().unwrap().clone();
        values.iter().find(|one| one["value"] == value).map(|one| one["count"].as_u64().unwrap())
    };
    let body = json!({"query": "lamp", "facets": ["color", "new"],
        "filter": {"color": ["blue"], "not": {"new": true}}});
    let answer = editor.post(SEARCH, body).expect(200).body;
    assert_eq!(answer["total"], 1);
    let facets = &answer["facets"];
    // By colour: all but the new lamp. By novelty: the blue lamp, new or not.
    assert_eq!(count(facets, "color", json!("blue")), Some(1));
    assert_eq!(facets["color"]["values"][0]["count"], 3);
    assert_eq!(facets["color"]["missing"], 1);
    assert_eq!(count(facets, "new", json!(false)), Some(1));
    assert_eq!(count(facets, "new", json!(true)), None);
}

#[test]
fn the_most_frequent_values_are_returned() {
    let (_shop, editor) = editor();
    for n in 0..30 {
        for _ in 0..=(n % 3) {
            lamp(&editor, "$5", json!({"code": format!("c{n:02}")}));
        }
    }
    let values = |limit: Value| {
        let mut body = json!({"filter": {}, "facets": ["code"]});
        if !limit.is_null() {
            body["facet_limit"] = limit;
        }
        facets(&editor, body)["code"]["values"].as_array().unwrap().clone()
    };
    assert_eq!(values(Value::Null).len(), 20);
    assert_eq!(values(json!(100)).len(), 30);
    let three = values(json!(3));
    let written: Vec<_> = three.iter().map(|one| one["value"].as_str().unwrap()).collect();
    assert_eq!(written, ["c02", "c05", "c08"], "by descending count, then by value");
}

#[test]
fn hidden_products_are_not_counted_for_shoppers() {
    let (shop, editor) = editor();
    lamp(&editor, "$5", json!({"color": "red"}));
    editor.create(json!({"title": "Lamp", "price": "$99999", "hidden": true,
        "attributes": {"color": "secret", "watt": 99}}));
    let body = |hidden: bool| json!({"filter": {}, "facets": ["color", "watt", "price"], "include_hidden": hidden});
    let visible = facets(&shop.as_role(Role::Shopper), body(false));
    assert_eq!(visible["color"], json!({"values": [{"value": "red", "count": 1}], "missing": 0}));
    assert_eq!(visible["watt"], json!({"values": [], "missing": 1}));
    assert_eq!(visible["price"][0]["max"], "5");
    assert!(!visible.to_string().contains("secret"));
    assert_eq!(facets(&editor, body(false)), visible, "unless they are asked for");
    let all = facets(&shop.as_role(Role::Viewer), body(true));
    assert_eq!(all["color"]["values"].as_array().map(Vec::len), Some(2));
    let theirs = facets(&Shop::open().as_role(Role::Viewer), body(true));
    assert_eq!(theirs["color"], json!({"values": [], "missing": 0}));
    assert_eq!(theirs["price"], json!([]));
}

#[test]
fn a_search_without_facets_has_none() {
    let (_shop, editor) = editor();
    let answer = editor.post(SEARCH, json!({"query": "lamp"})).expect(200).body;
    assert_eq!((answer.get("facets"), answer.get("facets_are_exact")), (None, None));
}

#[test]
fn invalid_facets_are_refused() {
    let (_shop, editor) = editor();
    for (field, value, fault) in [
        ("facets", json!([]), "facets empty"),
        ("facets", json!("color"), "facets wrong_type"),
        ("facets", json!(["a", "b", "c", "a"]), "facets[3] repeated"),
        ("facets", json!(["a", 5]), "facets[1] wrong_type"),
        ("facets", json!(["Color"]), "facets[0] invalid_name"),
        ("facets", json!(["hidden"]), "facets[0] invalid_name"),
        ("facets", json!((0..21).map(|n| format!("a{n}")).collect::<Vec<_>>()), "facets too_many"),
        ("facet_limit", json!(0), "facet_limit out_of_range"),
        ("facet_limit", json!(101), "facet_limit out_of_range"),
        ("facet_limit", json!("5"), "facet_limit wrong_type"),
    ] {
        editor.post(SEARCH, json!({"query": "x", field: value})).faults(&[fault]);
    }
}
