//! What tests and measurements share: a real PostgreSQL of their own, on a free port, in a scratch
//! folder that is removed with the process that started it; certificates; a wire that can be cut;
//! the memory of a process.
//!
//! `scripts/postgres.sh` installs PostgreSQL where it is missing; a test that cannot have it fails.
#![allow(clippy::unwrap_used, reason = "a test that cannot have its database fails")]

mod certified;
mod memory;
mod wire;

use std::{
    fs::{self, File, Permissions},
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        LazyLock, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

pub use certified::{Authority, Certified};
pub use memory::{growth_over_second_half, resident_bytes};
pub use wire::{Cut, Wire};

/// How long anything may take that is certain to happen.
const PATIENCE: Duration = Duration::from_secs(60);
/// The user `nobody`: PostgreSQL does not run as root.
const NOBODY: u32 = 65534;
/// Who owns the databases.
const USER: &str = "shopkeeper";
/// What the owner says.
const PASSWORD: &str = "open-sesame";
/// Runs a program until it is told a word, or until its input ends, which is when the process
/// that started it does: then the folder goes too.
const KEEPER: &str = r#"
"$@" & program=$!
read -r word || true
kill -QUIT $program
wait $program
[ -n "$word" ] || rm -rf "$0"
"#;

/// A PostgreSQL server.
pub struct Postgres {
    programs: PathBuf,
    folder: TempDir,
    port: u16,
    /// What it is told beyond what all are told.
    settings: Vec<&'static str>,
    running: Mutex<Option<Running>>,
    databases: AtomicU64,
}

struct Running {
    keeper: Child,
    server: Pid,
}

/// The server that all tests of this process share.
pub fn postgres() -> &'static Postgres {
    static SHARED: LazyLock<Postgres> = LazyLock::new(Postgres::start);
    &SHARED
}

