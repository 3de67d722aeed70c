//! Imports keep the merchant's keys, addresses and attributes.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::target::{Ended, ImportTarget};

const SHOPIFY: &str = "\
Handle,Title,Body (HTML),Vendor,Type,Tags,Published,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Variant SKU,Variant Price,Image Src,Status
linen-shirt,Linen shirt,<p>It&#146;s light</p>,Acme,Shirts,\"summer, linen\",true,Color,White,Size,S,LS-W-S,49.00,,active
linen-shirt,,,,,,,,White,,M,LS-W-M,49.00,,
linen-shirt,,,,,,,,Sage,,S,LS-S-S,49.00,,
gift-card,Gift card,,Acme,,,true,Title,Default Title,,,,10.00,,active
";

const RSS: &str = r#"<?xml version="1.0"?>
<rss xmlns:g="http://base.google.com/ns/1.0" version="2.0"><channel><title>Shop</title>
<item><g:id>LS-W</g:id><g:title>Linen shirt</g:title><link>https://example.com/linen-shirt</link>
<g:price>49.00 USD</g:price><g:brand>Acme</g:brand>
<g:google_product_category>Apparel &amp; Accessories &gt; Clothing</g:google_product_category>
<g:availability>in_stock</g:availability><g:condition>new</g:condition><g:color>White/Sage</g:color>
<g:size>M</g:size><g:gender>unisex</g:gender><g:age_group>adult</g:age_group>
<g:material>linen</g:material></item>
</channel></rss>"#;

const TABLE: &str = "\
SKU,Name,Cost,Page,Colour,Width,Washable,Styles\r
B-1,Blanket,49.90 EUR,https://example.com/b-1,dark red,140,yes,picnic|outdoor\r
B-2,Rug,19.90 EUR,,,wide,no,\r
";

/// Key, address and attributes of all products, by title.
fn merchant_data(target: &ImportTarget) -> Vec<Value> {
    target
        .products()
        .iter()
        .map(|product| json!([product["key"], product["url"], product["attributes"]]))
        .collect()
}

fn import(target: &ImportTarget, name: &str, text: &str, flags: &[&str]) -> Ended {
    target.import(&target.write(name, text), flags).expect(0)
}

#[test]
fn shopify() {
    ImportTarget::each(|target| {
        import(target, "a.csv", SHOPIFY, &["--currency", "USD"]);
        let shirt = json!({"brand": "Acme", "product_type": "Shirts", "tags": ["summer", "linen"],
            "color": ["White", "Sage"], "size": ["S", "M"], "sku": ["LS-W-S", "LS-W-M", "LS-S-S"]});
        assert_eq!(
            merchant_data(target),
            [json!(["linen-shirt", null, shirt]), json!(["gift-card", null, {"brand": "Acme"}])]
        );
        assert_eq!(target.all("description")[0], "It’s light");
    });
}

#[test]
fn merchant_feed() {
    ImportTarget::each(|target| {
        import(target, "a.xml", RSS, &[]);
        let attributes = json!({"brand": "Acme", "availability": "in_stock", "condition": "new",
            "google_product_category": "Apparel & Accessories > Clothing",
            "color": ["White", "Sage"], "size": "M", "gender": "unisex", "age_group": "adult",
            "material": "linen"});
        assert_eq!(
            merchant_data(target),
            [json!(["LS-W", "https://example.com/linen-shirt", attributes])]
        );
    });
}

#[test]
fn mapped_columns() {
    let map = "price=Cost,url=Page,attributes.color=Colour,attributes.width:number=Width,\
               attributes.washable:boolean=Washable,attributes.style:list=Styles";
    ImportTarget::each(|target| {
        let ended = import(target, "a.csv", TABLE, &["--map", map]);
        assert_eq!(
            merchant_data(target),
            [
                json!(["B-1", "https://example.com/b-1", {"color": "dark red", "width": 140,
                    "washable": true, "style": ["picnic", "outdoor"]}]),
                json!(["B-2", null, {"washable": false}]),
            ]
        );
        let warning = "line 3: warning: width \"wide\" is not a number and was left out";
        assert!(ended.errors.contains(warning), "{ended:?}");
        assert!(
            ended.out.contains("1 products have values that were cut or left out"),
            "{ended:?}"
        );
    });
}

