//! Does an import that was killed go on without losing or repeating anything?

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    place::{Place, feed},
    server::PATIENCE,
};

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

/// Waits until the state says that so many records are done.
fn wait_for_records(state: &Path, wanted: u64) {
    let began = Instant::now();
    loop {
        let text = fs::read(state).unwrap_or_default();
        let state: Value = serde_json::from_slice(&text).unwrap_or_default();
        if state["counts"]["records"].as_u64().is_some_and(|records| records >= wanted) {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{state}");
        // The file has no bell to wait for.
        thread::sleep(Duration::from_millis(5));
    }
}

fn check(place: &Place, flags: &[&str]) {
    let state = place.path("state");
    let flags = [&["--state", "state", "--errors", "errors.jsonl"], flags].concat();
    let mut first = place.import_stream(&flags);
    let mut stdin = first.stdin.take().unwrap();
    // It gets half of the records, and is killed while it waits for more: some are stored and not
    // in the state.
    stdin.write_all(lines(0..RECORDS / 2).as_bytes()).unwrap();
    wait_for_records(&state, 1);
    first.kill().unwrap();
    first.wait().unwrap();
    drop(stdin);
    assert!(state.exists());

    let other = feed(place.import_stream(&flags), &lines(1..RECORDS)).expect(1);
    assert!(other.errors.contains("the file has changed"), "{other:?}");
    let second = feed(place.import_stream(&flags), &lines(0..RECORDS)).expect(3);
    assert!(second.errors.contains("going on after"), "{second:?}");
    assert!(second.out.contains("2700 created, 0 updated, 300 refused"), "{second:?}");
    assert!(!state.exists());

    let titles = place.all("title");
    assert_eq!(titles.len(), 2700);
    let distinct: BTreeSet<_> = titles.iter().collect();
    assert_eq!(distinct.len(), 2700);
    let report = fs::read_to_string(place.path("errors.jsonl")).unwrap();
    let bad: Vec<_> = report
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["line"].as_u64().unwrap())
        .collect();
    let expected: Vec<_> = (0..RECORDS as u64).filter(|n| n % 10 == 7).map(|n| n + 1).collect();
    assert_eq!(bad, expected);
}

#[test]
fn a_killed_import_goes_on_without_losing_or_repeating_anything() {
    Place::each(|place| check(place, &["--ignore-unknown"]));
}

#[test]
fn a_killed_import_by_key_goes_on_the_same_way() {
    Place::each(|place| {
        // Records without a key are bad ones here too, so the counts are the same.
        check(place, &["--key", "sku", "--keys", "keys.jsonl"]);
        let again =
            feed(place.import_stream(&["--key", "sku", "--keys", "keys.jsonl"]), &lines(0..20));
        assert!(again.out.contains("0 created, 18 updated, 2 refused"), "{again:?}");
    });
}

#[test]
fn other_options_do_not_go_on_with_the_same_state() {
    let place = Place::folder();
    let file = place.write("a.csv", "name,price\nLamp,$5\nRug,\"$\n");
    place.import(&file, &["--currency", "EUR"]).expect(3);
    // A state that was left behind by an import with other options.
    let mut first = place.import_stream(&["--state", "a.csv.import", "--currency", "EUR"]);
    first.stdin.as_mut().unwrap().write_all(b"name,price\nLamp,$5\n").unwrap();
    let began = Instant::now();
    while !place.path("a.csv.import").exists() {
        assert!(began.elapsed() < PATIENCE);
        thread::sleep(Duration::from_millis(5));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    let said = place.import(&file, &["--currency", "USD"]).expect(1).errors;
    assert!(said.contains("other options") && said.contains("--restart"), "{said}");
    place.import(&file, &["--currency", "USD", "--restart"]).expect(3);
}
