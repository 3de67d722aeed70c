//! No caller can take the connections or admission slots of others.

use std::{io::Write, net::TcpStream, thread, time::Duration};

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

/// Nor can shops take all connections with them, however many they are.
#[test]
fn bodies_that_do_not_come_leave_connections_to_others() {
    let server = TestServer::start(&["--limits-connections", "32"]);
    let (slow, other) = ([server.shop(), server.shop()], server.shop());
    let neighbour = other.as_role(Role::Editor);
    let tokens = slow.each_ref().map(|shop| shop.token(Role::Shopper));
    let begin = |number: usize| {
        let mut socket = Socket::connect(&server);
        let headers = ["Expect: 100-continue", "Content-Length: 100"];
        let token = &tokens[number % tokens.len()];
        let status = socket.head(&format!("POST {SEARCH}"), token, &headers).answer().status;
        (socket, status)
    };
    let (mut sockets, statuses): (Vec<_>, Vec<_>) = (0..32).map(begin).unzip();
    assert!(statuses[..16].iter().all(|status| *status == 100), "{statuses:?}");
    neighbour.create(product_named("Sofa"));
    neighbour.get(PRODUCTS).expect(200);
    sockets[0].answer().refused(408, "request_timeout");
}

/// A stranger who asks for pages and reads none of them.
fn ask_and_do_not_read(server: &TestServer) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(server.address()).ok()?;
    // More than the buffers of the operating system hold. The server may have closed it already.
    let _ = stream.write_all("GET /docs HTTP/1.1\r\nHost: shop\r\n\r\n".repeat(100).as_bytes());
    Some(stream)
}

