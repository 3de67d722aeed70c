//! `FullScan`: reads of whole shops.

use super::*;

on_every_store! {
    for_each_product_stops_when_the_visitor_breaks,
}

fn for_each_product_stops_when_the_visitor_breaks(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let made = [(1, false), (2, false), (1, true), (1, false)]
        .map(|(of, hidden)| create(&mut *store, of, "Lamp", hidden));
    let seen = |role, at_most: usize| {
        let mut seen = Vec::new();
        readers
            .for_each_product(&sees(1, role), &mut |product| {
                seen.push(product);
                match seen.len() < at_most {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })
            .unwrap();
        seen
    };
    let [first, _, hidden, last] = made;
    assert_eq!(seen(Role::Viewer, 9), [first.clone(), hidden.clone(), last.clone()]);
    assert_eq!(seen(Role::Viewer, 2), [first.clone(), hidden]);
    assert_eq!(seen(Role::Shopper, 9), [first, last]);
    // A connection whose result was not read to its end is not reused.
    assert_eq!(readers.counts(shop(1)).unwrap().products, 3);
}
