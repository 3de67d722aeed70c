//! Starts the service under measurement by its binary, and reads its memory and processor time.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, bail};
use rustix::process::Signal;
use testkit::{Role, Server, peak_resident_bytes, resident_bytes};

use crate::{client::Target, cpu, disk};

/// A data folder or a database, the binary that serves it, and a token of shop 1.
pub struct Installation {
    store: testkit::Installation,
    settings: Vec<(&'static str, &'static str)>,
    token: Arc<str>,
}

impl Installation {
    /// A new data folder inside `parent`. Flushes take at least `slow_flush`.
    pub fn new(
        binary: &Path,
        parent: &Path,
        name: &str,
        slow_flush: Duration,
    ) -> anyhow::Result<Self> {
        check_binary(binary)?;
        let folder = new_folder(parent, name)?;
        let store = testkit::Installation::on_folder(&folder).with_binary(binary);
        let token = store.token(1, Role::Editor).into();
        let store = if slow_flush.is_zero() {
            store
        } else {
            store
                .with_variable("LD_PRELOAD", disk::build_slow_flush(&folder)?)
                .with_variable("SLOW_FLUSH_US", slow_flush.as_micros().to_string())
        };
        Ok(Self { store, settings: Vec::new(), token })
    }

    /// A node on a database, with its scratch space in a new folder inside `parent`.
    pub fn on_database(
        binary: &Path,
        parent: &Path,
        name: &str,
        url: &str,
    ) -> anyhow::Result<Self> {
        check_binary(binary)?;
        let folder = new_folder(parent, name)?;
        let store = testkit::Installation::on_folder(&folder)
            .with_binary(binary)
            .with_database(url)
            .with_variable("SHOPKEEPER_DATABASE_SCRATCH", folder);
        let token = store.token(1, Role::Editor).into();
        Ok(Self { store, settings: Vec::new(), token })
    }

    /// Sets the environment variables of the service, from the next start on.
    pub fn configure(&mut self, settings: &[(&'static str, &'static str)]) {
        self.settings = settings.to_vec();
    }

    /// A new token that may write to a shop.
    pub fn token(&self, shop: u64) -> Arc<str> {
        self.store.token(shop, Role::Editor).into()
    }

    /// Starts the service; returns once it listens, which is before it is ready.
    pub fn start(&self) -> anyhow::Result<Service> {
        let mut command = self.store.serve_command(&[]);
        let server = Server::try_start(command.envs(self.settings.iter().copied()))?;
        let target = Target { address: server.address(), token: Arc::clone(&self.token) };
        Ok(Service { server, target })
    }

    /// The size of the database file and its write-ahead log, in bytes.
    pub fn stored_bytes(&self) -> anyhow::Result<u64> {
        let mut bytes = 0;
        for entry in fs::read_dir(self.store.data())? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with("shopkeeper.db") {
                bytes += entry.metadata()?.len();
            }
        }
        Ok(bytes)
    }
}

fn check_binary(binary: &Path) -> anyhow::Result<()> {
    match binary.is_file() {
        true => Ok(()),
        false => bail!("there is no binary {}", binary.display()),
    }
}

fn new_folder(parent: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let folder = parent.join(name);
    fs::create_dir(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// A running service. Killed when dropped.
pub struct Service {
    server: Server,
    /// Where it is reached, with a token of shop 1.
    pub target: Target,
}

impl Service {
    /// Resident memory in bytes.
    pub fn resident_bytes(&self) -> u64 {
        resident_bytes(self.server.id())
    }

    /// The largest resident memory so far, in bytes.
    pub fn peak_resident_bytes(&self) -> u64 {
        peak_resident_bytes(self.server.id())
    }

    /// Processor time so far.
    pub fn cpu(&self) -> anyhow::Result<Duration> {
        cpu::of_process(self.server.id())
    }

    /// Stops the service gracefully and waits for its end.
    pub fn stop(self) -> anyhow::Result<()> {
        self.server.signal(Signal::TERM);
        let status = self.server.wait();
        if !status.success() {
            bail!("the service stopped with {status}");
        }
        Ok(())
    }
}
