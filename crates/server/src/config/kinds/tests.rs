//! Tests of each kind of value.

use super::*;

/// Checks what each raw value is shown as; `fault` stands for any error.
fn check<K: Kind>(kind: K, cases: &[(Raw, &str)]) {
    for (raw, expected) in cases {
        let shown = match kind.read(raw).map(|value| kind.show(&value)) {
            Ok(Shown::Literal(literal)) => literal,
            Ok(Shown::Unset) => "unset".to_owned(),
            Ok(Shown::Hidden) => "hidden".to_owned(),
            Err(message) => {
                assert!(message.contains("expected"), "{message}");
                "fault".to_owned()
            }
        };
        assert_eq!(shown, *expected, "{raw:?}");
    }
}

fn text(text: &str) -> Raw {
    Raw::Text(text.to_owned())
}

#[test]
fn auto_stands_for_no_value() {
    check(
        AutoOr(Switch),
        &[
            (text("auto"), "\"auto\""),
            (Raw::String("auto".to_owned()), "\"auto\""),
            (text("true"), "true"),
            (Raw::Boolean(false), "false"),
            (text(""), "fault"),
            (text("perhaps"), "fault"),
            (Raw::Integer(1), "fault"),
        ],
    );
}

#[test]
fn numbers_keep_to_their_range_and_type() {
    check(
        Bytes { min: 1024, max: 1 << 30 },
        &[
            (text("4MiB"), "\"4MiB\""),
            (Raw::Integer(2048), "\"2KiB\""),
            (Raw::Integer(-1), "fault"),
            (text("1023"), "fault"),
            (text("2GiB"), "fault"),
            (Raw::Boolean(true), "fault"),
            (Raw::Float(4096.0), "fault"),
        ],
    );
    check(
        Time { min: Duration::from_millis(100), max: Duration::from_secs(60) },
        &[
            (text("30s"), "\"30s\""),
            (Raw::String("1m".to_owned()), "\"1m\""),
            (Raw::Integer(30), "fault"),
            (text("30"), "fault"),
            (text("2m"), "fault"),
            (text("0"), "fault"),
        ],
    );
    check(
        Count { min: 1_usize, max: 10 },
        &[
            (text("7"), "7"),
            (Raw::Integer(10), "10"),
            (Raw::String("7".to_owned()), "fault"),
            (text("0"), "fault"),
            (text("11"), "fault"),
            (text("-3"), "fault"),
            (text("seven"), "fault"),
        ],
    );
    check(
        Ratio,
        &[
            (text("0.25"), "0.25"),
            (text("1"), "1.0"),
            (Raw::Integer(0), "0.0"),
            (Raw::Float(0.5), "0.5"),
            (Raw::Float(f64::NAN), "fault"),
            (text("1.1"), "fault"),
            (text("NaN"), "fault"),
        ],
    );
}

#[test]
fn words_and_addresses_are_checked() {
    check(
        Switch,
        &[
            (text("true"), "true"),
            (Raw::Boolean(false), "false"),
            (text("yes"), "fault"),
            (Raw::Integer(1), "fault"),
        ],
    );
    check(
        TEXT,
        &[(text(" a \"b\" "), r#""a \"b\"""#), (text("  "), "fault"), (Raw::Integer(1), "fault")],
    );
    check(PATH, &[(text("/var/lib/shop"), "\"/var/lib/shop\""), (text(""), "fault")]);
    check(
        ADDRESS,
        &[
            (text("127.0.0.1:7700"), "\"127.0.0.1:7700\""),
            (text("[::1]:80"), "\"[::1]:80\""),
            (text(":7700"), "fault"),
            (text("localhost:7700"), "fault"),
            (Raw::Integer(7700), "fault"),
        ],
    );
    check(
        OneOf(&[("text", 1), ("json", 2)]),
        &[(text("json"), "\"json\""), (text("JSON"), "fault"), (text("xml"), "fault")],
    );
}

#[test]
fn log_directives_are_levels_or_name_one() {
    check(
        DIRECTIVES,
        &[
            (text("info"), "\"info\""),
            (text("INFO"), "\"INFO\""),
            (text("info,engine=debug"), "\"info,engine=debug\""),
            (text("warn, engine=trace"), "fault"),
            (text("[request{id=1}]=trace"), "\"[request{id=1}]=trace\""),
            (text("inof"), "fault"),
            (text("engine=loud"), "fault"),
            (text(""), "fault"),
        ],
    );
}

#[test]
fn urls_and_origins_are_checked() {
    check(
        HTTP_URL,
        &[
            (text("http://127.0.0.1:4318/"), "\"http://127.0.0.1:4318\""),
            (text("http://collector/otlp"), "\"http://collector/otlp\""),
            (text("https://collector"), "fault"),
            (text("collector:4318"), "fault"),
            (text("http://"), "fault"),
            (text("http://a?b"), "fault"),
            (text("http://user:pass@a"), "fault"),
        ],
    );
    check(
        ListOf(WEB_ORIGIN),
        &[
            (text(""), "[]"),
            (text("*"), "[\"*\"]"),
            (
                text("https://a.example, http://localhost:3000"),
                "[\"https://a.example\", \"http://localhost:3000\"]",
            ),
            (Raw::List(vec!["https://a.example".to_owned()]), "[\"https://a.example\"]"),
            (text("https://a.example/"), "fault"),
            (text("https://A.example"), "fault"),
            (text("https://"), "fault"),
            (text("a.example"), "fault"),
            (text("https://a.example,"), "fault"),
            (Raw::Integer(1), "fault"),
        ],
    );
}

#[test]
fn empty_text_unsets_an_optional_value() {
    check(Optional(TEXT), &[(text(""), "unset"), (text("x"), "\"x\""), (Raw::Integer(1), "fault")]);
    check(
        Optional(SecretText),
        &[(text(""), "unset"), (text("hunter2"), "hidden"), (Raw::Integer(42), "fault")],
    );
}

#[test]
fn an_error_does_not_quote_a_secret() {
    let message = SecretText.read(&Raw::Integer(421)).unwrap_err();
    assert!(!message.contains("421"), "{message}");
}
