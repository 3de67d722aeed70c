//! All evaluations of a condition agree on which products satisfy a query. The first line of the
//! input is a query, the rest a product's text and, if it parses, its price.
#![no_main]

use std::collections::BTreeSet;

use catalog::{text::analysis::for_each_word, product::price::Money, query::parser::{Exclusion, ParsedQuery, PriceInterval, PriceRange, parse}};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (query, product) = text.split_once('\n').unwrap_or((text, ""));
    let parsed = parse(query);
    if let Ok(price) = Money::parse(product) {
        check_price(&parsed, price);
    }
    check_exclusions(&parsed, product);
    let words = parsed.terms();
    assert!(words.is_empty() || !parsed.residual.is_empty());
});

/// The filter of the index and that of the database let in what the conditions do.
fn check_price(parsed: &ParsedQuery, price: Money) {
    let constraints = &parsed.constraints;
    let admitted = constraints.iter().all(|constraint| constraint.admits(price));
    let in_index = constraints.iter().all(|constraint| PriceRange::of(constraint).admits(price));
    assert_eq!(in_index, admitted, "{constraints:?}");

    let PriceInterval { least, greatest, currencies } = PriceInterval::of(constraints);
    let in_database = least.is_none_or(|least| least <= price.amount)
        && greatest.is_none_or(|greatest| price.amount <= greatest)
        && currencies.is_none_or(|all| all.contains(&price.currency));
    assert_eq!(in_database, admitted, "{constraints:?}");
}

/// What the index decides by words alone is what the text decides.
fn check_exclusions(parsed: &ParsedQuery, product: &str) {
    let mut said = BTreeSet::new();
    for_each_word(product, |word| {
        said.insert(word.to_owned());
    });
    let denies = Exclusion::negators().any(|denial| said.contains(denial));
    for exclusion in &parsed.exclusions {
        let is_broken = exclusion.matches(product);
        let says_all = exclusion.words.iter().all(|word| said.contains(&**word));
        assert!(says_all || !is_broken, "{exclusion:?}");
        assert!(is_broken || !says_all || denies || exclusion.words.len() > 1, "{exclusion:?}");
    }
    let is_broken = parsed.exclusions.iter().any(|one| one.matches(product));
    assert_eq!(parsed.allows("", product, ""), !is_broken);
}
