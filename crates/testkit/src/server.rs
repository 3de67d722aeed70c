//! Starts the `shopkeeper` binary, waits until it listens, and ends it.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, Read},
    net::SocketAddr,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread,
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::{Client, Role, TIMEOUT, resident_bytes};

/// What precedes the address in the line that the server prints once it listens.
const LISTENING: &str = "Shopkeeper listens on http://";
/// What precedes the address of the admin listener in the line after that.
const ADMIN_LISTENING: &str = "Health and metrics at ";
/// The variable with the URL of the database.
const DATABASE_URL: &str = "SHOPKEEPER_DATABASE_URL";
/// The variable that Cargo sets to the binary's path for the tests of its package.
const BINARY_VARIABLE: &str = "CARGO_BIN_EXE_shopkeeper";

/// A binary and the store it works on: a data folder, or a database.
pub struct Installation {
    binary: PathBuf,
    data: PathBuf,
    environment: Vec<(String, OsString)>,
    // Removed with the installation.
    _folder: Option<TempDir>,
}

impl Installation {
    /// An installation on an empty data folder, removed with it.
    pub fn temporary() -> Self {
        let folder = TempDir::new().unwrap();
        let data = folder.path().join("data");
        Self { _folder: Some(folder), ..Self::on_folder(&data) }
    }

    /// An installation on this data folder.
    pub fn on_folder(data: &Path) -> Self {
        Self { binary: binary(), data: data.to_owned(), environment: Vec::new(), _folder: None }
    }

    /// An installation on this database, with a temporary data folder.
    pub fn on_database(url: &str) -> Self {
        Self::temporary().with_database(url)
    }

    /// The installation with this database as its store.
    pub fn with_database(self, url: &str) -> Self {
        self.with_variable(DATABASE_URL, url)
    }

    /// The installation with another binary than the one that Cargo built for the test.
    pub fn with_binary(self, binary: &Path) -> Self {
        Self { binary: binary.to_owned(), ..self }
    }

    /// The installation with one more environment variable for everything it runs.
    pub fn with_variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// The binary.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// The data folder.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The name of the database; `None` if the store is the data folder.
    pub fn database_name(&self) -> Option<String> {
        let url = self.environment.iter().find(|(name, _)| name == DATABASE_URL)?.1.to_str()?;
        Some(url.rsplit_once('/')?.1.to_owned())
    }

    /// The binary with these arguments on this store, without the `SHOPKEEPER_` variables of the
    /// test's own environment.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = without_settings(&self.binary);
        self.complete(&mut command, arguments);
        command
    }

    /// As [`command`](Self::command), run by another program: the binary's path comes after
    /// `wrapper`, then its arguments.
    pub fn wrapped<S: AsRef<OsStr>>(&self, wrapper: &[&str], arguments: &[S]) -> Command {
        let mut command = without_settings(wrapper[0]);
        command.args(&wrapper[1..]).arg(&self.binary);
        self.complete(&mut command, arguments);
        command
    }

    fn complete<S: AsRef<OsStr>>(&self, command: &mut Command, arguments: &[S]) {
        let environment = self.environment.iter().map(|(name, value)| (name, value));
        command.args(arguments).arg("--data").arg(&self.data).envs(environment);
    }

    /// Runs the binary with these arguments to its end.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The command that serves this store on a free port.
    pub fn serve_command(&self, flags: &[&str]) -> Command {
        self.command(&[&["serve", "--listen", "127.0.0.1:0"], flags].concat())
    }

    /// Starts a server on this store and waits until it listens.
    pub fn serve(&self, flags: &[&str]) -> Server {
        Server::start(&mut self.serve_command(flags))
    }

    /// A new token, issued by the command line.
    pub fn token(&self, shop: u64, role: Role) -> String {
        let shop = shop.to_string();
        let issued = self.run(&["token", "create", "--shop", &shop, "--role", role.name()]);
        printed(issued).trim_end().to_owned()
    }
}

/// The binary without a store: all arguments and settings are the caller's.
pub fn shopkeeper() -> Command {
    without_settings(binary())
}

/// Runs the binary without a store to its end.
pub fn run(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    shopkeeper().args(arguments).envs(environment.iter().copied()).output().unwrap()
}

