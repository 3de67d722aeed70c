//! `ProductReads`: point reads and pages.

use super::*;

on_every_store! {
    products_round_trip_unchanged,
    products_are_isolated_by_shop,
    products_are_returned_in_the_requested_order,
    pages_are_contiguous_and_count_visible_products,
    invalid_values_in_one_row_leave_the_others_readable,
}

fn products_round_trip_unchanged(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let at = Timestamp::from_microsecond(1_700_000_000_123_456).unwrap();
    let draft = Draft {
        description: Description::parse("line\n\ttab {1,2} NULL").unwrap(),
        hidden: true,
        media: vec![Media::new("https://a.example/ü?q=\"1\"", MediaKind::Image).unwrap()],
        ..Draft::new(
            Title::parse("Crème \"brûlée\" 'bowl' 绿茶 \\ 🍵").unwrap(),
            Price::parse("1 299,50 ₽").unwrap(),
        )
    };
    let made = write(&mut *store, |transaction| transaction.create(shop(3), draft, at)).0;
    let pass = sees(3, Role::Viewer);
    assert_eq!(readers.product(&pass, made.id).unwrap().as_ref(), Some(&made));
    let later = at + SignedDuration::from_micros(1);
    let patch = Patch { hidden: Some(false), ..Patch::default() };
    let after = write(&mut *store, |transaction| transaction.update(made.clone(), patch, later)).0;
    let expected = Product { hidden: false, updated_at: later, version: after.version, ..made };
    assert_eq!(readers.product(&pass, after.id).unwrap(), Some(expected));
    assert!(after.version > made.version);
}

fn products_are_isolated_by_shop(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let made = create(&mut *store, 1, "Lamp", false);
    assert_eq!(readers.product(&sees(2, Role::Admin), made.id).unwrap(), None);
    let seen = write(&mut *store, |transaction| transaction.product(shop(2), made.id)).0;
    assert_eq!(seen, None);
    assert!(readers.rejected_by_text(shop(2), &[made.id], &|_, _, _| false).unwrap().is_empty());
    assert_eq!(readers.page(&sees(2, Role::Admin), 10, 0).unwrap().total, 0);
}

fn products_are_returned_in_the_requested_order(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let made: Vec<_> =
        [false, true, false].map(|hidden| create(&mut *store, 1, "Lamp", hidden).id).into();
    let unknown = ProductId::new(999_999).unwrap();
    let requested = [made[2], unknown, made[1], made[0]];
    let found = |role| ids(&readers.products(&sees(1, role), &requested).unwrap());
    assert_eq!(found(Role::Viewer), [made[2].get(), made[1].get(), made[0].get()]);
    assert_eq!(found(Role::Shopper), [made[2].get(), made[0].get()]);
    assert!(readers.products(&sees(1, Role::Viewer), &[]).unwrap().is_empty());
}

fn pages_are_contiguous_and_count_visible_products(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let hidden = [false, true, false, false, true];
    let made: Vec<_> =
        hidden.iter().map(|hidden| create(&mut *store, 1, "Lamp", *hidden).id.get()).collect();
    create(&mut *store, 2, "Rug", false);
    let page = |role, limit, offset| {
        let page = readers.page(&sees(1, role), limit, offset).unwrap();
        (ids(&page.products), page.total)
    };
    assert_eq!(page(Role::Viewer, 2, 0), (made[..2].to_vec(), 5));
    assert_eq!(page(Role::Viewer, 2, 4), (made[4..].to_vec(), 5));
    assert_eq!(page(Role::Viewer, 2, 5), (vec![], 5));
    assert_eq!(page(Role::Shopper, 2, 1), (made[2..4].to_vec(), 3));
    assert_eq!(page(Role::Shopper, 2, usize::MAX), (vec![], 3));
}

/// Values that no version accepts as input, as an operator might write them.
fn invalid_values_in_one_row_leave_the_others_readable(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let [sound, odd] = ["Lamp", "Rug"].map(|title| create(&mut *store, 1, title, false));
    let price = Price::from_stored("9 ZZZ".to_owned());
    let title = Title::from_stored(" ".to_owned());
    let media = vec![Media::from_stored("nowhere".to_owned(), "hologram")];
    let patch =
        Patch { title: Some(title), price: Some(price), media: Some(media), ..Patch::default() };
    let odd = write(&mut *store, |transaction| transaction.update(odd, patch, NOW)).0;
    let pass = sees(1, Role::Viewer);
    assert_eq!(readers.product(&pass, odd.id).unwrap().as_ref(), Some(&odd));
    assert_eq!(readers.page(&pass, 10, 0).unwrap().products, [sound.clone(), odd.clone()]);
    let mut scanned = Vec::new();
    readers.scan(shop(1), None, &mut |row| scanned.push((row.id, row.price.is_some()))).unwrap();
    assert_eq!(scanned, [(sound.id, true), (odd.id, false)]);
    let since = readers.changes_since(shop(1), None, Position::default()).unwrap();
    assert!(matches!(since, FeedResult::Changes(changes, _) if changes.len() == 2));
    let waiting = readers.lease_unembedded("m", Encoder::Deep, 10).unwrap();
    assert_eq!(waiting.len(), 2);
    let mended = write(&mut *store, |transaction| {
        let found = transaction.product(shop(1), odd.id)?.unwrap();
        let price = Some(Price::parse("$5").unwrap());
        transaction.update(found, Patch { price, ..Patch::default() }, NOW)
    })
    .0;
    assert!(mended.price.money().is_some() && mended.media == odd.media);
    write(&mut *store, |transaction| transaction.delete(&mended));
    assert_eq!(readers.counts(shop(1)).unwrap().products, 1);
}
