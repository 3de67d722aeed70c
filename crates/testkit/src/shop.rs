//! Servers with many shops, one for each test: shops do not see each other, so tests can share a
//! server. `TEST_STORE=postgres` runs them on a database; with `TEST_SEARCH_ABOVE=N`, shops with
//! more than N products are searched inside it.

use std::{
    env,
    net::TcpListener,
    ops::Deref,
    process::{Output, Stdio},
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{Client, Installation, Role, Server, postgres, until};

/// A server with its store, shared by the shops on it. Ends with the last of them.
pub struct TestServer {
    // Declared before the installation: it ends before its store is removed.
    server: Server,
    installation: Arc<Installation>,
    next_shop: AtomicU64,
}

impl Deref for TestServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl TestServer {
    /// Starts a server with these flags on an empty store. Without a `--model` flag it has no
    /// model, whose loading takes time that most tests need not spend.
    pub fn start(flags: &[&str]) -> Arc<Self> {
        let installation = Arc::new(installation());
        let has_model_flag = flags.iter().any(|flag| flag.starts_with("--model"));
        let model: &[&str] = if has_model_flag { &[] } else { &["--model-kind", "off"] };
        Self::launch(installation, "serve", &[model, flags].concat())
    }

    /// Starts a server with the demo shop on an empty store; returns what it prints, too.
    pub fn start_demo(flags: &[&str]) -> (Arc<Self>, String) {
        Self::launch_demo(Arc::new(installation()), flags)
    }

    /// Starts the demo on an empty store, kills it as soon as there are tables, and starts it again.
    pub fn start_demo_after_a_crash() -> (Arc<Self>, String) {
        let installation = Arc::new(installation());
        let mut command = installation.command(&["demo", "--listen", "127.0.0.1:0"]);
        let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("the creation of the tables", || has_tables(&installation));
        process.kill().unwrap();
        process.wait().unwrap();
        Self::launch_demo(installation, &[])
    }

    fn launch_demo(installation: Arc<Installation>, flags: &[&str]) -> (Arc<Self>, String) {
        let server = Self::launch(installation, "demo", flags);
        let printed = server.wait_for_output("export TOKEN=");
        (server, printed)
    }

    fn launch(installation: Arc<Installation>, command: &str, flags: &[&str]) -> Arc<Self> {
        let listen = ["--listen", "127.0.0.1:0"];
        let listen: &[&str] = if flags.contains(&listen[0]) { &[] } else { &listen };
        let arguments = [&[command], listen, flags].concat();
        let server = Server::start(&mut installation.command(&arguments));
        Arc::new(Self { server, installation, next_shop: AtomicU64::new(1) })
    }

    /// The server that tests share for as long as one of them uses it.
    fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<TestServer>> = Mutex::new(Weak::new());
        // A panic while the server starts leaves no partial state.
        let mut shared = SHARED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        shared.upgrade().unwrap_or_else(|| {
            // The deep encoder embeds the queries, however many tests search at the same time.
            let server = Self::start(&["--model-query-budget", "1000000"]);
            *shared = Arc::downgrade(&server);
            server
        })
    }

    /// Kills the server and starts another on the same store, with these flags.
    pub fn restart(self: Arc<Self>, flags: &[&str]) -> Arc<Self> {
        Self::launch(self.into_installation(), "serve", flags)
    }

    /// Kills the server and starts the demo on the same store; returns what it prints, too.
    pub fn restart_demo(self: Arc<Self>, flags: &[&str]) -> (Arc<Self>, String) {
        Self::launch_demo(self.into_installation(), flags)
    }

    fn into_installation(self: Arc<Self>) -> Arc<Installation> {
        let server = Arc::into_inner(self).expect("only this test uses the server");
        server.end();
        server.installation
    }

    /// A shop that no other test uses.
    pub fn shop(self: &Arc<Self>) -> Shop {
        let number = self.next_shop.fetch_add(1, Ordering::Relaxed);
        Shop { server: Arc::clone(self), number }
    }

    /// A client of the admin listener.
    pub fn admin(&self) -> Client {
        Client::new(&self.admin_url(), None)
    }

    /// The store and the binary.
    pub fn installation(&self) -> &Installation {
        &self.installation
    }

    /// Runs the binary on the server's store.
    pub fn command(&self, arguments: &[&str]) -> Output {
        self.installation.run(arguments)
    }

    /// Runs `shopkeeper token …` on the server's store.
    pub fn token_command(&self, arguments: &[&str]) -> Output {
        self.command(&[&["token"], arguments].concat())
    }
}

/// An empty store of the kind that `TEST_STORE` names.
fn installation() -> Installation {
    let installation = match env::var("TEST_STORE").as_deref() {
        Err(_) | Ok("" | "sqlite") => Installation::temporary(),
        Ok("postgres") => Installation::on_database(&postgres().database()),
        Ok(other) => panic!("TEST_STORE is sqlite or postgres, not {other}"),
    };
    match env::var("TEST_SEARCH_ABOVE") {
        Ok(above) => installation.with_variable("SHOPKEEPER_DATABASE_SEARCH_ABOVE", above),
        Err(_) => installation,
    }
}

/// Whether a server has created its tables.
fn has_tables(installation: &Installation) -> bool {
    match installation.database_name() {
        None => installation.data().join("shopkeeper.db").exists(),
        Some(name) => !postgres().psql(&name, "SELECT to_regclass('products')").is_empty(),
    }
}

/// One shop of a server.
pub struct Shop {
    /// The server, which runs as long as the shop is used.
    pub server: Arc<TestServer>,
    /// The shop's id.
    pub number: u64,
}

impl Shop {
    /// A new shop on the shared server.
    pub fn open() -> Self {
        TestServer::shared().shop()
    }

    /// A new token of this shop.
    pub fn token(&self, role: Role) -> String {
        self.server.installation.token(self.number, role)
    }

    /// A client with a new token of this shop.
    pub fn as_role(&self, role: Role) -> Client {
        self.server.client(&self.token(role))
    }
}

/// A new shop and a client with an editor's token. The shop keeps the server running.
pub fn editor() -> (Shop, Client) {
    let shop = Shop::open();
    let editor = shop.as_role(Role::Editor);
    (shop, editor)
}

/// An embedding endpoint that accepts connections and never answers, and the flags that use it:
/// searches then take as long as the model's timeout.
pub fn silent_model() -> (TcpListener, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let flags = ["--model-kind", "http", "--model-name", "none", "--model-dims", "8"];
    let more = ["--model-timeout", "15s", "--model-background", "false", "--model-url", &url];
    let flags = flags.iter().chain(&more).map(|flag| (*flag).to_owned()).collect();
    (listener, flags)
}
