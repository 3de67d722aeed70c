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

use crate::{client::Target, disk};

/// What the service prints before its address.
const ANNOUNCEMENT: &str = "Shopkeeper listens on http://";

/// A data folder and the binary that serves it.
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
        let issued = Command::new(binary)
            .args(["token", "create", "--shop", "1", "--role", "EDITOR", "--data"])
            .arg(&folder)
            .output()
            .with_context(|| format!("{} cannot be run", binary.display()))?;
        if !issued.status.success() {
            bail!("no token was issued: {}", String::from_utf8_lossy(&issued.stderr));
        }
        let token = String::from_utf8(issued.stdout)?.trim().into();
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
        let mut process = Command::new(&self.binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(&self.folder)
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
