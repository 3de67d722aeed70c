//! Resolves the value in force of each setting and collects all errors.

use std::{collections::BTreeMap, io, path::Path};

use super::{
    fault::{Fault, Origin},
    kinds::{Kind, Shown},
    raw::Raw,
    secret::{Secret, without_final_line_break},
};

/// The raw values of all sources.
#[derive(Debug, Default)]
pub(super) struct RawSettings {
    /// The value of the strongest source, by key.
    pub(super) values: BTreeMap<&'static str, (Raw, Origin)>,
    /// Unknown names, and files that cannot be read.
    pub(super) faults: Vec<Fault>,
    /// Whether the configuration file could not be read completely.
    pub(super) is_file_broken: bool,
}

/// The value in force of one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InForce {
    /// Its key.
    pub key: &'static str,
    /// Its value, as the report shows it.
    pub value: Shown,
    /// Where the value came from.
    pub origin: Origin,
}

/// Parses raw values, one setting at a time, and collects every error.
#[derive(Debug)]
pub(super) struct Resolver {
    raw: RawSettings,
    /// The settings resolved so far.
    pub(super) in_force: Vec<InForce>,
    /// The errors so far.
    pub(super) faults: Vec<Fault>,
}

impl Resolver {
    pub(super) fn new(mut raw: RawSettings) -> Self {
        let faults = std::mem::take(&mut raw.faults);
        Self { raw, in_force: Vec::new(), faults }
    }

    /// The value of a setting: the written one, else the default; `None` if it is invalid.
    pub(super) fn value<K: Kind>(
        &mut self,
        key: &'static str,
        default: &str,
        kind: &K,
    ) -> Option<K::Value> {
        let (raw, origin) = self
            .raw
            .values
            .remove(key)
            .unwrap_or_else(|| (Raw::Text(default.to_owned()), Origin::Default));
        match kind.read(&raw) {
            Ok(value) => {
                self.in_force.push(InForce { key, value: kind.show(&value), origin });
                Some(value)
            }
            Err(message) => {
                self.faults.push(Fault::new(key, origin, message));
                None
            }
        }
    }

    /// Where the value of a setting came from.
    pub(super) fn origin(&self, key: &str) -> Origin {
        let found = self.in_force.iter().find(|setting| setting.key == key);
        found.map_or(Origin::Default, |setting| setting.origin.clone())
    }

    /// Reports a valid value that contradicts other settings.
    pub(super) fn refuse(&mut self, key: &'static str, message: impl Into<String>) {
        let origin = self.origin(key);
        self.faults.push(Fault::new(key, origin, message));
    }

    /// A secret that is given by one of two settings, directly or in a file, with the key of that
    /// setting. The inner `None` means that neither is set, the outer one that an error was reported.
    pub(super) fn secret_or_file(
        &mut self,
        (key, value): (&'static str, Option<&Secret>),
        (file_key, path): (&'static str, Option<&Path>),
        read_file: impl Fn(&Path) -> io::Result<String>,
    ) -> Option<Option<(&'static str, Secret)>> {
        match (value, path) {
            (None, None) => Some(None),
            (Some(secret), None) => Some(Some((key, secret.clone()))),
            (Some(_), Some(_)) => {
                self.refuse(file_key, format!("does not go with {key}: leave one of them out"));
                None
            }
            (None, Some(path)) => match read_file(path) {
                Ok(text) => {
                    let secret = Secret::new(without_final_line_break(&text).to_owned());
                    Some(Some((file_key, secret)))
                }
                Err(error) => {
                    self.refuse(file_key, format!("cannot read {}: {error}", path.display()));
                    None
                }
            },
        }
    }

    /// Whether values are missing because the file could not be read; the rules between settings are
    /// not checked then.
    pub(super) fn is_incomplete(&self) -> bool {
        self.raw.is_file_broken
    }
}
