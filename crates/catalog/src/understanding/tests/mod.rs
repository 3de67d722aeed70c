//! Tables of queries and how they are read, and what holds for every text.

mod abstentions;
mod exclusions;
mod free;
mod languages;
mod negations;
mod prices;
mod properties;
mod residuals;

use expect_test::Expect;

use super::{SortOrder, Understanding, understand};

/// `residual | price < 50 USD; not leather; cheapest first`
#[track_caller]
fn check(query: &str, expect: Expect) {
    expect.assert_eq(&shown(&understand(query)));
}

fn shown(understood: &Understanding) -> String {
    let mut read: Vec<String> = understood.constraints.iter().map(ToString::to_string).collect();
    read.extend(understood.exclusions.iter().map(|out| {
        let claim = if out.is_claim { "claims no" } else { "not" };
        format!("{claim} {}", out.words.join(" "))
    }));
    read.extend(understood.sort.iter().map(|sort| match sort.order {
        SortOrder::PriceAscending => "cheapest first".to_owned(),
        SortOrder::PriceDescending => "dearest first".to_owned(),
        SortOrder::Newest => "newest first".to_owned(),
    }));
    format!("{} | {}", understood.residual, read.join("; ")).trim_end().to_owned()
}

/// Nothing is read: all but function words is searched for.
#[track_caller]
fn abstains(queries: &[&str]) {
    for query in queries {
        let understood = understand(query);
        let is_read = !understood.constraints.is_empty()
            || !understood.exclusions.is_empty()
            || understood.sort.is_some();
        assert!(!is_read, "{query:?} is read as {:?}", shown(&understood));
    }
}
