//! `GET /changes`: what changed in a shop, in order.

use serde_json::{Value, json};
use testkit::{
    BULK, Client, PRODUCTS, Role, Shop, TestServer, editor, product, product_named, until,
};

const CHANGES: &str = "/api/v1/changes";

fn changes(client: &Client, query: &str) -> Value {
    client.get(&format!("{CHANGES}{query}")).expect(200).body
}

/// Each change as `id key change`.
fn listed(page: &Value) -> Vec<String> {
    let line = |change: &Value| {
        assert!(change["seq"].is_u64(), "{change}");
        let key = change.get("key").map_or("-", |key| key.as_str().unwrap());
        format!("{} {key} {}", change["id"], change["change"].as_str().unwrap())
    };
    page["changes"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn every_write_is_listed_once_in_order() {
    let (shop, editor) = editor();
    let viewer = shop.as_role(Role::Viewer);
    let empty = changes(&viewer, "");
    assert_eq!(empty, json!({"changes": [], "next": 0, "complete": true}));
    let mut keyed = product_named("Sofa");
    keyed["key"] = json!("A");
    let a = editor.create(keyed);
    let b = editor.create(product_named("Table"));
    editor.put(&product(a), json!({"price": "$7"})).expect(200);
    editor.put(&product(b), json!({"key": "B", "hidden": true})).expect(200);
    editor.delete(&product(a)).expect(204);
    let all = changes(&viewer, "");
    assert_eq!(all["complete"], true);
    assert_eq!(
        listed(&all),
        [
            // The key is the current one; a deletion has the last one.
            format!("{a} - upserted"),
            format!("{b} B upserted"),
            format!("{a} - upserted"),
            format!("{b} B upserted"),
            format!("{a} A deleted"),
        ]
    );
    let seqs: Vec<_> =
        all["changes"].as_array().unwrap().iter().map(|change| change["seq"].as_u64()).collect();
    assert!(seqs.is_sorted() && seqs.last() == Some(&all["next"].as_u64()), "{all}");
}

#[test]
fn pages_follow_each_other_by_next() {
    let (_shop, editor) = editor();
    let ids = editor.create_all((0..25).map(|n| format!("Lamp {n}")));
    let whole = changes(&editor, "");
    assert_eq!(whole["changes"].as_array().map(Vec::len), Some(25));
    let mut paged = Vec::new();
    let mut since = 0;
    loop {
        let page = changes(&editor, &format!("?since={since}&limit=10"));
        paged.extend(page["changes"].as_array().unwrap().clone());
        since = page["next"].as_u64().unwrap();
        if page["complete"] == true {
            break;
        }
        assert_eq!(page["changes"].as_array().map(Vec::len), Some(10));
    }
    assert_eq!(json!(paged), whole["changes"]);
    let nothing = changes(&editor, &format!("?since={since}"));
    assert_eq!(nothing, json!({"changes": [], "next": since, "complete": true}));
    editor.bulk_delete(json!({"product_ids": ids})).expect(200);
    let gone = changes(&editor, &format!("?since={since}&limit=1000"));
    assert!(listed(&gone).iter().all(|line| line.ends_with("- deleted")), "{gone}");
    assert_eq!(gone["changes"].as_array().map(Vec::len), Some(25));
}

#[test]
fn a_bulk_request_lists_what_succeeded() {
    let (_shop, editor) = editor();
    let body = json!({"products": [product_named("One"), {}, product_named("Two")]});
    let created = editor.post(BULK, body).expect(201).body["created_ids"].clone();
    let page = changes(&editor, "");
    let ids: Vec<_> = page["changes"].as_array().unwrap().iter().map(|c| c["id"].clone()).collect();
    assert_eq!(json!(ids), created);
}

#[test]
fn changes_are_for_viewers_of_the_shop() {
    let (shop, editor) = editor();
    editor.create(json!({"title": "Secret", "price": "$5", "key": "S", "hidden": true}));
    shop.as_role(Role::Shopper).get(CHANGES).refused(403, "insufficient_role");
    for role in [Role::Viewer, Role::Editor, Role::Admin] {
        assert_eq!(listed(&changes(&shop.as_role(role), "")).len(), 1, "{role:?}");
    }
    let theirs = changes(&Shop::open().as_role(Role::Viewer), "");
    assert_eq!(theirs, json!({"changes": [], "next": 0, "complete": true}));
    shop.as_role(Role::Viewer).get("/v1/changes").expect(200);
}

#[test]
fn parameters_out_of_range_are_refused() {
    let (_shop, editor) = editor();
    for (query, fault) in [
        ("since=-1", "since out_of_range"),
        ("since=x", "since wrong_type"),
        ("since=99999999999999999999", "since out_of_range"),
        ("limit=0", "limit out_of_range"),
        ("limit=1001", "limit out_of_range"),
        ("limit=", "limit wrong_type"),
        ("since=1&since=2", "since repeated"),
        ("after=1", "after unknown_parameter"),
    ] {
        editor.get(&format!("{CHANGES}?{query}")).faults(&[fault]);
    }
}

/// A store that was set back, by a restored backup or a failover, has fewer changes than its
/// followers have read. They must not wait for numbers to come again.
#[test]
fn a_number_that_no_change_has_yet_has_expired() {
    let (_shop, editor) = editor();
    let expired = |since: u64| {
        let answer = editor.get(&format!("{CHANGES}?since={since}"));
        answer.refused(410, "changes_expired").body["last"].clone()
    };
    assert_eq!([1, 1000].map(expired), [json!(0), json!(0)]);
    let sofa = editor.create(product_named("Sofa"));
    editor.delete(&product(sofa)).expect(204);
    let last: u64 = editor.get(PRODUCTS).header("x-catalog-seq").unwrap().parse().unwrap();
    for since in [last + 1, 9_000_000_000_000_000_000, i64::MAX as u64] {
        assert_eq!(expired(since), json!(last));
    }
    let page = changes(&editor, &format!("?since={last}"));
    assert_eq!(page, json!({"changes": [], "next": last, "complete": true}));
    assert_eq!(listed(&changes(&editor, "?since=0")).len(), 2);
}

#[test]
fn the_changes_of_a_shop_are_kept_whatever_others_write() {
    let server = TestServer::start(&[]);
    let (quiet, busy) = (server.shop(), server.shop());
    let (mine, theirs) = (quiet.token(Role::Editor), busy.token(Role::Editor));
    server.client(&mine).create_all(["Sofa", "Table", "Lamp"].map(str::to_owned));
    server.client(&theirs).create_all((0..40).map(|n| format!("Rug {n}")));
    server.client(&mine).create(product_named("Stool"));
    drop((quiet, busy));
    // Old changes are removed as soon as a server starts.
    let server = server.restart(&["--store-kept-changes", "5", "--model-kind", "off"]);
    let (mine, theirs) = (server.client(&mine), server.client(&theirs));
    until("the removal of old changes", || theirs.get(CHANGES).status == 410);
    assert_eq!(listed(&changes(&mine, "?since=0")).len(), 4);
    let last = theirs.get(CHANGES).refused(410, "changes_expired").body["last"].as_u64().unwrap();
    assert_eq!(listed(&changes(&theirs, &format!("?since={}", last - 5))).len(), 5);
    theirs.get(&format!("{CHANGES}?since={}", last - 6)).refused(410, "changes_expired");
}
