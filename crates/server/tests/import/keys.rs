//! An import with `--key` updates the products that the shop has.

use crate::target::ImportTarget;

#[test]
fn a_key_column_updates_what_it_created() {
    ImportTarget::each(|target| {
        let import = |text: &str, code: i32, said: &str| {
            let file = target.write("a.csv", text);
            let ended = target.import(&file, &["--key", "Ref"]).expect(code);
            assert!(ended.out.contains(said), "{ended:?}");
            assert!(!target.path("a.csv.import").exists());
            ended
        };
        let two = "Ref,name,price\na,Lamp,$5\nb,Rug,$6\n";
        import(two, 0, "2 created, 0 updated, 0 unchanged, 0 refused\n");
        assert_eq!(target.all("key"), ["a", "b"]);
        let before = target.products();
        import(two, 0, "0 created, 0 updated, 2 unchanged, 0 refused\n");
        assert_eq!(target.products(), before, "nothing was written");
        // A new one, one that comes twice, one without a key; what is missing stays.
        let more = "Ref,name,price\nb,Rug,$7\nc,Sofa,$8\nc,Sofa,$9\n,Desk,$1\n";
        let ended = import(more, 3, "1 created, 1 updated, 0 unchanged, 2 refused\n");
        assert!(ended.errors.contains("line 4: key is the key of line 3 already"), "{ended:?}");
        assert!(ended.errors.contains("line 5: key says which product it is"), "{ended:?}");
        assert_eq!(target.all("title"), ["Lamp", "Rug", "Sofa"]);
        assert_eq!(target.all("price"), ["$5", "$7", "$8"]);
        // A column that is not there stays as it is.
        import("Ref,price\na,$3\n", 0, "0 created, 1 updated");
        assert_eq!(target.all("title")[0], "Lamp");
        assert_eq!(target.all("price")[0], "$3");
    });
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
fn in_a_merchant_feed_the_id_is_the_key() {
    let feed = "<rss><item><id>x1</id><title>Lamp</title><price>$5</price></item></rss>";
    ImportTarget::each(|target| {
        for said in ["1 created, 0 updated", "0 created, 0 updated, 1 unchanged"] {
            let ended = target.import(&target.write("a.xml", feed), &["--key", "id"]).expect(0);
            assert!(ended.out.contains(said), "{ended:?}");
        }
        assert_eq!(target.all("key"), ["x1"]);
    });
}
