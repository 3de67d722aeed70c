//! What may a client say? Bodies and parameters read into the domain's types, with every
//! fault listed.

use catalog::{
    access::Role,
    media::{self, Media, MediaKind},
    price::Price,
    product::{Description, Draft, Patch, ProductId, Title},
    query::{self, QueryText},
    query_parser::ParseOptions,
    text,
    tuning::TUNING,
};
use engine::{SearchRequest, tokens};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{
    faults::{Faults, cut},
    fields::{self, Fields, Read, Refused, batch, boolean, integer, list, object},
    problem::{ApiError, Fault},
};

/// Products in one bulk request, at most.
pub const MAX_BULK: usize = 100;
/// Products on one page of the catalog, at most.
pub const MAX_PAGE: usize = 100;
/// Products on one page of the catalog when nothing is said.
pub const DEFAULT_PAGE: usize = 50;
/// Query parameters that are looked at, at most: more than any address takes.
const MAX_PARAMETERS: usize = 50;
/// The most characters of a wrong value that a message repeats.
const MAX_QUOTED_CHARS: usize = 40;
/// The longest idempotency key.
pub(crate) const MAX_KEY_BYTES: usize = 255;
/// The longest life of a token that has an end, in seconds: ten years.
pub const MAX_TOKEN_SECONDS: u64 = 10 * 365 * 24 * 60 * 60;

/// Fields of a product that a client may set.
pub(crate) const SETTABLE: [&str; 5] = ["title", "description", "price", "hidden", "media"];
/// Fields that a product has and nobody may set: they are ignored, so that what was read
/// can be edited and sent back.
pub(crate) const READ_ONLY: [&str; 4] = ["id", "shop_id", "created_at", "updated_at"];

/// What is read in a query and can be switched off.
pub(crate) const UNDERSTOOD: [&str; 4] = ["price", "exclusions", "sort", "corrections"];

/// A product to create.
pub fn draft(body: &Value) -> Result<Draft, Faults> {
    let mut fields = Fields::of(body)?;
    let title = fields.required("title", fields::text(Title::parse));
    let description = fields.optional("description", fields::text(Description::parse));
    let price = fields.required("price", price);
    let hidden = fields.optional("hidden", boolean);
    let media = fields.optional("media", media);
    fields.ignore(&READ_ONLY);
    fields.finish()?;
    match (title, price) {
        (Some(title), Some(price)) => Ok(Draft {
            title,
            description: description.unwrap_or_default(),
            price,
            hidden: hidden.unwrap_or(false),
            media: media.unwrap_or_default(),
        }),
        _ => unreachable!("a required field is there or a fault"),
    }
}

/// A change to a product.
pub fn patch(body: &Value) -> Result<Patch, Faults> {
    let mut fields = Fields::of(body)?;
    let patch = Patch {
        title: fields.optional("title", fields::text(Title::parse)),
        description: fields.optional("description", fields::text(Description::parse)),
        price: fields.optional("price", price),
        hidden: fields.optional("hidden", boolean),
        media: fields.optional("media", media),
    };
    fields.ignore(&READ_ONLY);
    fields.finish()?;
    if patch.is_empty() {
        let message = format!("names no field to change; known are {}", SETTABLE.join(", "));
        return Err(Fault::of_whole("no_change", message).into());
    }
    Ok(patch)
}

/// One element of a bulk update: which product, and what changes.
pub(crate) struct BulkEdit {
    /// The id as far as it could be read, for the answer.
    pub(crate) id: Option<u64>,
    pub(crate) edit: Result<(ProductId, Patch), Faults>,
}

/// Reads one element of a bulk update.
pub(crate) fn bulk_edit(element: &Value) -> BulkEdit {
    let mut id = None;
    let mut faults = match element {
        Value::Object(object) => match object.get("id") {
            None => Fault::new("id", "required", "is required").into(),
            Some(raw) => match product_id(raw) {
                Ok(good) => {
                    id = Some(good);
                    Faults::default()
                }
                Err(refused) => {
                    refused.map(|refused| Fault::new("id", refused.code, refused.message))
                }
            },
        },
        _ => Faults::default(),
    };
    let patch = patch(element).map_err(|more| faults.append(more));
    BulkEdit {
        id: id.map(ProductId::get),
        edit: match (id, patch, faults) {
            (Some(id), Ok(patch), _) => Ok((id, patch)),
            (_, _, faults) => Err(faults),
        },
    }
}

