//! Whose is the data folder? One server's at a time, of a version that can read it.

use std::{fs::OpenOptions, os::unix::fs::FileExt};

use crate::{
    client::lamp,
    server::{Server, issue_token, refused, serve, shopkeeper},
};

/// Where SQLite keeps the number of the schema in a database file.
const SCHEMA_VERSION_AT: u64 = 60;

#[test]
fn a_second_server_on_a_folder_is_refused_and_the_first_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let token = issue_token(folder.path(), "EDITOR");
    let first = Server::start(folder.path());
    let client = first.client(&token);
    let id = client.create(&lamp("Lamp")).unwrap().id();

    let mut second = shopkeeper();
    serve(&mut second, folder.path());
    let (status, said) = refused(&mut second);
    assert_eq!(status.code(), Some(1));
    assert!(said.contains("another shopkeeper server is running"), "{said}");
    assert!(said.contains(folder.path().to_str().unwrap()), "{said}");

    assert_eq!(client.product(id).status, 200);
    client.create(&lamp("Lamp")).unwrap().id();
    first.kill();
    let third = Server::start(folder.path());
    assert_eq!(third.client(&token).list().1, 2);
}

#[test]
fn a_folder_of_a_newer_version_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    issue_token(folder.path(), "EDITOR");
    let database = folder.path().join("shopkeeper.db");
    let file = OpenOptions::new().read(true).write(true).open(database).unwrap();
    let newer = 1000_u32.to_be_bytes();
    file.write_all_at(&newer, SCHEMA_VERSION_AT).unwrap();

    let mut server = shopkeeper();
    serve(&mut server, folder.path());
    let mut token = shopkeeper();
    token.args(["token", "list", "--data"]).arg(folder.path());
    for command in [&mut server, &mut token] {
        let (_, said) = refused(command);
        assert!(said.contains("newer version of shopkeeper"), "{said}");
        assert!(said.contains(folder.path().to_str().unwrap()), "{said}");
    }
    let mut found = [0; 4];
    file.read_exact_at(&mut found, SCHEMA_VERSION_AT).unwrap();
    assert_eq!(found, newer);
}