/// A program without standard input and without the `SHOPKEEPER_` variables of the test's own
/// environment.
fn without_settings(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    let is_setting =
        |name: &OsString| name.to_str().is_some_and(|name| name.starts_with("SHOPKEEPER"));
    for name in env::vars_os().map(|(name, _)| name).filter(is_setting) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

/// The binary that Cargo built for the tests that run.
fn binary() -> PathBuf {
    if let Some(path) = env::var_os(BINARY_VARIABLE) {
        return path.into();
    }
    // The test is in target/PROFILE/deps, the binary in target/PROFILE.
    let test = env::current_exe().unwrap();
    test.parent().and_then(Path::parent).unwrap().join("shopkeeper")
}

/// The standard output of a process, which must have succeeded.
#[track_caller]
pub fn printed(output: Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a command that must fail without a panic; returns its status and standard error.
#[track_caller]
pub fn refused(command: &mut Command) -> (ExitStatus, String) {
    let Output { status, stderr, .. } = command.output().unwrap();
    let errors = String::from_utf8_lossy(&stderr).into_owned();
    assert!(!status.success(), "it started: {errors}");
    assert_eq!(status.signal(), None, "{errors}");
    assert!(!errors.contains("panicked"), "{errors}");
    (status, errors)
}

/// A running server. Killed when dropped; prints its log if the test has failed.
pub struct Server {
    process: Mutex<Child>,
    id: Pid,
    address: SocketAddr,
    output: Arc<Stream>,
    log: Arc<Stream>,
}

impl Server {
    /// Runs a command that becomes a server and waits until it listens.
    #[track_caller]
    pub fn start(command: &mut Command) -> Self {
        Self::try_start(command).unwrap_or_else(|error| panic!("{error}"))
    }

    /// As [`start`](Self::start), for callers that report errors. The error contains the log.
    pub fn try_start(command: &mut Command) -> io::Result<Self> {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let output = Stream::follow(process.stdout.take().unwrap());
        let log = Stream::follow(process.stderr.take().unwrap());
        let address = output.wait_for(|text| Some(value_after(text, LISTENING)?.parse().unwrap()));
        let Some(address) = address else {
            let _ = process.kill();
            let status = process.wait()?;
            let errors = log.text();
            return Err(io::Error::other(format!("the server did not start: {status}\n{errors}")));
        };
        let id = Pid::from_child(&process);
        Ok(Self { process: Mutex::new(process), id, address, output, log })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of the admin listener, for a server that has one.
    pub fn admin_url(&self) -> String {
        let found = self.output.wait_for(|text| value_after(text, ADMIN_LISTENING));
        found.expect("the server has an admin listener")
    }

    /// Waits until standard output contains `text`; returns all of it.
    pub fn wait_for_output(&self, text: &str) -> String {
        self.output.wait_until_contains(text)
    }

    /// Standard error so far.
    pub fn log(&self) -> String {
        self.log.text()
    }

    /// Waits until the log contains `text`.
    #[track_caller]
    pub fn wait_for_log(&self, text: &str) {
        self.log.wait_until_contains(text);
    }

    /// A client without a token.
    pub fn stranger(&self) -> Client {
        Client::new(&format!("http://{}", self.address), None)
    }

    /// A client with this token.
    pub fn client(&self, token: &str) -> Client {
        Client::new(&format!("http://{}", self.address), Some(token))
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.id.as_raw_nonzero().get().cast_unsigned()
    }

    /// Resident memory in bytes.
    pub fn resident_bytes(&self) -> u64 {
        resident_bytes(self.id())
    }

    /// Sends a signal to the process.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.id, signal).unwrap();
    }

    /// Whether the process has not ended.
    pub fn is_running(&self) -> bool {
        self.process().try_wait().unwrap().is_none()
    }

    /// Kills the process with SIGKILL, which must be what ends it, and waits for its end.
    #[track_caller]
    pub fn kill(&self) {
        self.end();
        assert_eq!(self.wait().signal(), Some(9), "the server has ended by itself");
    }

    /// Kills the process unless it has ended, and waits for its end.
    pub(crate) fn end(&self) {
        let mut process = self.process();
        let _ = process.kill();
        let _ = process.wait();
    }

    /// Waits until the process ends by itself.
    pub fn wait(&self) -> ExitStatus {
        self.process().wait().unwrap()
    }

    fn process(&self) -> MutexGuard<'_, Child> {
        self.process.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("the log of the server:\n{}", self.log());
        }
        self.end();
    }
}

/// The rest of the first complete line that starts with `prefix`.
fn value_after(text: &str, prefix: &str) -> Option<String> {
    let complete = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    complete.into_iter().find_map(|line| Some(line.strip_prefix(prefix)?.trim_end().to_owned()))
}

/// What a process has written to a pipe, read by a thread of its own.
#[derive(Default)]
struct Stream {
    state: Mutex<StreamState>,
    changed: Condvar,
}

#[derive(Default)]
struct StreamState {
    text: String,
    has_ended: bool,
}

impl Stream {
    fn follow(mut pipe: impl Read + Send + 'static) -> Arc<Self> {
        let stream = Arc::new(Self::default());
        let writer = Arc::clone(&stream);
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(length @ 1..) = pipe.read(&mut chunk) {
                writer.state().text.push_str(&String::from_utf8_lossy(&chunk[..length]));
                writer.changed.notify_all();
            }
            writer.state().has_ended = true;
            writer.changed.notify_all();
        });
        stream
    }

    fn state(&self) -> MutexGuard<'_, StreamState> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn text(&self) -> String {
        self.state().text.clone()
    }

    /// Waits until `find` finds something; `None` if the stream ends or the time is over before.
    fn wait_for<T>(&self, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        let mut found = None;
        let is_waiting = |state: &mut StreamState| {
            found = find(&state.text);
            found.is_none() && !state.has_ended
        };
        let waited = self.changed.wait_timeout_while(self.state(), TIMEOUT, is_waiting);
        drop(waited);
        found
    }

    #[track_caller]
    fn wait_until_contains(&self, wanted: &str) -> String {
        let found = self.wait_for(|text| text.contains(wanted).then(|| text.to_owned()));
        found.unwrap_or_else(|| panic!("no {wanted:?} in:\n{}", self.text()))
    }
}
