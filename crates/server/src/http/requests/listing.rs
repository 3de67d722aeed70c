//! Requests that list products.

use std::{collections::HashSet, hash::Hash};

use catalog::{
    product::{ProductId, key::Key},
    query::sort::Sort,
};
use serde_json::json;
use utoipa::{
    IntoParams,
    openapi::path::{Parameter, ParameterIn},
};

use super::{
    MAX_BULK,
    fields::{Fields, Invalid, ObjectDefinition, integer, list},
    filter::{parse_sort, sort, sort_schema},
    merchant_data::{key, key_schema},
    parameters::{self, ParameterValue, QueryParameter, is_integer},
    products::product_id,
};
use crate::http::{
    errors::{ValidationError, ValidationErrors, validation::truncate},
    json_schema::{comma_separated, string},
};

/// The most products on one page of the catalog.
pub const MAX_PAGE: usize = 100;
/// The products on one page of the catalog by default.
pub const DEFAULT_PAGE: usize = 50;
/// The most characters of an invalid value that a message repeats.
const MAX_QUOTED_CHARS: usize = 40;

const LIMIT: &str = "How many products to return at most; with `ids` or `keys`, all of them unless \
                     this is given.";
const OFFSET: &str = "How many products to skip.";
const SORT: &str = "The order: `relevance` (by ascending id), `price`, `-price`, `newest`, `oldest`, \
                    or a numeric attribute, with `-` for descending. Products without a value come \
                    last. Not with `ids` or `keys`, which have an order of their own.";

/// A part of the catalog to list. `ids`, `keys` and `sort` exclude each other.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ListRequest {
    /// Only these products, each once.
    pub ids: Option<Vec<ProductId>>,
    /// Only the products with these keys, each once.
    pub keys: Option<Vec<Key>>,
    /// The order of the whole catalog; `None` for ascending ids.
    pub sort: Option<Sort>,
    /// The most products to return; where `None`, all of `ids` or `keys`, or a page of the default
    /// size.
    pub limit: Option<usize>,
    /// How many products to skip.
    pub offset: usize,
}

impl ListRequest {
    /// The field that cannot stand beside another one, if there is one.
    fn excluded(&self) -> Option<(&'static str, Invalid)> {
        let exclusive = |name, other| {
            let message = format!("cannot be combined with {other}");
            Some((name, Invalid::new("exclusive", message)))
        };
        match (&self.ids, &self.keys, &self.sort) {
            (Some(_), Some(_), _) => exclusive("keys", "ids"),
            (Some(_), _, Some(_)) => exclusive("sort", "ids"),
            (_, Some(_), Some(_)) => exclusive("sort", "keys"),
            _ => None,
        }
    }
}

/// A part of the catalog to list, as a JSON object.
pub(crate) struct ListArguments;

impl<'a> ObjectDefinition<'a> for ListArguments {
    type Value = ListRequest;

    fn define(fields: &mut Fields<'a>) -> Option<ListRequest> {
        fields.about("", || None);
        let about = "These products and no others, in this order and each once.";
        let ids = fields.optional("ids", list(about, 0, MAX_BULK, product_id("")));
        let about = "The products with these keys and no others, in this order and each once. Not \
                     with `ids`.";
        let keys = fields.optional("keys", list(about, 0, MAX_BULK, key()));
        let sort = fields.optional("sort", sort(SORT));
        let (max, default) = (MAX_PAGE as u64, DEFAULT_PAGE as u64);
        let limit = fields.optional("limit", integer(LIMIT, 1, max, Some(default)));
        let offset = fields.optional("offset", integer(OFFSET, 0, i64::MAX as u64, Some(0)));
        let request = ListRequest {
            ids: ids.map(without_duplicates),
            keys: keys.map(without_duplicates),
            sort,
            limit: limit.map(|limit| limit as usize),
            offset: offset.unwrap_or(0) as usize,
        };
        if let Some((name, invalid)) = request.excluded() {
            fields.reject(name, invalid);
        }
        Some(request)
    }
}

/// The query parameters of a list.
pub(crate) struct ListParameters;

