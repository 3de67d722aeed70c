//! Generates `docs/configuration.md` from the table of settings.

use std::fmt::Write;

use super::settings::sections;

const INTRODUCTION: &str = "\
# Configuration

<!-- Generated from the table in crates/server/src/config/settings.rs; a test compares. -->

Every setting has a default, so `shopkeeper serve` needs none of them. Each can be set in three
places; if several set it, the first of these wins:

1. a flag: `shopkeeper serve --limits-body-bytes 8MiB`
2. an environment variable: `SHOPKEEPER_LIMITS_BODY_BYTES=8MiB`
3. a TOML file named with `--config FILE` or `SHOPKEEPER_CONFIG`; none is read by default:

```toml
listen = \"0.0.0.0:7700\"

[limits]
body_bytes = \"8MiB\"

[cors]
origins = [\"https://shop.example\"]
```

`shopkeeper config` takes the same flags and prints every effective setting with its source, as a
TOML file that can be used again. Secrets are shown as `(set)`.

An unknown key or `SHOPKEEPER_…` variable, a value of the wrong type and a value out of range stop
the service from starting; all such errors are listed at once. The variables that Kubernetes sets
for a service named `shopkeeper` (such as `SHOPKEEPER_SERVICE_HOST`) are ignored.

Formats of values:

- Sizes: bytes (`4096`), or with a unit: `KiB`, `MiB`, `GiB`, `TiB` (powers of 1024), `KB`, `MB`,
  `GB`, `TB` (powers of 1000).
- Times: with a unit: `250ms`, `30s`, `2m`, `24h`, `7d`.
- Lists: a TOML array of strings; in a flag or variable, separated by commas.
- An empty text (`\"\"`) unsets a setting whose default is none, so that a variable can override a
  file.
- A relative path is relative to the working directory of the service.
";

/// The width of the generated page.
const COLUMNS: usize = 100;

/// The reference of all settings, in Markdown.
#[must_use]
pub fn reference_markdown() -> String {
    let mut page = INTRODUCTION.to_owned();
    for section in sections() {
        let _ = write!(page, "\n## {}\n\n{}\n", section.title, wrap(section.about, ""));
        for setting in section.settings {
            let default = match setting.default {
                "" => "none".to_owned(),
                text => format!("`{text}`"),
            };
            let expects = format!("- Takes: {}", setting.expects.replace('*', "\\*"));
            let _ = write!(
                page,
                "\n### `{key}`\n\n{doc}\n\n- Default: {default}\n{expects}\n- Flag `--{flag}`, environment `{variable}`\n",
                key = setting.key,
                doc = wrap(setting.doc, ""),
                expects = wrap(&expects, "  "),
                flag = setting.flag(),
                variable = setting.variable(),
            );
            for name in setting.former {
                let _ = writeln!(page, "- Formerly `{name}`, a name that still works");
            }
        }
    }
    page
}

/// Breaks a text into lines of at most [`COLUMNS`] characters; `indent` begins all but the first.
fn wrap(text: &str, indent: &str) -> String {
    let mut wrapped = String::new();
    let mut column = 0;
    for word in text.split(' ') {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > COLUMNS {
            wrapped.push('\n');
            wrapped.push_str(indent);
            column = indent.len();
        } else if column > 0 {
            wrapped.push(' ');
            column += 1;
        }
        wrapped.push_str(word);
        column += width;
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Set this variable to write the file instead of comparing it.
    const WRITE: &str = "WRITE_DOCS";

    #[test]
    fn the_reference_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
        if std::env::var_os(WRITE).is_some() {
            std::fs::write(path, reference_markdown()).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == reference_markdown(),
            "docs/configuration.md is out of date: run this test with {WRITE}=1"
        );
    }
}
