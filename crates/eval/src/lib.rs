//! Measuring the service from outside.
