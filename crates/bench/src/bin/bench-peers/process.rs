//! Memory of processes and sizes of folders.

use std::{fs, path::Path};

use anyhow::Context;
use bench::cpu;

/// The resident memory of a process and its children in bytes. Pages that several of them share count
/// once (the proportional set size), so that the buffers of PostgreSQL do not count per connection.
pub(crate) fn memory(id: u32) -> anyhow::Result<u64> {
    let mut kibibytes = 0;
    for id in cpu::family(id)? {
        // A child may have ended meanwhile.
        let Ok(page) = fs::read_to_string(format!("/proc/{id}/smaps_rollup")) else { continue };
        let line = page.lines().find_map(|line| line.strip_prefix("Pss:"));
        let value = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
        kibibytes += value.unwrap_or(0_u64);
    }
    Some(kibibytes * 1024)
        .filter(|bytes| *bytes > 0)
        .with_context(|| format!("the kernel does not show the memory of process {id}"))
}

/// The bytes of all files below a folder.
pub(crate) fn folder_bytes(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        bytes += match entry.file_type()?.is_dir() {
            true => folder_bytes(&entry.path())?,
            // Files may be replaced meanwhile.
            false => entry.metadata().map_or(0, |metadata| metadata.len()),
        };
    }
    Ok(bytes)
}
