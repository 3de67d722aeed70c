//! How do tests start a server, and how do they ask it?
//!
//! ```text
//! let shop = Shop::open();                          // a shop of its own on the shared server
//! let editor = shop.as_role(Role::Editor);          // a client with a token of that role
//! let sofa = editor.create(json!({"title": "Sofa", "price": "$5"}));
//! editor.get(&product(sofa)).expect(200);
//! ```
//!
//! What holds for every answer (a request id; problem+json for errors) is checked here, for each.

use std::{
    ffi::OsString,
    fs::File,
    io::{BufRead, BufReader},
    net::{SocketAddr, TcpListener},
    path::Path,
    process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio},
    sync::{
        Arc, LazyLock, Mutex, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use reqwest::{
    Method,
    blocking::{RequestBuilder, Response},
    header::HeaderMap,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything may take that is certain to happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The ids of no products.
pub(crate) const NONE: [u64; 0] = [];

/// The address of the products.
pub(crate) const PRODUCTS: &str = "/api/v1/products";
/// The address of bulk requests.
pub(crate) const BULK: &str = "/api/v1/products/bulk";
/// The address of searches.
pub(crate) const SEARCH: &str = "/api/v1/search";
/// The address of a shop's tokens.
pub(crate) const TOKENS: &str = "/api/v1/tokens";

/// What precedes the address in the line that the server prints.
const ANNOUNCEMENT: &str = "Shopkeeper listens on http://";

/// What precedes the address of health and metrics in the line after that, where there is one.
const ADMIN_ANNOUNCEMENT: &str = "Health and metrics at ";

/// The address of one product.
pub(crate) fn product(id: u64) -> String {
    format!("{PRODUCTS}/{id}")
}

/// A product with this title, and all else as plain as can be.
pub(crate) fn plain(title: &str) -> Value {
    json!({"title": title, "price": "$5"})
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Shopper,
    Viewer,
    Editor,
    Admin,
}

impl Role {
    pub(crate) const ALL: [Self; 4] = [Self::Shopper, Self::Viewer, Self::Editor, Self::Admin];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Shopper => "SHOPPER",
            Self::Viewer => "VIEWER",
            Self::Editor => "EDITOR",
            Self::Admin => "ADMIN",
        }
    }
}

/// The binary, with nothing of our own surroundings to configure it.
fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shopkeeper"));
    let ours = |name: &OsString| name.to_str().is_some_and(|name| name.starts_with("SHOPKEEPER"));
    for name in std::env::vars_os().map(|(name, _)| name).filter(ours) {
        command.env_remove(name);
    }
    command
}

/// Runs the binary to its end.
pub(crate) fn run(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    binary().args(arguments).envs(environment.iter().copied()).output().unwrap()
}

/// What a process that succeeded has printed.
pub(crate) fn printed(output: Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// A running server. It ends with its last user.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: SocketAddr,
    #[allow(dead_code)]
    admin: Option<String>,
    home: Option<Home>,
    next_shop: AtomicU64,
}

impl Server {
    /// Starts a server with these flags on an empty folder. Without a word about the model there
    /// is none: it takes its time to start, and most tests are about something else.
    pub(crate) fn start(flags: &[&str]) -> Arc<Self> {
        let says_model = flags.iter().any(|flag| flag.starts_with("--model"));
        let model: &[&str] = if says_model { &[] } else { &["--model-kind", "off"] };
        Self::start_on(Home::new(), &[model, flags].concat())
    }

    fn start_on(home: Home, flags: &[&str]) -> Arc<Self> {
        Self::launch(home, "serve", flags).0
    }

    /// Starts a server with the demo shop on an empty folder; the text is what it prints.
    pub(crate) fn start_demo(flags: &[&str]) -> (Arc<Self>, String) {
        Self::start_demo_on(Home::new(), flags)
    }

    /// Kills the server and starts the demo on the same folder.
    pub(crate) fn restart_demo(self: Arc<Self>, flags: &[&str]) -> (Arc<Self>, String) {
        Self::start_demo_on(self.end_and_leave_home(), flags)
    }

    /// Starts the demo on an empty store, kills it as soon as its database is there, and starts it again.
    pub(crate) fn start_demo_after_a_crash() -> (Arc<Self>, String) {
        let home = Home::new();
        let mut process = binary()
            .args(["demo", "--listen", "127.0.0.1:0", "--data"])
            .arg(data(home.folder.path()))
            .envs(home.environment())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until("a database", || home.has_tables());
        process.kill().unwrap();
        process.wait().unwrap();
        Self::start_demo_on(home, &[])
    }

