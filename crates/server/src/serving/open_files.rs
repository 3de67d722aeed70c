//! Raises the process's limit of open files to what the configured connections need.
//!
//! Many systems start programs with a soft limit of 1,024, a quarter of the connections that the
//! server accepts by default; a program may raise it up to the hard limit.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files beside the clients' connections: the store's, those to a database, the log.
const OTHER_FILES: u64 = 512;

/// Raises the limit for this many connections, up to the hard limit.
pub(super) fn raise_limit(connections: usize) {
    let wanted = connections as u64 + OTHER_FILES;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // `None` stands for no limit.
    if current.is_none_or(|current| current >= wanted) {
        return;
    }
    let possible = maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let raised = Rlimit { current: Some(possible), maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, "cannot raise the limit of open files");
    }
    if possible < wanted {
        let connections = connections as u64;
        tracing::warn!(
            possible,
            connections,
            "the limit of open files is below limits.connections"
        );
    }
}
