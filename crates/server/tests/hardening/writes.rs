//! Writes of one shop that are expensive to index do not delay those of others.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::{BULK, Client, Role, SEARCH, TestServer, product, product_named};

/// One character that is 18 when normalised.
const EXPANDING: &str = "\u{FDFA}";

/// How long `busy` takes, and the longest that another shop's write takes meanwhile.
fn slowest_write_during(client: &Client, busy: impl FnOnce() + Send) -> (Duration, Duration) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut slowest = Duration::ZERO;
            while !is_over.load(Ordering::Relaxed) {
                let asked = Instant::now();
                client.create(product_named("Reading lamp"));
                slowest = slowest.max(asked.elapsed());
            }
            slowest
        });
        let started = Instant::now();
        busy();
        let elapsed = started.elapsed();
        is_over.store(true, Ordering::Relaxed);
        (elapsed, writing.join().unwrap())
    })
}

/// Products with the longest descriptions that fit into one request.
fn expanding_products() -> Vec<Value> {
    let description = format!("marker {}", EXPANDING.repeat(19_900));
    let product = json!({"title": "Rug", "price": "$5", "description": description});
    vec![product; 69]
}

#[test]
fn texts_that_expand_do_not_delay_other_shops() {
    let server = TestServer::start(&[]);
    let (heavy, other) = (server.shop(), server.shop());
    let (heavy, other) = (heavy.as_role(Role::Editor), other.as_role(Role::Editor));
    // Both in memory.
    for client in [&heavy, &other] {
        client.create(product_named("Lamp"));
        client.find("lamp");
    }
    let body = json!({"products": expanding_products()});
    let (took, slowest) = slowest_write_during(&other, || {
        heavy.post(BULK, body).expect(201);
        // Answered means visible.
        let found = heavy.post(SEARCH, json!({"query": "marker"})).expect(200);
        assert_eq!(found.body["total"], 69);
    });
    assert!(slowest * 3 < took, "a write of another shop took {slowest:?} of {took:?}");
}

#[test]
fn hiding_a_product_does_not_index_its_texts_again() {
    let server = TestServer::start(&[]);
    let (heavy, light) = (server.shop(), server.shop());
    let (heavy, light) = (heavy.as_role(Role::Editor), light.as_role(Role::Editor));
    let long = heavy.create(expanding_products()[0].clone());
    let short = light.create(product_named("Lamp"));
    assert_eq!(heavy.find("marker"), [long]);
    assert_eq!(light.find("lamp"), [short]);
    let toggle = |client: &Client, id: u64, hidden: bool| {
        let started = Instant::now();
        client.put(&product(id), json!({"hidden": hidden})).expect(200);
        started.elapsed()
    };
    // In turns, so that a slow moment of the machine meets both; and the median, because some writes
    // wait for what else runs there.
    let (mut of_long, mut of_short) = (Vec::new(), Vec::new());
    for n in 0..60 {
        of_long.push(toggle(&heavy, long, n % 2 == 0));
        of_short.push(toggle(&light, short, n % 2 == 0));
    }
    let [of_long, of_short] = [of_long, of_short].map(|mut times| {
        times.sort();
        times[times.len() / 2]
    });
    assert_eq!(heavy.find("marker"), [long]);
    heavy.put(&product(long), json!({"hidden": true})).expect(200);
    assert!(heavy.find("marker").is_empty());
    // The row itself is longer, too: reading and writing it takes its time.
    assert!(of_long < of_short * 4, "{of_long:?} for a long text, {of_short:?} for a short one");
}
