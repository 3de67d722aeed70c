//! Damaged rows, dropped connections and lost commits heal without a restart.
