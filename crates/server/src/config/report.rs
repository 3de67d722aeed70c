//! The report of `shopkeeper config`: every value in force and its origin.

use std::fmt;

use super::{kinds::Shown, resolve::InForce};

/// Every setting with its value and where that came from.
///
/// It prints as a TOML file that gives the same configuration again, but for secrets, which are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report(pub Vec<InForce>);

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> =
            self.0.iter().map(|setting| (assignment(setting), &setting.origin)).collect();
        let width = lines.iter().map(|(text, _)| text.chars().count()).max().unwrap_or(0);
        lines.iter().try_for_each(|(text, origin)| writeln!(f, "{text:width$}  # {origin}"))
    }
}

/// A TOML assignment, or a comment where the value is unset or secret.
fn assignment(setting: &InForce) -> String {
    match &setting.value {
        Shown::Literal(literal) => format!("{} = {literal}", setting.key),
        Shown::Unset => format!("# {} (none)", setting.key),
        Shown::Hidden => format!("# {} (set)", setting.key),
    }
}