/// The `products` array of a bulk request.
pub fn bulk_elements(body: &Value) -> Result<&Vec<Value>, ApiError> {
    sole_array(body, "products", batch(MAX_BULK))
}

/// The `product_ids` of a bulk delete.
pub fn bulk_ids(body: &Value) -> Result<Vec<ProductId>, ApiError> {
    sole_array(body, "product_ids", |value| {
        batch(MAX_BULK)(value)?;
        list(MAX_BULK, product_id)(value)
    })
}

fn sole_array<'a, T>(
    body: &'a Value,
    name: &'static str,
    read: impl FnOnce(&'a Value) -> Read<T>,
) -> Result<T, ApiError> {
    let mut fields = Fields::of(body).map_err(ApiError::Validation)?;
    let array = fields.required(name, read);
    fields.finish().map_err(ApiError::Validation)?;
    array.ok_or(ApiError::Internal)
}

/// A search. Whether it may see hidden products is for the caller's pass to say.
pub fn search(body: &Value) -> Result<SearchRequest, Faults> {
    let mut fields = Fields::of(body)?;
    let query = fields.required("query", fields::text(QueryText::parse));
    let limit = fields.optional("limit", integer(1, query::MAX_LIMIT as u64));
    let offset = fields.optional("offset", integer(0, query::MAX_OFFSET as u64));
    fields.optional("include_hidden", boolean);
    let understand = fields.optional("understand", object(understand));
    let explain = fields.optional("explain", boolean);
    fields.finish()?;
    let Some(query) = query else { unreachable!("a required field is there or a fault") };
    Ok(SearchRequest {
        query,
        limit: limit.map_or(query::DEFAULT_LIMIT, |limit| limit as usize),
        offset: offset.unwrap_or(0) as usize,
        parse_options: understand.unwrap_or_default(),
        explain: explain.unwrap_or(false),
        tuning: TUNING,
        time_limit: None,
    })
}

/// What is read in a query: everything that is not switched off.
fn understand(value: &Value) -> Result<ParseOptions, Faults> {
    let mut fields = Fields::of(value)?;
    let [price, exclusions, sort, corrections] =
        UNDERSTOOD.map(|name| fields.optional(name, boolean));
    fields.finish()?;
    Ok(ParseOptions {
        price: price.unwrap_or(true),
        exclusions: exclusions.unwrap_or(true),
        sort: sort.unwrap_or(true),
        corrections: corrections.unwrap_or(true),
        ..ParseOptions::default()
    })
}

/// A token to issue.
#[derive(Debug)]
pub struct TokenRequest {
    /// What it lets its bearer do.
    pub role: Role,
    /// What its owner calls it.
    pub name: String,
    /// When it stops working, if ever.
    pub expires_at: Option<Timestamp>,
}

/// Reads a token to issue.
pub fn token(body: &Value, now: Timestamp) -> Result<TokenRequest, Faults> {
    let mut fields = Fields::of(body)?;
    let role = fields.required(
        "role",
        fields::text(|raw| raw.parse::<Role>().map_err(|why| Refused::new("unknown_role", why))),
    );
    let name = fields.optional("name", fields::text(token_name));
    let seconds = fields.optional("expires_in_seconds", integer(1, MAX_TOKEN_SECONDS));
    fields.finish()?;
    let Some(role) = role else { unreachable!("a required field is there or a fault") };
    let expires_at = seconds.map(|seconds| now + SignedDuration::from_secs(seconds as i64));
    Ok(TokenRequest { role, name: name.unwrap_or_default(), expires_at })
}

fn token_name(raw: &str) -> Result<String, Refused> {
    text::at_most(raw, tokens::MAX_NAME_CHARS)?;
    text::without_control_characters(raw)?;
    Ok(raw.to_owned())
}

fn price(value: &Value) -> Read<Price> {
    match value {
        Value::Number(number) => {
            let meant = Some(format!("${number}")).filter(|text| Price::parse(text).is_ok());
            let example = meant.as_deref().unwrap_or("$19.99");
            let message = format!("must be a string with a currency, such as \"{example}\"");
            Err(Refused::new("invalid_price", message).into())
        }
        other => {
            fields::text(|raw| Price::parse(raw).map_err(|why| Refused::new("invalid_price", why)))(
                other,
            )
        }
    }
}

