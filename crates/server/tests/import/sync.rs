//! `import --sync` makes a shop equal to a feed, also after a kill at any moment.

use std::{collections::BTreeMap, fmt::Write as _, fs, process::Stdio, thread, time::Duration};

use serde_json::{Value, json};
use testkit::refused;

use crate::target::{Ended, ImportTarget};

const FEED: &str = "sku,title,price,attributes.color\n\
    a,Lamp,$1,red\nb,Rug,$2,\nc,Sofa,$3,blue\nd,Desk,$4,\ne,Chair,$5,\n";

fn sync(target: &ImportTarget, feed: &str, flags: &[&str]) -> Ended {
    let file = target.write("feed.csv", feed);
    let ended = target.import(&file, &[&["--sync"], flags].concat());
    assert!(!target.path("feed.csv.import").exists());
    ended
}

/// Title, price and visibility of every product with a key.
fn by_key(target: &ImportTarget) -> BTreeMap<String, String> {
    let products = target.products();
    let keyed: Vec<_> = products.iter().filter(|product| product["key"].is_string()).collect();
    let shown = |product: &Value| {
        let hidden = if product["hidden"] == true { " hidden" } else { "" };
        let text = |name: &str| product[name].as_str().unwrap().to_owned();
        (text("key"), format!("{} {}{hidden}", text("title"), text("price")))
    };
    let map: BTreeMap<_, _> = keyed.iter().map(|product| shown(product)).collect();
    assert_eq!(map.len(), keyed.len(), "keys are unique");
    map
}

fn values(target: &ImportTarget) -> Vec<String> {
    by_key(target).into_values().collect()
}

#[test]
fn the_shop_becomes_equal_to_the_feed() {
    ImportTarget::each(|target| {
        let own = target.write("own.jsonl", "{\"title\": \"Own\", \"price\": \"$9\"}\n");
        target.import(&own, &[]).expect(0);
        let ended = sync(target, FEED, &[]).expect(0);
        let said = "5 created, 0 updated, 0 unchanged, 0 refused, 0 hidden";
        assert!(ended.out.contains(said), "{ended:?}");

        let before = target.products();
        let ended = sync(target, FEED, &[]).expect(0);
        let said = "0 created, 0 updated, 5 unchanged, 0 refused, 0 hidden";
        assert!(ended.out.contains(said), "{ended:?}");
        assert_eq!(target.products(), before, "nothing was written");

        let changed = FEED.replace("$1", "$11").replace("b,Rug,$2,\n", "f,Vase,$6,\n");
        let dry = sync(target, &changed, &["--dry-run"]).expect(0);
        let said =
            "1 would be created, 1 would be updated, 3 unchanged, 0 refused, 1 would be hidden";
        assert!(dry.out.contains(said), "{dry:?}");
        assert_eq!(target.products(), before);
        let ended = sync(target, &changed, &[]).expect(0);
        let said = "1 created, 1 updated, 3 unchanged, 0 refused, 1 hidden";
        assert!(ended.out.contains(said), "{ended:?}");
        let expected = ["Lamp $11", "Rug $2 hidden", "Sofa $3", "Desk $4", "Chair $5", "Vase $6"];
        assert_eq!(values(target), expected);

        // What is in the feed again is shown again.
        let ended = sync(target, FEED, &["--max-removed", "25%"]).expect(0);
        let said = "0 created, 2 updated, 3 unchanged, 0 refused, 1 hidden";
        assert!(ended.out.contains(said), "{ended:?}");
        let expected = ["Lamp $1", "Rug $2", "Sofa $3", "Desk $4", "Chair $5", "Vase $6 hidden"];
        assert_eq!(values(target), expected);

        let ended = sync(target, FEED, &["--missing", "delete"]).expect(0);
        assert!(ended.out.contains("5 unchanged, 0 refused, 1 deleted"), "{ended:?}");
        assert_eq!(values(target), expected[..5]);
        assert!(target.all("title").contains(&"Own".to_owned()), "it has no key");
    });
}

#[test]
fn only_the_fields_of_the_feed_are_compared_and_changed() {
    ImportTarget::each(|target| {
        sync(target, FEED, &[]).expect(0);
        let prices = "sku,price\na,$7\nb,$2\nz,$3\n";
        let ended = sync(target, prices, &["--missing", "keep"]).expect(3);
        let said = "0 created, 1 updated, 1 unchanged, 1 refused\n";
        assert!(ended.out.contains(said), "{ended:?}");
        assert!(ended.errors.contains("line 4: title"), "{ended:?}");
        let expected = ["Lamp $7", "Rug $2", "Sofa $3", "Desk $4", "Chair $5"];
        assert_eq!(values(target), expected);
        assert_eq!(target.products()[0]["attributes"], json!({"color": "red"}));
    });
}

