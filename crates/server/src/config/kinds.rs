//! Which kinds of value are there, how is each read, and how is it shown?

use std::fmt::Debug;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tracing_subscriber::EnvFilter;

use super::raw::Raw;
use super::secret::Secret;
use super::units::{parse_bytes, parse_time, show_bytes, show_time};

/// A kind of value: what it expects, how it is read from what was written, how it is shown.
pub(super) trait Kind {
    /// The type the service works with.
    type Value;

    /// What belongs here, as it follows "expected" in a message and stands in the reference.
    fn expects(&self) -> String;

    /// Reads what was written, or says why it cannot be this kind of value.
    fn read(&self, raw: &Raw) -> Result<Self::Value, String>;

    /// Shows the value in force.
    fn show(&self, value: &Self::Value) -> Shown;

    /// The message for something that is not this kind of value at all.
    fn mismatch(&self, raw: &Raw) -> String {
        format!("expected {}, found {}", self.expects(), raw.quoted())
    }
}

/// A value in force as the report shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// A TOML literal.
    Literal(String),
    /// Nothing is set.
    Unset,
    /// Something is set that must not be shown.
    Hidden,
}

impl Shown {
    pub(super) fn string(text: &str) -> Self {
        Self::Literal(toml_string(text))
    }
}

/// Text as a TOML basic string.
fn toml_string(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// A size in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes {
    pub(super) min: usize,
    pub(super) max: usize,
}

impl Kind for Bytes {
    type Value = usize;

    fn expects(&self) -> String {
        format!("a size from {} to {}", show_bytes(self.min), show_bytes(self.max))
    }

    fn read(&self, raw: &Raw) -> Result<usize, String> {
        let bytes = match raw {
            Raw::Integer(number) => usize::try_from(*number).ok(),
            other => other.text().and_then(parse_bytes),
        };
        bytes
            .filter(|bytes| (self.min..=self.max).contains(bytes))
            .ok_or_else(|| self.mismatch(raw))
    }

    fn show(&self, value: &usize) -> Shown {
        Shown::string(&show_bytes(*value))
    }
}

/// A span of time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time {
    pub(super) min: Duration,
    pub(super) max: Duration,
}

impl Kind for Time {
    type Value = Duration;

    fn expects(&self) -> String {
        format!("a time from {} to {}", show_time(self.min), show_time(self.max))
    }

    fn read(&self, raw: &Raw) -> Result<Duration, String> {
        let time = raw.text().and_then(parse_time);
        time.filter(|time| (self.min..=self.max).contains(time)).ok_or_else(|| self.mismatch(raw))
    }

    fn show(&self, value: &Duration) -> Shown {
        Shown::string(&show_time(*value))
    }
}

/// A whole number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count<N> {
    pub(super) min: N,
    pub(super) max: N,
}

impl<N> Kind for Count<N>
where
    N: Copy + PartialOrd + ToString + TryFrom<i64>,
{
    type Value = N;

    fn expects(&self) -> String {
        format!("a whole number from {} to {}", self.min.to_string(), self.max.to_string())
    }

    fn read(&self, raw: &Raw) -> Result<N, String> {
        let number = match raw {
            Raw::Integer(number) => Some(*number),
            Raw::Text(text) => text.trim().parse().ok(),
            _ => None,
        };
        number
            .and_then(|number| N::try_from(number).ok())
            .filter(|number| (self.min..=self.max).contains(number))
            .ok_or_else(|| self.mismatch(raw))
    }

    fn show(&self, value: &N) -> Shown {
        Shown::Literal(value.to_string())
    }
}

/// A share from 0 to 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ratio;

impl Kind for Ratio {
    type Value = f64;

