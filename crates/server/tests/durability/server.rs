//! How does a test run the real server? As a child process on a port of its own.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader, Read},
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};

use crate::client::Client;

/// Longer than anything here takes, even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

const LISTENS: &str = "Shopkeeper listens on http://";

/// The binary under test, without settings from the environment.
pub(crate) fn shopkeeper() -> Command {
    without_environment(env!("CARGO_BIN_EXE_shopkeeper"))
}

pub(crate) fn without_environment(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().stdin(Stdio::null());
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}

/// The arguments that serve a folder on a free port. Without a model, every product that says a
/// word is found by it: totals can be compared with what was written.
pub(crate) fn serve(command: &mut Command, folder: &Path) {
    command.args(["serve", "--model-kind", "off", "--listen", "127.0.0.1:0", "--data"]).arg(folder);
}

/// What a command printed that must succeed.
pub(crate) fn output_of(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
    text(&output.stdout).trim().to_owned()
}

/// A new token of shop 1, by the command line.
pub(crate) fn issue_token(folder: &Path, role: &str) -> String {
    output_of(
        shopkeeper().args(["token", "create", "--shop", "1", "--role", role, "--data"]).arg(folder),
    )
}

/// The end of a server that must not start: how, and what it said.
pub(crate) fn refused(command: &mut Command) -> (ExitStatus, String) {
    let Output { status, stderr, .. } = command.output().unwrap();
    let said = text(&stderr);
    assert!(!status.success(), "it started: {said}");
    assert_eq!(status.signal(), None, "{said}");
    assert!(!said.contains("panicked"), "{said}");
    (status, said)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A running server; killed when the test ends before it.
pub(crate) struct Server {
    process: Child,
    address: String,
    log: Arc<Log>,
}

/// What the server wrote to standard error so far.
#[derive(Default)]
struct Log {
    text: Mutex<String>,
    grown: Condvar,
}

impl Server {
    /// Starts a server on a folder and waits until it listens.
    pub(crate) fn start(folder: &Path) -> Self {
        let mut command = shopkeeper();
        serve(&mut command, folder);
        Self::run(&mut command)
    }

    /// Runs a command that becomes a server and waits until it listens.
    pub(crate) fn run(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::new(Log::default());
        follow(process.stderr.take().unwrap(), Arc::clone(&log));
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines.find_map(|line| Some(line.ok()?.strip_prefix(LISTENS)?.to_owned()));
        let Some(address) = address else {
            let status = process.wait().unwrap();
            panic!("the server ended with {status}: {}", log.text.lock().unwrap());
        };
        Self { process, address, log }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Someone who talks to it with a token.
    pub(crate) fn client(&self, token: &str) -> Client {
        Client::new(&self.address, token)
    }

    /// Its resident memory in bytes.
    pub(crate) fn resident_bytes(&self) -> u64 {
        testkit::resident_bytes(self.process.id())
    }

    /// Ends it as a power cut would: nothing is finished.
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        assert_eq!(self.process.wait().unwrap().signal(), Some(9));
    }

    /// Asks it to stop, as an operator does.
    pub(crate) fn terminate(&self) {
        let pid = self.process.id();
        output_of(without_environment("sh").args(["-c", &format!("kill -TERM {pid}")]));
    }

    /// Waits until it has ended by itself.
    pub(crate) fn wait(mut self) -> ExitStatus {
        self.process.wait().unwrap()
    }

    /// Whether it is still there.
    pub(crate) fn is_running(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }

    /// Waits until its log says something.
    pub(crate) fn wait_for_log(&self, words: &str) {
        let log = self.log.text.lock().unwrap();
        let (log, waited) =
            self.log.grown.wait_timeout_while(log, PATIENCE, |text| !text.contains(words)).unwrap();
        assert!(!waited.timed_out(), "no {words:?} in the log:\n{log}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("the log of the server:\n{}", self.log.text.lock().unwrap());
        }
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn follow(mut stderr: impl Read + Send + 'static, log: Arc<Log>) {
    thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(length @ 1..) = stderr.read(&mut chunk) {
            log.text.lock().unwrap().push_str(&String::from_utf8_lossy(&chunk[..length]));
            log.grown.notify_all();
        }
    });
}
