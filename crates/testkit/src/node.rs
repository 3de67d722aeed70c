//! A node: a server on a database that several share, with a client of one of its shops.

use std::{env, ops::Deref, process::Output};

use reqwest::{
    blocking::{RequestBuilder, Response},
    header::{AUTHORIZATION, HeaderMap},
};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{Client, Installation, Role, Server, client::ids_of, product_named};

/// The header with the sequence number of the last change that an answer reflects.
const SEQ: &str = "x-catalog-seq";

/// A running node and a client with a token for one of its shops.
pub struct Node {
    server: Server,
    client: Client,
    _installation: Installation,
}

impl Deref for Node {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

/// The installation of a node: no model, unless a flag says otherwise.
fn installation(url: &str) -> Installation {
    Installation::on_database(url).with_variable("SHOPKEEPER_MODEL_KIND", "off")
}

/// A new token for shop 1 of a database.
pub fn token(url: &str, role: Role) -> String {
    token_of(url, 1, role)
}

/// A new token for a shop of a database.
pub fn token_of(url: &str, shop: u64, role: Role) -> String {
    installation(url).token(shop, role)
}

/// Runs the binary with these arguments on a database.
pub fn run_on(url: &str, arguments: &[&str]) -> Output {
    installation(url).run(arguments)
}

/// The seed of this run, printed so that `TEST_SEED` can repeat it.
pub fn seed() -> u64 {
    let given = env::var("TEST_SEED").ok().map(|seed| seed.parse().unwrap());
    let seed = given.unwrap_or_else(|| fastrand::u64(..));
    eprintln!("TEST_SEED={seed}");
    seed
}

impl Node {
    /// Starts a node; requests carry this token.
    pub fn start(url: &str, token: &str) -> Self {
        Self::start_with(url, token, &[])
    }

    /// As [`start`](Self::start), with more flags.
    pub fn start_with(url: &str, token: &str, flags: &[&str]) -> Self {
        let installation = installation(url);
        let server = installation.serve(flags);
        let client = server.client(token);
        Self { server, client, _installation: installation }
    }

    /// A request to a path below `/api/v1`.
    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        self.client.request(method, &format!("/api/v1{path}"))
    }

    /// Creates a product; returns its id and the sequence number of the change.
    pub fn create(&self, title: &str) -> (u64, u64) {
        let created = self.try_create(title).error_for_status().unwrap();
        let seq = seq(&created);
        (created.json::<Value>().unwrap()["id"].as_u64().unwrap(), seq)
    }

    /// Sends the creation of a product.
    pub fn try_create(&self, title: &str) -> Response {
        self.request("POST", "/products").json(&product_named(title)).send().unwrap()
    }

    /// Sends the update of a product.
    pub fn update(&self, id: u64, body: &Value) -> Response {
        self.request("PUT", &format!("/products/{id}")).json(body).send().unwrap()
    }

    /// Reads a product.
    pub fn get(&self, id: u64) -> Value {
        let found = self.request("GET", &format!("/products/{id}")).send().unwrap();
        assert_eq!(found.status(), 200, "{}", self.log());
        found.json().unwrap()
    }

    /// Reads the readiness endpoint.
    pub fn readiness(&self) -> Response {
        self.client.request("GET", "/health/ready").send().unwrap()
    }

    /// The value of a metric; `None` before it is first recorded.
    pub fn metric(&self, name: &str) -> Option<f64> {
        let text = self.client.request("GET", "/metrics").send().unwrap().text().unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map(|value| value.parse().unwrap())
    }

    /// A search request.
    pub fn search(&self, query: &str) -> RequestBuilder {
        self.request("POST", "/search").json(&json!({"query": query, "limit": 50}))
    }

    /// The ids that a search finds.
    pub fn find(&self, query: &str) -> Vec<u64> {
        ids(self.search(query).send().unwrap())
    }

    /// Suspends the process.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets a suspended process continue.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }
}

/// The sequence number of the last change that an answer reflects.
pub fn seq(answer: &Response) -> u64 {
    answer.headers()[SEQ].to_str().unwrap().parse().unwrap()
}

/// The header of another token, in place of the node's own.
pub fn bearer(token: &str) -> HeaderMap {
    let value = format!("Bearer {token}").parse().unwrap();
    [(AUTHORIZATION, value)].into_iter().collect()
}

/// The age of an answer in seconds; `None` if it is up to date.
pub fn age(answer: &Response) -> Option<u64> {
    answer.headers().get("x-catalog-age").map(|age| age.to_str().unwrap().parse().unwrap())
}

/// The ids of the products that a search found.
pub fn ids(answer: Response) -> Vec<u64> {
    ids_of(&answer.error_for_status().unwrap().json().unwrap())
}