impl ListParameters {
    fn define() -> [QueryParameter<ListRequest>; 5] {
        let ids = "Comma-separated product ids: those products in that order, each once, unknown \
                   ones left out. At most 100.";
        let keys = "Keys: the products that have them, in that order, each once, unknown ones left \
                    out. At most 100. The parameter may be repeated (`keys=a&keys=b`), or the keys \
                    separated by commas (`keys=a,b`); a comma inside a key is sent as `%2C`. Not \
                    with `ids`.";
        [
            parameters::new(
                "ids",
                ids,
                string("").pattern(Some(comma_separated(MAX_BULK))),
                |request: &mut ListRequest, value| {
                    request.ids = Some(ids_of(value)?);
                    Ok(())
                },
            )
            .example("17,18"),
            parameters::new("keys", keys, key_schema("", 1), |request: &mut ListRequest, value| {
                add_keys(request.keys.get_or_insert_default(), value)
            })
            .repeatable(MAX_BULK)
            .example(json!(["SOFA-3-GREEN", "TABLE-OAK"])),
            parameters::new("sort", SORT, sort_schema(""), |request: &mut ListRequest, value| {
                request.sort = Some(parse_sort(&value.text())?);
                Ok(())
            })
            .example("-price"),
            parameters::integer(
                "limit",
                LIMIT,
                1..=MAX_PAGE,
                |request: &mut ListRequest, value| {
                    request.limit = Some(value);
                },
            )
            .default(DEFAULT_PAGE, 20),
            parameters::integer(
                "offset",
                OFFSET,
                0..=i64::MAX as usize,
                |request: &mut ListRequest, value| request.offset = value,
            )
            .default(0, 0),
        ]
    }
}

impl IntoParams for ListParameters {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        parameters::describe(Self::define())
    }
}

/// Reads the query parameters of a list.
pub fn list_parameters(query: Option<&str>) -> Result<ListRequest, ValidationErrors> {
    let request = parameters::read(query, &ListParameters::define())?;
    match request.excluded() {
        None => Ok(request),
        Some((name, Invalid { code, message, .. })) => {
            Err(ValidationError::new(name, code, message).into())
        }
    }
}

fn ids_of(value: &ParameterValue<'_>) -> Result<Vec<ProductId>, Invalid> {
    let raw = value.text();
    let mut ids = Vec::new();
    // An empty list selects no product, not the whole catalog.
    if raw.trim().is_empty() {
        return Ok(ids);
    }
    for part in raw.split(',').map(str::trim) {
        match part.parse::<ProductId>() {
            Ok(id) => ids.push(id),
            // An integer that is no valid id cannot name a product, like an unknown id.
            Err(_) if is_integer(part) => {}
            Err(why) => {
                let part = truncate(part, MAX_QUOTED_CHARS);
                let message = format!("must be comma-separated product ids; {part:?} {why}");
                return Err(Invalid::new("wrong_type", message));
            }
        }
    }
    check_count(raw.split(',').count(), "ids")?;
    Ok(without_duplicates(ids))
}

fn add_keys(keys: &mut Vec<Key>, value: &ParameterValue<'_>) -> Result<(), Invalid> {
    // An empty list selects no product, not the whole catalog.
    if value.text().is_empty() {
        return Ok(());
    }
    for part in value.parts() {
        let key = Key::parse(&part).map_err(|why| {
            let Invalid { code, message, .. } = why.into();
            Invalid::new(code, format_args!("each key {message}"))
        })?;
        check_count(keys.len() + 1, "keys")?;
        keys.push(key);
    }
    *keys = without_duplicates(std::mem::take(keys));
    Ok(())
}

fn check_count(count: usize, of_what: &str) -> Result<(), Invalid> {
    if count > MAX_BULK {
        return Err(Invalid::new(
            "too_many",
            format_args!("must have at most {MAX_BULK} {of_what}"),
        ));
    }
    Ok(())
}

fn without_duplicates<T: Clone + Eq + Hash>(mut all: Vec<T>) -> Vec<T> {
    let mut seen = HashSet::new();
    all.retain(|one| seen.insert(one.clone()));
    all
}
