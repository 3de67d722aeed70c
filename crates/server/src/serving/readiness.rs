//! May requests be sent here yet, or still?

use std::sync::atomic::{AtomicU8, Ordering};

/// What `/health/ready` goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Shops are being loaded.
    WarmingUp,
    /// All is well.
    Ready,
    /// No new requests, please.
    Stopping,
}

/// The readiness of a running service.
#[derive(Debug, Default)]
pub struct ReadinessFlag(AtomicU8);

const WARMING_UP: u8 = 0;
const READY: u8 = 1;
const STOPPING: u8 = 2;

impl ReadinessFlag {
    /// How it is now.
    pub fn get(&self) -> Readiness {
        match self.0.load(Ordering::Acquire) {
            WARMING_UP => Readiness::WarmingUp,
            READY => Readiness::Ready,
            _ => Readiness::Stopping,
        }
    }

    /// Says how it is from now on.
    pub fn set(&self, readiness: Readiness) {
        let value = match readiness {
            Readiness::WarmingUp => WARMING_UP,
            Readiness::Ready => READY,
            Readiness::Stopping => STOPPING,
        };
        self.0.store(value, Ordering::Release);
    }

    /// Ready, unless the server is stopping already.
    pub fn finish_warming_up(&self) {
        // A failure means somebody said `Stopping`, which stands.
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
