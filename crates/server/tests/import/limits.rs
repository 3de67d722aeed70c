//! Limits of a shop hold for imports: what exceeds them is reported, and the rest is stored.

use std::fs;

use serde_json::{Value, json};

use crate::target::{Ended, ImportTarget};

/// Line, field and code of what was refused.
fn refused(target: &ImportTarget) -> Vec<String> {
    let report = fs::read_to_string(target.path("errors.jsonl")).unwrap();
    let refused = report.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        format!("{} {} {}", line["line"], line["field"], line["code"]).replace('"', "")
    });
    refused.collect()
}

fn import(target: &ImportTarget, lines: &[Value], flags: &[&str]) -> Ended {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let file = target.write("a.jsonl", text);
    target.import(&file, &[&["--errors", "errors.jsonl"], flags].concat())
}

#[test]
fn attribute_names_are_limited() {
    let with_names = |first: usize| {
        let names = (first..first + 40).map(|n| (format!("n{n}"), json!(1)));
        json!({"title": "Lamp", "price": "$5", "attributes": names.collect::<serde_json::Map<_, _>>()})
    };
    let mut lines: Vec<_> = (0..125).map(|product| with_names(40 * product)).collect();
    lines.push(with_names(0));
    ImportTarget::each(|target| {
        // In order: batches are otherwise stored side by side.
        import(target, &lines[..100], &[]).expect(0);
        import(target, &lines[100..], &[]).expect(0);
        let ended =
            import(target, &[with_names(1), with_names(4961), with_names(80)], &[]).expect(3);
        assert!(ended.out.contains("2 created, 0 updated, 1 refused"), "{}", ended.out);
        assert_eq!(refused(target), ["2 attributes attribute_names_exhausted"]);
        assert_eq!(target.products().len(), 128);
    });
}

#[test]
fn quotas_are_those_of_the_settings() {
    let lines: Vec<_> =
        (0..4).map(|n| json!({"key": format!("k{n}"), "title": "Lamp", "price": "$5"})).collect();
    for (flags, stored) in [(["--quota-products", "3"], 3), (["--quota-bytes", "25B"], 2)] {
        let target = ImportTarget::folder();
        let ended = import(&target, &lines, &flags).expect(3);
        assert!(ended.out.contains(&format!("{stored} created")), "{}", ended.out);
        let expected = (stored + 1..=4).map(|line| format!("{line} null quota_exhausted"));
        assert_eq!(refused(&target), expected.collect::<Vec<_>>());
        // A comparison updates by key, and creates nothing beyond the quota.
        let mut more: Vec<_> = lines[..stored].to_vec();
        more[0]["title"] = json!("Rug");
        more.push(json!({"key": "new", "title": "Lamp", "price": "$5"}));
        let flags = [&["--sync"], &flags[..]].concat();
        let _ = import(&target, &more, &flags);
        assert_eq!(refused(&target), [format!("{} null quota_exhausted", stored + 1)]);
        assert_eq!(target.all("title"), [&["Rug"][..], &vec!["Lamp"; stored - 1]].concat());
    }
}
