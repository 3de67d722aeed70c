//! Requests that search for products.

use catalog::{
    query::{self, QueryText, parser::ParseOptions, sort::Sort},
    ranking::facets::{DEFAULT_FACET_LIMIT, MAX_FACET_LIMIT},
    text::validation::InvalidText,
};
use serde_json::{Value, json};
use utoipa::{
    IntoParams,
    openapi::path::{Parameter, ParameterIn},
};

use super::{
    fields::{Fields, ObjectDefinition, boolean, integer, object, request_bodies, text},
    filter::{facets, filter, sort},
    parameters::{self, QueryParameter},
};
use crate::http::{
    errors::ValidationErrors,
    json_schema::{not_blank, string},
};

const SORT: &str = "The order: `relevance` (the default), `price`, `-price`, `newest`, `oldest`, or a \
                    numeric attribute, with `-` for descending. It wins over an order in the query. \
                    Products without a value come last. Prices are ordered within each currency, the \
                    most frequent one first.";

/// A search. Whether it covers hidden products is decided by the caller's pass.
pub struct SearchRequest;
/// The parts of a query that are interpreted.
pub struct Understand;

request_bodies!(SearchRequest, Understand);

impl<'a> ObjectDefinition<'a> for SearchRequest {
    type Value = engine::SearchRequest;

    fn define(fields: &mut Fields<'a>) -> Option<engine::SearchRequest> {
        fields.about("What to search for.", || {
            Some(json!({"query": "a linen sofa under $900", "filter": {"color": ["green", "grey"]},
                "facets": ["color", "price"], "limit": 10}))
        });
        let about = "The shopper's words, in natural language, with any conditions in them: a \
                     price (`under $50`, `20 to 30 euros`), what is not wanted (`without leather`), \
                     an order (`cheapest first`). Not blank, unless there is a `filter`.";
        // With a filter, a blank query is like none.
        let is_filtered = fields.has("filter");
        let parse = move |raw: &str| match QueryText::parse(raw) {
            Err(InvalidText::Blank) if is_filtered => Ok(None),
            parsed => parsed.map(Some),
        };
        let query = text(parse, move || {
            string(about)
                .min_length(Some(1))
                .max_length(Some(query::MAX_QUERY_CHARS))
                .pattern(Some(not_blank()))
                .examples(["a linen sofa under $900"])
        });
        let query = fields.required_unless("filter", "query", query);
        fields.describe_one_of(&["query", "filter"]);
        let filter = fields.optional("filter", filter());
        let facets = fields.optional("facets", facets());
        let (max, default) = (MAX_FACET_LIMIT as u64, DEFAULT_FACET_LIMIT as u64);
        let about = "How many values of a facet to return at most, the most frequent first.";
        let facet_limit = fields.optional("facet_limit", integer(about, 1, max, Some(default)));
        let sort = fields.optional("sort", sort(SORT));
        let (max, default) = (query::MAX_LIMIT as u64, query::DEFAULT_LIMIT as u64);
        let about = "How many products to return at most.";
        let limit = fields.optional("limit", integer(about, 1, max, Some(default)));
        let about = "How many products to skip, for paging.";
        let max = query::MAX_OFFSET as u64;
        let offset = fields.optional("offset", integer(about, 0, max, Some(0)));
        let about = "Whether hidden products are searched too; needs the role VIEWER.";
        fields.optional("include_hidden", boolean(about, Some(false)));
        let understand = fields.optional("understand", object::<Understand>("Understand"));
        let about = "Whether each product comes with the parts of its score.";
        let explain = fields.optional("explain", boolean(about, Some(false)));
        let limit = limit.map_or(query::DEFAULT_LIMIT, |limit| limit as usize);
        Some(engine::SearchRequest {
            query: query.flatten(),
            filter: filter.unwrap_or_default(),
            facets: facets.unwrap_or_default(),
            facet_limit: facet_limit.map_or(DEFAULT_FACET_LIMIT, |limit| limit as usize),
            sort,
            offset: offset.unwrap_or(0) as usize,
            parse_options: understand.unwrap_or_default(),
            explain: explain.unwrap_or(false),
            ..engine::SearchRequest::all(Sort::Newest, limit)
        })
    }
}

