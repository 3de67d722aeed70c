//! Which files are the pages made of? All of them, inside the binary, under an address that
//! changes with their content.

use std::{collections::BTreeMap, sync::LazyLock};

use axum::http::HeaderValue;

use crate::http::openapi::Published;

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PICTURE: &str = "image/svg+xml";
const PAGE: &str = "text/html; charset=utf-8";

/// A copy never goes stale: other content has another address.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// A page names the version of its files, so it is asked for each time.
const ASKED_FOR_EACH_TIME: HeaderValue = HeaderValue::from_static("no-cache");

/// Where a page's HTML names the folder of its files.
pub(super) const FOLDER_MARK: &str = "/assets/VERSION/";

macro_rules! files {
    ($($kind:ident: $($name:literal),+;)+) => {
        [$($(($name, $kind, include_str!($name))),+),+]
    };
}

pub(super) const FILES: &[(&str, &str, &str)] = &files! {
    SCRIPT: "api.js", "cards.js", "charts.js", "chips.js", "desk.js", "desk-bulk.js",
        "desk-catalog.js", "desk-editor.js", "desk-figures.js", "desk-import.js", "desk-search.js",
        "desk-tokens.js", "detail.js", "dialogs.js", "dom.js", "finder.js", "importer.js",
        "listing.js", "pictures.js", "records.js", "shop.js", "signin.js", "storage.js", "words.js";
    STYLE: "base.css", "desk.css", "shop.css";
    PICTURE: "icon.svg";
};

/// A name for the content of all files together: their imports name each other without one.
pub(super) static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut digest = ring::digest::Context::new(&ring::digest::SHA256);
    for (name, _, text) in FILES {
        digest.update(name.as_bytes());
        digest.update(&[0]);
        digest.update(text.as_bytes());
        digest.update(&[0]);
    }
    digest.finish().as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
});

static PUBLISHED: LazyLock<BTreeMap<&str, Published>> = LazyLock::new(|| {
    FILES
        .iter()
        .map(|(name, kind, text)| {
            let kind = HeaderValue::from_static(kind);
            (*name, Published::new(kind, (*text).to_owned()).kept(FOREVER))
        })
        .collect()
});

const DESK_HTML: &str = include_str!("desk.html");
const SHOP_HTML: &str = include_str!("shop.html");

/// Every page as it is written.
#[cfg(test)]
pub(super) const PAGES: &[(&str, &str)] = &[("desk.html", DESK_HTML), ("shop.html", SHOP_HTML)];

/// The page for those who keep the shop.
pub(super) static DESK: LazyLock<Published> = LazyLock::new(|| page(DESK_HTML));
/// The page for shoppers.
pub(super) static SHOP: LazyLock<Published> = LazyLock::new(|| page(SHOP_HTML));

fn page(html: &str) -> Published {
    let html = html.replace(FOLDER_MARK, &format!("/assets/{}/", *VERSION));
    Published::new(HeaderValue::from_static(PAGE), html).kept(ASKED_FOR_EACH_TIME)
}

/// The file of this name, if this is the version of it that we have.
pub(super) fn find(version: &str, name: &str) -> Option<&'static Published> {
    if version != *VERSION {
        return None;
    }
    PUBLISHED.get(name)
}
