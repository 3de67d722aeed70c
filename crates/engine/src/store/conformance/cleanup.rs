//! `Cleanup`: removal of expired rows.

use super::*;

on_every_store! {
    cleanup_removes_only_expired_rows,
}

fn cleanup_removes_only_expired_rows(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let at = |second| Timestamp::from_second(second).unwrap();
    let answer = Remembered { fingerprint: vec![1], answer: vec![1] };
    write(&mut *store, |transaction| {
        for n in 0..5 {
            transaction.remember(shop(n % 2 + 1), &format!("old{n}"), &answer, at(10))?;
        }
        transaction.remember(shop(1), "old", &answer, at(10))?;
        transaction.remember(shop(1), "new", &answer, at(20))
    });
    let made = create(&mut *store, 1, "Lamp", false);
    for _ in 0..7 {
        create(&mut *store, 2, "Rug", false);
    }
    let before = position(&*readers, 2);
    clean(&mut *subject.cleanup(), at(20), 3);
    assert_eq!(position(&*readers, 2), before);
    let mut recall =
        |key| write(&mut *store, |transaction| transaction.recall(shop(1), key, at(0))).0.is_some();
    assert!(!recall("old") && !recall("old0"));
    assert!(recall("new"));
    assert_eq!(readers.product(&sees(1, Role::Viewer), made.id).unwrap(), Some(made));
}
