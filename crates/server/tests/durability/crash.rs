//! SIGKILL during writes: every acknowledged write survives, and every other write was applied
//! completely or not at all.

use std::sync::mpsc;

use crate::workload::Workload;

const ROUNDS: usize = 7;
/// The process is killed after fewer than this many acknowledged writes.
const MAX_WRITES: usize = 150;

#[test]
fn a_killed_server_keeps_acknowledged_writes_and_no_partial_ones() {
    let mut workload = Workload::new(usize::MAX);
    for _ in 0..ROUNDS {
        let writes = workload.random.usize(1..MAX_WRITES);
        let (enough, is_enough) = mpsc::channel();
        let acknowledged = |count| {
            if count == writes {
                enough.send(()).unwrap();
            }
        };
        let server = workload.start_server(&[]);
        workload.write_until_killed(&server, acknowledged, |_| is_enough.recv().unwrap());
        let server = workload.start_server(&[]);
        workload.check(&server);
        server.kill();
    }
    assert!(workload.products_seen() > ROUNDS);
}
