//! Tables of queries with their parse, and properties of every text.

mod abstentions;
mod exclusions;
mod free;
mod language;
mod languages;
mod negations;
mod prices;
mod properties;
mod residuals;
mod tables;

use expect_test::Expect;

use super::{ParsedQuery, SortOrder, parse};

/// `residual | price < 50 USD; not leather; cheapest first`
#[track_caller]
fn check(query: &str, expect: Expect) {
    expect.assert_eq(&shown(&parse(query)));
}

fn shown(parsed: &ParsedQuery) -> String {
    let mut read: Vec<String> = parsed.constraints.iter().map(ToString::to_string).collect();
    read.extend(parsed.exclusions.iter().map(|out| {
        let claim = if out.is_claim { "claims no" } else { "not" };
        format!("{claim} {}", out.words.join(" "))
    }));
    read.extend(parsed.sort.iter().map(|sort| match sort.order {
        SortOrder::PriceAscending => "cheapest first".to_owned(),
        SortOrder::PriceDescending => "dearest first".to_owned(),
        SortOrder::Newest => "newest first".to_owned(),
    }));
    format!("{} | {}", parsed.residual, read.join("; ")).trim_end().to_owned()
}

/// Nothing is read: all but function words is searched for.
#[track_caller]
fn abstains(queries: &[&str]) {
    for query in queries {
        let parsed = parse(query);
        let is_read = !parsed.constraints.is_empty()
            || !parsed.exclusions.is_empty()
            || parsed.sort.is_some();
        assert!(!is_read, "{query:?} is read as {:?}", shown(&parsed));
    }
}
