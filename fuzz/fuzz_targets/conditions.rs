//! Do all parts of the service agree on which products satisfy a query? The first line is a query,
//! the rest a product's text, and its price, if it is one.
#![no_main]

use std::collections::BTreeSet;

use catalog::{
    price::Money,
    understanding::{Exclusion, PriceInterval, PriceRange, Understanding, understand},
    words::for_each_word,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (query, product) = text.split_once('\n').unwrap_or((text, ""));
    let understood = understand(query);
    if let Ok(price) = Money::parse(product) {
        check_price(&understood, price);
    }
    check_exclusions(&understood, product);
    let words = understood.words();
    assert!(words.is_empty() || !understood.residual.is_empty());
});

/// The filter of the index and that of the database let in what the conditions do.
fn check_price(understood: &Understanding, price: Money) {
    let constraints = &understood.constraints;
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
fn check_exclusions(understood: &Understanding, product: &str) {
    let mut said = BTreeSet::new();
    for_each_word(product, |word| {
        said.insert(word.to_owned());
    });
    let denies = Exclusion::denials().any(|denial| said.contains(denial));
    for exclusion in &understood.exclusions {
        let is_broken = exclusion.is_broken_by(product);
        let says_all = exclusion.words.iter().all(|word| said.contains(&**word));
        assert!(says_all || !is_broken, "{exclusion:?}");
        assert!(is_broken || !says_all || denies || exclusion.words.len() > 1, "{exclusion:?}");
    }
    let is_broken = understood.exclusions.iter().any(|one| one.is_broken_by(product));
    assert_eq!(understood.allows("", product), !is_broken);
}
