//! Limits per client, and the answers to requests beyond them.

use std::time::Duration;

use serde_json::json;
use testkit::{
    PRODUCTS, RequestExt, Role, SEARCH, Socket, TestServer, product_named, silent_model, until,
};

use crate::snapshot::snapshot;

/// A time limit that a test can wait for.
const SHORT: &str = "300ms";

#[test]
fn an_address_that_is_too_long_is_refused() {
    let server = TestServer::start(&[]);
    let editor = server.shop().as_role(Role::Editor);
    let path = format!("{PRODUCTS}?ids=");
    let longest = format!("{path}{}", "1".repeat(8 * 1024 - path.len()));
    editor.get(&longest).expect(200);
    let answer = editor.get(&format!("{longest}1")).refused(414, "uri_too_long");
    snapshot("uri_too_long", &answer);
}

#[test]
fn headers_that_are_too_large_are_refused() {
    let server = TestServer::start(&[]);
    let editor = server.shop().as_role(Role::Editor);
    let with_header = |bytes: usize| {
        editor.request("GET", PRODUCTS).header("x-padding", "x".repeat(bytes)).answer()
    };
    with_header(15 * 1024).expect(200);
    let answer = with_header(17 * 1024).refused(431, "headers_too_large");
    snapshot("headers_too_large", &answer);
}

#[test]
fn a_head_without_end_is_refused_before_it_ends() {
    let server = TestServer::start(&[]);
    let mut socket = Socket::connect(&server);
    socket.send("GET / HTTP/1.1\r\nHost: shop\r\nX-Padding: ");
    socket.send("x".repeat(80 * 1024));
    let answer = String::from_utf8(socket.rest()).unwrap();
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
}

#[test]
fn a_missing_head_ends_the_connection() {
    let server = TestServer::start(&["--limits-header-read-time", SHORT]);
    for sent in ["G", "GET", "GET /health/live HTTP/1.1\r\nHost: shop\r\n"] {
        let mut socket = Socket::connect(&server);
        socket.send(sent);
        let answer = String::from_utf8(socket.rest()).unwrap();
        assert!(!answer.contains(" 200 "), "{answer}");
    }
    let mut prompt = Socket::connect(&server);
    prompt.send("GET /health/live HTTP/1.1\r\nHost: shop\r\n\r\n");
    assert_eq!(prompt.answer().status, 200);
}

#[test]
fn an_idle_connection_is_closed() {
    let server =
        TestServer::start(&["--limits-idle-time", SHORT, "--limits-header-read-time", "10s"]);
    let request = "GET /health/live HTTP/1.1\r\nHost: shop\r\n\r\n";
    let mut unused = Socket::connect(&server);
    assert_eq!(unused.rest(), b"");
    // On a busy machine, a connection may be closed before its request is sent.
    until("a response before the end", || {
        Socket::connect(&server).send(request).rest().starts_with(b"HTTP/1.1 200 ")
    });
}

#[test]
fn a_slow_head_is_cut_off_on_a_connection_that_was_used_before() {
    let server = TestServer::start(&["--limits-header-read-time", SHORT]);
    let request = "GET /health/live HTTP/1.1\r\nHost: shop\r\n\r\n";
    let mut socket = Socket::connect(&server);
    assert_eq!(socket.send(request).answer().status, 200);
    assert!(socket.is_silent_for(Duration::from_millis(600)), "idle is not slow");
    assert_eq!(socket.send(request).answer().status, 200);
    assert_eq!(socket.send("GET /health/live").rest(), b"");
}

#[test]
fn a_missing_body_times_out() {
    let server = TestServer::start(&["--limits-body-read-time", SHORT]);
    let token = server.shop().token(Role::Editor);
    let mut socket = Socket::connect(&server);
    socket.head(&format!("POST {PRODUCTS}"), &token, &["Content-Length: 100"]).send("{\"title\"");
    socket.answer().refused(408, "request_timeout");
    assert_eq!(socket.rest(), b"", "and the connection ends");
}

#[test]
fn a_request_that_takes_too_long_is_unavailable() {
    let server = TestServer::start(&["--limits-request-time", SHORT]);
    let token = server.shop().token(Role::Editor);
    let mut socket = Socket::connect(&server);
    socket.head(&format!("POST {PRODUCTS}"), &token, &["Content-Length: 100"]).send("{\"title\"");
    let answer = socket.answer().refused(503, "unavailable");
    assert_eq!(answer.headers["retry-after"], "1");
}

