//! Results of tools: the response body of the API, and a summary as text.

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Map, Value, json};

use crate::http::errors::ApiError;

/// The key of the whole problem in `_meta`.
const PROBLEM: &str = "problem";

/// The result of a search.
pub(super) fn found(body: Value) -> CallToolResult {
    let (products, total) = (lines(&body), &body["total"]);
    let how_many = match (products.len(), total.as_u64()) {
        (0, Some(0)) => "No product was found.".to_owned(),
        (shown, _) => format!("{shown} of {total} products found."),
    };
    let understood = understood(&body["understood"]);
    done(text([how_many].into_iter().chain(understood).chain(products)), body)
}

/// One product.
pub(super) fn product(body: Value) -> CallToolResult {
    let description = body["description"].as_str().unwrap_or_default().to_owned();
    done(text([line(&body), description]), body)
}

/// A page of the catalog that begins at `offset`.
pub(super) fn listed(body: Value, offset: usize) -> CallToolResult {
    let products = lines(&body);
    let how_many = match products.len() {
        0 => format!("No product from place {} on; there are {}.", offset + 1, body["total"]),
        shown => format!("Products {} to {} of {}.", offset + 1, offset + shown, body["total"]),
    };
    done(text([how_many].into_iter().chain(products)), body)
}

/// A product that was created.
pub(super) fn created(body: Value) -> CallToolResult {
    done(format!("Created: {}", line(&body)), body)
}

/// A product that was changed.
pub(super) fn updated(body: Value) -> CallToolResult {
    done(format!("Updated: {}", line(&body)), body)
}

/// A product that was deleted.
pub(super) fn deleted(body: Value) -> CallToolResult {
    done(format!("Deleted: product {}.", body["id"]), body)
}

/// An error of the API. It has no structured content, which clients validate against the schema of
/// successful results.
pub(super) fn error(error: &ApiError, request_id: &str) -> CallToolResult {
    let (_, code, title) = error.table();
    let mut lines = vec![format!("{title} ({code}): {error}")];
    // The detail has the message of a single validation error, and the number of several.
    if let ApiError::Validation(errors) = error
        && errors.count() > 1
    {
        lines.extend(errors.iter().map(|error| match &error.field {
            Some(field) => format!("- {field} ({}): {}", error.code, error.message),
            None => format!("- ({}): {}", error.code, error.message),
        }));
        if errors.omitted() > 0 {
            lines.push(format!("- and {} more", errors.omitted()));
        }
    }
    let problem = Map::from_iter([(PROBLEM.to_owned(), json!(error.problem(request_id)))]);
    let mut result = CallToolResult::error(vec![ContentBlock::text(lines.join("\n"))]);
    result.meta = Some(MetaObject(problem));
    result
}

fn done(text: String, body: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(body);
    result
}

fn text(lines: impl IntoIterator<Item = String>) -> String {
    let lines: Vec<_> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

/// The products of a body, one line each.
fn lines(body: &Value) -> Vec<String> {
    body["products"].as_array().into_iter().flatten().map(line).collect()
}

fn line(product: &Value) -> String {
    let [title, price] = ["title", "price"].map(|name| product[name].as_str().unwrap_or_default());
    let hidden = if product["hidden"] == true { " (hidden)" } else { "" };
    format!("product {}: {title}, {price}{hidden}", product["id"])
}

/// How the query was interpreted; `None` if it is only words.
fn understood(body: &Value) -> Option<String> {
    let pieces = |name: &str| body[name].as_array().into_iter().flatten();
    let said = |piece: &Value| piece["text"].as_str().map(str::to_owned);
    let (required, wished): (Vec<_>, Vec<_>) =
        pieces("attributes").partition(|piece| piece["required"] == true);
    let conditions = pieces("constraints").chain(pieces("exclusions")).chain(required);
    let kept: Vec<_> = conditions.filter_map(said).collect();
    let wished: Vec<_> = wished.into_iter().filter_map(said).collect();
    let corrected: Vec<_> = pieces("corrections")
        .map(|piece| format!("{} for {}", piece["to"], piece["from"]))
        .collect();
    let parts = [
        (!kept.is_empty()).then(|| format!("kept exactly: {}", kept.join("; "))),
        (!wished.is_empty()).then(|| format!("preferred: {}", wished.join("; "))),
        said(&body["sort"]).map(|order| format!("in order: {order}")),
        (!corrected.is_empty()).then(|| format!("read {}", corrected.join(", "))),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("Understood: {}.", parts.join(", ")))
}
