//! Writes, searches and deletes for a long time, with a SIGKILL at the end of each life: no
//! acknowledged write is lost, index and store agree, and memory stays flat.
//!
//! `make soak` runs 10 lives of a minute (`SOAK_LIVES`, `SOAK_LIFE_SECONDS`); without them the test
//! is a few seconds long.

use std::{
    env,
    str::FromStr,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use testkit::Server;

use crate::workload::Workload;

const SEARCHERS: usize = 4;
/// Products of each client; beyond, clients delete, so that the catalog keeps its size.
const MAX_PRODUCTS: usize = 300;
const SAMPLE_EVERY: Duration = Duration::from_millis(50);
/// A life this long has reached its steady state by half of it, so that its memory is compared.
const STEADY_LIFE: Duration = Duration::from_secs(30);
/// Growth of resident memory that is still flat.
const FLAT: f64 = 0.02;
/// A query cache that is full long before half of a life is over.
const SMALL_CACHE: [&str; 2] = ["--index-query-cache-bytes", "4MiB"];

#[test]
fn a_repeatedly_killed_server_loses_nothing_and_its_memory_stays_flat() {
    let lives: usize = setting("SOAK_LIVES", 2);
    let life = Duration::from_secs(setting("SOAK_LIFE_SECONDS", 2));
    let mut workload = Workload::new(MAX_PRODUCTS);
    for number in 1..=lives {
        let server = workload.start_server(&SMALL_CACHE);
        let token = workload.token().to_owned();
        let (mut memory, mut searches) = (Vec::new(), 0);
        let writes = workload.write_until_killed(
            &server,
            |_| (),
            |server| {
                (memory, searches) = search_beside(server, &token, life);
            },
        );
        let growth = testkit::growth_over_second_half(&memory);
        eprintln!(
            "life {number}: {writes} writes, {searches} searches, {:.1} MiB, grew by {:.2} %",
            memory[memory.len() - 1] as f64 / f64::from(1 << 20),
            growth * 100.0,
        );
        assert!(writes > 0 && searches > 0);
        assert!(life < STEADY_LIFE || growth <= FLAT, "resident bytes: {memory:?}");
        let server = workload.start_server(&[]);
        workload.check(&server);
        server.kill();
    }
}

/// Searches for the time of one life; returns samples of the server's resident memory and the
/// number of searches.
fn search_beside(server: &Server, token: &str, life: Duration) -> (Vec<u64>, usize) {
    let (is_over, searches) = (AtomicBool::new(false), AtomicUsize::new(0));
    let memory = thread::scope(|scope| {
        for _ in 0..SEARCHERS {
            scope.spawn(|| {
                let client = server.client(token);
                while !is_over.load(Ordering::Relaxed) {
                    let number = searches.fetch_add(1, Ordering::Relaxed);
                    client.search_all(&format!("lamp under ${} not word1", number % 1000));
                }
            });
        }
        let end = Instant::now() + life;
        let mut memory = Vec::new();
        while Instant::now() < end {
            memory.push(server.resident_bytes());
            thread::sleep(SAMPLE_EVERY);
        }
        is_over.store(true, Ordering::Relaxed);
        memory
    });
    (memory, searches.into_inner())
}

fn setting<T: FromStr>(name: &str, default: T) -> T {
    let given = env::var(name).ok();
    given.map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}")))
}
