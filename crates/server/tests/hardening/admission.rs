//! No caller can take the connections or admission slots of others.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::json;
use testkit::{
    Client, PRODUCTS, RequestExt, Role, SEARCH, Socket, TestServer, product, product_named,
    silent_model, until,
};

const LIVE: &str = "GET /health/live HTTP/1.1\r\nHost: shop\r\n\r\n";

/// Begins a request whose body does not come.
fn unfinished(server: &TestServer, token: &str) -> Socket {
    let mut socket = Socket::connect(server);
    let headers = ["Expect: 100-continue", "Content-Length: 100"];
    socket.head(&format!("POST {PRODUCTS}"), token, &headers);
    // The server asks for the body once it waits for it.
    assert_eq!(socket.answer().status, 100);
    socket
}

#[test]
fn bodies_that_do_not_come_keep_no_request_from_work() {
    let server = TestServer::start(&["--limits-concurrent-requests", "8"]);
    let (slow, other) = (server.shop(), server.shop());
    let (editor, neighbour) = (slow.as_role(Role::Editor), other.as_role(Role::Editor));
    let token = editor.token.clone().unwrap();
    let sockets: Vec<_> = (0..64).map(|_| unfinished(&server, &token)).collect();
    for client in [&neighbour, &editor] {
        client.get(PRODUCTS).expect(200);
        client.create(product_named("Sofa"));
    }
    drop(sockets);
}

/// Nor can a shop take all connections with them.
#[test]
fn bodies_that_do_not_come_leave_connections_to_others() {
    let limits = ["--limits-connections", "32", "--limits-body-memory", "1MiB"];
    let server = TestServer::start(&[&limits[..], &["--limits-body-bytes", "1KiB"]].concat());
    let (slow, other) = (server.shop(), server.shop());
    let (token, neighbour) = (slow.token(Role::Editor), other.as_role(Role::Editor));
    let mut sockets: Vec<_> = (0..32)
        .map(|_| {
            let mut socket = Socket::connect(&server);
            let headers = ["Expect: 100-continue", "Content-Length: 100"];
            socket.head(&format!("POST {PRODUCTS}"), &token, &headers);
            socket
        })
        .collect();
    // Half of the memory holds eight of 64 KiB.
    let statuses: Vec<_> = sockets.iter_mut().map(|socket| socket.answer().status).collect();
    let waiting = statuses.iter().filter(|status| **status == 100).count();
    assert_eq!(waiting, 8, "{statuses:?}");
    neighbour.create(product_named("Sofa"));
    neighbour.get(PRODUCTS).expect(200);
}

/// Bodies take memory as they arrive: bounded for a shop, and others have room.
#[test]
fn the_memory_of_bodies_is_bounded_for_each_shop() {
    let server = TestServer::start(&["--limits-body-memory", "8MiB"]);
    let (greedy, other) = (server.shop(), server.shop());
    let (editor, neighbour) = (greedy.as_role(Role::Editor), other.as_role(Role::Editor));
    let token = editor.token.clone().unwrap();
    let part = format!("{{\"title\": \"{}", "x".repeat(3 << 20));
    let begin = || {
        let mut socket = Socket::connect(&server);
        let length = format!("Content-Length: {}", part.len() + 1);
        socket.head(&format!("POST {PRODUCTS}"), &token, &[&length]).send(&part);
        socket
    };
    let is_silent = |socket: &mut Socket| socket.is_silent_for(Duration::from_millis(100));
    // Half of the memory holds one of them. Two that arrive side by side may both be refused.
    let mut held = begin();
    let mut refused = begin();
    while is_silent(&mut refused) || !is_silent(&mut held) {
        if !is_silent(&mut held) {
            held = begin();
        }
        refused = begin();
    }
    let refused = refused.answer().refused(503, "unavailable");
    assert!(refused.headers.contains_key("retry-after"));
    neighbour.create(json!({"title": "Sofa", "price": "$5", "description": "x".repeat(20_000)}));
    editor.create(product_named("Sofa"));
    held.send("}").answer().refused(400, "malformed_json");
}

/// A search that takes until the model is gone, however often a slot for it must be tried.
fn slow_search(client: Client) -> thread::JoinHandle<u16> {
    thread::spawn(move || {
        loop {
            let request = client.request("POST", SEARCH).json(&json!({"query": "a warm scarf"}));
            match request.answer().status {
                503 => {}
                status => return status,
            }
        }
    })
}

