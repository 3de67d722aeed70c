//! Collects raw values from the file, the environment and the flags; later sources win.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use toml::de::{DeTable, DeValue};

use super::{
    fault::{Fault, Origin},
    flags::{CONFIG_FLAG, Flags},
    nearest::nearest,
    raw::Raw,
    resolve::RawSettings,
    section::{ENVIRONMENT_PREFIX, Setting, variable},
};

/// The environment variable that names the configuration file.
pub(super) const CONFIG_VARIABLE: &str = "SHOPKEEPER_CONFIG";

impl RawSettings {
    /// Gathers all sources, weakest first, so that the stronger overwrite.
    pub(super) fn gather(
        settings: &[Setting],
        flags: &Flags,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        read_file: impl Fn(&Path) -> io::Result<String>,
    ) -> Self {
        let mut raw = Self::default();
        let (variables, config_variable) = raw.variables(settings, environment);
        let named = flags
            .config
            .clone()
            .map(|path| (path, Origin::Flag(format!("--{CONFIG_FLAG}"))))
            .or_else(|| {
                config_variable.map(|path| (path, Origin::Environment(CONFIG_VARIABLE.to_owned())))
            });
        if let Some((path, origin)) = named {
            match read_file(&path) {
                Ok(text) => raw.file(settings, &path, &text),
                Err(error) => {
                    raw.is_file_broken = true;
                    let message = format!("cannot read the configuration file: {error}");
                    raw.faults.push(Fault::new(path.display().to_string(), origin, message));
                }
            }
        }
        raw.values.extend(variables);
        for (key, text) in &flags.values {
            let flag = settings
                .iter()
                .find(|setting| setting.key == *key)
                .map(Setting::flag)
                .unwrap_or_default();
            raw.values.insert(key, (Raw::Text(text.clone()), Origin::Flag(format!("--{flag}"))));
        }
        raw
    }

    /// The values of the environment by key, and the configuration file it names.
    fn variables(
        &mut self,
        settings: &[Setting],
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> (BTreeMap<&'static str, (Raw, Origin)>, Option<PathBuf>) {
        let names = |setting: &Setting| {
            let key = setting.key;
            setting.names().map(move |name| (variable(name), key))
        };
        let keys: BTreeMap<String, &'static str> = settings.iter().flat_map(names).collect();
        let mut values = BTreeMap::new();
        let mut config = None;
        let ours: BTreeMap<OsString, OsString> = environment.into_iter().collect();
        for (name, value) in ours {
            let Some(name) = name.to_str().filter(|name| name.starts_with(ENVIRONMENT_PREFIX))
            else {
                continue;
            };
            let origin = Origin::Environment(name.to_owned());
            if name == CONFIG_VARIABLE {
                config = Some(PathBuf::from(value)).filter(|path| !path.as_os_str().is_empty());
                continue;
            }
            match (keys.get(name), value.to_str()) {
                (Some(key), Some(text)) => {
                    let value = (Raw::Text(text.to_owned()), origin);
                    self.faults.extend(set_once(&mut values, key, value));
                }
                (Some(key), None) => {
                    self.faults.push(Fault::new(*key, origin, "the value is not UTF-8"))
                }
                (None, value) if injected_by_kubernetes(name, value.unwrap_or_default()) => {}
                (None, _) => {
                    let meant = nearest_variable(name, keys.keys());
                    self.faults.push(
                        Fault::new(name, origin, "unknown variable").meaning(meant.as_deref()),
                    );
                }
            }
        }
        (values, config)
    }

    /// The values of the file by key.
    fn file(&mut self, settings: &[Setting], path: &Path, text: &str) {
        let at = |start: usize| Origin::File { path: path.to_owned(), line: line_of(text, start) };
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            self.is_file_broken = true;
            let origin = at(error.span().map_or(0, |span| span.start));
            self.faults.push(Fault::new(
                path.display().to_string(),
                origin,
                format!("not valid TOML: {}", error.message()),
            ));
        }
        if self.is_file_broken {
            return;
        }
        for (key, start, value) in leaves(table.get_ref()) {
            match settings.iter().find(|setting| setting.names().any(|name| name == key)) {
                Some(setting) => {
                    let value = (Raw::from(value), at(start));
                    self.faults.extend(set_once(&mut self.values, setting.key, value));
                }
                None => {
                    let meant = nearest(&key, settings.iter().map(|setting| setting.key));
                    self.faults.push(Fault::new(key, at(start), "unknown key").meaning(meant));
                }
            }
        }
    }
}

