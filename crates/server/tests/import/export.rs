//! Exported products can be imported without changes.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Read},
    process::Stdio,
};

use serde_json::{Value, json};
use testkit::{Installation, Role, refused};

use crate::target::{Ended, ImportTarget};

/// Texts that formats are prone to break.
const ODD: [&str; 14] = [
    "plain",
    "  spaces around  ",
    "comma, \"quotes\" and 'more'",
    "\"",
    "line\nbreak",
    "line\r\nbreak\r\n",
    "\ttab\t",
    "=1+1",
    "back\\slash \\n",
    "é 漢字 🛋️ \u{200f}rtl",
    "<b>&amp;</b>",
    "#comment",
    ";semi;colon",
    "null",
];

fn odd_products() -> Vec<Value> {
    ODD.iter()
        .enumerate()
        .map(|(n, text)| {
            let media: Vec<_> = (0..n % 3)
                .map(|m| json!({"url": format!("https://example.com/{n},http://x/{m}?a=\"b\"&c;"), "type": "image"}))
                .collect();
            let price = ["$5", "EUR 1.299,00", " 19,99 € ", "¥1500", "1'299.00 CHF"][n % 5];
            let mut product = json!({"title": format!("{text}x"), "description": text,
                "price": price, "hidden": n % 2 == 1, "media": media});
            if n % 4 > 0 {
                product["key"] = format!("{n}{}", text.replace(char::is_control, "")).into();
                product["attributes"] = json!({"text": format!("{text}x"), "list": [text, "b", "="],
                    "number": -0.25 * n as f64, "whole": n * 1000, "yes": n % 3 == 0, "digits": "5"});
            }
            if n % 3 > 0 {
                product["url"] = format!("https://example.com/{n}?a=\"b\"&c,;").into();
            }
            product
        })
        .collect()
}

/// What can be set of all products.
fn settable(target: &ImportTarget) -> Vec<Value> {
    let mut products = target.products();
    for product in &mut products {
        let fields = product.as_object_mut().unwrap();
        for name in ["id", "shop_id", "created_at", "updated_at"] {
            fields.remove(name).unwrap();
        }
        for name in ["category", "inferred_attributes"] {
            fields.remove(name);
        }
    }
    products
}

fn fill(target: &ImportTarget, products: &[Value]) {
    let lines: String = products.iter().map(|product| format!("{product}\n")).collect();
    target.import(&target.write("fill.jsonl", lines), &[]).expect(0);
}

#[test]
fn an_export_imports_to_the_same_products() {
    let products = odd_products();
    for name in ["a.jsonl", "a.json", "a.csv", "a.tsv", "a.csv.gz", "a.jsonl.zst"] {
        ImportTarget::each(|from| {
            fill(from, &products);
            Ended::of(from.command("export").arg(from.path(name)).output().unwrap()).expect(0);
            let into = ImportTarget::folder();
            into.import(&from.path(name), &[]).expect(0);
            assert_eq!(settable(&into), products, "{name}");
            assert!(!from.path(&format!("{name}.unfinished")).exists());
        });
    }
}

#[test]
fn folder_and_server_export_the_same_bytes_also_while_the_server_runs() {
    let target = ImportTarget::server(&[]);
    fill(&target, &odd_products());
    let by_server = target.command("export").output().unwrap();
    let by_folder = target.store.run(&["export", "--shop", "1"]);
    assert!(by_server.status.success() && by_folder.status.success());
    assert_eq!(String::from_utf8(by_server.stdout), String::from_utf8(by_folder.stdout.clone()));
    let lines = String::from_utf8(by_folder.stdout).unwrap();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first, target.products()[0]);
}

#[test]
fn an_edited_export_updates_products_by_id() {
    ImportTarget::each(|target| {
        fill(target, &odd_products());
        Ended::of(target.command("export").arg(target.path("a.csv")).output().unwrap()).expect(0);
        let ids = target.all("id");
        let text = fs::read_to_string(target.path("a.csv")).unwrap().replace("plain", "changed");
        let ended = target.import(&target.write("a.csv", text), &["--key", "id"]).expect(0);
        assert!(ended.out.contains("0 created, 14 updated, 0 refused"), "{ended:?}");
        assert_eq!(target.all("id"), ids);
        assert_eq!(target.all("title")[0], "changedx");
    });
}

/// The export stops at a full pipe while products of the pages it has read are deleted: those
/// after them move forward, and none may be missed.
#[test]
fn remaining_products_are_exported_once_while_others_are_deleted() {
    const COUNT: usize = 450;
    let target = ImportTarget::server(&[]);
    let long = "wool ".repeat(3000);
    let products: Vec<_> = (0..COUNT)
        .map(|n| json!({"title": format!("Rug {n}"), "description": long, "price": "$5"}))
        .collect();
    fill(&target, &products);
    let ids: Vec<u64> = target.all("id").iter().map(|id| id.parse().unwrap()).collect();
    let mut export = target.command("export").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(export.stdout.take().unwrap());
    let mut first = String::new();
    lines.read_line(&mut first).unwrap();
    let deleted = &ids[20..110];
    let body = json!({ "product_ids": deleted });
    target.client().bulk_delete(body).expect(200);
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert!(export.wait().unwrap().success());
    let found: Vec<u64> = first
        .lines()
        .chain(rest.lines())
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_u64().unwrap())
        .collect();
    assert!(found.is_sorted());
    let distinct: BTreeSet<_> = found.iter().copied().collect();
    assert_eq!(distinct.len(), found.len());
    for id in ids.iter().filter(|id| !deleted.contains(id)) {
        assert!(distinct.contains(id), "{id} is missing");
    }
}

#[test]
fn an_export_without_access_to_hidden_products_is_refused() {
    let target = ImportTarget::server(&[]);
    let token = target.store.token(1, Role::Shopper);
    let (_, said) = refused(target.command("export").env("SHOP_TOKEN", token));
    assert!(said.contains("VIEWER"), "{said}");
}

#[test]
fn an_export_does_not_create_a_catalog() {
    let target = ImportTarget::folder();
    let nowhere = target.path("nowhere");
    let store = Installation::on_folder(&nowhere);
    let (_, said) = refused(&mut store.command(&["export", "--shop", "1"]));
    assert!(said.contains("no catalog") && !nowhere.exists(), "{said}");
    let (_, said) = refused(target.command("export").arg(target.path("a.txt")));
    assert!(said.contains("does not say its format"), "{said}");
}
