//! No caller can take the connections or admission slots of others.