impl SearchRequest {
    /// Whether a body asks for hidden products, checked before the other fields are: without the
    /// role, the response is 403 even where other fields are invalid.
    pub(crate) fn includes_hidden(body: &Value) -> bool {
        body.get("include_hidden") == Some(&true.into())
    }
}

impl<'a> ObjectDefinition<'a> for Understand {
    type Value = ParseOptions;

    fn define(fields: &mut Fields<'a>) -> Option<ParseOptions> {
        let about =
            "What is read in the query. The words of what is switched off are searched for.";
        fields.about(about, || Some(json!({"price": false})));
        let mut switch =
            |name, about| fields.optional(name, boolean(about, Some(true))).unwrap_or(true);
        let price = switch("price", "Conditions on the price: `under $50`, `20 to 30 euros`.");
        let about = "What is not wanted: `without leather`, `not black`, `nickel-free`.";
        let exclusions = switch("exclusions", about);
        let sort = switch("sort", "The order of results: `cheapest`, `newest`.");
        let about = "Words that no product says, corrected: `runing shoes`.";
        let corrections = switch("corrections", about);
        let about = "What the thing is and has: `navy armchair`, `only cotton`. Its words are searched \
                     for in any case; switched off, they are only words.";
        let attributes = switch("attributes", about);
        let on = ParseOptions::default();
        Some(ParseOptions { price, exclusions, sort, corrections, attributes, ..on })
    }
}

/// The query parameters of a request for similar products.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SimilarParameters {
    pub(crate) limit: usize,
    pub(crate) include_hidden: bool,
}

impl Default for SimilarParameters {
    fn default() -> Self {
        Self { limit: query::DEFAULT_LIMIT, include_hidden: false }
    }
}

impl SimilarParameters {
    fn define() -> [QueryParameter<Self>; 2] {
        let limit = "How many products to return at most.";
        let include_hidden = "Whether hidden products are looked at too; needs the role VIEWER.";
        [
            parameters::integer("limit", limit, 1..=query::MAX_LIMIT, |read: &mut Self, limit| {
                read.limit = limit;
            })
            .default(query::DEFAULT_LIMIT, 4),
            parameters::boolean("include_hidden", include_hidden, |read: &mut Self, value| {
                read.include_hidden = value;
            })
            .default(false, false),
        ]
    }

    pub(crate) fn read(query: Option<&str>) -> Result<Self, ValidationErrors> {
        parameters::read(query, &Self::define())
    }

    /// Whether a query string asks for hidden products; see [`SearchRequest::includes_hidden`].
    pub(crate) fn asks_for_hidden(query: Option<&str>) -> bool {
        url::form_urlencoded::parse(query.unwrap_or_default().as_bytes())
            .any(|(name, value)| name == "include_hidden" && value == "true")
    }
}

impl IntoParams for SimilarParameters {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        parameters::describe(Self::define())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_defaults_and_are_read_exactly() {
        for (query, limit, include_hidden) in [
            (None, 10, false),
            (Some(""), 10, false),
            (Some("limit=50"), 50, false),
            (Some("include_hidden=true&limit=1"), 1, true),
            (Some("include_hidden=false"), 10, false),
        ] {
            let read = SimilarParameters::read(query).unwrap();
            assert_eq!(read, SimilarParameters { limit, include_hidden });
            assert_eq!(SimilarParameters::asks_for_hidden(query), include_hidden);
        }
        for bad in ["limit=51", "limit=0", "include_hidden=1", "include_hidden=", "offset=1"] {
            assert_eq!(SimilarParameters::read(Some(bad)).unwrap_err().len(), 1, "{bad}");
        }
    }
}
