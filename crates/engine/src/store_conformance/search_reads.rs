//! `SearchReads`: reads of a search in memory.

use super::*;

on_every_store! {
    rejected_by_text_applies_the_predicate,
}

fn rejected_by_text_applies_the_predicate(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let made: Vec<_> =
        ["Lamp", "Rug", "Sofa"].map(|title| create(&mut *store, 1, title, false).id).into();
    let mut refused =
        readers.rejected_by_text(shop(1), &made, &|title, _, _| title != "Rug").unwrap();
    assert_eq!(refused.pop(), Some(made[1]));
    assert!(refused.is_empty());
}