#[test]
fn slow_requests_of_a_shop_leave_slots_to_others() {
    let (model, flags) = silent_model();
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    let server = TestServer::start(&[&flags[..], &["--limits-concurrent-requests", "8"]].concat());
    let (slow, other) = (server.shop(), server.shop());
    let [first, second, third] = [(); 3].map(|()| slow.as_role(Role::Viewer));
    let neighbour = other.as_role(Role::Viewer);
    let searches = [&first, &first, &second, &second].map(|client| slow_search(client.clone()));
    // This needs nothing but a slot to be refused for another reason.
    let bad = format!("{PRODUCTS}?limit=0");
    let detail = |client: &Client| {
        let answer = client.get(&bad);
        (answer.status == 503).then(|| answer.body["detail"].as_str().unwrap().to_owned())
    };
    until("the slots of the token being taken", || {
        detail(&first).is_some_and(|detail| detail.contains("with this token"))
    });
    until("the slots of the shop being taken", || {
        detail(&third).is_some_and(|detail| detail.contains("of this shop"))
    });
    neighbour.get(&bad).refused(422, "validation_failed");
    server.stranger().get(PRODUCTS).refused(401, "missing_token");
    drop(model);
    for search in searches {
        assert_eq!(search.join().unwrap(), 200);
    }
    first.get(PRODUCTS).expect(200);
}

#[test]
fn a_change_that_cannot_exist_is_refused_at_once() {
    let server = TestServer::start(&["--limits-concurrent-requests", "1"]);
    let editor = server.shop().as_role(Role::Editor);
    let sofa = editor.create(product_named("Sofa"));
    let last = editor.get(&product(sofa)).expect(200);
    let last: u64 = last.header("x-catalog-seq").unwrap().parse().unwrap();
    let started = Instant::now();
    for seq in [last + 1, last + 1000, i64::MAX as u64] {
        let request = editor.request("GET", PRODUCTS).header("x-min-catalog-seq", seq);
        let answer = request.answer().refused(503, "unavailable");
        let detail = answer.body["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(&format!("no change {seq} ")), "{detail}");
    }
    // Waiting would take five seconds each.
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    let request = editor.request("GET", PRODUCTS).header("x-min-catalog-seq", last);
    request.answer().expect(200);
}

#[test]
fn idle_connections_make_room_for_new_ones() {
    let server = TestServer::start(&["--limits-connections", "16"]);
    let mut idle: Vec<_> = (0..16).map(|_| Socket::connect(&server)).collect();
    // Half of them have begun a head.
    for socket in idle.iter_mut().step_by(2) {
        socket.send("GET /health/live HTTP/1.1\r\nHost: ");
    }
    for _ in 0..40 {
        let started = Instant::now();
        let mut probe = Socket::connect(&server);
        assert_eq!(probe.send(LIVE).answer().status, 200);
        assert!(started.elapsed() < Duration::from_secs(5));
        idle.push(probe);
    }
    assert_eq!(idle[0].rest(), b"", "the longest idle was closed");
    let newest = idle.last_mut().unwrap();
    assert_eq!(newest.send(LIVE).answer().status, 200, "the newest was not");
    let metrics = server.stranger().get("/metrics").text;
    assert!(metrics.contains("shopkeeper_connections_closed_total{reason=\"idle\"}"), "{metrics}");
}

#[test]
fn connections_in_use_are_not_closed_and_probes_have_their_own() {
    let flags = ["--limits-connections", "4", "--admin-listen", "127.0.0.1:0"];
    let server = TestServer::start(&flags);
    let token = server.shop().token(Role::Editor);
    let body = product_named("Sofa").to_string();
    let mut busy: Vec<_> = (0..4)
        .map(|_| {
            let mut socket = Socket::connect(&server);
            let length = format!("Content-Length: {}", body.len());
            let headers = ["Expect: 100-continue", &length];
            socket.head(&format!("POST {PRODUCTS}"), &token, &headers);
            assert_eq!(socket.answer().status, 100);
            socket
        })
        .collect();
    assert_eq!(Socket::connect(&server).rest(), b"", "refused");
    for path in ["/health/live", "/health/ready", "/metrics"] {
        server.admin().get(path).expect(200);
    }
    server.admin().get(PRODUCTS).refused(404, "not_found");
    for socket in &mut busy {
        assert_eq!(socket.send(&body).answer().status, 201);
    }
    let mut next = Socket::connect(&server);
    assert_eq!(next.send(LIVE).answer().status, 200);
}
