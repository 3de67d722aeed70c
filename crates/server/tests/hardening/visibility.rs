//! For a SHOPPER token hidden products do not exist.
