//! How do tests start nodes on a database, and what can they do to them?

use std::{
    fs::File,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use reqwest::{
    blocking::{Client, RequestBuilder, Response},
    header::{AUTHORIZATION, HeaderMap},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The header of the last change that an answer shows.
pub(crate) const SEQ: &str = "x-catalog-seq";

/// The ids of no products.
pub(crate) const NONE: [u64; 0] = [];

/// A running node.
pub(crate) struct Node {
    process: Child,
    base: String,
    token: String,
    http: Client,
    folder: TempDir,
}

/// A token of this role for shop 1 of a database.
pub(crate) fn token(url: &str, role: &str) -> String {
    token_of(url, 1, role)
}

/// A token of this role for any shop.
pub(crate) fn token_of(url: &str, shop: u64, role: &str) -> String {
    let shop = shop.to_string();
    let issued = binary(url).args(["token", "create", "--shop", &shop, "--role", role]).output();
    let issued = issued.unwrap();
    assert!(issued.status.success(), "{}", String::from_utf8_lossy(&issued.stderr));
    String::from_utf8(issued.stdout).unwrap().trim_end().to_owned()
}

/// The binary, told of the database as an operator would.
pub(crate) fn binary(url: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shopkeeper"));
    command.env("SHOPKEEPER_DATABASE_URL", url).env("SHOPKEEPER_MODEL_KIND", "off");
    command
}

/// The seed of this run, said so that it can be repeated.
pub(crate) fn seed() -> u64 {
    let given = std::env::var("TEST_SEED").ok().map(|seed| seed.parse().unwrap());
    let seed = given.unwrap_or_else(|| fastrand::u64(..));
    eprintln!("TEST_SEED={seed}");
    seed
}

/// How often a fault happens: few times in `make test`, many in `make test-faults`.
pub(crate) fn rounds() -> usize {
    std::env::var("TEST_ROUNDS").ok().map_or(2, |rounds| rounds.parse().unwrap())
}

/// How long the database stays away.
pub(crate) fn outage() -> Duration {
    Duration::from_secs(if rounds() > 2 { 10 } else { 5 })
}

impl Node {
    pub(crate) fn start(url: &str, token: &str) -> Self {
        Self::start_with(url, token, &[])
    }

    /// Starts a node with more settings than most need.
    pub(crate) fn start_with(url: &str, token: &str, flags: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let log = folder.path().join("log");
        let mut process = binary(url)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(flags)
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let Some((_, base)) = line.trim().split_once("listens on ") else {
            let _ = process.kill();
            panic!("{line:?}\n{}", std::fs::read_to_string(log).unwrap());
        };
        let http = Client::builder().no_proxy().timeout(Duration::from_secs(60)).build().unwrap();
        let base = format!("{base}/api/v1");
        Self { process, base, token: token.to_owned(), http, folder }
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = method.parse().unwrap();
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
    }

    /// Creates a product; its id and the change that made it.
    pub(crate) fn create(&self, title: &str) -> (u64, u64) {
        let made = self.try_create(title).error_for_status().unwrap();
        let seq = seq(&made);
        (made.json::<Value>().unwrap()["id"].as_u64().unwrap(), seq)
    }

    pub(crate) fn try_create(&self, title: &str) -> Response {
        let body = json!({"title": title, "price": "$5"});
        self.request("POST", "/products").json(&body).send().unwrap()
    }

    pub(crate) fn update(&self, id: u64, body: &Value) -> Response {
        self.request("PUT", &format!("/products/{id}")).json(body).send().unwrap()
    }

    pub(crate) fn get(&self, id: u64) -> Value {
        let found = self.request("GET", &format!("/products/{id}")).send().unwrap();
        assert_eq!(found.status(), 200, "{}", self.log());
        found.json().unwrap()
    }

    /// Whether it is ready.
    pub(crate) fn readiness(&self) -> Response {
        self.operation("/health/ready")
    }

    /// The value of a figure, if there is one yet.
    pub(crate) fn figure(&self, name: &str) -> Option<f64> {
        let text = self.operation("/metrics").text().unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map(|value| value.parse().unwrap())
    }

    fn operation(&self, path: &str) -> Response {
        let base = self.base.strip_suffix("/api/v1").unwrap();
        self.http.get(format!("{base}{path}")).send().unwrap()
    }

    pub(crate) fn search(&self, query: &str) -> RequestBuilder {
        self.request("POST", "/search").json(&json!({"query": query, "limit": 50}))
    }

    /// The ids that a search finds.
    pub(crate) fn find(&self, query: &str) -> Vec<u64> {
        ids(self.search(query).send().unwrap())
    }

    /// Stops the node's processor without its knowledge.
    pub(crate) fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    pub(crate) fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Ends it without warning, while others talk to it.
    pub(crate) fn end(&self) {
        self.signal(Signal::KILL);
    }

    /// Ends it without warning.
    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    fn signal(&self, signal: Signal) {
        let id = Pid::from_raw(self.process.id().cast_signed()).unwrap();
        kill_process(id, signal).unwrap();
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The last change that an answer shows.
pub(crate) fn seq(answer: &Response) -> u64 {
    answer.headers()[SEQ].to_str().unwrap().parse().unwrap()
}

/// The header of another token, in place of the node's own.
pub(crate) fn bearer(token: &str) -> HeaderMap {
    let value = format!("Bearer {token}").parse().unwrap();
    [(AUTHORIZATION, value)].into_iter().collect()
}

/// How many seconds old an answer may be, if it says so.
pub(crate) fn age(answer: &Response) -> Option<u64> {
    answer.headers().get("x-catalog-age").map(|age| age.to_str().unwrap().parse().unwrap())
}

/// The ids of what was found.
pub(crate) fn ids(answer: Response) -> Vec<u64> {
    let found: Value = answer.error_for_status().unwrap().json().unwrap();
    let products = found["products"].as_array().unwrap();
    products.iter().map(|product| product["id"].as_u64().unwrap()).collect()
}
