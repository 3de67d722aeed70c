//! Does the command line work beside a server, and before there is one?

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use crate::{
    client::lamp,
    server::{Server, issue_token, output_of, shopkeeper},
};

#[test]
fn a_token_is_issued_beside_a_server_that_writes() {
    let folder = tempfile::tempdir().unwrap();
    let token = issue_token(folder.path(), "EDITOR");
    let server = Server::start(folder.path());
    let client = server.client(&token);
    let done = AtomicBool::new(false);
    let written: usize = thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut written = 0;
                    while !done.load(Ordering::Acquire) {
                        client.create(&lamp("Lamp")).unwrap().id();
                        written += 1;
                    }
                    written
                })
            })
            .collect();
        for _ in 0..5 {
            let new = server.client(&issue_token(folder.path(), "EDITOR"));
            assert_eq!(new.get("/api/v1/products").status, 200);
        }
        done.store(true, Ordering::Release);
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    assert_eq!(client.list().1, written);
}

#[test]
fn the_first_tokens_of_a_folder_can_be_issued_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("new");
    let tokens: BTreeSet<_> = thread::scope(|scope| {
        let issuing: Vec<_> =
            (0..6).map(|_| scope.spawn(|| issue_token(&folder, "EDITOR"))).collect();
        issuing.into_iter().map(|issued| issued.join().unwrap()).collect()
    });
    assert_eq!(tokens.len(), 6);
    let server = Server::start(&folder);
    for token in &tokens {
        server.client(token).create(&lamp("Lamp")).unwrap().id();
    }
    let listed = output_of(shopkeeper().args(["token", "list", "--data"]).arg(&folder));
    assert_eq!(listed.lines().count(), 7, "a heading and six tokens: {listed}");
}
