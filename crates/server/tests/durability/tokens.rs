//! `shopkeeper token` works while a server runs, and on a new data folder.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use testkit::{Installation, PRODUCTS, Role, printed, product_named};

use crate::NO_MODEL;

#[test]
fn a_token_is_issued_beside_a_server_that_writes() {
    let store = Installation::temporary();
    let token = store.token(1, Role::Editor);
    let server = store.serve(&NO_MODEL);
    let client = server.client(&token);
    let done = AtomicBool::new(false);
    let written: usize = thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut written = 0;
                    while !done.load(Ordering::Acquire) {
                        client.create(product_named("Lamp"));
                        written += 1;
                    }
                    written
                })
            })
            .collect();
        for _ in 0..5 {
            let new = server.client(&store.token(1, Role::Editor));
            assert_eq!(new.get(PRODUCTS).status, 200);
        }
        done.store(true, Ordering::Release);
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    assert_eq!(client.list_all().1, written);
}

#[test]
fn the_first_tokens_of_a_folder_can_be_issued_at_once() {
    let store = Installation::temporary();
    let tokens: BTreeSet<_> = thread::scope(|scope| {
        let issuing: Vec<_> =
            (0..6).map(|_| scope.spawn(|| store.token(1, Role::Editor))).collect();
        issuing.into_iter().map(|issued| issued.join().unwrap()).collect()
    });
    assert_eq!(tokens.len(), 6);
    let server = store.serve(&NO_MODEL);
    for token in &tokens {
        server.client(token).create(product_named("Lamp"));
    }
    let listed = printed(store.run(&["token", "list"]));
    assert_eq!(listed.lines().count(), 7, "a heading and six tokens: {listed}");
}
