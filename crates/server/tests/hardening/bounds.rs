//! Nothing unbounded is sent, stored or kept in memory.
