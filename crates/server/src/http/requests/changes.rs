//! Requests for the changes of a shop.

use catalog::product::change::Seq;
use utoipa::{
    IntoParams,
    openapi::path::{Parameter, ParameterIn},
};

use super::parameters::{self, QueryParameter};
use crate::http::errors::ValidationErrors;

/// The most changes on one page.
pub(crate) const MAX_CHANGES: usize = 1000;
/// The changes on one page by default.
pub(crate) const DEFAULT_CHANGES: usize = 100;

/// The query parameters of a request for changes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ChangesParameters {
    pub(crate) since: Seq,
    pub(crate) limit: usize,
}

impl Default for ChangesParameters {
    fn default() -> Self {
        Self { since: Seq(0), limit: DEFAULT_CHANGES }
    }
}

impl ChangesParameters {
    fn define() -> [QueryParameter<Self>; 2] {
        let since = "The sequence number after which changes are listed: `next` of an earlier \
                     response, or 0 for all that are retained.";
        let limit = "How many changes to return at most.";
        [
            parameters::integer("since", since, 0..=i64::MAX as usize, |read: &mut Self, since| {
                read.since = Seq(since as u64);
            })
            .default(0, 12),
            parameters::integer("limit", limit, 1..=MAX_CHANGES, |read: &mut Self, limit| {
                read.limit = limit;
            })
            .default(DEFAULT_CHANGES, 500),
        ]
    }

    pub(crate) fn read(query: Option<&str>) -> Result<Self, ValidationErrors> {
        parameters::read(query, &Self::define())
    }
}

impl IntoParams for ChangesParameters {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        parameters::describe(Self::define())
    }
}
