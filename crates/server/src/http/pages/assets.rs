//! The files of the pages, embedded in the binary and served under a path that changes with their
//! content.

use std::{collections::BTreeMap, sync::LazyLock};

use axum::http::HeaderValue;

use crate::http::responses::static_content::StaticContent;

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PICTURE: &str = "image/svg+xml";
const PAGE: &str = "text/html; charset=utf-8";

/// A copy never becomes stale: new content has another path.
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// A page names the version of its files, so every use is revalidated.
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");

/// The placeholder for the folder of files in a page's HTML.
pub(super) const FOLDER_PLACEHOLDER: &str = "/assets/VERSION/";

macro_rules! files {
    ($($kind:ident: $($name:literal),+;)+) => {
        [$($(($name, $kind, include_str!($name))),+),+]
    };
}

pub(super) const FILES: &[(&str, &str, &str)] = &files! {
    SCRIPT: "api.js", "attributes.js", "cards.js", "charts.js", "chips.js", "admin.js",
        "admin-attributes.js", "admin-bulk.js", "admin-catalog.js", "admin-dashboard.js",
        "admin-editor.js", "admin-filters.js", "admin-import.js", "admin-search.js", "admin-tokens.js",
        "detail.js", "dialogs.js", "dom.js", "drawer.js", "facets.js",
        "filters.js", "finder.js", "importer.js", "language.js", "listing.js", "pictures.js", "records.js",
        "shop.js", "signin.js", "storage.js", "texts.js", "texts-de.js", "texts-en.js", "texts-es.js",
        "texts-fr.js", "words.js";
    STYLE: "base.css", "admin.css", "shop.css";
    PICTURE: "icon.svg";
};

/// The digest of all files together: imports between files do not name versions.
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

static CONTENTS: LazyLock<BTreeMap<&str, StaticContent>> = LazyLock::new(|| {
    FILES
        .iter()
        .map(|(name, kind, text)| {
            let kind = HeaderValue::from_static(kind);
            (*name, StaticContent::new(kind, (*text).to_owned()).with_cache_control(IMMUTABLE))
        })
        .collect()
});

const ADMIN_HTML: &str = include_str!("admin.html");
const SHOP_HTML: &str = include_str!("shop.html");

/// Every page before placeholders are replaced.
#[cfg(test)]
pub(super) const PAGES: &[(&str, &str)] = &[("admin.html", ADMIN_HTML), ("shop.html", SHOP_HTML)];

/// The admin page.
pub(super) static ADMIN: LazyLock<StaticContent> = LazyLock::new(|| page(ADMIN_HTML));
/// The shop page.
pub(super) static SHOP: LazyLock<StaticContent> = LazyLock::new(|| page(SHOP_HTML));

fn page(html: &str) -> StaticContent {
    let html = html.replace(FOLDER_PLACEHOLDER, &format!("/assets/{}/", *VERSION));
    StaticContent::new(HeaderValue::from_static(PAGE), html).with_cache_control(REVALIDATE)
}

/// The file of this name; `None` for other versions.
pub(super) fn find(version: &str, name: &str) -> Option<&'static StaticContent> {
    if version != *VERSION {
        return None;
    }
    CONTENTS.get(name)
}
