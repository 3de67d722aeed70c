//! Graceful shutdown: requests in flight are completed.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
};

use rustix::process::Signal;
use testkit::{Installation, PRODUCTS, RequestExt, Role, Server, TIMEOUT, product_named, until};

use crate::NO_MODEL;

/// Opens a connection and sends the first part of a request.
fn begin(server: &Server, part: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream.write_all(part.as_bytes()).unwrap();
    stream
}

/// Sends the rest and reads the answer until the connection ends.
fn finish(mut stream: TcpStream, rest: &str) -> String {
    stream.write_all(rest.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn on_sigterm_requests_in_flight_are_completed_and_durable() {
    let store = Installation::temporary();
    let token = store.token(1, Role::Editor);
    let server = store.serve(&NO_MODEL);
    let body = product_named("Finished after the signal").to_string();
    let slow = begin(
        &server,
        &format!(
            "POST /api/v1/products HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
            body.len(),
            &body[..10]
        ),
    );
    let asking = begin(&server, "GET /health/ready HTTP/1.1\r\nHost: shop\r\n");

    // Writers run until the server refuses their requests.
    let client = server.client(&token);
    let mut acknowledged: usize = thread::scope(|scope| {
        let (began, begun) = std::sync::mpsc::channel();
        let writers: Vec<_> = (0..8)
            .map(|_| {
                let (client, began) = (client.clone(), began.clone());
                scope.spawn(move || {
                    let mut acknowledged = 0;
                    let create = || {
                        client.request("POST", PRODUCTS).json(&product_named("Lamp")).try_answer()
                    };
                    while let Ok(answer) = create() {
                        assert_eq!(answer.status, 201, "{answer:?}");
                        acknowledged += 1;
                        let _ = began.send(());
                    }
                    acknowledged
                })
            })
            .collect();
        begun.iter().take(50).for_each(drop);
        server.signal(Signal::TERM);
        server.wait_for_log("the server is stopping");
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    until("the refusal of new connections", || TcpStream::connect(server.address()).is_err());

    let readiness = finish(asking, "\r\n");
    assert!(readiness.starts_with("HTTP/1.1 503"), "{readiness}");
    assert!(readiness.contains("the server is stopping"), "{readiness}");
    let answer = finish(slow, &body[10..]);
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    acknowledged += 1;
    assert_eq!(server.wait().code(), Some(0));

    let server = store.serve(&NO_MODEL);
    let client = server.client(&token);
    let (products, total) = client.list_all();
    assert_eq!(products.len(), total);
    // A write whose connection ended before its answer may have been committed as well.
    assert!((acknowledged..=acknowledged + 8).contains(&total), "{total} of {acknowledged}");
    assert_eq!(client.search_all("finished signal").1, 1);
}

#[test]
fn a_signal_right_after_the_start_is_handled() {
    let store = Installation::temporary();
    for _ in 0..3 {
        let server = store.serve(&NO_MODEL);
        server.signal(Signal::TERM);
        assert_eq!(server.wait().code(), Some(0));
    }
}
