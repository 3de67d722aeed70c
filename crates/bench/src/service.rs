//! How is the service started, watched and stopped? As its operators do it: by its binary.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::{client::Target, cpu, disk};

/// What the service prints before its address.
const ANNOUNCEMENT: &str = "Shopkeeper listens on http://";

/// How the service is told of a database.
pub const DATABASE_URL: &str = "SHOPKEEPER_DATABASE_URL";

/// A data folder, or a database, and the binary that serves it.
pub struct Installation {
    binary: PathBuf,
    folder: PathBuf,
    environment: Vec<(&'static str, OsString)>,
    settings: Vec<(&'static str, &'static str)>,
    token: Arc<str>,
}

impl Installation {
    /// A new data folder inside `parent`, with a token for it. Flushes take at least
    /// `slow_flush`.
    pub fn new(
        binary: &Path,
        parent: &Path,
        name: &str,
        slow_flush: Duration,
    ) -> anyhow::Result<Self> {
        let folder = parent.join(name);
        fs::create_dir(&folder)?;
        let mut environment = Vec::new();
        if !slow_flush.is_zero() {
            environment.push(("LD_PRELOAD", disk::build_slow_flush(&folder)?.into()));
            environment.push(("SLOW_FLUSH_US", slow_flush.as_micros().to_string().into()));
        }
        let token = issue(binary, 1, |command| command.arg("--data").arg(&folder))?;
        let settings = Vec::new();
        Ok(Self { binary: binary.to_owned(), folder, environment, settings, token })
    }

    /// A node on a database, whose log lies in a new folder inside `parent`. The token is that
    /// of shop 1.
    pub fn on_database(
        binary: &Path,
        parent: &Path,
        name: &str,
        url: &str,
    ) -> anyhow::Result<Self> {
        let folder = parent.join(name);
        fs::create_dir(&folder)?;
        let token = issue(binary, 1, |command| command.env(DATABASE_URL, url))?;
        let environment = vec![
            (DATABASE_URL, url.into()),
            ("SHOPKEEPER_DATABASE_SCRATCH", folder.clone().into_os_string()),
        ];
        let settings = Vec::new();
        Ok(Self { binary: binary.to_owned(), folder, environment, settings, token })
    }

    /// Has the service started with these settings, as variables of its environment, from now on.
    pub fn configure(&mut self, settings: &[(&'static str, &'static str)]) {
        self.settings = settings.to_vec();
    }

    /// Starts the service; returns once it listens, which is before it is ready.
    pub fn start(&self) -> anyhow::Result<Service> {
        let log = File::options().create(true).append(true).open(self.folder.join("server.log"))?;
        let mut command = Command::new(&self.binary);
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        if self.environment.iter().all(|(name, _)| *name != DATABASE_URL) {
            command.arg("--data").arg(&self.folder);
        }
        let mut process = command
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .envs(self.settings.iter().copied())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("{} cannot be run", self.binary.display()))?;
        let output = process.stdout.take().context("the service has no standard output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let address: Option<SocketAddr> =
            line.trim().strip_prefix(ANNOUNCEMENT).and_then(|address| address.parse().ok());
        let token = Arc::clone(&self.token);
        let service = |address| Service { process, target: Target { address, token } };
        address.map(service).context("the service did not say where it listens")
    }

    /// Bytes of the data folder's database, its log included.
    pub fn stored_bytes(&self) -> anyhow::Result<u64> {
        let mut bytes = 0;
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with("shopkeeper.db") {
                bytes += entry.metadata()?.len();
            }
        }
        Ok(bytes)
    }
}

/// Issues a token that may write to a shop.
pub fn issue(
    binary: &Path,
    shop: u64,
    of: impl FnOnce(&mut Command) -> &mut Command,
) -> anyhow::Result<Arc<str>> {
    let mut command = Command::new(binary);
    command.args(["token", "create", "--role", "EDITOR", "--shop", &shop.to_string()]);
    let issued =
        of(&mut command).output().with_context(|| format!("{} cannot be run", binary.display()))?;
    if !issued.status.success() {
        bail!("no token was issued: {}", String::from_utf8_lossy(&issued.stderr));
    }
    Ok(String::from_utf8(issued.stdout)?.trim().into())
}

/// A service at work. Killed when dropped.
pub struct Service {
    process: Child,
    /// Where it is reached.
    pub target: Target,
}

impl Service {
    /// Resident memory in bytes, now.
    pub fn resident_bytes(&self) -> anyhow::Result<u64> {
        self.status_bytes("VmRSS:")
    }

    /// The most resident memory there ever was, in bytes.
    pub fn peak_resident_bytes(&self) -> anyhow::Result<u64> {
        self.status_bytes("VmHWM:")
    }

    /// Processor time that it has taken.
    pub fn cpu(&self) -> anyhow::Result<Duration> {
        cpu::of_process(self.process.id())
    }

    fn status_bytes(&self, name: &str) -> anyhow::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let kibibytes = status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
        kibibytes.map(|kib| kib * 1024).with_context(|| format!("the kernel does not say {name}"))
    }

    /// Asks the service to stop and waits until it has.
    pub fn stop(mut self) -> anyhow::Result<()> {
        kill_process(Pid::from_child(&self.process), Signal::TERM)?;
        let status = self.process.wait()?;
        if !status.success() {
            bail!("the service stopped with {status}");
        }
        Ok(())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Stopped already, or nothing more can be done about it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
