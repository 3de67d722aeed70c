//! Does reading a query ever panic, cut a character or lose a word?
#![no_main]

use catalog::understanding::{Span, Understand, understand};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let understood = understand(text);
    let mut spans: Vec<&Span> = understood.set_aside.iter().collect();
    spans.extend(understood.constraints.iter().map(|constraint| &constraint.span));
    // The words of a claim ("nickel-free") are searched for.
    let exclusions = understood.exclusions.iter().filter(|exclusion| !exclusion.is_claim);
    spans.extend(exclusions.map(|exclusion| &exclusion.span));
    spans.extend(understood.sort.iter().map(|sort| &sort.span));
    spans.sort_by_key(|span| span.start);

    let mut left = String::new();
    let mut end = 0;
    for span in spans {
        left += &text[end..span.start];
        end = span.end;
    }
    left += &text[end..];
    assert_eq!(content(&understood.residual), content(&left));

    for constraint in &understood.constraints {
        assert!(constraint.floor.is_some() || constraint.ceiling.is_some());
    }
    assert!(understood.exclusions.iter().all(|exclusion| !exclusion.words.is_empty()));
    assert_eq!(Understand::NOTHING.read(text, &|_| true).residual, text);
    let _ = Understand::default().read(text, &|_| true);
});

fn content(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}
