//! `IndexSource`: the scan that loads an index.

use super::*;

on_every_store! {
    scan_returns_the_shop_in_id_order_and_its_position,
}

fn scan_returns_the_shop_in_id_order_and_its_position(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let made: Vec<_> = [1, 2, 1, 2, 1].map(|of| create(&mut *store, of, "Lamp", false)).into();
    let seq = write(&mut *store, |transaction| transaction.delete(&made[2])).1[0].seq();
    let mut scanned = Vec::new();
    let read_at = readers
        .scan(shop(1), None, &mut |row| {
            scanned.push((row.id, row.version, row.title.to_owned()));
        })
        .unwrap();
    let expected =
        |product: &Product| (product.id, product.version, product.title.as_str().to_owned());
    assert_eq!(scanned, [expected(&made[0]), expected(&made[4])]);
    assert_eq!(read_at, position(&*readers, 1));
    assert_eq!((read_at.seq, readers.last_change(shop(1)).unwrap()), (seq, seq));
    readers.check().unwrap();
}
