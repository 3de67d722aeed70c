//! Describes the machine of a measurement: cores, processor, kernel and load.

use std::{fs, thread};

use serde::{Deserialize, Serialize};

/// A machine, without identifying data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// Cores this process may use.
    pub cores: usize,
    /// The processor's model.
    pub processor: String,
    /// The kernel's version.
    pub kernel: String,
    /// The kind of file system the data is on.
    pub file_system: String,
}

impl Machine {
    /// This machine, with the data on a file system of this kind.
    pub fn here(file_system: String) -> Self {
        let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = processors.lines().find_map(|line| line.strip_prefix("model name"));
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self {
            cores: thread::available_parallelism().map_or(1, usize::from),
            processor: model.unwrap_or("unknown").trim_start_matches(['\t', ' ', ':']).to_owned(),
            kernel: kernel.trim().to_owned(),
            file_system,
        }
    }
}

/// The load average of the last minute.
pub fn load_average() -> f64 {
    let loads = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    loads.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(f64::NAN)
}
