//! Compares answers with stored snapshots.

use serde_json::json;
use testkit::Answer;

/// The headers that are part of the contract; the HTTP library adds others.
const SHOWN_HEADERS: &[&str] = &[
    "allow",
    "content-type",
    "etag",
    "location",
    "ratelimit",
    "ratelimit-policy",
    "retry-after",
    "www-authenticate",
    "x-request-id",
    "x-total-count",
];

/// Compares the answer with the snapshot of this name. Values that differ from run to run are
/// redacted.
#[track_caller]
pub(crate) fn snapshot(name: &str, answer: &Answer) {
    let headers: serde_json::Map<_, _> = SHOWN_HEADERS
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), answer.header(name)?.into())))
        .collect();
    let view = json!({"status": answer.status, "headers": headers, "body": answer.body});
    let mut settings = insta::Settings::clone_current();
    settings.set_sort_maps(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (selector, placeholder) in [
        (".headers.etag", "[etag]"),
        (".headers[\"x-request-id\"]", "[request id]"),
        (".body.**.request_id", "[request id]"),
        (".body.**.id", "[id]"),
        (".body.created_ids[]", "[id]"),
        (".body.updated_ids[]", "[id]"),
        (".body.**.shop_id", "[shop]"),
        (".body.**.created_at", "[time]"),
        (".body.**.updated_at", "[time]"),
        (".body.**.token", "[token]"),
        (".body.**.category", "[category]"),
    ] {
        settings.add_redaction(selector, placeholder);
    }
    settings.add_dynamic_redaction(".headers.location", |location, _| {
        let (folder, _) = location.as_str().unwrap().rsplit_once('/').unwrap();
        format!("{folder}/[id]")
    });
    settings.bind(|| insta::assert_json_snapshot!(name, view));
}
