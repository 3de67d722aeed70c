//! The first stage of ranking: scans the segments and keeps the products that may be relevant.
//! [`crate::scoring`] describes its phases and why they lose nothing.

mod accumulator;
mod attributes;
mod block_bounds;
mod candidate;
mod candidate_scan;
mod fitting;
mod nearest;
mod pruning;

pub(super) use self::{
    attributes::AttributeMatcher, candidate::Candidate, candidate_scan::CandidateScan,
    fitting::FitQuery, pruning::ScoreThreshold,
};