#[test]
fn responses_that_are_not_read_leave_connections_to_others() {
    let limits = ["--limits-connections", "32", "--admin-listen", "127.0.0.1:0"];
    let server = TestServer::start(&limits);
    let shopper = server.shop().token(Role::Shopper);
    let mut unread: Vec<_> = (0..48).filter_map(|_| ask_and_do_not_read(&server)).collect();
    for _ in 0..10 {
        let mut probe = Socket::connect(&server);
        assert_eq!(probe.send(LIVE).answer().status, 200);
        until("a shopper having an answer", || {
            let mut socket = Socket::connect(&server);
            socket.head(&format!("GET {PRODUCTS}"), &shopper, &[]).answer().status == 200
        });
        unread.extend(ask_and_do_not_read(&server));
    }
    // One that makes room before its first response is written was idle.
    until("an unread response making room", || {
        unread.extend(ask_and_do_not_read(&server));
        // From the other listener, whose connections make no room for these.
        let metrics = server.admin().get("/metrics").text;
        metrics.contains("connections_closed_total{reason=\"stalled\"}")
    });
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

#[test]
fn the_memory_of_bodies_is_not_exhausted_by_several_shops() {
    let server = TestServer::start(&["--limits-body-memory", "8MiB"]);
    let mut part = vec![b' '; 4 << 20];
    part.pop();
    let length = format!("Content-Length: {}", part.len() + 1);
    let neighbour = server.shop().as_role(Role::Editor);
    let mut greedy = Vec::new();
    for shop in [server.shop(), server.shop()] {
        let token = shop.token(Role::Editor);
        let mut held = Vec::new();
        // Two that arrive side by side may both be refused.
        until("a body being held and another refused", || {
            let mut socket = Socket::connect(&server);
            socket.head(&format!("POST {PRODUCTS}"), &token, &[&length]).send(&part);
            let is_held = socket.is_silent_for(Duration::from_millis(100));
            held.push(socket);
            held.retain_mut(|socket| socket.is_silent_for(Duration::from_millis(1)));
            !is_held && !held.is_empty()
        });
        greedy.push(held);
    }
    neighbour.create(json!({"title": "Sofa", "price": "$5", "description": "x".repeat(20_000)}));
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

/// Sends a search and does not wait for its answer.
fn begin_search(server: &TestServer, token: &str) -> Socket {
    let body = json!({"query": "a warm scarf"}).to_string();
    let mut socket = Socket::connect(server);
    let length = format!("Content-Length: {}", body.len());
    socket.head(&format!("POST {SEARCH}"), token, &[&length]).send(body);
    socket
}

#[test]
fn a_queue_of_searches_has_room_for_other_shops() {
    let (model, flags) = silent_model();
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    let server = TestServer::start(&[&flags[..], &["--limits-search-queue", "4"]].concat());
    let (busy, quiet) = (server.shop().token(Role::Shopper), server.shop().token(Role::Shopper));
    let mut searches = Vec::new();
    until("the queue being full for the busy shop", || {
        let mut search = begin_search(&server, &busy);
        let is_refused = !search.is_silent_for(Duration::from_millis(100));
        if is_refused {
            let answer = search.answer().refused(503, "unavailable");
            let detail = answer.body["detail"].as_str().unwrap();
            assert!(detail.contains("too many requests are waiting"), "{detail}");
        }
        searches.push(search);
        is_refused
    });
    let mut search = begin_search(&server, &quiet);
    let is_refused = !search.is_silent_for(Duration::from_millis(100));
    drop(model);
    assert_eq!((search.answer().status, is_refused), (200, false));
}

#[test]
fn a_change_that_cannot_exist_is_refused_at_once() {
    let server = TestServer::start(&["--limits-concurrent-requests", "1"]);
    let editor = server.shop().as_role(Role::Editor);
    let sofa = editor.create(product_named("Sofa"));
    let last = editor.get(&product(sofa)).expect(200);
    let last: u64 = last.header("x-catalog-seq").unwrap().parse().unwrap();
    for seq in [last + 1, last + 1000, i64::MAX as u64] {
        let request = editor.request("GET", PRODUCTS).header("x-min-catalog-seq", seq);
        let answer = request.answer().refused(503, "unavailable");
        let detail = answer.body["detail"].as_str().unwrap().to_owned();
        // A request that waited has another reason.
        assert!(detail.contains(&format!("no change {seq} ")), "{detail}");
    }
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
        let mut probe = Socket::connect(&server);
        assert_eq!(probe.send(LIVE).answer().status, 200);
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
    let (model, flags) = silent_model();
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    let limits = ["--limits-connections", "8", "--admin-listen", "127.0.0.1:0"];
    let server = TestServer::start(&[&flags[..], &limits].concat());
    let token = server.shop().token(Role::Shopper);
    // Searches that wait for the model.
    let body = json!({"query": "a warm scarf"}).to_string();
    let length = format!("Content-Length: {}", body.len());
    let mut searches = Vec::new();
    until("all connections being in use", || {
        let mut search = Socket::connect(&server);
        search.head(&format!("POST {SEARCH}"), &token, &["Expect: 100-continue", &length]);
        let answer = search.answer();
        if answer.status == 100 {
            search.send(&body);
            searches.push(search);
        } else {
            // Two bodies that were sent are not read yet: a quarter of the connections.
            let answer = answer.refused(503, "unavailable");
            assert_eq!(answer.body["detail"], "too many request bodies are arriving");
        }
        searches.len() == 8
    });
    let list = || {
        let mut socket = Socket::connect(&server);
        let answer = socket.head(&format!("GET {PRODUCTS}"), &token, &[]).answer();
        (socket, answer)
    };
    let (mut socket, answer) = list();
    let answer = answer.refused(503, "unavailable");
    assert_eq!(answer.body["detail"], "all connections are in use; try again later");
    assert_eq!(socket.rest(), b"", "it does not stay");
    for path in ["/health/live", "/health/ready"] {
        let mut probe = Socket::connect(&server);
        let answer = probe.send(LIVE.replace("/health/live", path)).answer();
        assert_eq!(answer.status, 200, "{path}");
    }
    for path in ["/health/live", "/health/ready", "/metrics"] {
        server.admin().get(path).expect(200);
    }
    server.admin().get(PRODUCTS).refused(404, "not_found");
    drop(model);
    for search in &mut searches {
        search.answer();
    }
    until("a connection being idle", || list().1.status == 200);
}