    fn start_demo_on(home: Home, flags: &[&str]) -> (Arc<Self>, String) {
        let (server, mut output) = Self::launch(home, "demo", flags);
        let mut printed = String::new();
        while !printed.contains("export TOKEN=") {
            assert_ne!(output.read_line(&mut printed).unwrap(), 0, "{printed}");
        }
        (server, printed)
    }

    fn launch(home: Home, command: &str, flags: &[&str]) -> (Arc<Self>, BufReader<ChildStdout>) {
        let folder = &home.folder;
        let log = folder.path().join("server.log");
        let mut process = binary()
            .args([command, "--listen", "127.0.0.1:0", "--data"])
            .arg(data(folder.path()))
            .args(flags)
            .envs(home.environment())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let Some(address) = line.trim().strip_prefix(ANNOUNCEMENT) else {
            let _ = process.kill();
            panic!("{line:?}\n{}", std::fs::read_to_string(log).unwrap());
        };
        let address = address.parse().unwrap();
        let admin = flags.contains(&"--admin-listen").then(|| {
            line.clear();
            output.read_line(&mut line).unwrap();
            line.trim().strip_prefix(ADMIN_ANNOUNCEMENT).unwrap().to_owned()
        });
        let server =
            Self { process, address, admin, home: Some(home), next_shop: AtomicU64::new(1) };
        (Arc::new(server), output)
    }

    /// The server that tests share as long as one of them uses it.
    fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        // A test that failed while it started the server leaves nothing half done.
        let mut shared = SHARED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        shared.upgrade().unwrap_or_else(|| {
            // However many tests search at once, the deep encoder reads the queries.
            let server = Self::start(&["--model-query-budget", "1000000"]);
            *shared = Arc::downgrade(&server);
            server
        })
    }

    /// Kills the server and starts another on the same folder.
    pub(crate) fn restart(self: Arc<Self>) -> Arc<Self> {
        self.restart_with(&[])
    }

    /// As [`restart`](Self::restart), with these flags.
    pub(crate) fn restart_with(self: Arc<Self>, flags: &[&str]) -> Arc<Self> {
        Self::start_on(self.end_and_leave_home(), flags)
    }

    fn end_and_leave_home(self: Arc<Self>) -> Home {
        let mut server = Arc::into_inner(self).expect("only this test uses the server");
        server.end();
        server.home.take().unwrap()
    }

    /// A shop that nobody else uses.
    pub(crate) fn shop(self: &Arc<Self>) -> Shop {
        let number = self.next_shop.fetch_add(1, Ordering::Relaxed);
        Shop { server: Arc::clone(self), number }
    }

    /// Someone without a token.
    pub(crate) fn stranger(&self) -> Client {
        Client { base: format!("http://{}", self.address), token: None }
    }

    /// Someone who asks for health and metrics at the listener for them.
    #[allow(dead_code)]
    pub(crate) fn admin(&self) -> Client {
        Client { base: self.admin.clone().unwrap(), token: None }
    }

    /// Someone with this token.
    pub(crate) fn bearer(&self, token: &str) -> Client {
        Client { token: Some(token.to_owned()), ..self.stranger() }
    }

    /// Runs `shopkeeper token …` on the server's folder.
    pub(crate) fn token_command(&self, arguments: &[&str]) -> Output {
        self.command(&[&["token"], arguments].concat())
    }

    /// Runs the binary on what the server keeps, beside it.
    pub(crate) fn command(&self, arguments: &[&str]) -> Output {
        let home = self.home.as_ref().unwrap();
        let folder = data(home.folder.path());
        let arguments = [arguments, &["--data", folder.to_str().unwrap()]].concat();
        run(&arguments, &home.environment())
    }

    /// The server's resident memory in bytes.
    #[allow(dead_code)]
    pub(crate) fn resident_bytes(&self) -> u64 {
        testkit::resident_bytes(self.process.id())
    }

    fn end(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A model that takes requests and never answers, so that searches take their time.
pub(crate) fn silent_model() -> (TcpListener, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let flags = ["--model-kind", "http", "--model-name", "none", "--model-dims", "8"];
    let more = ["--model-timeout", "15s", "--model-background", "false", "--model-url", &url];
    let flags = flags.iter().chain(&more).map(|flag| (*flag).to_owned()).collect();
    (listener, flags)
}

/// What only some of the suites that share this module need.
#[allow(dead_code)]
impl Server {
    /// Sends the server a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits until the server has ended by itself.
    pub(crate) fn wait(self: Arc<Self>) -> ExitStatus {
        let mut server = Arc::into_inner(self).expect("only this test uses the server");
        server.process.wait().unwrap()
    }

    /// What the server has logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.home.as_ref().unwrap().folder.path().join("server.log"))
            .unwrap()
    }

    /// The data folder, where there is no database in its place.
    pub(crate) fn data_folder(&self) -> std::path::PathBuf {
        data(self.home.as_ref().unwrap().folder.path())
    }
}

