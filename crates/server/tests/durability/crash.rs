//! What is left after the process is killed in the midst of writes? All that was answered, and
//! of the rest each write wholly or not at all.

use std::sync::mpsc;

use crate::{server::Server, workload::Workload};

const ROUNDS: usize = 7;
/// The process is killed after this many answered writes, or fewer.
const MOST_WRITES: usize = 150;

#[test]
fn a_killed_server_has_kept_what_it_answered_and_no_half_of_anything() {
    let mut workload = Workload::new(usize::MAX);
    for _ in 0..ROUNDS {
        let writes = workload.random.usize(1..MOST_WRITES);
        let (enough, is_enough) = mpsc::channel();
        let acknowledged = |count| {
            if count == writes {
                enough.send(()).unwrap();
            }
        };
        let server = Server::start(workload.folder());
        workload.write_until_killed(server, acknowledged, |_| is_enough.recv().unwrap());
        let server = Server::start(workload.folder());
        workload.check(&server);
        // What was checked is what the next round goes on with, on a process of its own.
        server.kill();
    }
    assert!(workload.products_seen() > ROUNDS);
}
