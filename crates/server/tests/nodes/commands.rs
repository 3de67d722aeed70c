//! The command line works on a database as on a folder, while nodes are running.

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{Node, Role, postgres, printed, run_on, token};

#[test]
fn import_export_search_and_status_work_on_a_database() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let url = postgres().database();
    let node = Node::start(&url, &token(&url, Role::Editor));
    let (first, _) = node.create("rug");
    let products: String = (0..250)
        .map(|n| format!("{{\"title\": \"Lamp number{n}\", \"price\": \"${n}\"}}\n"))
        .collect();
    std::fs::write(path("in.jsonl"), &products).unwrap();
    // Beside the node, which shows what was imported.
    printed(run_on(&url, &["import", &path("in.jsonl"), "--shop", "1"]));
    testkit::until("the imported products", || node.find("number17").len() == 1);
    printed(run_on(&url, &["export", &path("out.jsonl"), "--shop", "1"]));
    let out = std::fs::read_to_string(path("out.jsonl")).unwrap();
    let out: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(out.len(), 251);
    assert_eq!(out[0]["id"], first);
    // Several batches are written at a time, so products need not be in the order of the file.
    let mut titles: Vec<&str> = out[1..].iter().filter_map(|one| one["title"].as_str()).collect();
    titles.sort_unstable();
    let mut expected: Vec<String> = (0..250).map(|n| format!("Lamp number{n}")).collect();
    expected.sort_unstable();
    assert_eq!(titles, expected);
    let found = printed(run_on(&url, &["search", "number17", "--shop", "1"]));
    assert!(found.contains("Lamp number17") && !found.contains("number18"), "{found}");
    let told: Value = serde_json::from_str(&printed(run_on(&url, &["status", "--json"]))).unwrap();
    assert_eq!(told["shops"][0]["visible"], 251);
    assert!(told["bytes"].as_u64().unwrap() > 4096, "{told}");
    let said = printed(run_on(&url, &["status"]));
    assert!(said.contains("database ") && said.contains("251"), "{said}");
    assert!(!format!("{told} {said}").contains(postgres().password()), "{said}");
}

#[test]
fn a_database_without_schema_is_reported() {
    let url = postgres().database();
    let said = printed(run_on(&url, &["status"]));
    assert!(said.contains("version 0"), "{said}");
    let refused = run_on(&url, &["search", "lamp", "--shop", "1"]);
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("shopkeeper migrate"), "{said}");
}

/// Over HTTP and at the command line; the list at the command line goes over all pages.
#[test]
fn a_shop_has_at_most_10000_tokens_that_work() {
    let url = postgres().database();
    let admin = token(&url, Role::Admin);
    let node = Node::start(&url, &admin);
    postgres().psql(
        url.rsplit('/').next().unwrap(),
        "INSERT INTO tokens (id, shop_id, role, name, secret_hash, created_at, revoked_at)
             SELECT nextval('token_ids'), 1, 'VIEWER', '', '', 0,
                 CASE WHEN n > 9998 THEN (extract(epoch FROM now()) * 1000000)::bigint END
             FROM generate_series(1, 10500) n",
    );
    let issue = || node.request("POST", "/tokens").json(&json!({"role": "VIEWER"})).send().unwrap();
    let last = issue();
    assert_eq!(last.status(), 201);
    let last: Value = last.json().unwrap();
    let refused = issue();
    assert_eq!(refused.status(), 409);
    let refused: Value = refused.json().unwrap();
    assert_eq!(refused["code"], "too_many_tokens", "{refused}");
    let create =
        |shop: &str| run_on(&url, &["token", "create", "--shop", shop, "--role", "VIEWER"]);
    let refused = create("1");
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("10000 tokens"), "{said}");
    printed(create("2"));
    let listed = printed(run_on(&url, &["token", "list", "--shop", "1"]));
    assert_eq!(listed.lines().count(), 1 + 10_500 + 2);
    let revoked = node.request("DELETE", &format!("/tokens/{}", last["id"])).send().unwrap();
    assert_eq!(revoked.status(), 204);
    assert_eq!(issue().status(), 201);
}
