//! The kinds of values: how each is parsed from what was written, and how it is shown.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use tracing_subscriber::EnvFilter;

use super::{
    raw::Raw,
    secret::Secret,
    units::{parse_bytes, parse_time, show_bytes, show_time},
};

/// A kind of value: what it expects, how it is parsed from what was written, how it is shown.
pub(super) trait Kind {
    /// The type the service works with.
    type Value;

    /// What belongs here, as it follows "expected" in a message and stands in the reference.
    fn expects(&self) -> String;

    /// Parses what was written, or returns the message for a value that is not of this kind.
    fn read(&self, raw: &Raw) -> Result<Self::Value, String>;

    /// Shows the value in force.
    fn show(&self, value: &Self::Value) -> Shown;

    /// The message for a value that is not of this kind.
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
    /// A value is set that must not be shown.
    Hidden,
}

impl Shown {
    fn string(text: &str) -> Self {
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

/// A duration.
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

/// A fraction from 0 to 1.
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

/// A value, or `auto` for `None`: the service decides.
#[derive(Debug, Clone, Copy)]
pub(super) struct AutoOr<K>(pub(super) K);

impl<K: Kind> Kind for AutoOr<K> {
    type Value = Option<K::Value>;

    fn expects(&self) -> String {
        format!("{AUTO}, {}", self.0.expects())
    }

    fn read(&self, raw: &Raw) -> Result<Self::Value, String> {
        if raw.text().map(str::trim) == Some(AUTO) {
            return Ok(None);
        }
        self.0.read(raw).map(Some).map_err(|_| self.mismatch(raw))
    }

    fn show(&self, value: &Self::Value) -> Shown {
        value.as_ref().map_or_else(|| Shown::string(AUTO), |value| self.0.show(value))
    }
}

/// The text of [`AutoOr`] without a value.
const AUTO: &str = "auto";

/// A value that is parsed from text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parsed<T> {
    expects: &'static str,
    /// What a message about a wrong value adds; may be empty.
    hint: &'static str,
    parse: fn(&str) -> Option<T>,
    show: fn(&T) -> String,
}

impl<T> Kind for Parsed<T> {
    type Value = T;

    fn expects(&self) -> String {
        self.expects.to_owned()
    }

    fn read(&self, raw: &Raw) -> Result<T, String> {
        let value = raw.text().and_then(self.parse);
        value.ok_or_else(|| self.mismatch(raw) + self.hint)
    }

    fn show(&self, value: &T) -> Shown {
        Shown::string(&(self.show)(value))
    }
}

/// Text that is not blank.
pub(super) const TEXT: Parsed<String> = Parsed {
    expects: "text that is not blank",
    hint: "",
    parse: |text| (!text.is_empty()).then(|| text.to_owned()),
    show: String::clone,
};

/// The path of a file or folder; a relative one starts at the folder the service was started in.
pub(super) const PATH: Parsed<PathBuf> = Parsed {
    expects: "a path",
    hint: "",
    parse: |text| (!text.is_empty()).then(|| PathBuf::from(text)),
    show: |path| path.to_string_lossy().into_owned(),
};

/// An IP address with a port.
pub(super) const ADDRESS: Parsed<SocketAddr> = Parsed {
    expects: "an IP address with a port, such as 127.0.0.1:7700, 0.0.0.0:7700 or [::]:7700",
    hint: "",
    parse: |text| text.parse().ok(),
    show: SocketAddr::to_string,
};

/// Log directives of `tracing`: a level, or levels by target.
pub(super) const DIRECTIVES: Parsed<String> = Parsed {
    expects: "a level (off, error, warn, info, debug, trace), or several by target such as info,engine=debug",
    hint: "",
    parse: |text| {
        let is_valid = text.split(',').all(|directive| has_level(directive.trim()))
            && EnvFilter::builder().parse(text).is_ok();
        is_valid.then(|| text.to_owned())
    },
    show: String::clone,
};

/// Whether a directive contains a level. `tracing` takes a word that is no level for a target and
/// silences everything else.
fn has_level(directive: &str) -> bool {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    directive.contains(['=', '['])
        || LEVELS.iter().any(|level| level.eq_ignore_ascii_case(directive))
}

/// The base URL of an HTTP service, without TLS.
pub(super) const HTTP_URL: Parsed<String> = Parsed {
    expects: "an http:// address such as http://127.0.0.1:4318",
    hint: "; TLS is left to a collector beside the service",
    parse: |text| service_url(text).filter(|url| url.starts_with("http://")),
    show: String::clone,
};

/// The base URL of an HTTP service, with TLS or without.
pub(super) const SERVICE_URL: Parsed<String> = Parsed {
    expects: "an address such as https://api.example.com/v1",
    hint: "",
    parse: service_url,
    show: String::clone,
};

/// A URL with a host and perhaps a path, without its final slashes.
fn service_url(text: &str) -> Option<String> {
    let text = text.trim_end_matches('/');
    let url = url::Url::parse(text).ok()?;
    let is_base = matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    is_base.then(|| text.to_owned())
}

/// The origin of a web page, or `*` for any.
pub(super) const WEB_ORIGIN: Parsed<String> = Parsed {
    expects: "* or origins such as https://shop.example",
    hint: "; an origin has a scheme and a host in lower case, no path and no final slash",
    parse: |text| {
        let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let is_host = |host: &str| {
            let authority: Result<axum::http::uri::Authority, _> = host.parse();
            authority.is_ok_and(|authority| !authority.as_str().contains('@'))
                && host == host.to_ascii_lowercase()
        };
        (text == "*" || host.is_some_and(is_host)).then(|| text.to_owned())
    },
    show: String::clone,
};

/// One of a fixed set of names.
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

/// Text that is never shown.
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

/// An optional value; empty text unsets it, so that a weaker source can be overridden.
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
mod tests;
