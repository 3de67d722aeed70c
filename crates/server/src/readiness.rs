//! Whether the service is ready to receive requests.

use std::sync::atomic::{AtomicU8, Ordering};

/// The states of `/health/ready`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Shops are being loaded.
    WarmingUp,
    /// Requests are accepted.
    Ready,
    /// The server is shutting down; load balancers should send requests elsewhere.
    Stopping,
}

/// The readiness of a running service.
#[derive(Debug, Default)]
pub struct ReadinessFlag(AtomicU8);

const WARMING_UP: u8 = 0;
const READY: u8 = 1;
const STOPPING: u8 = 2;

impl ReadinessFlag {
    /// The current state.
    pub fn get(&self) -> Readiness {
        match self.0.load(Ordering::Acquire) {
            WARMING_UP => Readiness::WarmingUp,
            READY => Readiness::Ready,
            _ => Readiness::Stopping,
        }
    }

    /// Sets the state.
    pub fn set(&self, readiness: Readiness) {
        let value = match readiness {
            Readiness::WarmingUp => WARMING_UP,
            Readiness::Ready => READY,
            Readiness::Stopping => STOPPING,
        };
        self.0.store(value, Ordering::Release);
    }

    /// Becomes ready, unless the server is already stopping.
    pub fn finish_warming_up(&self) {
        // The exchange fails while the server is stopping, which must not change.
        let _ = self.0.compare_exchange(WARMING_UP, READY, Ordering::AcqRel, Ordering::Acquire);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopping_server_does_not_become_ready() {
        let flag = ReadinessFlag::default();
        assert_eq!(flag.get(), Readiness::WarmingUp);
        flag.set(Readiness::Stopping);
        flag.finish_warming_up();
        assert_eq!(flag.get(), Readiness::Stopping);
    }
}
