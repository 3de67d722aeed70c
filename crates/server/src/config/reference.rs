//! Generates `docs/configuration.md` from the table of settings.

use std::fmt::Write;

use super::settings::sections;

const INTRODUCTION: &str = "\
# Configuration

<!-- Made from the table in crates/server/src/config/settings.rs; a test compares. -->

Every setting has a default, so `shopkeeper serve` needs none of them. Each can be given in three places; where
several give it, the first of these wins:

1. a flag: `shopkeeper serve --limits-body-bytes 8MiB`
2. an environment variable: `SHOPKEEPER_LIMITS_BODY_BYTES=8MiB`
3. a TOML file named with `--config FILE` or `SHOPKEEPER_CONFIG`; none is read unless named:

```toml
listen = \"0.0.0.0:7700\"

[limits]
body_bytes = \"8MiB\"

[cors]
origins = [\"https://shop.example\"]
```

`shopkeeper config` takes the same flags and prints every setting in force with where it came from, as a TOML file
that can be used again. Secrets are shown as `(set)` only.

A key or a `SHOPKEEPER_…` variable that does not exist, a value of the wrong type and a value out of range stop the
service from starting; all such faults are listed at once. The variables that Kubernetes sets for a service named
`shopkeeper` (such as `SHOPKEEPER_SERVICE_HOST`) are let pass.

How values are written:

- Sizes: bytes (`4096`), or with a unit: `KiB`, `MiB`, `GiB`, `TiB` (powers of 1024), `KB`, `MB`, `GB`, `TB` (powers of 1000).
- Times: with a unit: `250ms`, `30s`, `2m`, `24h`, `7d`.
- Lists: a TOML array of strings; in a flag or variable, commas between.
- An empty text (`\"\"`) leaves out a setting whose default is none, so that a variable can switch off what a file sets.
- A relative path starts at the folder the service was started in.
";

/// The reference of all settings, in Markdown.
#[must_use]
pub fn reference_markdown() -> String {
    let mut page = INTRODUCTION.to_owned();
    for section in sections() {
        let _ = write!(page, "\n## {}\n\n{}\n", section.title, section.about);
        for setting in section.settings {
            let default = match setting.default {
                "" => "none".to_owned(),
                text => format!("`{text}`"),
            };
            let _ = write!(
                page,
                "\n### `{key}`\n\n{doc}\n\n- Default: {default}\n- Takes: {expects}\n- Flag `--{flag}`, environment `{variable}`\n",
                key = setting.key,
                doc = setting.doc,
                expects = setting.expects.replace('*', "\\*"),
                flag = setting.flag(),
                variable = setting.variable(),
            );
        }
    }
    page
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