/// Where a server keeps everything: a folder, or a database where `TEST_STORE=postgres`. With
/// `TEST_SEARCH_ABOVE`, shops with more products than that are searched inside it.
struct Home {
    folder: TempDir,
    database: Option<String>,
    search_above: Option<String>,
}

impl Home {
    fn new() -> Self {
        let database = match std::env::var("TEST_STORE").as_deref() {
            Err(_) | Ok("" | "sqlite") => None,
            Ok("postgres") => Some(testkit::postgres().database()),
            Ok(other) => panic!("TEST_STORE is sqlite or postgres, not {other}"),
        };
        let search_above = std::env::var("TEST_SEARCH_ABOVE").ok();
        Self { folder: TempDir::new().unwrap(), database, search_above }
    }

    /// Whether a server has begun to keep something.
    fn has_tables(&self) -> bool {
        match self.database.as_deref().and_then(|url| url.rsplit_once('/')) {
            None => data(self.folder.path()).join("shopkeeper.db").exists(),
            Some((_, name)) => {
                !testkit::postgres().psql(name, "SELECT to_regclass('products')").is_empty()
            }
        }
    }

    fn environment(&self) -> Vec<(&str, &str)> {
        let above = self.search_above.iter();
        let url = self.database.iter().map(|url| ("SHOPKEEPER_DATABASE_URL", url.as_str()));
        url.chain(above.map(|above| ("SHOPKEEPER_DATABASE_SEARCH_ABOVE", above.as_str()))).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn data(folder: &Path) -> std::path::PathBuf {
    folder.join("data")
}

/// One shop of a server.
pub(crate) struct Shop {
    pub(crate) server: Arc<Server>,
    pub(crate) number: u64,
}

impl Shop {
    /// A new shop on the shared server.
    pub(crate) fn open() -> Self {
        Server::shared().shop()
    }

    /// A new token of this shop.
    pub(crate) fn token(&self, role: Role) -> String {
        let shop = self.number.to_string();
        let arguments = ["create", "--shop", &shop, "--role", role.name()];
        printed(self.server.token_command(&arguments)).trim_end().to_owned()
    }

    /// Someone with a new token of this shop.
    pub(crate) fn as_role(&self, role: Role) -> Client {
        self.server.bearer(&self.token(role))
    }
}

/// A new shop and its editor, which is all that most tests need. The shop keeps the server.
pub(crate) fn editor() -> (Shop, Client) {
    let shop = Shop::open();
    let editor = shop.as_role(Role::Editor);
    (shop, editor)
}

/// Someone who asks the server, with or without a token.
#[derive(Clone)]
pub(crate) struct Client {
    base: String,
    pub(crate) token: Option<String>,
}

static HTTP: LazyLock<reqwest::blocking::Client> = LazyLock::new(|| {
    reqwest::blocking::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(PATIENCE)
        // Well before the server closes an idle connection, lest the two cross.
        .pool_idle_timeout(Duration::from_secs(2))
        .build()
        .unwrap()
});

impl Client {
    /// A request to be finished by the test and sent with [`Ask::answer`].
    pub(crate) fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = HTTP.request(method, format!("{}{path}", self.base));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request("GET", path).answer()
    }

    pub(crate) fn post(&self, path: &str, body: Value) -> Answer {
        self.request("POST", path).json(&body).answer()
    }

    pub(crate) fn put(&self, path: &str, body: Value) -> Answer {
        self.request("PUT", path).json(&body).answer()
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.request("DELETE", path).answer()
    }

    /// `DELETE` with a body.
    pub(crate) fn bulk_delete(&self, body: Value) -> Answer {
        self.request("DELETE", BULK).json(&body).answer()
    }

    /// Creates a product and returns its id.
    pub(crate) fn create(&self, body: Value) -> u64 {
        self.post(PRODUCTS, body).expect(201).id()
    }

    /// Creates products with these titles and returns their ids.
    pub(crate) fn create_all(&self, titles: impl IntoIterator<Item = String>) -> Vec<u64> {
        let titles: Vec<_> = titles.into_iter().collect();
        let mut ids = Vec::new();
        for some in titles.chunks(100) {
            let products: Vec<_> = some.iter().map(|title| plain(title)).collect();
            let answer = self.post(BULK, json!({"products": products})).expect(201);
            assert_eq!(answer.body["errors"], json!([]));
            ids.extend(answer.body["created_ids"].as_array().unwrap().iter().map(number));
        }
        ids
    }

    /// The ids that a search finds, best first.
    pub(crate) fn find(&self, query: &str) -> Vec<u64> {
        self.post(SEARCH, json!({"query": query})).expect(200).ids()
    }
}

/// Sends a request.
pub(crate) trait Ask {
    fn answer(self) -> Answer;
}

impl Ask for RequestBuilder {
    fn answer(self) -> Answer {
        let request = self.build().unwrap();
        let has_body = request.method() != Method::HEAD;
        Answer::read(HTTP.execute(request).unwrap(), has_body)
    }
}

/// What the server said.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    /// The body, or `null` where there is none or it is not JSON.
    pub(crate) body: Value,
}

