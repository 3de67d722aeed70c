//! Configuration errors, with where the value at fault was written.

use std::{fmt, path::PathBuf};

/// Where the value of a setting came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The built-in default.
    Default,
    /// A line of the configuration file.
    File {
        /// The file, as it was named.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// An environment variable, by name.
    Environment(String),
    /// A flag of the command line, with its dashes.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "file {}:{line}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}

/// One configuration error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The key, variable or file at fault.
    pub subject: String,
    /// Where it was written.
    pub origin: Origin,
    /// The description of the error.
    pub message: String,
    /// The known name to suggest.
    pub nearest: Option<String>,
}

impl Fault {
    pub(super) fn new(
        subject: impl Into<String>,
        origin: Origin,
        message: impl Into<String>,
    ) -> Self {
        Self { subject: subject.into(), origin, message: message.into(), nearest: None }
    }

    pub(super) fn meaning(mut self, nearest: Option<&str>) -> Self {
        self.nearest = nearest.map(str::to_owned);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.subject, self.origin, self.message)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean {nearest}?"),
            None => Ok(()),
        }
    }
}

/// All errors of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConfigErrors(pub Vec<Fault>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len();
        write!(f, "the configuration has {count} fault{}:", if count == 1 { "" } else { "s" })?;
        self.0.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
    }
}
