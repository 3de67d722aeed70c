//! Draining, logs, file modes, key rotation.
