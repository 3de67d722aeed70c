//! Many connections at once: every response in time, flat memory.