impl Postgres {
    /// Starts a server with no databases of ours.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts one with these settings in place of what tests need.
    pub fn start_with(settings: &[&'static str]) -> Self {
        let (folder, programs) = place();
        let secret = folder.path().join("password");
        fs::write(&secret, PASSWORD).unwrap();
        let mut initdb = unprivileged(&programs.join("bin/initdb"), folder.path());
        initdb.arg("-D").arg(folder.path().join("data")).arg("--pwfile").arg(&secret).args([
            "-U",
            USER,
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ]);
        Self::run_on(folder, programs, initdb, settings.to_vec())
    }

    /// Starts a server that follows this one, which from now on commits nothing without it.
    pub fn replica(&self) -> Self {
        let (folder, programs) = place();
        let mut copy = unprivileged(&programs.join("bin/pg_basebackup"), folder.path());
        copy.env("PGPASSWORD", PASSWORD)
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", USER])
            .args(["-R", "-X", "stream", "--checkpoint=fast", "--no-sync", "-D"])
            .arg(folder.path().join("data"));
        let replica = Self::run_on(folder, programs, copy, Vec::new());
        self.psql("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'");
        self.psql("postgres", "SELECT pg_reload_conf()");
        until("a replica that is waited for", || {
            self.psql("postgres", "SELECT sync_state FROM pg_stat_replication") == "sync"
        });
        replica
    }

    /// Makes a replica take writes.
    pub fn promote(&self) {
        assert_eq!(self.psql("postgres", "SELECT pg_promote()"), "t");
    }

    /// Runs a server on what this command makes of the data folder.
    fn run_on(
        folder: TempDir,
        programs: PathBuf,
        mut make: Command,
        settings: Vec<&'static str>,
    ) -> Self {
        let made = make.output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Self {
            programs,
            folder,
            port,
            settings,
            running: Mutex::default(),
            databases: AtomicU64::new(0),
        };
        server.resume_service();
        server
    }

    /// Starts the server again after [`stop`](Self::stop), and waits until it takes connections.
    pub fn resume_service(&self) {
        let mut running = self.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        assert!(running.is_none(), "it runs already");
        let mut keeper = unprivileged(Path::new("/bin/sh"), self.folder.path());
        keeper.args(["-c", KEEPER]).arg(self.folder.path()).arg(self.programs.join("bin/postgres"));
        keeper.arg("-D").arg(self.folder.path().join("data"));
        keeper.args(["-k", "", "-p", &self.port.to_string()]);
        let for_all = [
            "listen_addresses=127.0.0.1",
            "max_connections=300",
            "shared_buffers=64MB",
            // The machine does not lose power while the tests run.
            "fsync=off",
            "full_page_writes=off",
        ];
        // What is said last holds.
        for setting in for_all.iter().chain(&self.settings) {
            keeper.args(["-c", setting]);
        }
        let mut keeper = keeper.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let log = keeper.stderr.take().unwrap();
        let copy = self.folder.path().join("postgres.log");
        let (ready, is_ready) = std::sync::mpsc::channel();
        // Somebody must read the log for as long as there is one.
        thread::spawn(move || {
            let mut copy = File::options().create(true).append(true).open(copy).unwrap();
            for line in BufReader::new(log).lines().map_while(Result::ok) {
                let _ = writeln!(copy, "{line}");
                if line.contains("ready to accept") {
                    let _ = ready.send(());
                }
            }
        });
        is_ready.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            panic!("PostgreSQL does not start: {}", self.log());
        });
        let id = fs::read_to_string(self.folder.path().join("data/postmaster.pid")).unwrap();
        let id = id.lines().next().unwrap().parse().unwrap();
        *running = Some(Running { keeper, server: Pid::from_raw(id).unwrap() });
    }

    /// Ends the server at once, as a crash would.
    pub fn stop(&self) {
        let running = self.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        let Some(Running { mut keeper, server }) = running else { return };
        let _ = kill_process(server, Signal::QUIT);
        let mut input = keeper.stdin.take().unwrap();
        let _ = input.write_all(b"stop\n");
        keeper.wait().unwrap();
    }

    /// The address of a new, empty database.
    pub fn database(&self) -> String {
        let name = format!("shop{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.psql("postgres", &format!("CREATE DATABASE {name}"));
        self.url(&name)
    }

    /// The address of a database of this name.
    pub fn url(&self, name: &str) -> String {
        self.url_at(&format!("127.0.0.1:{}", self.port), name)
    }

    /// The address of a database as it is reached by other ways, such as a [`Wire`].
    pub fn url_at(&self, hosts: &str, name: &str) -> String {
        format!("postgres://{USER}:{PASSWORD}@{hosts}/{name}")
    }

    /// The process that all its others belong to; `None` while it is stopped.
    pub fn process_id(&self) -> Option<u32> {
        let running = self.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        running.as_ref().map(|running| running.server.as_raw_nonzero().get().cast_unsigned())
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What `psql` prints for these statements.
    pub fn psql(&self, database: &str, statements: &str) -> String {
        let mut psql = Command::new(self.programs.join("bin/psql"));
        psql.env("PGPASSWORD", PASSWORD)
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", USER, "-d", database])
            .args(["-v", "ON_ERROR_STOP=1", "-X", "-q", "-A", "-t", "-c", statements]);
        let output = psql.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// The password that nothing may print.
    pub fn password(&self) -> &'static str {
        PASSWORD
    }

    /// What the server has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("postgres.log")).unwrap_or_default()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A folder for a server, and the programs that whoever runs it can reach.
fn place() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let programs = reachable(install(), folder.path());
    if geteuid().is_root() {
        chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    (folder, programs)
}

/// A program that runs as somebody who is not root.
fn unprivileged(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    if geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

/// Installs the programs where they are missing; one process at a time.
fn install() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    fs::create_dir_all(root.join(".tools")).unwrap();
    let turn = File::create(root.join(".tools/postgres.lock")).unwrap();
    turn.lock().unwrap();
    let installed = Command::new(root.join("scripts/postgres.sh")).output().unwrap();
    let errors = String::from_utf8_lossy(&installed.stderr);
    assert!(installed.status.success(), "PostgreSQL cannot be installed: {errors}");
    PathBuf::from(String::from_utf8(installed.stdout).unwrap().trim_end())
}

/// The programs where whoever runs them can reach them: a checkout may be its owner's alone.
fn reachable(programs: PathBuf, folder: &Path) -> PathBuf {
    let mut trial = unprivileged(&programs.join("bin/postgres"), folder);
    if trial.arg("--version").output().is_ok_and(|output| output.status.success()) {
        return programs;
    }
    // The libraries lie beside the package that the programs are part of.
    let package = programs.parent().and_then(Path::parent).unwrap();
    let copy = folder.join("programs");
    let mut cp = Command::new("cp");
    let copied = cp.arg("-r").arg(package).arg(&copy).status().unwrap();
    assert!(copied.success());
    copy.join(programs.strip_prefix(package).unwrap())
}

/// Asks again and again until the answer is yes, for what no event announces.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "{what} did not happen");
        thread::sleep(Duration::from_millis(10));
    }
}