    fn expects(&self) -> String {
        "a number from 0.0 to 1.0".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<f64, String> {
        let number = match raw {
            Raw::Float(number) => Some(*number),
            Raw::Integer(0) => Some(0.0),
            Raw::Integer(1) => Some(1.0),
            Raw::Text(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.filter(|number| (0.0..=1.0).contains(number)).ok_or_else(|| self.mismatch(raw))
    }

    fn show(&self, value: &f64) -> Shown {
        Shown::Literal(format!("{value:?}"))
    }
}

/// `true` or `false`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Switch;

impl Kind for Switch {
    type Value = bool;

    fn expects(&self) -> String {
        "true or false".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<bool, String> {
        match raw {
            Raw::Boolean(value) => Ok(*value),
            Raw::Text(text) => text.trim().parse().map_err(|_| self.mismatch(raw)),
            _ => Err(self.mismatch(raw)),
        }
    }

    fn show(&self, value: &bool) -> Shown {
        Shown::Literal(value.to_string())
    }
}

/// Text that is not blank.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text;

impl Kind for Text {
    type Value = String;

    fn expects(&self) -> String {
        "text that is not blank".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<String, String> {
        let text = raw.text().filter(|text| !text.is_empty());
        text.map(str::to_owned).ok_or_else(|| self.mismatch(raw))
    }

    fn show(&self, value: &String) -> Shown {
        Shown::string(value)
    }
}

/// The path of a file or folder; a relative one starts at the folder the service was started in.
#[derive(Debug, Clone, Copy)]
pub(super) struct FilePath;

impl Kind for FilePath {
    type Value = PathBuf;

    fn expects(&self) -> String {
        "a path".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<PathBuf, String> {
        let text = raw.text().filter(|text| !text.is_empty());
        text.map(PathBuf::from).ok_or_else(|| self.mismatch(raw))
    }

    fn show(&self, value: &PathBuf) -> Shown {
        Shown::string(&value.to_string_lossy())
    }
}

/// An IP address with a port.
#[derive(Debug, Clone, Copy)]
pub(super) struct Address;

impl Kind for Address {
    type Value = SocketAddr;

    fn expects(&self) -> String {
        "an IP address with a port, such as 127.0.0.1:7700, 0.0.0.0:7700 or [::]:7700".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<SocketAddr, String> {
        raw.text().and_then(|text| text.parse().ok()).ok_or_else(|| self.mismatch(raw))
    }

    fn show(&self, value: &SocketAddr) -> Shown {
        Shown::string(&value.to_string())
    }
}

/// One name out of a fixed few.
#[derive(Debug, Clone, Copy)]
pub(super) struct OneOf<T: 'static>(pub(super) &'static [(&'static str, T)]);

impl<T: Copy + PartialEq> Kind for OneOf<T> {
    type Value = T;

    fn expects(&self) -> String {
        let names: Vec<_> = self.0.iter().map(|(name, _)| *name).collect();
        format!("one of {}", names.join(", "))
    }

    fn read(&self, raw: &Raw) -> Result<T, String> {
        let text = raw.text();
        let found = self.0.iter().find(|(name, _)| text == Some(name));
        found.map(|(_, value)| *value).ok_or_else(|| self.mismatch(raw))
    }

    fn show(&self, value: &T) -> Shown {
        let name = self.0.iter().find(|(_, known)| known == value);
        name.map_or(Shown::Unset, |(name, _)| Shown::string(name))
    }
}

/// Which log lines to write: a level, or levels by target, as `tracing` writes them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Directives;

impl Directives {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

    /// A lone word that is no level would be taken for a target and silence everything else.
    fn is_level_or_names_one(directive: &str) -> bool {
        directive.contains(['=', '['])
            || Self::LEVELS.iter().any(|level| level.eq_ignore_ascii_case(directive))
    }
}

impl Kind for Directives {
    type Value = String;

    fn expects(&self) -> String {
        "a level (off, error, warn, info, debug, trace), or several by target such as info,engine=debug".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<String, String> {
        let text = raw
            .text()
            .filter(|text| text.split(',').all(|part| Self::is_level_or_names_one(part.trim())));
        let valid = text.filter(|text| EnvFilter::builder().parse(text).is_ok());
        valid.map(str::to_owned).ok_or_else(|| self.mismatch(raw))
    }

    fn show(&self, value: &String) -> Shown {
        Shown::string(value)
    }
}

/// The base address of an HTTP service, without TLS.
#[derive(Debug, Clone, Copy)]
pub(super) struct HttpUrl;

impl Kind for HttpUrl {
    type Value = String;

    fn expects(&self) -> String {
        "an http:// address such as http://127.0.0.1:4318".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<String, String> {
        let text = raw.text().unwrap_or_default().trim_end_matches('/');
        if text.starts_with("https://") {
            return Err(format!(
                "{text:?} needs TLS, which is left to a collector beside the service; expected {}",
                self.expects()
            ));
        }
        let uri: Option<axum::http::Uri> = text.parse().ok();
        let good = |uri: &axum::http::Uri| {
            uri.scheme_str() == Some("http")
                && uri.host().is_some_and(|host| !host.is_empty())
                && uri.authority().is_some_and(|authority| !authority.as_str().contains('@'))
                && uri.query().is_none()
        };
        uri.filter(good).map(|_| text.to_owned()).ok_or_else(|| self.mismatch(raw))
    }

    fn show(&self, value: &String) -> Shown {
        Shown::string(value)
    }
}

/// The origin of a web page, or `*` for any.
#[derive(Debug, Clone, Copy)]
pub(super) struct WebOrigin;

impl Kind for WebOrigin {
    type Value = String;

    fn expects(&self) -> String {
        "* or origins such as https://shop.example".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<String, String> {
        let text = raw.text().unwrap_or_default();
        let after_scheme = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let is_host = |host: &str| {
            let uri: Result<axum::http::uri::Authority, _> = host.parse();
            uri.is_ok_and(|authority| !authority.as_str().contains('@'))
                && host == host.to_ascii_lowercase()
        };
        if text == "*" || after_scheme.is_some_and(is_host) {
            Ok(text.to_owned())
        } else {
            Err(format!(
                "{}; an origin has a scheme and a host in lower case, no path and no final slash",
                self.mismatch(raw)
            ))
        }
    }

    fn show(&self, value: &String) -> Shown {
        Shown::string(value)
    }
}

/// Text that must never be shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct SecretText;

impl Kind for SecretText {
    type Value = Secret;

    fn expects(&self) -> String {
        "a secret text".to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<Secret, String> {
        match raw {
            Raw::Text(text) | Raw::String(text) if !text.is_empty() => {
                Ok(Secret::new(text.clone()))
            }
            _ => Err(format!("expected {}", self.expects())),
        }
    }

    fn show(&self, _: &Secret) -> Shown {
        Shown::Hidden
    }
}

/// A value that may be left out; empty text leaves it out too, so that a weaker source can be overruled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Optional<K>(pub(super) K);

impl<K: Kind> Kind for Optional<K> {
    type Value = Option<K::Value>;

    fn expects(&self) -> String {
        self.0.expects()
    }

    fn read(&self, raw: &Raw) -> Result<Self::Value, String> {
        if raw.text() == Some("") { Ok(None) } else { self.0.read(raw).map(Some) }
    }

    fn show(&self, value: &Self::Value) -> Shown {
        value.as_ref().map_or(Shown::Unset, |value| self.0.show(value))
    }
}

/// Several values: a TOML array, or text with commas between them.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListOf<K>(pub(super) K);

impl<K: Kind> Kind for ListOf<K> {
    type Value = Vec<K::Value>;

    fn expects(&self) -> String {
        format!("a list, with commas between: {}", self.0.expects())
    }

    fn read(&self, raw: &Raw) -> Result<Self::Value, String> {
        let items: Vec<&str> = match raw {
            Raw::List(items) => items.iter().map(String::as_str).collect(),
            other => match other.text() {
                Some("") => Vec::new(),
                Some(text) => text.split(',').collect(),
                None => return Err(self.mismatch(raw)),
            },
        };
        items.into_iter().map(|item| self.0.read(&Raw::Text(item.trim().to_owned()))).collect()
    }

    fn show(&self, values: &Self::Value) -> Shown {
        let items = values.iter().filter_map(|value| match self.0.show(value) {
            Shown::Literal(literal) => Some(literal),
            Shown::Unset | Shown::Hidden => None,
        });
        Shown::Literal(format!("[{}]", items.collect::<Vec<_>>().join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line: what was written, and what is shown for it or the start of the fault.
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
    fn words_are_checked() {
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
            Text,
            &[
                (text(" a \"b\" "), r#""a \"b\"""#),
                (text("  "), "fault"),
                (Raw::Integer(1), "fault"),
            ],
        );
        check(FilePath, &[(text("/var/lib/shop"), "\"/var/lib/shop\""), (text(""), "fault")]);
        check(
            Address,
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
            Directives,
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
    fn addresses_of_others_are_checked() {
        check(
            HttpUrl,
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
            ListOf(WebOrigin),
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
    fn what_may_be_left_out_is_left_out_by_empty_text() {
        check(
            Optional(Text),
            &[(text(""), "unset"), (text("x"), "\"x\""), (Raw::Integer(1), "fault")],
        );
        check(
            Optional(SecretText),
            &[(text(""), "unset"), (text("hunter2"), "hidden"), (Raw::Integer(42), "fault")],
        );
    }

    #[test]
    fn a_secret_is_not_quoted_in_a_fault() {
        let message = SecretText.read(&Raw::Integer(421)).unwrap_err();
        assert!(!message.contains("421"), "{message}");
    }
}
