//! Does an import's memory grow with its file? What it took at the most is read from the system
//! while it waits for the end of the file.

use std::{fs, io::Write};

use crate::place::{Ended, Place};

/// More than the batches under way and the allocator's slack take.
const ALLOWED_KIB: u64 = 16 << 10;

/// The most memory that the import of so many records has held.
fn peak_kib(records: usize) -> u64 {
    let place = Place::folder();
    let mut import = place.import_stream(&["--dry-run"]);
    let mut stdin = import.stdin.take().unwrap();
    let long = "wool ".repeat(200);
    for n in 0..records {
        writeln!(
            stdin,
            "{{\"title\": \"Rug {n}\", \"description\": \"{long}\", \"price\": \"$5\"}}"
        )
        .unwrap();
    }
    // All but what fits into the pipe has been read by now.
    let status = fs::read_to_string(format!("/proc/{}/status", import.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak = peak.trim().trim_end_matches(" kB").parse().unwrap();
    drop(stdin);
    let ended = Ended::of(import.wait_with_output().unwrap()).expect(0);
    assert!(ended.out.contains(&format!("{records} records")), "{ended:?}");
    peak
}

#[test]
fn memory_does_not_grow_with_the_file() {
    let (short, long) = (peak_kib(2_000), peak_kib(40_000));
    assert!(long < short + ALLOWED_KIB, "{short} KiB for 2,000 records, {long} KiB for 40,000");
}
