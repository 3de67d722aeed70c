//! Migration of a data folder into a database, and of the database schema.

use tempfile::TempDir;
use testkit::{Installation, Node, Role, postgres, printed, run, run_on};

#[test]
fn a_shop_with_its_tokens_moves_into_a_database() {
    let folder = TempDir::new().unwrap();
    let store = Installation::on_folder(&folder.path().join("data"));
    let token = store.token(1, Role::Editor);
    let products: String = (0..250)
        .map(|n| format!("{{\"title\": \"Lamp number{n}\", \"price\": \"${n}\"}}\n"))
        .collect();
    let file = folder.path().join("shop.jsonl");
    std::fs::write(&file, products).unwrap();
    printed(store.run(&["import", file.to_str().unwrap(), "--shop", "1"]));
    let url = postgres().database();
    let from = store.data().to_str().unwrap();
    let migrate = || run(&["migrate-store", "--from", from, "--to", &url], &[]);
    let moved = migrate();
    let said = format!("{moved:?}");
    assert!(!said.contains(postgres().password()), "{said}");
    let said = printed(moved);
    assert!(said.contains("250 products of 1 shops") && said.contains("1 tokens"), "{said}");
    // The token of the folder is good for the database.
    let node = Node::start(&url, &token);
    let found = node.find("number17");
    assert_eq!(found.len(), 1);
    assert_eq!(node.get(found[0])["price"], "$17");
    let (id, _) = node.create("new");
    assert!(id > 250);
    let again = migrate();
    assert!(!again.status.success());
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(said.contains("holds a catalog already"), "{said}");
}

#[test]
fn the_schema_is_migrated_by_command_and_one_that_cannot_be_is_refused() {
    let url = postgres().database();
    let migrate = || run_on(&url, &["migrate"]);
    assert!(printed(migrate()).contains("migrated from version 0"));
    assert!(printed(migrate()).contains("up to date"));
    let name = url.rsplit_once('/').unwrap().1;
    let newer = (1000, "newer version of shopkeeper");
    for (version, told) in [newer, (1, "before the first release"), (9, "docs/upgrade.md")] {
        postgres().psql(name, &format!("UPDATE schema_version SET version = {version}"));
        for arguments in [&["migrate"][..], &["status"], &["serve", "--listen", "127.0.0.1:0"]] {
            let refused = run_on(&url, arguments);
            assert!(!refused.status.success());
            let said = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert!(said.contains(told), "{said}");
            assert!(!said.contains(postgres().password()), "{said}");
        }
    }
}
