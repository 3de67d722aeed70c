//! The memory of an import does not grow with its file. The peak is read from the kernel while the
//! import waits for the end of the file.

use std::io::Write;

use crate::target::{Ended, ImportTarget};

/// More than the batches in flight and the slack of the allocator.
const ALLOWED_BYTES: u64 = 16 << 20;

/// The peak resident memory of an import, in bytes.
fn peak_bytes(records: usize) -> u64 {
    let target = ImportTarget::folder();
    let mut import = target.import_stream(&["--dry-run"]);
    let mut stdin = import.stdin.take().unwrap();
    let long = "wool ".repeat(200);
    for n in 0..records {
        writeln!(
            stdin,
            "{{\"title\": \"Rug {n}\", \"description\": \"{long}\", \"price\": \"$5\"}}"
        )
        .unwrap();
    }
    // The import has read everything except what fits into the pipe.
    let peak = testkit::peak_resident_bytes(import.id());
    drop(stdin);
    let ended = Ended::of(import.wait_with_output().unwrap()).expect(0);
    assert!(ended.out.contains(&format!("{records} records")), "{ended:?}");
    peak
}

#[test]
fn memory_does_not_grow_with_the_file() {
    let (short, long) = (peak_bytes(2_000), peak_bytes(40_000));
    assert!(long < short + ALLOWED_BYTES, "{short} bytes for 2,000 records, {long} for 40,000");
}
