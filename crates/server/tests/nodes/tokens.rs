//! Tokens that do not exist, and tokens that were just issued, on nodes that share a database.

use std::{process::Command, thread};

use reqwest::blocking::Response;
use serde_json::{Value, json};
use testkit::{Node, Role, bearer, postgres, token, until};

/// The well-formed token with this id and a secret that no token has.
fn forged(id: u64) -> String {
    format!("shk_{id}_{}", "A".repeat(43))
}

fn list(node: &Node, token: &str) -> Response {
    node.request("GET", "/products").headers(bearer(token)).send().unwrap()
}

/// How many tokens of a kind a node has looked up.
fn lookups(node: &Node, tokens: &str) -> u64 {
    let name = format!("shopkeeper_token_lookups_total{{tokens=\"{tokens}\"}}");
    node.metric(&name).unwrap_or_default() as u64
}

#[test]
fn a_flood_of_unknown_tokens_is_unauthorized() {
    const IDS: u64 = 20;
    const CLIENTS: u64 = 8;
    const ROUNDS: u64 = 5;
    let url = postgres().database();
    let token = token(&url, Role::Viewer);
    let node = Node::start(&url, &token);
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                for id in (0..ROUNDS).flat_map(|_| 1_000..1_000 + IDS) {
                    assert_eq!(list(&node, &forged(id)).status(), 401);
                }
            });
        }
    });
    // The engine's tests count them.
    assert!(lookups(&node, "unknown") >= IDS);
}

#[test]
fn unknown_tokens_do_not_delay_tokens_in_use() {
    const SLOTS: usize = 64;
    let url = postgres().database();
    let name = url.rsplit_once('/').unwrap().1;
    let token = token(&url, Role::Viewer);
    let slots = ["--limits-concurrent-requests", &SLOTS.to_string()].map(str::to_owned);
    let node = Node::start_with(&url, &token, &slots.each_ref().map(String::as_str));
    assert_eq!(list(&node, &token).status(), 200);
    until("a renewal", || {
        assert_eq!(list(&node, &token).status(), 200);
        lookups(&node, "known") > 0
    });
    // The connection for unknown tokens hangs. It is the older one: at first the node did not know
    // its token.
    let first = format!(
        "SELECT pid FROM pg_stat_activity WHERE datname = '{name}' AND query LIKE '%FROM tokens%'
         AND pid <> pg_backend_pid() ORDER BY backend_start LIMIT 1"
    );
    let process = postgres().psql(name, &first);
    let signal = |signal: &str| {
        assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
    };
    signal("-STOP");
    thread::scope(|scope| {
        let flood = |id: usize| list(&node, &forged(2_000 + id as u64)).status().as_u16();
        let flood: Vec<_> = (0..SLOTS).map(|id| scope.spawn(move || flood(id))).collect();
        until("the refused ones", || {
            flood.iter().filter(|request| request.is_finished()).count() == SLOTS - SLOTS / 4
        });
        let renewed = lookups(&node, "known");
        until("three renewals", || {
            assert_eq!(list(&node, &token).status(), 200);
            lookups(&node, "known") >= renewed + 3
        });
        assert_eq!(flood.iter().filter(|request| !request.is_finished()).count(), SLOTS / 4);
        signal("-CONT");
        let statuses: Vec<u16> = flood.into_iter().map(|request| request.join().unwrap()).collect();
        let count = |status| statuses.iter().filter(|other| **other == status).count();
        assert_eq!((count(401), count(503)), (SLOTS / 4, SLOTS - SLOTS / 4));
    });
}

#[test]
fn a_new_token_works_although_its_id_was_tried_before() {
    let url = postgres().database();
    let token = token(&url, Role::Admin);
    let [issuer, other] = [Node::start(&url, &token), Node::start(&url, &token)];
    let issue = || -> Value {
        let issued = issuer.request("POST", "/tokens").json(&json!({"role": "VIEWER"}));
        issued.send().unwrap().error_for_status().unwrap().json().unwrap()
    };
    let mut last = issue()["id"].as_u64().unwrap();
    for _ in 0..5 {
        let guessed = forged(last + 1);
        assert_eq!(list(&issuer, &guessed).status(), 401);
        assert_eq!(list(&other, &guessed).status(), 401);
        let issued = issue();
        let text = issued["token"].as_str().unwrap();
        assert_eq!(list(&issuer, text).status(), 200, "where it was issued, at once");
        until("the new token elsewhere", || list(&other, text).status() == 200);
        assert_eq!(list(&issuer, &guessed).status(), 401);
        last += 1;
        assert_eq!(issued["id"], last);
    }
}
