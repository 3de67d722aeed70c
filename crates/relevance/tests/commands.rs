//! `eval` on a small catalog, by words alone.
#![allow(clippy::unwrap_used)]

use std::{fs, sync::Arc};

use clap::{Args, Command, FromArgMatches};
use engine::{Settings, writer::WriterSettings};
use jiff::{SignedDuration, Timestamp};
use relevance::{EngineUnderTest, EvalOptions};
use serde_json::Value;
use store::Quotas;
use tempfile::TempDir;

const CATALOG: &str = r#"{"key": "a", "title": "Sofa, grey", "attributes": {"material": "velvet"}}
{"key": "b", "title": "Sofa, brown", "attributes": {"material": "leather"}}
{"key": "c", "title": "Table, grey"}
{"key": "d", "title": "Table, oak"}
{"key": "e", "title": "Wool rug, hand-knotted, red, large, with tassels"}
{"key": "f", "title": "Rug", "description": "Wool."}
"#;
const JUDGMENTS: &str = "query\tproduct\tgrade
sofa\ta\t2
sofa\tb\t-1
velvet sofa\ta\t2
velvet sofa\tb\t-1
table\tc\t2
table\td\t2
wool\te\t1
wool\tf\t2
";

fn engine() -> EngineUnderTest {
    let settings = Settings {
        writer: WriterSettings {
            queue: 10,
            group_products: 100,
            response_retention: SignedDuration::from_hours(1),
            quotas: Quotas::default(),
        },
        reader_threads: 2,
        reader_queue: 10,
        index_memory: usize::MAX,
        index_files_from: None,
        cache_memory: 0,
        embedder: None,
        background: false,
        kept_changes: None,
        query_budget: 0,
        clock: Arc::new(Timestamp::now),
        random: Arc::new(|bytes| bytes.fill(7)),
    };
    EngineUnderTest { settings, database: None }
}

fn parsed<O: Args + FromArgMatches>(arguments: &[&str]) -> O {
    let command = O::augment_args(Command::new("test").no_binary_name(true));
    O::from_arg_matches(&command.try_get_matches_from(arguments).unwrap()).unwrap()
}

#[test]
fn judged_queries_are_evaluated() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [catalog, judgments, saved, saved_again] =
        ["products.jsonl", "judged.tsv", "saved.json", "again.json"].map(path);
    fs::write(&catalog, CATALOG).unwrap();
    fs::write(&judgments, JUDGMENTS).unwrap();
    let files = ["--catalog", &catalog, "--judgments", &judgments, "--vectors", "instant"];

    let more = ["--relevant-from", "2", "--save", &saved];
    let eval: EvalOptions = parsed(&[&files[..], &more].concat());
    eval.run(engine()).unwrap();
    let saved: Value = serde_json::from_slice(&fs::read(&saved).unwrap()).unwrap();
    let figures = |at: usize| {
        let query = &saved["queries"][at];
        ["composition", "contradictions", "precision_of_all"].map(|name| query[name].as_f64())
    };
    assert_eq!(figures(0), [Some(1.0), Some(0.5), Some(0.5)], "{saved}");
    // The attribute is found by its word, and the velvet sofa comes first.
    assert_eq!(saved["queries"][1]["ndcg"], 1.0, "{saved}");
    assert_eq!(figures(2), [Some(1.0), None, Some(1.0)], "{saved}");

    // A word of a title counts more than one of a description, unless parameters say otherwise.
    let evaluated = |set: &[&str]| -> Value {
        let more = [&["--save", &saved_again], set].concat();
        parsed::<EvalOptions>(&[&files[..], &more].concat()).run(engine()).unwrap();
        serde_json::from_slice(&fs::read(&saved_again).unwrap()).unwrap()
    };
    let in_force = evaluated(&[]);
    let other = evaluated(&["--set", "ranking.description.boost=1", "--set", "ranking.title.b=1"]);
    assert!(in_force["queries"][3]["ndcg"].as_f64() < other["queries"][3]["ndcg"].as_f64());
    assert_eq!(other["vectors"], "no vectors, ranking.description.boost=1, ranking.title.b=1");
}

#[test]
fn a_figure_below_its_floor_fails() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [catalog, judgments] = ["products.jsonl", "judged.tsv"].map(path);
    fs::write(&catalog, CATALOG).unwrap();
    fs::write(&judgments, JUDGMENTS).unwrap();
    let run = |floors: &[&str]| {
        let mut arguments = vec!["--catalog", &catalog, "--judgments", &judgments];
        arguments.extend(["--relevant-from", "2", "--vectors", "instant"]);
        arguments.extend(floors.iter().flat_map(|floor| ["--at-least", *floor]));
        let eval: EvalOptions = parsed(&arguments);
        eval.run(engine()).map_err(|error| error.to_string())
    };
    // Of five ranks, one, one, two and one are right.
    assert_eq!(run(&["composition=1", "precision=0.25"]), Ok(()));
    let broken = "judged.tsv: precision@5 is 0.2500, below its floor 0.26";
    assert_eq!(run(&["composition=1", "precision=0.26"]), Err(broken.to_owned()));
}

#[test]
fn a_floor_that_cannot_be_checked_is_refused() {
    for floor in ["ndcg", "speed=0.5", "ndcg=NaN", "ndcg=1.5"] {
        let command = EvalOptions::augment_args(Command::new("test").no_binary_name(true));
        let files = ["--catalog", "c", "--judgments", "j", "--at-least", floor];
        assert!(command.try_get_matches_from(files).is_err(), "{floor}");
    }
}
