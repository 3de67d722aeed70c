//! The page has every operation, schema and error, and loads nothing.

use std::collections::BTreeSet;

use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;

use super::*;
use crate::http::errors::reference::every_error;

fn page() -> String {
    page::page(&spec::Spec::new(&crate::http::document()), STYLE)
}

fn attribute<'a>(page: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let opening = format!(" {name}=\"");
    let values: Vec<&str> =
        page.split(opening.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect();
    values.into_iter()
}

#[test]
fn every_error_has_the_anchor_that_its_type_names() {
    let page = page();
    for error in every_error() {
        let kind = serde_json::to_value(error.problem("id")).unwrap()["type"].clone();
        let anchor = kind.as_str().unwrap().strip_prefix("/docs#").unwrap().to_owned();
        assert!(attribute(&page, "id").any(|id| id == anchor), "{anchor}");
    }
}

#[test]
fn every_operation_and_schema_is_on_the_page() {
    let page = page();
    let ids: BTreeSet<&str> = attribute(&page, "id").collect();
    let document = serde_json::to_value(crate::http::document()).unwrap();
    let mut operations = 0;
    for methods in document["paths"].as_object().unwrap().values() {
        for operation in methods.as_object().unwrap().values() {
            assert!(ids.contains(operation["operationId"].as_str().unwrap()));
            operations += 1;
        }
    }
    assert_eq!(page.matches("<code>curl ").count(), operations);
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(ids.contains(format!("schema-{name}").as_str()), "{name}");
    }
}

#[test]
fn ids_are_unique_and_links_lead_somewhere() {
    let page = page();
    let all: Vec<&str> = attribute(&page, "id").collect();
    let ids: BTreeSet<&str> = all.iter().copied().collect();
    assert_eq!(ids.len(), all.len());
    for target in attribute(&page, "href") {
        match target.strip_prefix('#') {
            Some(id) => assert!(ids.contains(id), "{target}"),
            None => assert_eq!(target, "/openapi.json"),
        }
    }
}

#[tokio::test]
async fn the_page_loads_nothing_and_its_style_is_the_one_allowed() {
    let document = ApiDocument::new(crate::http::document());
    let response = docs(Extension(document), HeaderMap::new()).await;
    let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
    let page = response.into_body().collect().await.unwrap().to_bytes();
    let page = str::from_utf8(&page).unwrap();
    for forbidden in ["<script", "src=", "style=\"", "@import", "url("] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    let style = page.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    let digest = ring::digest::digest(&ring::digest::SHA256, style.as_bytes());
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(policy.contains(&format!("'sha256-{}'", STANDARD.encode(digest))), "{policy}");
}
