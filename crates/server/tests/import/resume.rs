//! A killed import resumes without losing or duplicating products.

use std::{collections::BTreeSet, fs, io::Write, path::Path};

use serde_json::Value;
use testkit::until;

use crate::target::{ImportTarget, feed};

const RECORDS: usize = 3000;

/// Records of which every tenth is bad.
fn lines(range: std::ops::Range<usize>) -> String {
    range
        .map(|n| match n % 10 {
            7 => format!("{{\"title\": \"Lamp {n}\", \"price\": \"none\"}}\n"),
            _ => format!("{{\"sku\": \"S{n}\", \"title\": \"Lamp {n}\", \"price\": \"$5\"}}\n"),
        })
        .collect()
}

/// Waits until the state file counts at least this many records.
fn wait_for_records(state: &Path, wanted: u64) {
    until("the processing of records", || {
        let text = fs::read(state).unwrap_or_default();
        let state: Value = serde_json::from_slice(&text).unwrap_or_default();
        state["counts"]["records"].as_u64().is_some_and(|records| records >= wanted)
    });
}

fn check(target: &ImportTarget) {
    let state = target.path("state");
    let flags = ["--state", "state", "--errors", "errors.jsonl"];
    let mut first = target.import_stream(&flags);
    let mut stdin = first.stdin.take().unwrap();
    // It gets half of the records, and is killed while it waits for more: some are stored and not
    // in the state.
    stdin.write_all(lines(0..RECORDS / 2).as_bytes()).unwrap();
    wait_for_records(&state, 1);
    first.kill().unwrap();
    first.wait().unwrap();
    drop(stdin);
    assert!(state.exists());

    let other = feed(target.import_stream(&flags), &lines(1..RECORDS)).expect(1);
    assert!(other.errors.contains("the file has changed"), "{other:?}");
    let second = feed(target.import_stream(&flags), &lines(0..RECORDS)).expect(3);
    assert!(second.errors.contains("going on after"), "{second:?}");
    assert!(second.out.contains("2700 created, 0 updated, 300 refused"), "{second:?}");
    assert!(!state.exists());

    let titles = target.all("title");
    assert_eq!(titles.len(), 2700);
    let distinct: BTreeSet<_> = titles.iter().collect();
    assert_eq!(distinct.len(), 2700);
    let report = fs::read_to_string(target.path("errors.jsonl")).unwrap();
    let bad: Vec<_> = report
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["line"].as_u64().unwrap())
        .collect();
    let expected: Vec<_> = (0..RECORDS as u64).filter(|n| n % 10 == 7).map(|n| n + 1).collect();
    assert_eq!(bad, expected);
}

#[test]
fn a_killed_import_resumes_without_loss_or_duplicates() {
    ImportTarget::each(check);
}

#[test]
fn an_import_with_other_options_does_not_resume() {
    let target = ImportTarget::folder();
    let file = target.write("a.csv", "name,price\nLamp,$5\nRug,\"$\n");
    target.import(&file, &["--currency", "EUR"]).expect(3);
    // A state that was left behind by an import with other options.
    let mut first = target.import_stream(&["--state", "a.csv.import", "--currency", "EUR"]);
    first.stdin.as_mut().unwrap().write_all(b"name,price\nLamp,$5\n").unwrap();
    until("the creation of the state file", || target.path("a.csv.import").exists());
    first.kill().unwrap();
    first.wait().unwrap();
    let said = target.import(&file, &["--currency", "USD"]).expect(1).errors;
    assert!(said.contains("other options") && said.contains("--restart"), "{said}");
    target.import(&file, &["--currency", "USD", "--restart"]).expect(3);
}