#[test]
fn json_objects() {
    let objects = "{\"sku\": 17, \"name\": \"Lamp\", \"price\": \"$5\", \
        \"link\": \"https://example.com/17\", \"colour\": \"red\", \"stars\": 4.5, \
        \"attributes\": {\"size\": \"M\"}}\n";
    ImportTarget::each(|target| {
        let map = "attributes.color=colour,attributes.rating=stars";
        import(target, "a.jsonl", objects, &["--map", map]);
        let attributes = json!({"color": "red", "rating": 4.5, "size": "M"});
        assert_eq!(merchant_data(target), [json!(["17", "https://example.com/17", attributes])]);
    });
}

#[test]
fn a_dry_run_shows_what_would_be_kept() {
    let target = ImportTarget::folder();
    let flags = ["--dry-run", "--map", "price=Cost,attributes.color=Colour"];
    let ended = import(&target, "a.csv", TABLE, &flags);
    let shown = "line 2 would become\n  attributes: {\"color\":\"dark red\"}\n  key: \"B-1\"\n  \
                 price: \"49.90 EUR\"\n  title: \"Blanket\"\nline 3 would become\n";
    assert!(ended.out.contains(shown), "{ended:?}");
    for said in ["key ← SKU (guessed)", "attributes.color ← Colour\n", "not read: Page, Width"]
    {
        assert!(ended.errors.contains(said), "no {said:?} in {}", ended.errors);
    }
    assert!(target.products().is_empty());
}

#[test]
fn characters_of_windows_1252_are_repaired_with_a_warning() {
    ImportTarget::each(|target| {
        let text = "sku,title,price,attributes.cut\n1,Women\u{92}s lamp,5 \u{80},A\u{96}Z\n";
        let ended = import(target, "a.csv", text, &[]);
        assert_eq!(target.all("title"), ["Women’s lamp"]);
        assert_eq!(target.all("price"), ["5 €"]);
        assert_eq!(merchant_data(target), [json!(["1", null, {"cut": "A–Z"}])]);
        assert!(ended.errors.contains("line 2: warning: characters of Windows-1252"), "{ended:?}");
        assert!(ended.out.contains("1 products had characters of Windows-1252"), "{ended:?}");
        // What no byte meant is still refused.
        let file = target.write("b.csv", "title,price\nLamp\u{81},$5\n");
        let ended = target.import(&file, &[]).expect(3);
        assert!(ended.errors.contains("U+0081"), "{ended:?}");
    });
}

#[test]
fn a_key_that_is_taken_is_refused_and_names_the_product() {
    ImportTarget::each(|target| {
        import(target, "a.csv", "sku,title,price\na,Lamp,$5\n", &[]);
        let id = target.all("id").remove(0);
        let file = target.write("b.csv", "sku,title,price\na,Lamp,$6\nb,Rug,$6\n");
        let ended = target.import(&file, &["--errors", "errors.jsonl"]).expect(3);
        assert!(ended.out.contains("1 created, 0 updated, 1 refused"), "{ended:?}");
        let error = first_error(&target.path("errors.jsonl"));
        assert_eq!((error["line"].as_u64(), error["field"].as_str()), (Some(2), Some("key")));
        assert!(error["message"].as_str().unwrap().contains(&id), "{error}");
        assert_eq!(target.all("key"), ["a", "b"]);
        // Its column can be left alone.
        import(target, "b.csv", "sku,title,price\na,Lamp,$6\n", &["--map", "key="]);
        assert_eq!(target.all("key"), ["a", "b", "null"]);
    });
}

fn first_error(path: &Path) -> Value {
    let report = fs::read_to_string(path).unwrap();
    serde_json::from_str(report.lines().next().unwrap()).unwrap()
}
