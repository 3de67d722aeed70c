//! Reads the catalog of a running server page by page, while others change it.
//!
//! The list is in the order of ids and grows at its end alone, but what is deleted moves the rest
//! forward. So each page is asked for from the last product of the page before: if that is not
//! where it was, the page begins too late, and an earlier one is asked for. A product that is there
//! all the time is exported once, whatever happens to the others.

use anyhow::{Context, bail};
use serde_json::json;
use ureq::http::{Method, StatusCode};

use super::product::Exported;
use crate::{cli::remote::Remote, http::requests::MAX_PAGE};

/// Makes sure that the token sees hidden products: an export without them would look whole.
pub(in crate::cli) fn check_visibility(remote: &Remote) -> anyhow::Result<()> {
    let body = json!({"query": "anything", "limit": 1, "include_hidden": true});
    let answer = remote.send(&Method::POST, "/api/v1/search", None, Some(&body))?;
    if answer.status == StatusCode::FORBIDDEN {
        bail!("this token sees visible products only; export with one of role VIEWER or higher");
    }
    answer.expect(StatusCode::OK).map(drop)
}

/// Hands every product to `visit`, by ascending id, with how many there are.
pub(in crate::cli) fn read(
    remote: &Remote,
    mut visit: impl FnMut(&Exported, u64) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut last: u64 = 0;
    let mut offset: usize = 0;
    loop {
        let (mut page, total) = page(remote, offset)?;
        let begins_too_late = page.first().is_none_or(|first| first.id > last);
        if last > 0 && offset > 0 && begins_too_late {
            offset = offset.saturating_sub(MAX_PAGE);
            continue;
        }
        let is_last = page.len() < MAX_PAGE;
        page.retain(|product| product.id > last);
        for product in &page {
            visit(product, total)?;
            last = product.id;
        }
        if is_last {
            return Ok(());
        }
        // The last product of this page again, to see that it is still there.
        offset += MAX_PAGE - 1;
    }
}

fn page(remote: &Remote, offset: usize) -> anyhow::Result<(Vec<Exported>, u64)> {
    let path = format!("/api/v1/products?limit={MAX_PAGE}&offset={offset}");
    let answer = remote.send(&Method::GET, &path, None, None)?.expect(StatusCode::OK)?;
    let products = serde_json::from_value(answer.body).context("the server's list")?;
    Ok((products, answer.total_count.unwrap_or(0)))
}
