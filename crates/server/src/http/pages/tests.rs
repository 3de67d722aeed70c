//! Every file that the pages name exists, and the policy allows no others.

use super::assets;
use crate::{
    config::{Config, Pages},
    http::page_policy::PagePolicy,
};

fn policy(origins: &[&str]) -> String {
    let image_origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
    let policy = PagePolicy::new(&Pages { image_origins });
    policy.header().to_str().unwrap().to_owned()
}

#[test]
fn pictures_come_from_the_server_alone_unless_configured() {
    assert!(PagePolicy::new(&Config::default().pages).header() == policy(&[]).as_str());
    assert!(policy(&[]).contains("; img-src 'self';"));
    let named = policy(&["https://cdn.example.com", "http://localhost:9000"]);
    assert!(named.contains("; img-src 'self' https://cdn.example.com http://localhost:9000;"));
    assert!(policy(&["*"]).contains("; img-src 'self' https: http:;"));
}

#[test]
fn scripts_and_styles_come_from_files_of_the_server_alone() {
    let policy = policy(&["*"]);
    for rule in
        ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"]
    {
        assert!(policy.split("; ").any(|part| part == rule), "{rule} in {policy}");
    }
    assert!(!policy.contains("unsafe"));
}

/// The names of files that a text refers to between these two marks.
fn named<'a>(text: &'a str, before: &str, after: char) -> Vec<&'a str> {
    text.split(before).skip(1).filter_map(|rest| rest.split(after).next()).collect()
}

#[test]
fn every_file_exists_and_is_used() {
    let mut seen: Vec<&str> = Vec::new();
    for (_, html) in assets::PAGES {
        seen.extend(named(html, assets::FOLDER_PLACEHOLDER, '"'));
    }
    let mut next = 0;
    while let Some(name) = seen.get(next) {
        let file = assets::FILES.iter().find(|(known, _, _)| known == name);
        let (_, _, text) = file.unwrap_or_else(|| panic!("{name} is missing"));
        for import in named(text, "from \"./", '"') {
            if !seen.contains(&import) {
                seen.push(import);
            }
        }
        next += 1;
    }
    for (name, _, _) in assets::FILES {
        assert!(seen.contains(name), "{name} is not used");
    }
}

#[test]
fn no_file_names_another_host_or_contains_inline_scripts() {
    let files = assets::FILES.iter().map(|(name, _, text)| (*name, *text));
    for (name, text) in files.chain(assets::PAGES.iter().copied()) {
        for mark in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!text.contains(mark), "{name} has {mark}");
        }
        // The SVG namespace and the placeholder of an input are not requested.
        let hosts = named(text, "://", '"').into_iter();
        let foreign: Vec<_> =
            hosts.filter(|host| !["www.w3.org/2000/svg", "…"].contains(host)).collect();
        assert!(foreign.is_empty(), "{name} names {foreign:?}");
    }
    for (name, html) in assets::PAGES {
        assert!(!html.contains("style="), "{name} has a style inside");
        let scripts = html.matches("<script").count();
        assert_eq!(
            scripts,
            html.matches("<script type=\"module\" src=\"/assets/").count(),
            "{name}"
        );
    }
}

#[test]
fn another_version_of_a_file_is_not_found() {
    assert!(assets::find(&assets::VERSION, "shop.js").is_some());
    assert!(assets::find(&assets::VERSION, "nothing.js").is_none());
    assert!(assets::find("0000000000000000", "shop.js").is_none());
}
