//! `Cleanup`: removal of expired rows.

use super::*;

on_every_store! {
    cleanup_removes_only_expired_rows,
}

fn cleanup_removes_only_expired_rows(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let at = |second| Timestamp::from_second(second).unwrap();
    let response = StoredResponse { fingerprint: vec![1], body: vec![1] };
    write(&mut *store, |transaction| {
        for n in 0..5 {
            transaction.store_response(shop(n % 2 + 1), &format!("old{n}"), &response, at(10))?;
        }
        transaction.store_response(shop(1), "old", &response, at(10))?;
        transaction.store_response(shop(1), "new", &response, at(20))
    });
    let made = create(&mut *store, 1, "Lamp", false);
    for _ in 0..7 {
        create(&mut *store, 2, "Rug", false);
    }
    let before = position(&*readers, 2);
    clean(&mut *subject.cleanup(), at(20), 3);
    assert_eq!(position(&*readers, 2), before);
    let mut recall = |key| {
        write(&mut *store, |transaction| transaction.stored_response(shop(1), key, at(0)))
            .0
            .is_some()
    };
    assert!(!recall("old") && !recall("old0"));
    assert!(recall("new"));
    assert_eq!(readers.product(&sees(1, Role::Viewer), made.id).unwrap(), Some(made));
}
