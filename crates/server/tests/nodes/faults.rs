//! What survives when a node dies, is paused, or the database goes away?

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use testbed::{Postgres, postgres, until};

use crate::node::{NONE, Node, seq, token};

/// The seed of this run, said so that it can be repeated.
fn seed() -> u64 {
    let given = std::env::var("TEST_SEED").ok().map(|seed| seed.parse().unwrap());
    let seed = given.unwrap_or_else(|| fastrand::u64(..));
    eprintln!("TEST_SEED={seed}");
    seed
}

/// How often a fault happens: few times in `make test`, many in `make test-faults`.
fn rounds() -> usize {
    std::env::var("TEST_ROUNDS").ok().map_or(2, |rounds| rounds.parse().unwrap())
}

/// How long the database stays away.
fn outage() -> Duration {
    Duration::from_secs(if rounds() > 2 { 10 } else { 4 })
}

#[test]
fn a_node_that_is_killed_takes_nothing_that_was_answered_with_it() {
    let mut random = Rng::with_seed(seed());
    let url = postgres().database();
    let token = token(&url, "EDITOR");
    let survivor = Node::start(&url, &token);
    for round in 0..rounds() {
        let mut victim = Node::start(&url, &token);
        let answered = Mutex::new(BTreeSet::new());
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            for writer in 0..4 {
                let (victim, answered, done) = (&victim, &answered, &done);
                scope.spawn(move || {
                    for n in 0.. {
                        if done.load(Ordering::Acquire) {
                            return;
                        }
                        let title = format!("round{round} writer{writer} number{n}");
                        let body = serde_json::json!({"title": title, "price": "$5"});
                        let post = victim.request("POST", "/products").json(&body);
                        let Ok(made) =
                            post.send().and_then(|made| made.json::<serde_json::Value>())
                        else {
                            return;
                        };
                        answered.lock().unwrap().insert(made["id"].as_u64().unwrap());
                    }
                });
            }
            until("some writes", || answered.lock().unwrap().len() > 20);
            thread::sleep(Duration::from_millis(random.u64(0..200)));
            victim.end();
            done.store(true, Ordering::Release);
        });
        victim.kill();
        let answered = answered.into_inner().unwrap();
        for id in &answered {
            survivor.get(*id);
        }
        // The survivor goes on at once: the victim's locks are gone with its connections.
        let (id, seq_made) = survivor.create(&format!("after{round}"));
        let asked = survivor.search(&format!("after{round}"));
        let found = asked.header("x-min-catalog-seq", seq_made).send().unwrap();
        assert_eq!(crate::node::ids(found), [id]);
    }
}

#[test]
fn a_database_that_goes_away_and_comes_back_is_found_again_by_itself() {
    let database = Postgres::start();
    let url = database.database();
    let token = token(&url, "EDITOR");
    let nodes = [Node::start(&url, &token), Node::start(&url, &token)];
    let (first, _) = nodes[0].create("lamp");
    for node in &nodes {
        until("the first product", || node.find("lamp") == [first]);
    }
    database.stop();
    let stopped = Instant::now();
    let mut refused = 0;
    while stopped.elapsed() < outage() {
        let asked = Instant::now();
        let answer = nodes[refused % 2].try_create("lost");
        assert_eq!(answer.status(), 503, "{}", answer.text().unwrap());
        assert!(answer.headers().contains_key("retry-after"));
        assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
        refused += 1;
    }
    assert!(refused > 3, "each write was kept waiting: {refused} in all");
    database.resume_service();
    for node in &nodes {
        until("a write", || node.try_create("back").status() == 201);
    }
    let made = nodes[0].try_create("again");
    let newest = seq(&made);
    for node in &nodes {
        let found = node.search("back").header("x-min-catalog-seq", newest).send().unwrap();
        assert_eq!(crate::node::ids(found).len(), 2);
        assert_eq!(node.find("lost"), NONE);
        assert!(!node.log().contains(database.password()), "the log shows the password");
    }
}

/// A node that is stopped in the middle of its work holds nobody up for long, and catches up.
#[test]
fn a_node_that_was_paused_catches_up() {
    let url = postgres().database();
    let token = token(&url, "EDITOR");
    let nodes = [Node::start(&url, &token), Node::start(&url, &token)];
    nodes[0].create("lamp");
    until("the first product", || nodes[1].find("lamp").len() == 1);
    for _ in 0..rounds() {
        thread::scope(|scope| {
            // Writes under way on the node that is about to be paused.
            let busy = scope.spawn(|| {
                (0..20).map(|_| nodes[1].try_create("busy").status().as_u16()).collect::<Vec<_>>()
            });
            thread::sleep(Duration::from_millis(20));
            nodes[1].pause();
            let paused = Instant::now();
            let mut made = 0;
            while made < 20 {
                let status = nodes[0].try_create("lamp").status();
                assert!(status == 201 || status == 503, "{status}");
                made += usize::from(status == 201);
                assert!(paused.elapsed() < Duration::from_secs(60), "nobody else can write");
            }
            nodes[1].resume();
            for status in busy.join().unwrap() {
                assert!(status == 201 || status == 503, "{status}");
            }
        });
        let last = seq(&nodes[0].try_create("lamp"));
        // Whoever is told to come again does so.
        let ask = |node: &Node| {
            let mut found = None;
            until("an answer", || {
                let asked = node.search("lamp busy").header("x-min-catalog-seq", last);
                let answer = asked.send().unwrap();
                assert!(answer.status() == 200 || answer.status() == 503, "{}", node.log());
                found = answer.json::<serde_json::Value>().unwrap()["total"].as_u64();
                found.is_some()
            });
            found
        };
        assert_eq!(ask(&nodes[0]), ask(&nodes[1]));
    }
}
