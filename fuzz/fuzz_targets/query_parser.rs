//! Parsing a query never panics, splits no character and loses no word.
#![no_main]

use catalog::query::parser::{ParseOptions, Span, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = parse(text);
    let mut spans: Vec<&Span> = parsed.stop_words.iter().collect();
    spans.extend(parsed.constraints.iter().map(|constraint| &constraint.span));
    // The words of a claim ("nickel-free") are searched for.
    let exclusions = parsed.exclusions.iter().filter(|exclusion| !exclusion.is_claim);
    spans.extend(exclusions.map(|exclusion| &exclusion.span));
    spans.extend(parsed.sort.iter().map(|sort| &sort.span));
    spans.sort_by_key(|span| span.start);

    let mut left = String::new();
    let mut end = 0;
    for span in spans {
        left += &text[end..span.start];
        end = span.end;
    }
    left += &text[end..];
    assert_eq!(content(&parsed.residual), content(&left));

    for constraint in &parsed.constraints {
        assert!(constraint.floor.is_some() || constraint.ceiling.is_some());
    }
    assert!(parsed.exclusions.iter().all(|exclusion| !exclusion.words.is_empty()));
    assert_eq!(ParseOptions::NOTHING.parse(text, &|_| true).residual, text);
    let _ = ParseOptions::default().parse(text, &|_| true);
});

fn content(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}
