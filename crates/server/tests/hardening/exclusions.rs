//! A query with exclusions costs about as much as one without.
