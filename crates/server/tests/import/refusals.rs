//! Invalid records and files are reported with their reason and affect nothing else.

use std::{fs, io::Write};

use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};
use testkit::{PRODUCTS, refused, shopkeeper};

use crate::target::ImportTarget;

#[test]
fn every_error_of_a_record_is_reported_with_its_line_and_the_message_of_the_api() {
    let bad = [
        json!({"title": " ", "price": "5"}),
        json!({"title": "Lamp", "price": "$5", "colour": "red", "media": [{"url": "ftp://x", "type": "image"}]}),
    ];
    let text =
        format!("{}\nnot json\n{{\"title\": \"Good\", \"price\": \"$5\"}}\n{}\n", bad[0], bad[1]);
    ImportTarget::each(|target| {
        let file = target.write("a.jsonl", &text);
        let ended = target.import(&file, &["--errors", "errors.jsonl"]).expect(3);
        assert!(
            ended.out.contains("4 records")
                && ended.out.contains("1 created, 0 updated, 3 refused")
        );
        assert_eq!(target.all("title"), ["Good"]);
        let report = fs::read_to_string(target.path("errors.jsonl")).unwrap();
        let lines: Vec<Value> =
            report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let codes: Vec<_> = lines
            .iter()
            .map(|line| {
                format!("{} {} {}", line["line"], line["field"], line["code"]).replace('"', "")
            })
            .collect();
        assert_eq!(
            codes,
            [
                "1 title blank",
                "1 price invalid_price",
                "2 null malformed_json",
                "4 media[0].url invalid_url",
                "4 colour unknown_field",
            ]
        );
        assert_eq!(lines[0]["original"], bad[0]);
        assert_eq!(lines[2]["original"], "not json");
    });
    // The very words that the interface uses.
    let target = ImportTarget::server(&[]);
    let file = target.write("a.jsonl", format!("{}\n", bad[1]));
    target.import(&file, &["--errors", "errors.jsonl"]).expect(3);
    let answer = target.client().post(PRODUCTS, bad[1].clone());
    let report = fs::read_to_string(target.path("errors.jsonl")).unwrap();
    for (line, fault) in report.lines().zip(answer.body["errors"].as_array().unwrap()) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&line["message"], &line["code"]), (&fault["message"], &fault["code"]));
    }
}

#[test]
fn a_dry_run_checks_everything_and_writes_nothing() {
    ImportTarget::each(|target| {
        let file = target.write("a.csv", "name,price,sku\nLamp,$5,1\nRug,5,2\n");
        let ended = target.import(&file, &["--dry-run", "--key", "sku"]).expect(3);
        let said = "1 would be created, 0 would be updated, 0 unchanged, 1 refused";
        assert!(ended.out.contains(said), "{ended:?}");
        assert!(ended.errors.contains("line 3: price the price has no currency"), "{ended:?}");
        assert!(target.products().is_empty());
        assert!(!target.path("a.csv.import").exists());
    });
    // It needs no target at all.
    let target = ImportTarget::folder();
    let file = target.write("b.csv", "name,price\nLamp,$5\n");
    let mut command = shopkeeper();
    let output = command.args(["import", "--dry-run"]).arg(&file).output().unwrap();
    assert!(output.status.success());
}

#[test]
fn a_folder_locked_by_a_server_is_refused() {
    let target = ImportTarget::folder();
    let server = target.store.serve(&["--model-kind", "off"]);
    let file = target.write("a.jsonl", "{\"title\": \"Lamp\", \"price\": \"$5\"}\n");
    let (_, said) = refused(target.command("import").arg(&file));
    assert!(said.contains("only one process may write") && said.contains("--server URL"), "{said}");
    drop(server);
    target.import(&file, &[]).expect(0);
}

#[test]
fn a_damaged_file_stops_the_import_and_says_so() {
    let lines = "{\"title\": \"Lamp\", \"price\": \"$5\"}\n".repeat(1000);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
    gzip.write_all(lines.as_bytes()).unwrap();
    let packed = gzip.finish().unwrap();
    let target = ImportTarget::folder();
    for (name, bytes, words) in [
        ("cut.gz", &packed[..packed.len() / 2], "the import stopped"),
        ("cut.json", b"[{\"title\": \"Lamp\", \"price\": \"$5\"},".as_slice(), "truncated"),
        ("cut.xml", b"<rss><item><title>Lamp</title>".as_slice(), "truncated"),
        ("book.xlsx", b"PK\x03\x04".as_slice(), "zip archive"),
        ("empty.csv", b"".as_slice(), "the file is empty"),
        ("wide.csv", b"\xff\xfet\0i\0t\0".as_slice(), "UTF-16"),
    ] {
        let ended = target.import(&target.write(name, bytes), &[]).expect(1);
        assert!(ended.errors.contains(words), "{name}: {ended:?}");
    }
    let ended = target.import(&target.path("none.csv"), &[]).expect(1);
    assert!(ended.errors.contains("none.csv"), "{ended:?}");
}

#[test]
fn a_wrong_token_stops_the_import_at_once_and_is_never_shown() {
    let target = ImportTarget::server(&[]);
    let file = target.write("a.jsonl", "{\"title\": \"Lamp\", \"price\": \"$5\"}\n");
    let token = target.write("token", "shk_1_wrong\n");
    let mut command = target.command("import");
    let (status, said) = refused(command.arg(&file).arg("--token-file").arg(token));
    assert_eq!(status.code(), Some(1));
    assert!(said.contains("401") && !said.contains("shk_1"), "{said}");
    let mut command = target.command("import");
    let (_, said) = refused(command.arg(&file).env_remove("SHOP_TOKEN"));
    assert!(said.contains("SHOP_TOKEN"), "{said}");
}

#[test]
fn an_import_honours_retry_after() {
    let target =
        ImportTarget::server(&["--rate-limit-requests-per-second", "2", "--rate-limit-burst", "1"]);
    let lines: String =
        (0..450).map(|n| format!("{{\"title\": \"Lamp {n}\", \"price\": \"$5\"}}\n")).collect();
    let ended = target.import(&target.write("a.jsonl", lines), &[]).expect(0);
    assert!(ended.out.contains("450 created"), "{ended:?}");
}

#[test]
fn a_batch_that_exceeds_the_body_limit_is_split() {
    let target = ImportTarget::server(&["--limits-body-bytes", "64KiB"]);
    let long = "wool ".repeat(2000);
    let lines: String = (0..30)
        .map(|n| {
            format!("{{\"title\": \"{n}\", \"price\": \"$5\", \"description\": \"{long}\"}}\n")
        })
        .collect();
    target.import(&target.write("a.jsonl", lines), &[]).expect(0);
    let titles: Vec<_> = (0..30).map(|n| n.to_string()).collect();
    assert_eq!(target.all("title"), titles);
}
