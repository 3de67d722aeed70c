//! A database outage: reads continue and report their age, writes are refused at once, and
//! everything recovers without intervention.

use std::time::Instant;

use reqwest::blocking::Response;
use serde_json::Value;
use testkit::{NO_IDS, Node, Postgres, Proxy, Role, age, bearer, ids, seq, token, until};

use crate::outage;

/// A shop on two nodes that both have it in memory.
struct Scene {
    token: String,
    nodes: [Node; 2],
    lamps: Vec<u64>,
}

impl Scene {
    fn set(url: &str) -> Self {
        let token = token(url, Role::Editor);
        let nodes = [Node::start(url, &token), Node::start(url, &token)];
        let lamps: Vec<_> = (0..5).map(|n| nodes[n % 2].create(&format!("lamp{n}")).0).collect();
        let hidden = nodes[0].create("lamp hidden").0;
        let body = serde_json::json!({"hidden": true});
        let last = seq(&nodes[0].update(hidden, &body).error_for_status().unwrap());
        for node in &nodes {
            let asked = node.search("lamp").header("x-min-catalog-seq", last);
            assert_eq!(asked.send().unwrap().status(), 200);
            until("readiness", || node.readiness().status() == 200);
        }
        Self { token, nodes, lamps }
    }

    /// Every kind of read, on both nodes, with a query that is not cached. Returns the age of the
    /// oldest answer, if answers report one.
    fn read(&self, round: usize) -> Option<u64> {
        let mut oldest = None;
        for node in &self.nodes {
            let lamp = self.lamps[round % self.lamps.len()];
            let ask = |path: &str| answered(node, node.request("GET", path).send().unwrap());
            let search = format!("lamp{} round{round}", round % self.lamps.len());
            let found = answered(node, node.search(&search).send().unwrap());
            oldest = oldest.max(age(&found));
            assert_eq!(ids(found), [lamp]);
            let one = ask(&format!("/products/{lamp}"));
            oldest = oldest.max(age(&one));
            assert_eq!(one.json::<Value>().unwrap()["id"], lamp);
            let list = ask("/products?limit=3");
            assert_eq!(list.headers()["x-total-count"], "6");
            assert_eq!(list.json::<Vec<Value>>().unwrap().len(), 3);
            let some = ask(&format!("/products?ids={lamp},999999"));
            assert_eq!(some.json::<Vec<Value>>().unwrap().len(), 1);
            let without = format!("lamp{} without chrome round{round}", round % self.lamps.len());
            assert_eq!(ids(answered(node, node.search(&without).send().unwrap())), [lamp]);
            assert_eq!(ask("/products/999999").status(), 404);
        }
        oldest
    }

    /// Reads and writes for as long as the database is away: reads succeed and get older, writes
    /// are refused.
    fn live_without_a_database(&self) {
        let started = Instant::now();
        let (mut last_age, mut rounds) = (None, 0);
        while rounds < 2 || started.elapsed() < outage() {
            let age = self.read(rounds);
            assert!(age >= last_age || age.is_some(), "{last_age:?} and then {age:?}");
            last_age = age;
            for node in &self.nodes {
                refused(node, node.try_create("lost"));
                let body = serde_json::json!({"title": "lost"});
                refused(node, node.update(self.lamps[0], &body));
                // An unknown token cannot be verified now.
                let stranger = self.token.replace("shk_1_", "shk_2_");
                let asked = node.request("GET", "/products").headers(bearer(&stranger));
                assert_ne!(asked.send().unwrap().status(), 200);
            }
            rounds += 1;
        }
        assert!(last_age.is_some(), "answers of a database that is away say how old they are");
        for node in &self.nodes {
            assert_eq!(node.readiness().status(), 200, "it can be read");
        }
    }

    /// Both nodes write and read again, and know that they are up to date.
    fn comes_back(&self) {
        for node in &self.nodes {
            until("a write", || node.try_create("sofa").status() == 201);
        }
        let newest = seq(&self.nodes[0].try_create("rug").error_for_status().unwrap());
        for (at, node) in self.nodes.iter().enumerate() {
            let found = node.search("sofa").header("x-min-catalog-seq", newest).send().unwrap();
            assert_eq!(ids(found).len(), 2, "node {at}");
            assert_eq!(node.find("lost"), NO_IDS);
            until("an answer that is up to date", || {
                age(&node.search("lamp").send().unwrap()).is_none()
            });
        }
    }
}

fn answered(node: &Node, answer: Response) -> Response {
    let status = answer.status();
    assert!(status == 200 || status == 404, "{status}: {}", node.log());
    answer
}

fn refused(node: &Node, answer: Response) {
    assert_eq!(answer.status(), 503, "{}", node.log());
    assert!(answer.headers().contains_key("retry-after"));
    let problem: Value = answer.json().unwrap();
    assert!(problem["detail"].as_str().unwrap().contains("nothing was written"), "{problem}");
}

#[test]
fn a_database_that_is_restarted() {
    let database = Postgres::start();
    let scene = Scene::set(&database.database());
    database.stop();
    scene.live_without_a_database();
    database.restart();
    scene.comes_back();
    for node in &scene.nodes {
        assert!(!node.log().contains(database.password()), "the log shows the password");
    }
}

/// Connections hang instead of being refused.
#[test]
fn a_database_that_does_not_answer() {
    let database = Postgres::start();
    let name = database.database().rsplit_once('/').unwrap().1.to_owned();
    let wire = Proxy::to(database.port());
    let scene = Scene::set(&database.url_at(&format!("127.0.0.1:{}", wire.port()), &name));
    wire.stall();
    scene.live_without_a_database();
    wire.resume();
    scene.comes_back();
}

/// A token that was revoked through one node is good on none, as soon as that was answered.
#[test]
fn a_revoked_token_is_refused_by_every_node() {
    let url = testkit::postgres().database();
    let admin = token(&url, Role::Admin);
    let nodes = [Node::start(&url, &admin), Node::start(&url, &admin)];
    for round in 0..4 {
        let body = serde_json::json!({"role": "VIEWER", "name": "short"});
        let issued = nodes[0].request("POST", "/tokens").json(&body).send().unwrap();
        let issued: Value = issued.error_for_status().unwrap().json().unwrap();
        let ask = |node: &Node| {
            let asked = node.request("GET", "/products");
            asked.headers(bearer(issued["token"].as_str().unwrap())).send().unwrap().status()
        };
        for node in &nodes {
            assert_eq!(ask(node), 200);
        }
        let path = format!("/tokens/{}", issued["id"]);
        let gone = nodes[round % 2].request("DELETE", &path).send().unwrap();
        assert_eq!(gone.status(), 204);
        for node in &nodes {
            assert_eq!(ask(node), 401);
        }
    }
}