#[test]
fn a_feed_that_lacks_too_much_hides_and_deletes_nothing() {
    ImportTarget::each(|target| {
        sync(target, FEED, &[]).expect(0);
        let short = "sku,title,price\na,Lamp,$8\nb,Rug,$2\nc,Sofa,$3\n";
        for missing in ["hide", "delete"] {
            let ended = sync(target, short, &["--missing", missing]).expect(1);
            assert!(ended.errors.contains("2 of 5 products with a key"), "{ended:?}");
            assert!(ended.errors.contains("--max-removed"), "{ended:?}");
            let expected = ["Lamp $8", "Rug $2", "Sofa $3", "Desk $4", "Chair $5"];
            assert_eq!(values(target), expected);
        }
        sync(target, short, &["--missing", "delete", "--max-removed", "40%"]).expect(0);
        assert_eq!(values(target), ["Lamp $8", "Rug $2", "Sofa $3"]);
    });
}

#[test]
fn products_of_refused_records_are_not_missing() {
    ImportTarget::each(|target| {
        sync(target, FEED, &[]).expect(0);
        let bad =
            FEED.replace("$2", "much").replace("c,Sofa", "a,Sofa").replace("e,Chair", ",Chair");
        let flags = ["--missing", "delete", "--max-removed", "100", "--errors", "errors.jsonl"];
        let ended = sync(target, &bad, &flags).expect(3);
        let said = "0 created, 0 updated, 2 unchanged, 3 refused, 2 deleted";
        assert!(ended.out.contains(said), "{ended:?}");
        assert_eq!(values(target), ["Lamp $1", "Rug $2", "Desk $4"]);
        let report = fs::read_to_string(target.path("errors.jsonl")).unwrap();
        let errors: Vec<Value> =
            report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let errors: Vec<_> = errors
            .iter()
            .map(|error| json!([error["line"], error["field"], error["code"]]))
            .collect();
        assert_eq!(
            errors,
            [
                json!([3, "price", "invalid_price"]),
                json!([4, "key", "duplicate_key"]),
                json!([6, "key", "required"]),
            ]
        );
        // Which product a record that cannot be read is about is not known.
        let ended = sync(target, "sku,title,price\na,Lamp,$1\nragged\n", &flags).expect(3);
        assert!(ended.out.contains("none was deleted"), "{ended:?}");
        assert_eq!(by_key(target).len(), 3);
    });
}

#[test]
fn an_export_synchronises_another_shop() {
    let from = ImportTarget::folder();
    sync(&from, FEED, &[]).expect(0);
    for name in ["all.jsonl", "all.csv"] {
        ImportTarget::each(|into| {
            let other = FEED.replace("b,Rug,$2,", "b,Mat,$9,green").replace("red", "");
            sync(into, &other, &[]).expect(0);
            let file = from.path(name);
            Ended::of(from.command("export").arg(&file).output().unwrap()).expect(0);
            let ended = into.import(&file, &["--sync"]).expect(0);
            assert!(ended.out.contains("0 created, 2 updated, 3 unchanged"), "{ended:?}");
            let attributes = |target: &ImportTarget| -> Vec<Value> {
                target.products().iter().map(|product| product["attributes"].clone()).collect()
            };
            assert_eq!((values(into), attributes(into)), (values(&from), attributes(&from)));
        });
    }
}

#[test]
fn a_sync_needs_keys_and_excludes_other_ways_to_update() {
    let target = ImportTarget::folder();
    let ended = sync(&target, "title,price\nLamp,$5\n", &[]).expect(1);
    assert!(ended.errors.contains("no column is the key; say which with --map key="), "{ended:?}");
    sync(&target, FEED, &["--key", "sku"]).expect(2);
    let file = target.path("feed.csv");
    let (status, _) = refused(target.command("import").arg(file).args(["--missing", "delete"]));
    assert_eq!(status.code(), Some(2));
}

/// A feed of many products, some of which differ between editions.
fn edition(number: usize) -> (String, BTreeMap<String, String>) {
    let (mut text, mut expected) = ("sku,title,price\n".to_owned(), BTreeMap::new());
    for n in (0..1500).filter(|n| n % 10 != number) {
        let price = if n % 3 == 0 { number + 1 } else { 5 };
        let _ = writeln!(text, "K{n},Lamp {n},${price}");
        expected.insert(format!("K{n}"), format!("Lamp {n} ${price}"));
    }
    (text, expected)
}

#[test]
fn a_sync_that_is_killed_is_completed_by_the_next_one() {
    ImportTarget::each(|target| {
        for number in 0..3 {
            let (feed, expected) = edition(number);
            let file = target.write("feed.csv", feed);
            let flags = ["--sync", "--missing", "delete"];
            for pause in [30, 80, 150, 250] {
                let mut killed = target
                    .command("import")
                    .arg(&file)
                    .args(flags)
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap();
                thread::sleep(Duration::from_millis(pause));
                killed.kill().unwrap();
                killed.wait().unwrap();
            }
            target.import(&file, &flags).expect(0);
            assert_eq!(by_key(target), expected, "edition {number}");
            let ended = target.import(&file, &flags).expect(0);
            let said =
                format!("0 created, 0 updated, {} unchanged, 0 refused, 0 deleted", expected.len());
            assert!(ended.out.contains(&said), "{ended:?}");
        }
    });
}