#[test]
fn one_request_more_than_allowed_is_unavailable() {
    let (model, flags) = silent_model();
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    let server = TestServer::start(&[&flags[..], &["--limits-concurrent-requests", "1"]].concat());
    let shop = server.shop();
    let editor = shop.as_role(Role::Editor);
    let searcher = shop.as_role(Role::Viewer);
    let search = std::thread::spawn(move || {
        let search = || searcher.post(SEARCH, json!({"query": "a warm scarf"})).status;
        std::iter::repeat_with(search).find(|status| *status != 503)
    });
    until("the search being worked on", || editor.get(PRODUCTS).status == 503);
    let answer = editor.get(PRODUCTS).refused(503, "unavailable");
    snapshot("unavailable", &answer);
    editor.get("/health/live").expect(200);
    editor.get("/metrics").expect(200);
    // The search gives up on the model.
    drop(model);
    assert_eq!(search.join().unwrap(), Some(200));
    editor.get(PRODUCTS).expect(200);
}

#[test]
fn a_request_takes_no_slot_while_its_body_arrives() {
    let server = TestServer::start(&["--limits-concurrent-requests", "1"]);
    let editor = server.shop().as_role(Role::Editor);
    let mut socket = Socket::connect(&server);
    let body = product_named("Sofa").to_string();
    let length = format!("Content-Length: {}", body.len());
    let headers = ["Expect: 100-continue", &length];
    socket.head(&format!("POST {PRODUCTS}"), editor.token.as_ref().unwrap(), &headers);
    // The server asks for the body once it waits for it.
    assert_eq!(socket.answer().status, 100);
    editor.get(PRODUCTS).expect(200);
    socket.send(&body);
    assert_eq!(socket.answer().status, 201);
    assert_eq!(editor.get(PRODUCTS).expect(200).total_count(), 1);
}

#[test]
fn a_connection_above_the_limit_replaces_an_idle_one() {
    let server = TestServer::start(&["--limits-connections", "1"]);
    // Not a health probe: those are answered beyond the limit.
    let request = format!("GET {PRODUCTS} HTTP/1.1\r\nHost: shop\r\n\r\n");
    let mut first = Socket::connect(&server);
    assert_eq!(first.send(&request).answer().status, 401);
    // The first connection becomes idle a moment after its answer has arrived; before that, the
    // second one is refused.
    let mut second = None;
    until("the end of the first request", || {
        let socket = second.insert(Socket::connect(&server));
        socket.exchange(&request).is_some_and(|answer| answer.status == 401)
    });
    let mut second = second.unwrap();
    assert_eq!(first.rest(), b"");
    assert_eq!(second.send(&request).answer().status, 401);
}

#[test]
fn the_body_limit_can_be_set() {
    let server = TestServer::start(&["--limits-body-bytes", "1KiB"]);
    let editor = server.shop().as_role(Role::Editor);
    editor.post(PRODUCTS, product_named("Sofa")).expect(201);
    let long = json!({"title": "Sofa", "price": "$5", "description": "x".repeat(1024)});
    snapshot("body_too_large", &editor.post(PRODUCTS, long).refused(413, "body_too_large"));
}

#[test]
fn a_token_above_its_rate_limit_is_told_when_to_retry() {
    let server =
        TestServer::start(&["--rate-limit-requests-per-second", "1", "--rate-limit-burst", "3"]);
    let shop = server.shop();
    let (eager, calm) = (shop.as_role(Role::Editor), shop.as_role(Role::Viewer));
    let first = eager.get(PRODUCTS).expect(200);
    assert_eq!(first.header("ratelimit-policy"), Some("\"token\";q=3;w=3"));
    assert_eq!(first.header("ratelimit"), Some("\"token\";r=2;t=1"));
    // A slow machine may get a request more out of it, never one less.
    let mut welcome = 1;
    let answer = loop {
        let answer = eager.post(PRODUCTS, json!({}));
        if answer.status == 429 {
            break answer.refused(429, "rate_limited");
        }
        answer.refused(422, "validation_failed");
        welcome += 1;
    };
    assert!(welcome >= 3, "{welcome}");
    snapshot("rate_limited", &answer);

    calm.get(PRODUCTS).expect(200);
    server.stranger().get(PRODUCTS).refused(401, "missing_token");
    server.stranger().get("/health/live").expect(200);
    until("the next request being welcome", || eager.get(PRODUCTS).status == 200);
}

#[test]
fn no_token_is_limited_by_default() {
    let server = TestServer::start(&[]);
    let viewer = server.shop().as_role(Role::Viewer);
    for _ in 0..200 {
        let answer = viewer.get(PRODUCTS).expect(200);
        assert_eq!(answer.header("ratelimit"), None);
        assert_eq!(answer.header("ratelimit-policy"), None);
    }
}
