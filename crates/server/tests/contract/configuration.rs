//! Configuration: what is in force, where it came from, and that mistakes are told.

use std::process::Output;

use tempfile::NamedTempFile;
use testkit::{printed, run};

const KEY: &str = "limits.body_bytes";
const FLAG: [&str; 2] = ["--limits-body-bytes", "1MiB"];
const VARIABLE: (&str, &str) = ("SHOPKEEPER_LIMITS_BODY_BYTES", "2MiB");
const FILE: &str = "[limits]\nbody_bytes = \"3MiB\"\n";

fn file(text: &str) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

/// What `shopkeeper config` says about a key: its value and where it came from.
fn in_force(key: &str, arguments: &[&str], environment: &[(&str, &str)]) -> (String, String) {
    let report = printed(run(&[&["config"], arguments].concat(), environment));
    let line = report.lines().find(|line| line.starts_with(&format!("{key} ="))).unwrap();
    let (assignment, origin) = line.split_once('#').unwrap();
    let (_, value) = assignment.split_once('=').unwrap();
    (value.trim().to_owned(), origin.trim().to_owned())
}

/// What a command that must fail has said.
#[track_caller]
fn complaint(output: &Output) -> String {
    assert!(!output.status.success());
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn the_stronger_source_wins_and_is_named() {
    let file = file(FILE);
    let path = file.path().to_str().unwrap();
    let named = ["--config", path];
    let pair = |value: &str, origin: &str| (value.to_owned(), origin.to_owned());
    assert_eq!(in_force(KEY, &[], &[]), pair("\"4MiB\"", "default"));
    assert_eq!(in_force(KEY, &named, &[]), pair("\"3MiB\"", &format!("file {path}:2")));
    let by_variable = pair("\"2MiB\"", "environment SHOPKEEPER_LIMITS_BODY_BYTES");
    assert_eq!(in_force(KEY, &named, &[VARIABLE]), by_variable);
    let by_flag = pair("\"1MiB\"", "flag --limits-body-bytes");
    assert_eq!(in_force(KEY, &[named, FLAG].concat(), &[VARIABLE]), by_flag);
    let named = [("SHOPKEEPER_CONFIG", path)];
    assert_eq!(in_force(KEY, &[], &named), pair("\"3MiB\"", &format!("file {path}:2")));
}

#[test]
fn the_defaults_match_their_snapshot() {
    let report = printed(run(&["config"], &[]));
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("config", report));
}

#[test]
fn what_is_printed_can_be_used_as_a_file() {
    let arguments = ["config", FLAG[0], FLAG[1], "--cors-origins", "https://a.example"];
    let report = printed(run(&arguments, &[]));
    let file = file(&report);
    let named = ["--config", file.path().to_str().unwrap()];
    assert_eq!(in_force(KEY, &named, &[]).0, "\"1MiB\"");
    assert_eq!(in_force("cors.origins", &named, &[]).0, "[\"https://a.example\"]");
}

#[test]
fn a_secret_is_never_printed() {
    let secret = "do-not-print-me-do-not-print-me-at-all";
    let arguments = [
        "config",
        "--jwt-issuer",
        "https://id.example.com",
        "--jwt-audience",
        "shop",
        "--jwt-algorithms",
        "HS256",
    ];
    let report = printed(run(&arguments, &[("SHOPKEEPER_JWT_SECRET", secret)]));
    assert!(!report.contains("do-not-print-me"));
    assert!(report.contains("# jwt.secret (set)"), "{report}");
}

#[test]
fn an_unknown_name_is_an_error_in_every_source() {
    for command in ["config", "serve"] {
        let flag = run(&[command, "--limits-body-byte", "1MiB"], &[]);
        assert!(complaint(&flag).contains("--limits-body-byte"));
        let variable = run(&[command], &[("SHOPKEEPER_LIMITS_BODY_BYTE", "1MiB")]);
        let said = complaint(&variable);
        assert!(said.contains("SHOPKEEPER_LIMITS_BODY_BYTE "), "{said}");
        assert!(said.contains("did you mean SHOPKEEPER_LIMITS_BODY_BYTES?"), "{said}");
        let file = file("[limits]\nbody_byte = 5\n");
        let said = complaint(&run(&[command, "--config", file.path().to_str().unwrap()], &[]));
        assert!(said.contains("limits.body_byte ") && said.contains(":2)"), "{said}");
        assert!(said.contains("did you mean limits.body_bytes?"), "{said}");
    }
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let file = file("[limits]\nbody_bytes = \"much\"\n[log]\nformat = \"xml\"\n");
    let arguments = ["serve", "--config", file.path().to_str().unwrap(), "--listen", "nowhere"];
    let said = complaint(&run(&arguments, &[("SHOPKEEPER_METRICS_PUBLIC", "perhaps")]));
    for key in ["limits.body_bytes", "log.format", "listen", "metrics.public"] {
        assert!(said.contains(key), "{key} in {said}");
    }
    assert!(said.contains("4 faults"), "{said}");
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let said = complaint(&run(&["serve", "--config", "no/such/file.toml"], &[]));
    assert!(said.contains("no/such/file.toml"), "{said}");
    let file = file("limits = [");
    let said = complaint(&run(&["serve", "--config", file.path().to_str().unwrap()], &[]));
    assert!(said.contains("TOML"), "{said}");
}

#[test]
fn signed_tokens_are_configured_whole_or_not_at_all() {
    let issuer = ["--jwt-issuer", "https://id.example.com"];
    let good = [&issuer[..], &["--jwt-audience", "shop"]].concat();
    for (arguments, key) in [
        (vec!["--jwt-audience", "shop"], "jwt.audience"),
        (issuer.to_vec(), "jwt.audience"),
        (good.clone(), "jwt.algorithms"),
        ([&good[..], &["--jwt-algorithms", "none"]].concat(), "jwt.algorithms"),
        ([&good[..], &["--jwt-algorithms", "HS256,RS256"]].concat(), "jwt.algorithms"),
        ([&good[..], &["--jwt-algorithms", "RS256"]].concat(), "jwt.jwks_file"),
        (
            [&good[..], &["--jwt-algorithms", "HS256", "--jwt-secret", "short"]].concat(),
            "jwt.secret",
        ),
    ] {
        let said = complaint(&run(&[&["serve"], &arguments[..]].concat(), &[]));
        assert!(said.contains(key), "{arguments:?}: {said}");
    }
}

#[test]
fn without_a_command_the_usage_is_printed() {
    let output = run(&[], &[]);
    assert!(!output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("Usage"));
    for command in ["serve", "token", "config"] {
        assert!(printed(run(&[command, "--help"], &[])).contains("Usage"));
    }
    assert!(printed(run(&["--version"], &[])).starts_with("shopkeeper "));
}