fn media(value: &Value) -> Read<Vec<Media>> {
    list(media::MAX_ITEMS, object(media_item))(value)
}

fn media_item(value: &Value) -> Result<Media, Faults> {
    let mut fields = Fields::of(value)?;
    let kind = fields.required(
        "type",
        fields::text(|raw| {
            MediaKind::parse(raw).ok_or_else(|| Refused::new("unknown_type", "must be \"image\""))
        }),
    );
    let item = fields.required(
        "url",
        fields::text(|raw| {
            Media::new(raw, kind.unwrap_or(MediaKind::Image))
                .map_err(|why| Refused::new("invalid_url", why))
        }),
    );
    fields.finish()?;
    item.ok_or_else(Faults::default)
}

fn product_id(value: &Value) -> Read<ProductId> {
    integer(1, i64::MAX as u64)(value).and_then(|number| {
        ProductId::new(number)
            .ok_or_else(|| Refused::new("out_of_range", "must be a positive integer").into())
    })
}

/// A part of the catalog to list.
#[derive(Debug, PartialEq, Eq)]
pub struct ListRequest {
    /// These products and no others, each once, where given.
    pub ids: Option<Vec<ProductId>>,
    /// How many at most; all of them where ids are given and no limit is.
    pub limit: Option<usize>,
    /// How many to skip first.
    pub offset: usize,
}

/// Reads the parameters of a list.
pub fn list_parameters(query: Option<&str>) -> Result<ListRequest, Faults> {
    let mut request = ListRequest { ids: None, limit: None, offset: 0 };
    each_parameter(query, &["ids", "limit", "offset"], |name, value| {
        match name {
            "ids" => request.ids = Some(ids_parameter(value)?),
            "limit" => {
                request.limit = Some(integer_parameter(name, value, 1, MAX_PAGE as u64)? as usize);
            }
            _ => request.offset = integer_parameter(name, value, 0, i64::MAX as u64)? as usize,
        }
        Ok(())
    })?;
    Ok(request)
}

/// A part of the catalog to list, asked for by a JSON object.
pub(crate) fn list_object(body: &Value) -> Result<ListRequest, Faults> {
    let mut fields = Fields::of(body)?;
    let ids = fields.optional("ids", list(MAX_BULK, product_id));
    let limit = fields.optional("limit", integer(1, MAX_PAGE as u64));
    let offset = fields.optional("offset", integer(0, i64::MAX as u64));
    fields.finish()?;
    Ok(ListRequest {
        ids: ids.map(each_once),
        limit: limit.map(|limit| limit as usize),
        offset: offset.unwrap_or(0) as usize,
    })
}

/// The one product that a JSON object names, as `{"id": 17}`.
pub(crate) fn sole_id(body: &Value) -> Result<ProductId, Faults> {
    let mut fields = Fields::of(body)?;
    let id = fields.required("id", product_id);
    fields.finish()?;
    let Some(id) = id else { unreachable!("a required field is there or a fault") };
    Ok(id)
}

/// The caller's own name for a create: visible ASCII with spaces, not spaces alone.
pub(crate) fn idempotency_key(raw: &str) -> Result<&str, Refused> {
    let visible = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
    let good = (1..=MAX_KEY_BYTES).contains(&raw.len())
        && raw.bytes().all(visible)
        && raw.bytes().any(|byte| byte != b' ');
    if good {
        return Ok(raw);
    }
    let message = format!("must be 1 to {MAX_KEY_BYTES} visible ASCII characters");
    Err(Refused::new("invalid_key", message))
}

