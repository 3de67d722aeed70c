//! A repeated import with a key updates the products of the first one.

use serde_json::json;

use crate::target::ImportTarget;

#[test]
fn a_key_column_updates_what_it_created() {
    ImportTarget::each(|target| {
        let flags = ["--key", "SKU", "--keys", "keys.jsonl"];
        let import = |text: &str, said: &str| {
            let ended = target.import(&target.write("a.csv", text), &flags).expect(0);
            assert!(ended.out.contains(said), "{ended:?}");
        };
        import("SKU,name,price\na,Lamp,$5\nb,Rug,$6\n", "2 created, 0 updated");
        let ids = target.all("id");
        // A new one in between, and one that comes twice in one file.
        import(
            "SKU,name,price\nb,Rug,$7\nc,Sofa,$8\na,Lamp,$9\na,Lamp,$10\n",
            "1 created, 3 updated",
        );
        assert_eq!(target.all("title"), ["Lamp", "Rug", "Sofa"]);
        assert_eq!(target.all("price"), ["$10", "$7", "$8"]);
        assert_eq!(target.all("id")[..2], ids);
        // Twice in one file and new.
        import("SKU,name,price\nd,Desk,$1\nd,Desk,$2\n", "1 created, 1 updated");
        assert_eq!(target.all("price")[3], "$2");
        // A column that is not there stays as it is.
        import("SKU,price\na,$3\n", "0 created, 1 updated");
        assert_eq!(
            (target.all("title")[0].as_str(), target.all("price")[0].as_str()),
            ("Lamp", "$3")
        );
    });
}

#[test]
fn a_product_that_is_gone_is_created_again() {
    let target = ImportTarget::server(&[]);
    let file = target.write("a.csv", "sku,name,price\na,Lamp,$5\nb,Rug,$6\n");
    let flags = ["--key", "sku", "--keys", "keys.jsonl"];
    target.import(&file, &flags).expect(0);
    let first = target.all("id")[0].clone();
    let path = format!("/api/v1/products/{first}");
    target.client().delete(&path).expect(204);
    let ended = target.import(&file, &flags).expect(0);
    assert!(ended.out.contains("1 created, 1 updated"), "{ended:?}");
    let ended = target.import(&file, &flags).expect(0);
    assert!(ended.out.contains("0 created, 2 updated"), "{ended:?}");
    assert_eq!(target.all("title"), ["Rug", "Lamp"]);
}

#[test]
fn the_services_own_id_updates_and_an_unknown_one_is_refused() {
    ImportTarget::each(|target| {
        let lamps =
            "{\"title\": \"Lamp\", \"price\": \"$5\"}\n{\"title\": \"Rug\", \"price\": \"$6\"}\n";
        target.import(&target.write("a.jsonl", lamps), &[]).expect(0);
        let ids = target.all("id");
        let edits =
            format!("id,title,price,hidden\n{},,$7,yes\n999999,,$8,no\n,Desk,$9,\n", ids[0]);
        let ended = target.import(&target.write("b.csv", edits), &["--key", "id"]).expect(3);
        assert!(ended.out.contains("1 created, 1 updated, 1 refused"), "{ended:?}");
        assert!(ended.errors.contains("line 3: there is no such product"), "{ended:?}");
        assert_eq!(target.all("title"), ["Lamp", "Rug", "Desk"]);
        assert_eq!(target.all("price"), ["$7", "$6", "$9"]);
        assert_eq!(target.all("hidden"), ["true", "false", "false"]);
    });
}

#[test]
fn keys_are_stored_in_a_data_folder_and_need_a_file_for_a_server() {
    let text = json!({"id": "x1", "title": "Lamp", "price": "$5"}).to_string();
    let feed = "<rss><item><id>x1</id><title>Lamp</title><price>$5</price></item></rss>";
    let folder = ImportTarget::folder();
    for said in ["1 created", "1 updated"] {
        let ended = folder.import(&folder.write("a.xml", feed), &["--key", "id"]).expect(0);
        assert!(ended.out.contains(said), "{ended:?}");
    }
    assert!(folder.store.data().join("import-keys/shop-1-id.jsonl").exists());
    let server = ImportTarget::server(&[]);
    let ended = server.import(&server.write("a.jsonl", text), &["--key", "sku"]).expect(1);
    assert!(ended.errors.contains("--keys FILE"), "{ended:?}");
}
