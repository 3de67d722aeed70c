//! Nodes that are killed or paused.

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
use rustix::process::Signal;
use testkit::{Node, Role, ids, postgres, seed, seq, token, until};

use crate::rounds;

#[test]
fn a_killed_node_loses_no_acknowledged_write() {
    let mut random = Rng::with_seed(seed());
    let url = postgres().database();
    let token = token(&url, Role::Editor);
    let survivor = Node::start(&url, &token);
    for round in 0..rounds() {
        let victim = Node::start(&url, &token);
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
            victim.signal(Signal::KILL);
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
        assert_eq!(ids(found), [id]);
    }
}

/// A paused node does not block the others for long, and catches up afterwards.
#[test]
fn a_node_that_was_paused_catches_up() {
    let url = postgres().database();
    let token = token(&url, Role::Editor);
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
            let mut made = 0;
            until("twenty writes by the other node", || {
                let status = nodes[0].try_create("lamp").status();
                assert!(status == 201 || status == 503, "{status}");
                made += usize::from(status == 201);
                made == 20
            });
            nodes[1].resume();
            for status in busy.join().unwrap() {
                assert!(status == 201 || status == 503, "{status}");
            }
        });
        let last = seq(&nodes[0].try_create("lamp"));
        let ask = |node: &Node| {
            let asked = node.search("lamp busy").header("x-min-catalog-seq", last);
            let answer = asked.send().unwrap();
            assert_eq!(answer.status(), 200, "{}", node.log());
            answer.json::<serde_json::Value>().unwrap()["total"].as_u64().unwrap()
        };
        assert_eq!(ask(&nodes[0]), ask(&nodes[1]));
    }
}
