//! Does a catalog move from a folder into a database as an operator would move it?

use std::process::{Command, Output};

use tempfile::TempDir;
use testkit::postgres;

use crate::node::Node;

/// Runs the binary on a data folder.
fn on_folder(folder: &TempDir, arguments: &[&str]) -> Output {
    let data = folder.path().join("data");
    let mut command = Command::new(env!("CARGO_BIN_EXE_shopkeeper"));
    command.args(arguments).current_dir(folder.path()).env("SHOPKEEPER_DATA", data);
    command.output().unwrap()
}

fn printed(output: Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_shop_with_its_tokens_moves_into_a_database() {
    let folder = TempDir::new().unwrap();
    let create = ["token", "create", "--shop", "1", "--role", "EDITOR"];
    let token = printed(on_folder(&folder, &create)).trim_end().to_owned();
    let products: String = (0..250)
        .map(|n| format!("{{\"title\": \"Lamp number{n}\", \"price\": \"${n}\"}}\n"))
        .collect();
    std::fs::write(folder.path().join("shop.jsonl"), products).unwrap();
    printed(on_folder(&folder, &["import", "shop.jsonl", "--shop", "1"]));
    let url = postgres().database();
    let data = folder.path().join("data");
    let data = data.to_str().unwrap();
    let moved = on_folder(&folder, &["migrate-store", "--from", data, "--to", &url]);
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
    let again = on_folder(&folder, &["migrate-store", "--from", data, "--to", &url]);
    assert!(!again.status.success());
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(said.contains("holds a catalog already"), "{said}");
}

#[test]
fn tables_are_brought_up_to_date_by_command_and_newer_ones_refused() {
    let url = postgres().database();
    let migrate = || crate::node::binary(&url).arg("migrate").output().unwrap();
    assert!(printed(migrate()).contains("brought from version 0"));
    assert!(printed(migrate()).contains("up to date"));
    let name = url.rsplit_once('/').unwrap().1;
    postgres().psql(name, "UPDATE schema_version SET version = 1000");
    for arguments in [&["migrate"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let refused = crate::node::binary(&url).args(arguments).output().unwrap();
        assert!(!refused.status.success());
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(said.contains("newer version of shopkeeper"), "{said}");
        assert!(!said.contains(postgres().password()), "{said}");
    }
}
