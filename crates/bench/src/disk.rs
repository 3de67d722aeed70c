//! The latency of synchronous disk writes, as the baseline for group commit.
//!
//! A virtual disk may acknowledge a flush before the data is durable. To simulate a slower disk,
//! flushes can be delayed: by a preloaded C library in the service, and by the same pause here.

use std::{
    fs::{self, File},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};

use crate::load::Measured;

/// A page in SQLite's write-ahead log, with its header.
const FRAME_BYTES: usize = 4096 + 24;
/// Pages that the commit of one created product writes: the product, the change, the counters,
/// the shop's row and two index pages.
const FRAMES: usize = 6;
/// The log is written from the start again after this many pages.
const LOG_FRAMES: usize = 4000;

const SLOW_FLUSH_SOURCE: &str = include_str!("slow_flush.c");

/// Repeatedly writes and flushes what the commit of one product writes: an upper bound for one flush
/// per write.
pub fn flush_per_write(
    folder: &Path,
    time: Duration,
    slow_flush: Duration,
) -> anyhow::Result<Measured> {
    let path = folder.join("flush-per-write");
    let file = File::create_new(&path).context("the data folder cannot be written")?;
    // The blocks are preallocated, as in a reused log.
    let commit = vec![0x5a; FRAME_BYTES * FRAMES];
    let places = LOG_FRAMES / FRAMES;
    for place in 0..places {
        file.write_all_at(&commit, (place * commit.len()) as u64)?;
    }
    file.sync_all()?;

    let started = Instant::now();
    let mut latencies = Vec::new();
    while started.elapsed() < time {
        let begun = Instant::now();
        let place = latencies.len() % places;
        file.write_all_at(&commit, (place * commit.len()) as u64)?;
        let flushing = Instant::now();
        file.sync_data()?;
        thread::sleep(slow_flush.saturating_sub(flushing.elapsed()));
        latencies.push(begun.elapsed());
    }
    let measured = Measured::of(latencies, started.elapsed());
    fs::remove_file(path)?;
    Ok(measured)
}

/// Builds the library that delays flushes, for `LD_PRELOAD`.
pub fn build_slow_flush(folder: &Path) -> anyhow::Result<PathBuf> {
    let (source, library) = (folder.join("slow_flush.c"), folder.join("slow_flush.so"));
    fs::write(&source, SLOW_FLUSH_SOURCE)?;
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O2", "-o"])
        .args([&library, &source])
        .status()
        .context("a C compiler, cc, is needed to slow flushes down")?;
    if !built.success() {
        bail!("the library that slows flushes down could not be built");
    }
    Ok(library.canonicalize()?)
}

/// The kind of file system a folder is on, as the kernel names it.
pub fn file_system(folder: &Path) -> anyhow::Result<String> {
    let folder = folder.canonicalize()?;
    let mounts = fs::read_to_string("/proc/mounts")?;
    let kind = mounts
        .lines()
        .filter_map(|line| {
            let mut parts = line.split(' ').skip(1);
            Some((parts.next()?, parts.next()?))
        })
        .filter(|(place, _)| folder.starts_with(place))
        .max_by_key(|(place, _)| place.len());
    Ok(kind.map_or_else(|| "unknown".to_owned(), |(_, kind)| kind.to_owned()))
}
