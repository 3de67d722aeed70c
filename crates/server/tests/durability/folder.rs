//! The data folder is used by one server at a time, of a version that can read it.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::FileExt,
};

use testkit::{Installation, Role, product, product_named, refused};

use crate::NO_MODEL;

/// The offset of `user_version` in an SQLite file.
const USER_VERSION_OFFSET: u64 = 60;

#[test]
fn a_second_server_on_a_folder_is_refused_and_the_first_is_unaffected() {
    let store = Installation::temporary();
    let token = store.token(1, Role::Editor);
    let first = store.serve(&NO_MODEL);
    let client = first.client(&token);
    let id = client.create(product_named("Lamp"));

    let (status, errors) = refused(&mut store.serve_command(&NO_MODEL));
    assert_eq!(status.code(), Some(1));
    assert!(errors.contains("another shopkeeper server is running"), "{errors}");
    assert!(errors.contains(store.data().to_str().unwrap()), "{errors}");

    assert_eq!(client.get(&product(id)).status, 200);
    client.create(product_named("Lamp"));
    first.kill();
    let third = store.serve(&NO_MODEL);
    assert_eq!(third.client(&token).list_all().1, 2);
}

#[test]
fn a_second_server_is_refused_although_the_lock_file_was_deleted() {
    let store = Installation::temporary();
    let token = store.token(1, Role::Editor);
    let first = store.serve(&NO_MODEL);
    fs::remove_file(store.data().join("shopkeeper.lock")).unwrap();
    for _ in 0..2 {
        let (_, errors) = refused(&mut store.serve_command(&NO_MODEL));
        assert!(errors.contains("another shopkeeper server is running"), "{errors}");
    }
    first.client(&token).create(product_named("Lamp"));
    first.kill();
    assert_eq!(store.serve(&NO_MODEL).client(&token).list_all().1, 1);
}

#[test]
fn a_folder_that_this_version_cannot_read_is_refused_and_left_alone() {
    let store = Installation::temporary();
    store.token(1, Role::Editor);
    let database = store.data().join("shopkeeper.db");
    let file = OpenOptions::new().read(true).write(true).open(database).unwrap();
    let newer = (1000_u32, "newer version of shopkeeper");
    for (version, told) in [newer, (1, "before the first release"), (9, "docs/upgrade.md")] {
        let version = version.to_be_bytes();
        file.write_all_at(&version, USER_VERSION_OFFSET).unwrap();
        let commands = [&["token", "list"][..], &["status"]].map(|words| store.command(words));
        for mut command in commands.into_iter().chain([store.serve_command(&NO_MODEL)]) {
            let (_, errors) = refused(&mut command);
            assert!(errors.contains(told), "{errors}");
            assert!(errors.contains(store.data().to_str().unwrap()), "{errors}");
        }
        let mut found = [0; 4];
        file.read_exact_at(&mut found, USER_VERSION_OFFSET).unwrap();
        assert_eq!(found, version);
    }
}
