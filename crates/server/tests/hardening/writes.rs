//! One shop's writes do not delay those of others.