/// Hands the parameters that are known to `read`, in order and each once; what is unknown or
/// repeated is a fault.
pub(crate) fn each_parameter(
    query: Option<&str>,
    known: &[&str],
    mut read: impl FnMut(&str, &str) -> Result<(), Fault>,
) -> Result<(), Faults> {
    let mut faults = Faults::default();
    let mut seen = Vec::new();
    for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        if seen.len() == MAX_PARAMETERS {
            let message = format!("has more than {MAX_PARAMETERS} parameters");
            faults.push(Fault::of_whole("too_many", message));
            break;
        }
        let done = if seen.contains(&name) {
            Err(Fault::new(name.as_ref(), "repeated", "must be given once"))
        } else if known.contains(&name.as_ref()) {
            read(&name, &value)
        } else {
            let known = known.join(", ");
            let message = format!("is not a parameter here; known are {known}");
            Err(Fault::new(name.as_ref(), "unknown_parameter", message))
        };
        if let Err(fault) = done {
            faults.push(fault);
        }
        seen.push(name);
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

pub(crate) fn integer_parameter(name: &str, raw: &str, min: u64, max: u64) -> Result<u64, Fault> {
    match raw.parse::<u64>() {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ if is_integer(raw) => {
            Err(Fault::new(name, "out_of_range", format_args!("must be between {min} and {max}")))
        }
        _ => Err(Fault::new(name, "wrong_type", "must be an integer")),
    }
}

/// Whether a text is a whole number of any size.
pub(crate) fn is_integer(raw: &str) -> bool {
    let digits = raw.strip_prefix(['-', '+']).unwrap_or(raw);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn ids_parameter(raw: &str) -> Result<Vec<ProductId>, Fault> {
    let mut ids = Vec::new();
    // No ids asked for: an empty list, never the whole catalog.
    if raw.trim().is_empty() {
        return Ok(ids);
    }
    for part in raw.split(',').map(str::trim) {
        match part.parse::<ProductId>() {
            Ok(id) => ids.push(id),
            // A whole number that no product can have is just unknown.
            Err(_) if is_integer(part) => {}
            Err(why) => {
                let part = cut(part, MAX_QUOTED_CHARS);
                let message = format!("must be comma-separated product ids; {part:?} {why}");
                return Err(Fault::new("ids", "wrong_type", message));
            }
        }
    }
    if raw.split(',').count() > MAX_BULK {
        let message = format!("must have at most {MAX_BULK} ids");
        return Err(Fault::new("ids", "too_many", message));
    }
    Ok(each_once(ids))
}

fn each_once(mut ids: Vec<ProductId>) -> Vec<ProductId> {
    let mut seen = std::collections::HashSet::new();
    ids.retain(|id| seen.insert(*id));
    ids
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn codes(faults: &[Fault]) -> Vec<String> {
        faults
            .iter()
            .map(|fault| format!("{} {}", fault.field.as_deref().unwrap_or("-"), fault.code))
            .collect()
    }

    fn check_draft(body: Value, expected: &[&str]) {
        let found = draft(&body).map_or_else(|faults| codes(&faults), |_| Vec::new());
        assert_eq!(found, expected, "{body}");
    }

    #[test]
    fn a_draft_needs_a_title_and_a_price() {
        check_draft(json!({"title": "Sofa", "price": "$5"}), &[]);
        check_draft(json!({}), &["title required", "price required"]);
        check_draft(json!([]), &["- wrong_type"]);
    }

    #[test]
    fn every_fault_of_a_draft_is_listed() {
        check_draft(
            json!({"title": " ", "description": "\u{7}", "price": 5, "hidden": null, "colour": 1}),
            &[
                "title blank",
                "description control_character",
                "price invalid_price",
                "hidden wrong_type",
                "colour unknown_field",
            ],
        );
        check_draft(
            json!({"title": "Sofa", "price": "$5", "media": [
                {"url": "https://example.com/a.jpg", "type": "image"},
                {"url": "ftp://example.com", "type": "video"}, 7]}),
            &["media[1].type unknown_type", "media[1].url invalid_url", "media[2] wrong_type"],
        );
    }

    #[test]
    fn what_was_read_can_be_sent_back() {
        check_draft(
            json!({"id": 1, "shop_id": 2, "created_at": "x", "updated_at": "y",
                "title": "Sofa", "description": "", "price": "$5", "hidden": false, "media": []}),
            &[],
        );
    }

    #[test]
    fn an_update_must_change_something() {
        assert_eq!(codes(&patch(&json!({"id": 5})).unwrap_err()), ["- no_change"]);
        assert!(patch(&json!({"description": ""})).is_ok());
    }

    #[test]
    fn everything_is_read_in_a_query_unless_switched_off() {
        let read = |switches: Value| {
            let request = search(&json!({"query": "x", "understand": switches}));
            request.map(|request| request.parse_options).map_err(|faults| codes(&faults))
        };
        assert_eq!(search(&json!({"query": "x"})).unwrap().parse_options, ParseOptions::default());
        assert_eq!(read(json!({})), Ok(ParseOptions::default()));
        let without_price = ParseOptions { price: false, ..ParseOptions::default() };
        assert_eq!(read(json!({"price": false, "sort": true})), Ok(without_price));
        assert_eq!(
            read(json!({"price": 0, "sort": null, "color": false})),
            Err(vec![
                "understand.price wrong_type".into(),
                "understand.sort wrong_type".into(),
                "understand.color unknown_field".into(),
            ])
        );
        assert_eq!(read(json!(false)), Err(vec!["understand wrong_type".into()]));
    }

    #[test]
    fn a_bulk_edit_says_which_product_where_it_can() {
        let edit = bulk_edit(&json!({"id": 5, "title": ""}));
        assert_eq!(
            (edit.id, codes(&edit.edit.unwrap_err())),
            (Some(5), vec!["title blank".into()])
        );
        let edit = bulk_edit(&json!({"id": "5", "hidden": 1}));
        assert_eq!(edit.id, None);
        assert_eq!(codes(&edit.edit.unwrap_err()), ["id wrong_type", "hidden wrong_type"]);
        let edit = bulk_edit(&json!({"title": "x"}));
        assert_eq!(codes(&edit.edit.unwrap_err()), ["id required"]);
        let edit = bulk_edit(&json!(3));
        assert_eq!(codes(&edit.edit.unwrap_err()), ["- wrong_type"]);
    }

    #[test]
    fn list_parameters_are_read_or_refused_never_guessed() {
        let list = |query| list_parameters(Some(query)).map_err(|faults| codes(&faults));
        let ids = |numbers: &[u64]| {
            Some(numbers.iter().map(|n| ProductId::new(*n).unwrap()).collect::<Vec<_>>())
        };
        assert_eq!(
            list("limit=2&offset=4"),
            Ok(ListRequest { ids: None, limit: Some(2), offset: 4 })
        );
        assert_eq!(
            list("ids=3,%201,3,0,99999999999999999999"),
            Ok(ListRequest { ids: ids(&[3, 1]), limit: None, offset: 0 })
        );
        assert_eq!(list("ids="), Ok(ListRequest { ids: ids(&[]), limit: None, offset: 0 }));
        assert_eq!(list("ids=1,,2"), Err(vec!["ids wrong_type".into()]));
        assert_eq!(
            list("limit=0&offset=-1&sort=x"),
            Err(vec![
                "limit out_of_range".into(),
                "offset out_of_range".into(),
                "sort unknown_parameter".into(),
            ])
        );
        assert_eq!(list("limit=ten"), Err(vec!["limit wrong_type".into()]));
        assert_eq!(list("limit=1&limit=2"), Err(vec!["limit repeated".into()]));
        let many =
            format!("ids={}", (1..=101).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
        assert_eq!(list(&many), Err(vec!["ids too_many".into()]));
    }

    #[test]
    fn a_list_is_asked_for_by_an_object_too() {
        let list = |body: Value| list_object(&body).map_err(|faults| codes(&faults));
        let ids = |numbers: &[u64]| {
            Some(numbers.iter().map(|n| ProductId::new(*n).unwrap()).collect::<Vec<_>>())
        };
        assert_eq!(list(json!({})), Ok(ListRequest { ids: None, limit: None, offset: 0 }));
        assert_eq!(
            list(json!({"ids": [3, 1, 3], "limit": 2, "offset": 4})),
            Ok(ListRequest { ids: ids(&[3, 1]), limit: Some(2), offset: 4 })
        );
        assert_eq!(
            list(json!({"ids": [0, "1"], "limit": 101, "offset": -1, "sort": "x"})),
            Err([
                "ids[0] out_of_range",
                "ids[1] wrong_type",
                "limit out_of_range",
                "offset out_of_range",
                "sort unknown_field",
            ]
            .map(str::to_owned)
            .to_vec())
        );
    }

    /// The documented pattern of a key: visible ASCII, with spaces inside at the most.
    #[test]
    fn a_key_is_visible_ascii() {
        let longest = "k".repeat(MAX_KEY_BYTES);
        for (key, good) in [
            ("order 17", true),
            (longest.as_str(), true),
            (&format!("{longest}k"), false),
            ("", false),
            (" ", false),
            ("a\tb", false),
            ("\u{e9}", false),
        ] {
            assert_eq!(idempotency_key(key).is_ok(), good, "{key:?}");
        }
    }
}
