//! `shopkeeper eval` measures the results of the service.

use std::{fs, path::Path};

use tempfile::TempDir;
use testkit::{printed, run};

const CATALOG: &str = r#"{"product": 10, "title": "Velvet Sofa", "description": "seats three"}
{"product": 20, "title": "Sofa Cover"}
{"product": 30, "title": "Oak Table"}
{"product": 40, "title": "Garden Table", "price": "$80"}
"#;
const JUDGMENTS: &str = "query\tproduct\tgrade
sofa\t10\t2
sofa\t20\t0
table under $50\t30\t1
garden hose\t30\t1
";

/// A folder with files, and the arguments that name them.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Self(TempDir::new().unwrap());
        desk.write("catalog.jsonl", CATALOG);
        desk.write("judgments.tsv", JUDGMENTS);
        desk
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn eval(&self, more: &[&str]) -> std::process::Output {
        let (catalog, judgments) = (self.at("catalog.jsonl"), self.at("judgments.tsv"));
        let arguments = ["eval", "--catalog", &catalog, "--judgments", &judgments];
        run(&[&arguments, more].concat(), &[])
    }
}

/// The number behind a name in a report.
fn figure(report: &str, name: &str) -> f64 {
    let line = report.lines().find_map(|line| line.trim().strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.unwrap_or_else(|| panic!("no {name} in:\n{report}")).parse().unwrap()
}

#[test]
fn judged_queries_are_evaluated_on_the_results_of_the_service() {
    let report = printed(Desk::new().eval(&["--model-kind", "off"]));
    assert!(report.contains("judgments.tsv: 3 queries, 4 judgments"), "{report}");
    assert!(report.contains("catalog.jsonl: 4 products, no vectors"), "{report}");
    // "sofa": either product may come first; "table under $50": 30 alone; "garden hose": 40 only.
    let ndcg = figure(&report, "NDCG@10");
    assert!(
        [(1.0 + 1.0) / 3.0, (1.0 + 1.0 / 3_f64.log2()) / 3.0]
            .iter()
            .any(|expected| { (ndcg - expected).abs() < 0.001 }),
        "{report}"
    );
    assert_eq!(figure(&report, "precision@5"), 0.133, "{report}");
    assert_eq!(figure(&report, "recall@10"), 0.667, "{report}");
    assert_eq!(figure(&report, "without result"), 0.0, "{report}");
    assert!(report.contains("0.000  garden hose"), "{report}");
}

#[test]
fn patterns_of_titles_are_judgments_too() {
    let desk = Desk::new();
    desk.write("judgments.tsv", "query\tkind\tmatch\texclude\nsofa\tx\tsofa|couch\tcover\n");
    let report = printed(desk.eval(&["--model-kind", "off"]));
    assert_eq!(figure(&report, "precision@5"), 0.2, "{report}");
    assert_eq!(figure(&report, "recall@10"), 1.0, "{report}");
    let row = printed(desk.eval(&["--model-kind", "off", "--row", "mine"]));
    assert!(row.starts_with("| mine | 1 | ") && row.lines().count() == 1, "{row}");
}

#[test]
fn a_kept_shop_is_used_again_until_the_catalog_changes() {
    let desk = Desk::new();
    let scratch = desk.at("scratch");
    let flags = ["--model-kind", "off", "--scratch", &scratch, "--save", &desk.at("kept.json")];
    printed(desk.eval(&flags));
    let database = fs::metadata(Path::new(&scratch).join("data")).unwrap().created().unwrap();
    let compared =
        ["--model-kind", "off", "--scratch", &scratch, "--compare", &desk.at("kept.json")];
    let report = printed(desk.eval(&compared));
    assert!(report.contains("over the 3 queries in both"), "{report}");
    assert!(report.contains("NDCG             +0.000"), "{report}");
    let same = fs::metadata(Path::new(&scratch).join("data")).unwrap().created().unwrap();
    assert_eq!(database, same);

    desk.write("catalog.jsonl", &CATALOG.replace("Oak Table", "Oak Hose"));
    let report = printed(desk.eval(&compared));
    assert!(report.contains("+1.000  garden hose"), "{report}");
    assert!(report.contains("-1.000  table under $50"), "{report}");
}

#[test]
fn a_folder_with_something_else_in_it_is_left_alone() {
    let desk = Desk::new();
    desk.write("precious.txt", "mine");
    let output = desk.eval(&["--model-kind", "off", "--scratch", &desk.at("")]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("not a scratch shop"));
    assert_eq!(fs::read_to_string(desk.at("precious.txt")).unwrap(), "mine");
}

#[test]
fn queries_wait_for_the_vectors_asked_for() {
    for vectors in ["instant", "half", "deep"] {
        let flags = ["--model-kind", "built-in", "--vectors", vectors];
        let report = printed(Desk::new().eval(&flags));
        assert!(report.contains("NDCG@10"), "{report}");
        assert!(!report.contains("no vectors"), "{report}");
    }
}
