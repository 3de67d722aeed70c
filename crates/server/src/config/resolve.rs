//! Which value is in force for a setting, and who says so?

use super::fault::{Fault, Origin};
use super::kinds::{Kind, Shown};
use super::raw::Raw;
use super::sources::Written;

/// One setting as it is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InForce {
    /// Its key.
    pub key: &'static str,
    /// Its value, as the report shows it.
    pub value: Shown,
    /// Where the value came from.
    pub origin: Origin,
}

/// Turns what was written into values, one setting at a time, and remembers every fault on the way.
#[derive(Debug)]
pub(super) struct Resolver {
    written: Written,
    /// The settings asked for so far.
    pub(super) in_force: Vec<InForce>,
    /// Everything wrong so far.
    pub(super) faults: Vec<Fault>,
}

impl Resolver {
    pub(super) fn new(mut written: Written) -> Self {
        let faults = std::mem::take(&mut written.faults);
        Self { written, in_force: Vec::new(), faults }
    }

    /// The value of a setting: what was written, else the default; `None` where it has a fault.
    pub(super) fn value<K: Kind>(
        &mut self,
        key: &'static str,
        default: &str,
        kind: &K,
    ) -> Option<K::Value> {
        let (raw, origin) = self
            .written
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

    /// Reports a value that is well formed but does not go with the others.
    pub(super) fn refuse(&mut self, key: &'static str, message: impl Into<String>) {
        let origin = self.origin(key);
        self.faults.push(Fault::new(key, origin, message));
    }

    /// Whether some values are unknown because the file could not be read, so that rules between settings say nothing.
    pub(super) fn incomplete(&self) -> bool {
        self.written.file_broken
    }
}
