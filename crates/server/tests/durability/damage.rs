//! A database file that is damaged or was emptied: the server says so, and does not begin anew.

use std::{
    fs::{self, File, OpenOptions},
    os::unix::fs::FileExt,
};

use rustix::process::Signal;
use serde_json::json;
use testkit::{BULK, Installation, Role, Server, product, refused, until};

use crate::NO_MODEL;

const PAGE: u64 = 4096;
const PRODUCTS: u64 = 600;
const DAMAGED: &str = "the database file is damaged";

/// A store whose products take several megabytes, all in the database file.
fn closed_store() -> (Installation, String) {
    let store = Installation::temporary();
    let token = store.token(1, Role::Editor);
    let server = store.serve(&NO_MODEL);
    let client = server.client(&token);
    let text = "wool ".repeat(2000);
    for _ in 0..PRODUCTS / 100 {
        let rug = json!({"title": "Rug", "price": "$5", "description": text});
        client.post(BULK, json!({"products": vec![rug; 100]})).expect(201);
    }
    stop(&server);
    (store, token)
}

/// Stops a server as an operator does: it closes the database.
fn stop(server: &Server) {
    server.signal(Signal::TERM);
    server.signal(Signal::TERM);
    server.wait();
}

fn database(store: &Installation) -> File {
    OpenOptions::new().write(true).open(store.data().join("shopkeeper.db")).unwrap()
}

/// Overwrites the pages of the oldest products.
fn damage(store: &Installation) {
    let file = database(store);
    let pages = file.metadata().unwrap().len() / PAGE;
    for page in pages / 5..pages / 3 {
        file.write_all_at(&[0xff; PAGE as usize], page * PAGE).unwrap();
    }
}

/// Checks that the server is alive and says why it is not ready, there and once in the log.
fn is_reported(server: &Server) {
    let client = server.stranger();
    until("the report", || {
        let health = client.get("/health/ready");
        health.status == 503 && health.body["status"].as_str().unwrap().contains(DAMAGED)
    });
    assert_eq!(client.get("/health/live").status, 200);
    server.wait_for_log("the server is not ready until");
    let log = server.log();
    assert_eq!(log.matches("the server is not ready until").count(), 1, "{log}");
}

#[test]
fn damage_that_is_met_while_the_server_runs_is_reported() {
    let (store, token) = closed_store();
    let server = store.serve(&NO_MODEL);
    let client = server.client(&token);
    until("readiness", || client.get("/health/ready").status == 200);
    damage(&store);
    let is_readable = |id: u64| client.get(&product(id)).status == 200;
    assert!(!(1..=PRODUCTS).all(is_readable));
    assert!(is_readable(PRODUCTS), "what can be read is shown");
    is_reported(&server);
    server.kill();
}

#[test]
fn damage_is_searched_for_after_a_crash() {
    let (store, token) = closed_store();
    let server = store.serve(&NO_MODEL);
    server.client(&token).post("/api/v1/products", json!({"title": "Lamp", "price": "$1"}));
    server.kill();
    // Sound so far.
    let server = store.serve(&NO_MODEL);
    server.wait_for_log("no damage was found");
    until("readiness", || server.stranger().get("/health/ready").status == 200);
    server.kill();
    damage(&store);
    let server = store.serve(&NO_MODEL);
    is_reported(&server);
    server.kill();
}

#[test]
fn an_emptied_database_is_refused_and_a_removed_one_is_made_anew() {
    for is_closed in [true, false] {
        let store = Installation::temporary();
        let token = store.token(1, Role::Editor);
        let server = store.serve(&NO_MODEL);
        server.client(&token).post("/api/v1/products", json!({"title": "Lamp", "price": "$1"}));
        if is_closed {
            stop(&server);
        } else {
            server.kill();
        }
        let wal = store.data().join("shopkeeper.db-wal");
        let log = fs::read(&wal).ok();
        assert_eq!(log.is_none(), is_closed);
        database(&store).set_len(0).unwrap();
        for arguments in
            [&["serve", "--listen", "127.0.0.1:0"][..], &["token", "list"], &["status"]]
        {
            let (_, errors) = refused(&mut store.command(arguments));
            assert!(errors.contains("is empty") || errors.contains("damaged"), "{errors}");
        }
        assert_eq!(fs::read(&wal).ok(), log, "the WAL is still there");
        fs::remove_file(store.data().join("shopkeeper.db")).unwrap();
        let _ = fs::remove_file(wal);
        let token = store.token(1, Role::Editor);
        assert_eq!(store.serve(&NO_MODEL).client(&token).list_all().1, 0);
    }
}
