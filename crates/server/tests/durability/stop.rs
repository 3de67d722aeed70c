//! What becomes of requests in flight when the server is told to stop? They are finished.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::Instant,
};

use crate::{
    client::lamp,
    server::{PATIENCE, Server, issue_token},
};

/// Opens a connection and says the first part of a request.
fn begin(server: &Server, said: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(said.as_bytes()).unwrap();
    stream
}

/// Says the rest and reads what is answered until the connection ends.
fn finish(mut stream: TcpStream, said: &str) -> String {
    stream.write_all(said.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn on_sigterm_what_is_in_flight_is_finished_and_durable() {
    let folder = tempfile::tempdir().unwrap();
    let token = issue_token(folder.path(), "EDITOR");
    let server = Server::start(folder.path());
    let body = lamp("Finished after the signal").to_string();
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

    // Others write until the server no longer takes their requests.
    let client = server.client(&token);
    let mut acknowledged: usize = thread::scope(|scope| {
        let (began, begun) = std::sync::mpsc::channel();
        let writers: Vec<_> = (0..8)
            .map(|_| {
                let (client, began) = (client.clone(), began.clone());
                scope.spawn(move || {
                    let mut acknowledged = 0;
                    while let Ok(answer) = client.create(&lamp("Lamp")) {
                        assert_eq!(answer.status, 201, "{answer:?}");
                        acknowledged += 1;
                        let _ = began.send(());
                    }
                    acknowledged
                })
            })
            .collect();
        begun.iter().take(50).for_each(drop);
        server.terminate();
        server.wait_for_log("the server is stopping");
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    let started = Instant::now();
    while TcpStream::connect(server.address()).is_ok() {
        assert!(started.elapsed() < PATIENCE, "new connections are still taken");
        thread::yield_now();
    }

    let readiness = finish(asking, "\r\n");
    assert!(readiness.starts_with("HTTP/1.1 503"), "{readiness}");
    assert!(readiness.contains("the server is stopping"), "{readiness}");
    let answer = finish(slow, &body[10..]);
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    acknowledged += 1;
    assert_eq!(server.wait().code(), Some(0));

    let server = Server::start(folder.path());
    let client = server.client(&token);
    let (products, total) = client.list();
    assert_eq!(products.len(), total);
    // A write whose connection ended before its answer may be there as well.
    assert!((acknowledged..=acknowledged + 8).contains(&total), "{total} of {acknowledged}");
    assert_eq!(client.search("finished signal").1, 1);
}

#[test]
fn a_signal_right_after_the_start_is_heard() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        let server = Server::start(folder.path());
        server.terminate();
        assert_eq!(server.wait().code(), Some(0));
    }
}