impl Answer {
    fn read(response: Response, has_body: bool) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().unwrap();
        let body = serde_json::from_str(&text).unwrap_or_default();
        let answer = Self { status, headers, text, body };
        answer.check(has_body);
        answer
    }

    /// What holds for every answer.
    pub(crate) fn check(&self, has_body: bool) {
        let id = self.header("x-request-id").expect("every answer has a request id");
        // Health has a form of its own, which load balancers read.
        let is_health = self.body == json!({"status": self.body["status"].as_str()});
        if self.status < 400 || is_health {
            return;
        }
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        if has_body {
            assert_eq!(self.body["status"], self.status, "{self:?}");
            assert_eq!(self.body["request_id"], id, "{self:?}");
            for field in ["type", "title", "detail", "code"] {
                assert!(self.body[field].as_str().is_some_and(|text| !text.is_empty()), "{self:?}");
            }
        }
    }

    /// The answer, which must have this status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// The answer, which must be this problem.
    #[track_caller]
    pub(crate) fn refused(self, status: u16, code: &str) -> Self {
        let answer = self.expect(status);
        assert_eq!(answer.body["code"], code, "{}", answer.text);
        answer
    }

    /// The answer, which must be a 422 with exactly these faults, each as `field code`.
    #[track_caller]
    pub(crate) fn faults(self, expected: &[&str]) -> Self {
        let answer = self.refused(422, "validation_failed");
        let fault = |fault: &Value| {
            let field = fault.get("field").map_or("-", |field| field.as_str().unwrap());
            format!("{field} {}", fault["code"].as_str().unwrap())
        };
        let found: Vec<_> = answer.body["errors"].as_array().unwrap().iter().map(fault).collect();
        assert_eq!(found, expected);
        answer
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The product's id.
    #[track_caller]
    pub(crate) fn id(&self) -> u64 {
        number(&self.body["id"])
    }

    /// The ids of a list's or a search's products.
    #[track_caller]
    pub(crate) fn ids(&self) -> Vec<u64> {
        let products = self.body.get("products").unwrap_or(&self.body);
        products.as_array().unwrap().iter().map(|product| number(&product["id"])).collect()
    }

    /// How many products there are on all pages of a list.
    pub(crate) fn total_count(&self) -> usize {
        self.header("x-total-count").unwrap().parse().unwrap()
    }

    pub(crate) fn etag(&self) -> &str {
        self.header("etag").unwrap()
    }
}

#[track_caller]
fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is not an id"))
}

/// Headers that are part of the contract; the others are left to the HTTP library.
const SHOWN_HEADERS: &[&str] = &[
    "allow",
    "content-type",
    "etag",
    "location",
    "ratelimit",
    "ratelimit-policy",
    "retry-after",
    "www-authenticate",
    "x-request-id",
    "x-total-count",
];

/// Compares the whole answer with the snapshot of this name. What differs from run to run is
/// replaced by what it is.
#[track_caller]
pub(crate) fn snapshot(name: &str, answer: &Answer) {
    let headers: serde_json::Map<_, _> = SHOWN_HEADERS
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), answer.header(name)?.into())))
        .collect();
    let view = json!({"status": answer.status, "headers": headers, "body": answer.body});
    let mut settings = insta::Settings::clone_current();
    settings.set_sort_maps(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (selector, stands_for) in [
        (".headers.etag", "[etag]"),
        (".headers[\"x-request-id\"]", "[request id]"),
        (".body.**.request_id", "[request id]"),
        (".body.**.id", "[id]"),
        (".body.created_ids[]", "[id]"),
        (".body.updated_ids[]", "[id]"),
        (".body.**.shop_id", "[shop]"),
        (".body.**.created_at", "[time]"),
        (".body.**.updated_at", "[time]"),
        (".body.**.token", "[token]"),
    ] {
        settings.add_redaction(selector, stands_for);
    }
    settings.add_dynamic_redaction(".headers.location", |location, _| {
        let (folder, _) = location.as_str().unwrap().rsplit_once('/').unwrap();
        format!("{folder}/[id]")
    });
    settings.bind(|| insta::assert_json_snapshot!(name, view));
}

/// Asks again and again until the answer is yes, for what no event announces.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}
