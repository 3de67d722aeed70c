//! `StoreInfo`: product counts.

use super::*;

on_every_store! {
    counts_follow_every_kind_of_change,
}

fn counts_follow_every_kind_of_change(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let counts = |of| {
        let ShopCounts { products, visible, .. } = readers.counts(shop(of)).unwrap();
        assert_eq!(readers.page(&sees(of, Role::Viewer), 10, 0).unwrap().total, products);
        assert_eq!(readers.page(&sees(of, Role::Shopper), 10, 0).unwrap().total, visible);
        (products, visible)
    };
    assert_eq!(counts(1), (0, 0));
    let seen = create(&mut *store, 1, "Lamp", false);
    let unseen = create(&mut *store, 1, "Lamp", true);
    create(&mut *store, 2, "Lamp", false);
    assert_eq!((counts(1), counts(2)), ((2, 1), (1, 1)));
    let hide = |hidden| Patch { hidden: Some(hidden), ..Patch::default() };
    let (seen, unseen) = write(&mut *store, |transaction| {
        Ok((
            transaction.update(seen, hide(true), NOW)?,
            transaction.update(unseen, hide(true), NOW)?,
        ))
    })
    .0;
    assert_eq!(counts(1), (2, 0));
    write(&mut *store, |transaction| {
        transaction.delete(&seen)?;
        transaction.update(unseen, hide(false), NOW)
    });
    assert_eq!((counts(1), counts(2)), ((1, 1), (1, 1)));
    create(&mut *store, 2, "Lamp", false);
    let sizes: Vec<_> =
        readers.shops().unwrap().iter().map(|of| (of.shop.get(), of.products)).collect();
    assert_eq!(sizes, [(2, 2), (1, 1)]);
}
