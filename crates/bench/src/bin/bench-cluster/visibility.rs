//! The delay until other nodes find the writes of one node, measured by polling.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use bench::{client::Connection, load::Measured, random::Random};
use futures_util::future::try_join_all;
use hyper::{StatusCode, body::Bytes};
use serde_json::{Value, json};

use crate::fleet::Fleet;

/// The polling interval: short against the delays measured, and a small load for the nodes.
const LOOK: Duration = Duration::from_millis(2);
/// A write must be found within this time.
const PATIENCE: Duration = Duration::from_secs(60);
/// Letters of a unique word, long enough not to be corrected to another.
const LETTERS: usize = 14;

/// Creates products, one after the other, on each node in turn, until the time is over, and looks for
/// each on all others: from the answer to the create until the answer that has the product.
pub(crate) async fn measure(fleet: &Fleet, seed: u64, time: Duration) -> anyhow::Result<Measured> {
    let mut open = Vec::with_capacity(fleet.len());
    for node in 0..fleet.len() {
        open.push(Connection::open(&fleet.target(node, 0)).await?);
    }
    let mut random = Random::new(seed);
    let mut delays = Vec::new();
    let started = Instant::now();
    for round in 0.. {
        if started.elapsed() >= time {
            break;
        }
        let word = word(&mut random);
        let body = json!({"title": word, "price": "$5"}).to_string().into();
        let writer = round % open.len();
        let made = open[writer].post("/api/v1/products", body).await?.json(StatusCode::CREATED)?;
        let id = made["id"].as_u64().context("a product's id")?;
        let written = Instant::now();
        let others = open.iter_mut().enumerate().filter(|(node, _)| *node != writer);
        let found = others.map(|(_, connection)| until_found(connection, &word, id, written));
        delays.extend(try_join_all(found).await?);
    }
    Ok(Measured::of(delays, started.elapsed()))
}

async fn until_found(
    connection: &mut Connection,
    word: &str,
    id: u64,
    written: Instant,
) -> anyhow::Result<Duration> {
    let body: Bytes =
        json!({"query": word, "limit": 1, "understand": {"corrections": false}}).to_string().into();
    loop {
        let answer = connection.post("/api/v1/search", body.clone()).await?;
        let answer: Value = answer.json(StatusCode::OK)?;
        if answer["products"][0]["id"].as_u64() == Some(id) {
            return Ok(written.elapsed());
        }
        ensure!(written.elapsed() < PATIENCE, "a write is not found by another node");
        tokio::time::sleep(LOOK).await;
    }
}

fn word(random: &mut Random) -> String {
    let letters: Vec<char> = ('a'..='z').collect();
    (0..LETTERS).map(|_| *random.pick(&letters)).collect()
}
