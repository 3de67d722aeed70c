//! Every import format yields the same products.

use std::{io::Write, path::Path};

use flate2::{Compression, write::GzEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};

use crate::target::ImportTarget;

const SHOPIFY: &str = "\
Handle,Title,Body (HTML),Vendor,Published,Option1 Value,Variant Price,Image Src,Image Position,Status
lamp,Lamp,\"<p>Warm &amp; soft.</p><p>One bulb.</p>\",Acme,true,Red,15.00,https://example.com/a.jpg,1,active
lamp,,,,,Blue,16.00,https://example.com/b.jpg,2,
rug,Rug,,Acme,false,,1299.00,,,active
";

const RSS: &str = r#"<?xml version="1.0"?>
<rss xmlns:g="http://base.google.com/ns/1.0" version="2.0"><channel><title>Shop</title>
<item><g:id>1</g:id><g:title>Lamp</g:title><g:description><![CDATA[Warm & soft.
One bulb.]]></g:description><g:price>15.00 USD</g:price>
<g:image_link>https://example.com/a.jpg</g:image_link>
<g:additional_image_link>https://example.com/b.jpg</g:additional_image_link></item>
<item><g:id>2</g:id><title>Rug</title><g:price>1299.00 USD</g:price></item>
</channel></rss>"#;

const ATOM: &str = r#"<feed xmlns="http://www.w3.org/2005/Atom" xmlns:g="http://base.google.com/ns/1.0">
<entry><title>Lamp</title><summary>Warm &amp; soft.
One bulb.</summary><g:price>15.00 USD</g:price><g:image_link>https://example.com/a.jpg</g:image_link>
<g:additional_image_link>https://example.com/b.jpg</g:additional_image_link></entry>
<entry><title>Rug</title><g:price>1299.00 USD</g:price></entry></feed>"#;

const MERCHANT_TSV: &str = "\
id\ttitle\tdescription\tlink\timage_link\tadditional_image_link\tprice
1\tLamp\t\"Warm & soft.\nOne bulb.\"\thttps://example.com\thttps://example.com/a.jpg\thttps://example.com/b.jpg\t15.00 USD
2\tRug\t\thttps://example.com\t\t\t1299.00 USD
";

const TABLE: &str = "\u{feff}Product Name;Details;Cost;Pictures;Colour\r\n\
    Lamp;\"Warm & soft.\nOne bulb.\";15.00;\"https://example.com/a.jpg, https://example.com/b.jpg\";red\r\n\
    Rug;;1299.00;;\r\n";

fn lamp_and_rug() -> [Value; 2] {
    let picture = |name| json!({"url": format!("https://example.com/{name}.jpg"), "type": "image"});
    [
        json!({"title": "Lamp", "description": "Warm & soft.\nOne bulb.", "price": "15.00 USD",
            "media": [picture("a"), picture("b")]}),
        json!({"title": "Rug", "description": "", "price": "1299.00 USD", "media": []}),
    ]
}

fn check(name: &str, text: impl AsRef<[u8]>, flags: &[&str]) {
    ImportTarget::each(|target| {
        let file = target.write(name, &text);
        let ended = target.import(&file, flags).expect(0);
        assert!(ended.out.contains("2 created, 0 updated, 0 refused"), "{ended:?}");
        let found: Vec<_> = target
            .products()
            .iter()
            .map(|product| {
                let fields = ["title", "description", "price", "media"];
                fields.map(|name| (name.to_owned(), product[name].clone())).into_iter().collect()
            })
            .map(Value::Object)
            .collect();
        assert_eq!(found, lamp_and_rug(), "{name}");
        assert!(!target.path(&format!("{name}.import")).exists(), "the state of a finished import");
    });
}

#[test]
fn json() {
    let [lamp, rug] = lamp_and_rug();
    check("a.jsonl", format!("{lamp}\n{rug}\n"), &[]);
    check("a.json", format!("[{lamp}, {rug}]"), &[]);
}

#[test]
fn tables() {
    check("a.csv", TABLE, &["--currency", "usd", "--map", "price=Cost,media=Pictures"]);
    let tabs = TABLE.replace(", https", " https").replace(';', "\t");
    check("a.tsv", tabs, &["--currency", "USD", "--map", "price=cost"]);
}

#[test]
fn shopify() {
    check("a.csv", SHOPIFY, &["--currency", "USD"]);
    let target = ImportTarget::folder();
    target.import(&target.write("a.csv", SHOPIFY), &["--currency", "USD"]).expect(0);
    assert_eq!(target.all("hidden"), ["false", "true"]);
}

#[test]
fn merchant_feeds() {
    check("a.xml", RSS, &[]);
    check("a.xml", ATOM, &[]);
    check("a.txt", MERCHANT_TSV, &[]);
}

#[test]
fn packed_files_whatever_their_name() {
    let [lamp, rug] = lamp_and_rug();
    let text = format!("{lamp}\n{rug}\n");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    check("a.csv", gzip.finish().unwrap(), &[]);
    check("a.gz", compress_to_vec(text.as_bytes(), CompressionLevel::Fastest), &[]);
}

#[test]
fn guessed_columns_are_reported() {
    let target = ImportTarget::folder();
    let file = target.write("a.csv", TABLE);
    let ended = target.import(&file, &["--currency", "USD", "--map", "price=Cost"]).expect(0);
    for said in [
        "reading CSV with semicolons",
        "title ← Product Name (guessed)",
        "price ← Cost\n",
        "not read: Colour",
    ] {
        assert!(ended.errors.contains(said), "no {said:?} in {}", ended.errors);
    }
}

#[test]
fn a_table_without_required_columns_is_refused() {
    let target = ImportTarget::folder();
    let file = target.write("a.csv", TABLE);
    let said = |flags: &[&str]| target.import(&file, flags).expect(1).errors;
    assert!(said(&[]).contains("no column is the price; say which with --map price=COLUMN"));
    assert!(said(&["--map", "price=Prize"]).contains("--map price=Prize: there is no such column"));
    assert!(said(&["--map", "price=Cost", "--key", "SKU"]).contains("--key SKU: there is no such"));
    assert!(target.products().is_empty());
}

#[test]
fn standard_input_is_a_file_too() {
    let [lamp, rug] = lamp_and_rug();
    ImportTarget::each(|target| {
        let child = target.import_stream(&[]);
        crate::target::feed(child, &format!("{lamp}\n{rug}\n")).expect(0);
        assert_eq!(target.all("title"), ["Lamp", "Rug"]);
        assert!(!Path::new("-.import").exists());
    });
}
