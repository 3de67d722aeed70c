//! A connection lost during a commit: the client is told that the outcome is unknown and how to
//! retry, and nothing is written twice.

use std::thread;

use reqwest::{StatusCode, blocking::Response};
use serde_json::{Value, json};
use testkit::{CutAt, Node, Proxy, Role, postgres, token, until};

/// Writes that wait for each other, so that some are committed together.
const WRITERS: usize = 8;

/// A node whose way to the database can be cut.
fn node_behind_a_proxy() -> (Node, Proxy) {
    let url = postgres().database();
    let token = token(&url, Role::Editor);
    let name = url.rsplit_once('/').unwrap().1;
    let wire = Proxy::to(postgres().port());
    let url = postgres().url_at(&format!("127.0.0.1:{}", wire.port()), name);
    let node = Node::start(&url, &token);
    node.create("first");
    (node, wire)
}

fn create(node: &Node, title: &str, key: &str) -> Response {
    let body = json!({"title": title, "price": "$5"});
    let post = node.request("POST", "/products").header("idempotency-key", key);
    post.json(&body).send().unwrap()
}

/// The titles of all products, in order.
fn titles(node: &Node) -> Vec<String> {
    let list = node.request("GET", "/products").send().unwrap();
    let list: Vec<Value> = list.error_for_status().unwrap().json().unwrap();
    let title = |product: &Value| product["title"].as_str().unwrap().to_owned();
    let mut titles: Vec<_> = list.iter().map(title).collect();
    titles.sort_unstable();
    titles
}

fn is_said_to_be_unknown(answer: Response) {
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.headers().contains_key("retry-after"));
    let problem: Value = answer.json().unwrap();
    assert_eq!(problem["code"], "unavailable");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("may or may not have been written"), "{detail}");
    assert!(detail.contains("Idempotency-Key"), "{detail}");
}

fn repeated_with_its_key_it_is_written_once(cut: CutAt) {
    let (node, wire) = node_behind_a_proxy();
    wire.cut_commits(Some(cut));
    is_said_to_be_unknown(create(&node, "lamp", "delivery"));
    wire.cut_commits(None);
    until("a write", || create(&node, "lamp", "delivery").status() == StatusCode::CREATED);
    assert_eq!(titles(&node), ["first", "lamp"]);
}

#[test]
fn a_commit_that_never_reached_the_database() {
    repeated_with_its_key_it_is_written_once(CutAt::BeforeCommit);
}

#[test]
fn a_commit_whose_answer_was_lost() {
    repeated_with_its_key_it_is_written_once(CutAt::AfterCommit);
}

/// A node must not try such writes again by itself: it would write them twice.
#[test]
fn writes_that_were_committed_together_are_not_repeated() {
    let (node, wire) = node_behind_a_proxy();
    wire.cut_commits(Some(CutAt::AfterCommit));
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let node = &node;
            scope.spawn(move || is_said_to_be_unknown(node.try_create(&format!("lamp {writer}"))));
        }
    });
    wire.cut_commits(None);
    let expected: Vec<_> = std::iter::once("first".to_owned())
        .chain((0..WRITERS).map(|writer| format!("lamp {writer}")))
        .collect();
    assert_eq!(titles(&node), expected);
}