/// Sets a value of one source, in which a setting may have one of its names.
fn set_once(
    values: &mut BTreeMap<&'static str, (Raw, Origin)>,
    key: &'static str,
    value: (Raw, Origin),
) -> Option<Fault> {
    let origin = value.1.clone();
    let (_, other) = values.insert(key, value)?;
    Some(Fault::new(key, origin, format!("is set by another of its names, too: {other}")))
}

/// All values below a table with their dotted keys and where they stand, in the order of the file.
fn leaves<'t>(table: &'t DeTable<'_>) -> Vec<(String, usize, &'t DeValue<'t>)> {
    let mut found = Vec::new();
    let mut waiting: Vec<(String, &DeTable<'_>)> = vec![(String::new(), table)];
    while let Some((prefix, table)) = waiting.pop() {
        for (name, value) in table.iter() {
            let key = format!("{prefix}{}", name.get_ref());
            match value.get_ref() {
                DeValue::Table(inner) if !inner.is_empty() => {
                    waiting.push((format!("{key}."), inner))
                }
                leaf => found.push((key, name.span().start, leaf)),
            }
        }
    }
    found.sort_by_key(|(_, start, _)| *start);
    found
}

/// The line, counted from 1, that a place in the text is on.
fn line_of(text: &str, start: usize) -> usize {
    text.bytes().take(start).filter(|byte| *byte == b'\n').count() + 1
}

/// The known variable closest to an unknown one; what all of them begin with does not count as likeness.
fn nearest_variable<'n>(
    unknown: &str,
    known: impl Iterator<Item = &'n String> + Clone,
) -> Option<String> {
    let bare = |name: &'n String| name.strip_prefix(ENVIRONMENT_PREFIX).unwrap_or(name);
    let unknown = unknown.strip_prefix(ENVIRONMENT_PREFIX).unwrap_or(unknown);
    nearest(unknown, known.map(bare)).map(|name| format!("{ENVIRONMENT_PREFIX}{name}"))
}

/// Kubernetes tells every container of a namespace about each service in it. For a service named `shopkeeper` or
/// `shopkeeper-…` those variables begin like ours and are not mistakes: `…_SERVICE_HOST`,
/// `…_SERVICE_PORT` and `…_SERVICE_PORT_NAME`, `…_PORT=tcp://…`, `…_PORT_7700_TCP…`.
fn injected_by_kubernetes(name: &str, value: &str) -> bool {
    const PROTOCOLS: [&str; 3] = ["TCP", "UDP", "SCTP"];
    let is_link = || {
        let after_port = name.rsplit_once("_PORT_").map(|(_, rest)| rest);
        after_port.and_then(|rest| rest.split_once('_')).is_some_and(|(port, protocol)| {
            port.parse::<u16>().is_ok() && PROTOCOLS.iter().any(|known| protocol.starts_with(known))
        })
    };
    name.ends_with("_SERVICE_HOST")
        || name.ends_with("_SERVICE_PORT")
        || name.contains("_SERVICE_PORT_")
        || (name.ends_with("_PORT") && value.contains("://"))
        || is_link()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kubernetes_injects_is_told_from_a_mistake() {
        let check = |name, value, expected| {
            assert_eq!(injected_by_kubernetes(name, value), expected, "{name}={value}")
        };
        check("SHOPKEEPER_SERVICE_HOST", "10.0.0.1", true);
        check("SHOPKEEPER_SERVICE_PORT", "7700", true);
        check("SHOPKEEPER_SERVICE_PORT_HTTP", "7700", true);
        check("SHOPKEEPER_PORT", "tcp://10.0.0.1:7700", true);
        check("SHOPKEEPER_PORT_7700_TCP", "tcp://10.0.0.1:7700", true);
        check("SHOPKEEPER_PORT_7700_TCP_ADDR", "10.0.0.1", true);
        check("SHOPKEEPER_PORT_7700_TCP_PORT", "7700", true);
        check("SHOPKEEPER_PORT_7700_TCP_PROTO", "tcp", true);
        check("SHOPKEEPER_METRICS_SERVICE_HOST", "10.0.0.2", true);
        check("SHOPKEEPER_METRICS_PORT_9100_UDP_ADDR", "10.0.0.2", true);
        check("SHOPKEEPER_PORT", "8080", false);
        check("SHOPKEEPER_PORT_NUMBER", "8080", false);
        check("SHOPKEEPER_SERVICE", "x", false);
    }
}
