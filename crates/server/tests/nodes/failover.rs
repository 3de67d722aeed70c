//! Failover to a synchronous replica loses no acknowledged write.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use fastrand::Rng;
use testkit::{Node, Postgres, Role, ids, seed, token, until};

#[test]
fn a_promoted_replica_has_every_acknowledged_write() {
    let mut random = Rng::with_seed(seed());
    let primary = Postgres::start();
    let name = primary.database().rsplit_once('/').unwrap().1.to_owned();
    let replica = primary.replica();
    let hosts = format!("127.0.0.1:{},127.0.0.1:{}", primary.port(), replica.port());
    let url = primary.url_at(&hosts, &name) + "?target_session_attrs=read-write";
    let token = token(&url, Role::Editor);
    let nodes = [Node::start(&url, &token), Node::start(&url, &token)];
    let (answered, done) = (Mutex::new(BTreeSet::new()), AtomicBool::new(false));
    let count = || answered.lock().unwrap().len();
    thread::scope(|scope| {
        for writer in 0..4 {
            let (node, answered, done) = (&nodes[writer % 2], &answered, &done);
            scope.spawn(move || {
                for n in 0.. {
                    if done.load(Ordering::Acquire) {
                        return;
                    }
                    let made = node.try_create(&format!("writer{writer} number{n}"));
                    let status = made.status();
                    assert!(status == 201 || status == 503, "{status}");
                    if status == 201 {
                        let made: serde_json::Value = made.json().unwrap();
                        answered.lock().unwrap().insert(made["id"].as_u64().unwrap());
                    }
                }
            });
        }
        until("some writes", || count() > 20);
        thread::sleep(Duration::from_millis(random.u64(0..300)));
        primary.stop();
        let before = count();
        replica.promote();
        // Nodes find it by themselves, and write on.
        for node in &nodes {
            until("a write on the replica", || node.try_create("found").status() == 201);
        }
        until("more writes", || count() > before + 20);
        done.store(true, Ordering::Release);
    });
    for id in answered.into_inner().unwrap() {
        nodes[0].get(id);
    }
    let (id, made) = nodes[0].create("after");
    let found = nodes[1].search("after").header("x-min-catalog-seq", made).send().unwrap();
    assert_eq!(ids(found), [id]);
}
