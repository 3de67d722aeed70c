//! Key, page and attributes of a product, in every request and response that has products.

use std::thread;

use serde_json::{Value, json};
use testkit::{
    BULK, PRODUCTS, RequestExt, Role, SEARCH, Shop, TestServer, editor, product, product_named,
};

use crate::snapshot::snapshot;

fn sofa() -> Value {
    json!({
        "title": "Linen sofa", "price": "$899.00", "key": "SOFA-3 é,/", "url": "https://example.com/sofa",
        "attributes": {"brand": "Hygge", "color": ["green", "Grün"], "seats": 3, "weight": 40.5,
            "in_stock": true},
    })
}

#[test]
fn merchant_data_is_returned_as_it_was_sent() {
    let (_shop, editor) = editor();
    let created = editor.post(PRODUCTS, sofa()).expect(201);
    snapshot("create_with_merchant_data", &created);
    let id = created.id();
    assert!(created.text.contains(r#""seats":3,"#), "a whole number has no fraction");
    assert_eq!(editor.get(&product(id)).expect(200).body, created.body);
    assert_eq!(editor.get(PRODUCTS).expect(200).body[0], created.body);
    assert_eq!(editor.get(&format!("{PRODUCTS}?ids={id}")).expect(200).body[0], created.body);
    let found = editor.post(SEARCH, json!({"query": "linen sofa"})).expect(200).body;
    assert_eq!(found["products"][0], created.body);

    // What was read can be edited and sent back.
    let mut changed = created.body.clone();
    changed["attributes"]["seats"] = json!(4);
    let updated = editor.put(&product(id), changed.clone()).expect(200).body;
    assert_eq!(updated["attributes"], changed["attributes"]);
    assert_eq!((&updated["key"], &updated["url"]), (&changed["key"], &changed["url"]));
}

#[test]
fn fields_that_a_product_lacks_are_left_out() {
    let (_shop, editor) = editor();
    let mut bare = product_named("Sofa");
    bare["attributes"] = json!({});
    let body = editor.post(PRODUCTS, bare).expect(201).body;
    for field in ["key", "url", "attributes"] {
        assert_eq!(body.get(field), None, "{field}");
    }
}

#[test]
fn an_update_replaces_or_removes_merchant_data() {
    let (_shop, editor) = editor();
    let id = editor.create(sofa());
    let put = |body: Value| editor.put(&product(id), body).expect(200).body;
    let priced = put(json!({"price": "$5"}));
    assert_eq!(priced["attributes"], sofa()["attributes"], "an update keeps what it does not name");
    let replaced = put(json!({"attributes": {"color": "red"}, "key": "other"}));
    assert_eq!(replaced["attributes"], json!({"color": "red"}));
    assert_eq!(replaced["key"], "other");
    let removed = put(json!({"attributes": {}, "key": "", "url": ""}));
    for field in ["key", "url", "attributes"] {
        assert_eq!(removed.get(field), None, "{field}");
    }
    // The key is free again.
    let mut other = sofa();
    other["key"] = json!("other");
    editor.post(PRODUCTS, other).expect(201);
}

#[test]
fn merchant_data_outlives_the_server() {
    let server = TestServer::start(&[]);
    let token = server.shop().token(Role::Editor);
    let created = server.client(&token).post(PRODUCTS, sofa()).expect(201);
    let server = server.restart(&[]);
    assert_eq!(server.client(&token).get(&product(created.id())).expect(200).body, created.body);
    server.client(&token).post(PRODUCTS, sofa()).refused(409, "conflict");
}

#[test]
fn a_key_belongs_to_one_product_of_a_shop() {
    let (_shop, editor) = editor();
    let keyed = |key: &str| json!({"title": "Sofa", "price": "$5", "key": key});
    let first = editor.create(keyed("A"));
    let refused = editor.post(PRODUCTS, keyed("A")).refused(409, "conflict");
    assert_eq!(refused.body["detail"], format!("product {first} has this key"));
    // Compared byte for byte.
    let others = ["a", "A ", "Ａ"].map(|key| editor.create(keyed(key)));
    editor.put(&product(others[0]), json!({"key": "A"})).refused(409, "conflict");
    editor.put(&product(first), json!({"key": "A", "title": "Couch"})).expect(200);
    editor.delete(&product(first)).expect(204);
    editor.put(&product(others[0]), json!({"key": "A"})).expect(200);
    // Another shop has keys of its own.
    Shop::open().as_role(Role::Editor).create(keyed("A"));
}

#[test]
fn a_conflict_of_keys_fails_its_element_alone() {
    let (_shop, editor) = editor();
    let keyed = |key: &str| json!({"title": "Sofa", "price": "$5", "key": key});
    let held = editor.create(keyed("A"));
    let body = json!({"products": [keyed("B"), keyed("A"), {"title": ""}, keyed("B"), keyed("C")]});
    let answer = editor.post(BULK, body).expect(201).body;
    assert_eq!(answer["created_count"], 2);
    let ids = answer["created_ids"].as_array().unwrap().clone();
    let errors = answer["errors"].as_array().unwrap();
    let conflicts: Vec<_> = errors.iter().filter(|error| error["code"] == "conflict").collect();
    assert_eq!(conflicts.len(), 2, "{answer}");
    for (conflict, index, holder) in [(conflicts[0], 1, &json!(held)), (conflicts[1], 3, &ids[0])] {
        assert_eq!((&conflict["index"], &conflict["field"]), (&json!(index), &json!("key")));
        assert!(conflict["message"].as_str().unwrap().contains(&holder.to_string()), "{conflict}");
    }
    assert!(errors.is_sorted_by_key(|error| error["index"].as_u64()), "{answer}");

    let body = json!({"products": [
        {"id": ids[0], "key": "A"}, {"id": held, "key": ""}, {"id": ids[0], "key": "A"}]});
    let answer = editor.put(BULK, body).expect(200).body;
    assert_eq!(answer["updated_ids"], json!([held, ids[0]]));
    assert_eq!(answer["errors"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&answer["errors"][0]["id"], &answer["errors"][0]["code"]),
        (&ids[0], &json!("conflict"))
    );
}

#[test]
fn a_refused_key_does_not_use_up_an_idempotency_key() {
    let (_shop, editor) = editor();
    let body = json!({"title": "Sofa", "price": "$5", "key": "A"});
    let first = editor.create(body.clone());
    let post =
        || editor.request("POST", PRODUCTS).header("idempotency-key", "once").json(&body).answer();
    post().refused(409, "conflict");
    editor.delete(&product(first)).expect(204);
    let created = post().expect(201);
    assert_eq!(post().expect(201).body, created.body);
}

#[test]
fn of_many_products_with_one_key_one_is_created() {
    let (_shop, editor) = editor();
    let body = json!({"title": "Sofa", "price": "$5", "key": "A"});
    let statuses: Vec<_> = thread::scope(|scope| {
        let create = || editor.post(PRODUCTS, body.clone()).status;
        let creating: Vec<_> = (0..16).map(|_| scope.spawn(create)).collect();
        creating.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 15, "{statuses:?}");
}

#[test]
fn merchant_data_is_changed_under_if_match() {
    let (_shop, editor) = editor();
    let id = editor.create(sofa());
    let tag = editor.get(&product(id)).etag().to_owned();
    let put = |tag: &str, body: Value| {
        editor.request("PUT", &product(id)).header("if-match", tag).json(&body).answer()
    };
    let changed = put(&tag, json!({"attributes": {"color": "red"}})).expect(200);
    assert_ne!(changed.etag(), tag, "a change of attributes is a new version");
    put(&tag, json!({"key": "other"})).refused(412, "precondition_failed");
    put(changed.etag(), json!({"key": "other"})).expect(200);
    // The version is checked before the key.
    editor.create(json!({"title": "Table", "price": "$5", "key": "T"}));
    put(&tag, json!({"key": "T"})).refused(412, "precondition_failed");
    put("*", json!({"key": "T"})).refused(409, "conflict");
}

#[test]
fn invalid_merchant_data_is_refused_with_its_path() {
    let (_shop, editor) = editor();
    let id = editor.create(product_named("Sofa"));
    for (field, value, faults) in [
        ("key", json!(""), &["key blank"][..]),
        ("key", json!("k".repeat(101)), &["key too_long"]),
        ("key", json!("a\u{0}"), &["key control_character"]),
        ("key", json!(17), &["key wrong_type"]),
        ("key", Value::Null, &["key wrong_type"]),
        ("url", json!("sofa"), &["url invalid_url"]),
        ("url", json!("ftp://example.com"), &["url invalid_url"]),
        ("url", json!(format!("https://example.com/{}", "x".repeat(2000))), &["url invalid_url"]),
        ("url", json!([]), &["url wrong_type"]),
        (
            "attributes",
            json!({"color": "", "Size": 1}),
            &["attributes.Size invalid_name", "attributes.color blank"],
        ),
        ("attributes", json!({"color": ["a", "b", "a"]}), &["attributes.color[2] repeated"]),
        ("attributes", json!({"sort": "x"}), &["attributes.sort invalid_name"]),
        ("attributes", json!({"a": {"b": 1}}), &["attributes.a wrong_type"]),
        ("attributes", json!({"a": "x".repeat(201)}), &["attributes.a too_long"]),
        ("attributes", Value::Null, &["attributes wrong_type"]),
    ] {
        let mut body = product_named("Table");
        body[field] = value.clone();
        editor.post(PRODUCTS, body).faults(faults);
        if value != json!("") {
            editor.put(&product(id), json!({field: value})).faults(faults);
        }
    }
    assert_eq!(editor.get(PRODUCTS).total_count(), 1);
}

#[test]
fn products_are_listed_by_key() {
    let (shop, editor) = editor();
    let keyed = |key: &str, hidden: bool| {
        editor.create(json!({"title": "Sofa", "price": "$5", "key": key, "hidden": hidden}))
    };
    let (a, b, comma, secret) =
        (keyed("a", false), keyed("b +", false), keyed("a,b", false), keyed("secret", true));
    let list = |role: Role, query: &str| shop.as_role(role).get(&format!("{PRODUCTS}?{query}"));
    let ids = |query: &str| list(Role::Viewer, query).expect(200).ids();
    assert_eq!(ids("keys=b%20%2B,a,nothing,a"), [b, a]);
    assert_eq!(ids("keys=a&keys=a%2Cb"), [a, comma]);
    assert_eq!(ids("keys=A"), testkit::NO_IDS, "byte for byte");
    assert_eq!(ids("keys="), testkit::NO_IDS);
    assert_eq!(ids("keys=secret,a"), [secret, a]);
    assert_eq!(
        list(Role::Shopper, "keys=secret,a").expect(200).ids(),
        [a],
        "hidden keys do not exist"
    );
    let page = list(Role::Viewer, "keys=a,secret,a%2Cb&limit=1&offset=1").expect(200);
    assert_eq!((page.ids(), page.total_count()), (vec![secret], 3));
    list(Role::Viewer, "keys=a&ids=1").faults(&["keys exclusive"]);
    list(Role::Viewer, "keys=a,,b").faults(&["keys blank"]);
    assert_eq!(
        Shop::open().as_role(Role::Viewer).get(&format!("{PRODUCTS}?keys=a")).ids(),
        testkit::NO_IDS
    );
}
