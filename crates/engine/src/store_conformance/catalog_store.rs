//! `CatalogStore` and `RowWrites`: write transactions.

use super::*;

on_every_store! {
    ids_and_sequence_numbers_grow_and_are_never_reused,
    a_transaction_sees_its_own_writes,
    a_dropped_transaction_is_rolled_back,
    stored_responses_expire,
    concurrent_writers_lose_no_update,
    concurrent_writers_with_one_idempotency_key_write_once,
}

fn ids_and_sequence_numbers_grow_and_are_never_reused(subject: &impl Subject) {
    let mut last = (0, Seq(0));
    let mut all = BTreeSet::new();
    for round in 0..3 {
        let mut store = subject.store();
        for title in ["Lamp", "Rug"] {
            let made = create(&mut *store, 1, title, false);
            assert!((made.id.get(), made.version) > last && made.version > last.1, "{made:?}");
            assert!(all.insert(made.id), "{made:?}");
            let gone = write(&mut *store, |transaction| transaction.delete(&made)).1;
            assert!(gone[0].seq() > made.version);
            last = (made.id.get(), gone[0].seq());
        }
        assert!(all.insert(create(&mut *store, round + 2, "Sofa", false).id));
    }
    // More than any store reserves at once.
    let many = write(&mut *subject.store(), |transaction| {
        (0..600).map(|_| transaction.create(shop(1), draft("Lamp", false), NOW)).collect()
    })
    .0;
    let many: Vec<Product> = many;
    assert!(many.is_sorted_by(|a, b| a.id < b.id && a.version < b.version));
    assert!(many.iter().all(|made| all.insert(made.id)));
    let readers = subject.readers();
    assert_eq!(readers.counts(shop(1)).unwrap().products, 600);
    assert_eq!(readers.last_change(shop(1)).unwrap(), many[599].version);
}

fn a_transaction_sees_its_own_writes(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let kept = create(&mut *store, 1, "Rug", false);
    let renamed = Patch { title: Some(Title::parse("Sofa").unwrap()), ..Patch::default() };
    let (made, changes) = write(&mut *store, |transaction| {
        let made = transaction.create(shop(1), draft("Lamp", false), NOW)?;
        assert_eq!(transaction.product(shop(1), made.id)?.as_ref(), Some(&made));
        let changed = transaction.update(made.clone(), renamed, NOW)?;
        assert_eq!(transaction.product(shop(1), made.id)?.as_ref(), Some(&changed));
        transaction.delete(&kept)?;
        assert_eq!(transaction.product(shop(1), kept.id)?, None);
        Ok(changed)
    });
    let pass = sees(1, Role::Viewer);
    assert_eq!(readers.page(&pass, 10, 0).unwrap().products, std::slice::from_ref(&made));
    let shown: Vec<_> = changes.iter().map(|change| (change.shop(), change.seq())).collect();
    assert_eq!(shown.len(), 3);
    assert!(shown.is_sorted_by(|a, b| a.1 < b.1));
    assert_eq!(readers.last_change(shop(1)).unwrap(), shown[2].1);
    // Created and deleted in one transaction.
    write(&mut *store, |transaction| {
        let made = transaction.create(shop(1), draft("Lamp", false), NOW)?;
        transaction.delete(&made)
    });
    assert_eq!(readers.page(&pass, 10, 0).unwrap().products, [made]);
}

fn a_dropped_transaction_is_rolled_back(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let kept = create(&mut *store, 1, "Rug", false);
    let before = readers.last_change(shop(1)).unwrap();
    let mut transaction = store.begin().unwrap();
    transaction.create(shop(1), draft("Lamp", false), NOW).unwrap();
    transaction.delete(&kept).unwrap();
    let token = NewToken {
        shop: shop(1),
        role: Role::Admin,
        name: "",
        secret_hash: &[1],
        created_at: NOW,
        expires_at: None,
    };
    transaction.insert_token(&token).unwrap();
    drop(transaction);
    assert_eq!(readers.counts(shop(1)).unwrap().products, 1);
    assert_eq!(readers.last_change(shop(1)).unwrap(), before);
    assert!(token_ids(&*readers, None).is_empty());
    create(&mut *store, 1, "Lamp", false);
    assert_eq!(readers.counts(shop(1)).unwrap().products, 2);
}

fn stored_responses_expire(subject: &impl Subject) {
    let mut store = subject.store();
    let at = |second| Timestamp::from_second(second).unwrap();
    let first = StoredResponse { fingerprint: vec![1, 0, 255], body: b"made \0 7".to_vec() };
    write(&mut *store, |transaction| transaction.store_response(shop(1), "key", &first, at(10)));
    let mut recall = |of, key: &str, since| {
        let found =
            write(&mut *store, |transaction| transaction.stored_response(shop(of), key, at(since)));
        found.0.map(|found| (found.fingerprint, found.body))
    };
    assert_eq!(recall(1, "key", 10), Some((first.fingerprint.clone(), first.body.clone())));
    assert_eq!(recall(1, "key", 11), None);
    assert_eq!(recall(2, "key", 10), None);
    assert_eq!(recall(1, "other", 10), None);
    let second = StoredResponse { fingerprint: vec![2], body: vec![] };
    write(&mut *subject.store(), |transaction| {
        transaction.store_response(shop(1), "key", &second, at(20))
    });
    assert_eq!(recall(1, "key", 20), Some((vec![2], vec![])));
}

/// Independent writers, like processes or nodes. A writer that conflicts retries.
fn concurrent_writers_lose_no_update(subject: &impl Subject) {
    const WRITERS: usize = 4;
    const ROUNDS: usize = 25;
    let made = create(&mut *subject.store(), 1, "0", false);
    let start = Barrier::new(WRITERS);
    thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                let mut store = subject.store();
                start.wait();
                for _ in 0..ROUNDS {
                    while let Err(error) = count_up(&mut *store, made.id) {
                        let again = [StoreErrorKind::Conflict, StoreErrorKind::Busy];
                        assert!(again.contains(&error.kind()), "{error:?}");
                    }
                }
            });
        }
    });
    let readers = subject.readers();
    let found = readers.product(&sees(1, Role::Viewer), made.id).unwrap().unwrap();
    let writes = WRITERS * ROUNDS;
    assert_eq!(found.title.as_str(), writes.to_string());
    assert_eq!(readers.counts(shop(1)).unwrap().products, 1 + writes);
    assert_eq!(readers.last_change(shop(1)).unwrap(), Seq(made.version.0 + 2 * writes as u64));
}

/// Increments a number in a title, and creates another product.
fn count_up(store: &mut dyn CatalogStore, id: ProductId) -> Result<(), StoreError> {
    let mut transaction = store.begin()?;
    let before = transaction.product(shop(1), id)?.unwrap();
    let next = before.title.as_str().parse::<usize>().unwrap() + 1;
    let title = Some(Title::parse(&next.to_string()).unwrap());
    transaction.update(before, Patch { title, ..Patch::default() }, NOW)?;
    transaction.create(shop(1), draft("counted", false), NOW)?;
    transaction.commit().map(drop)
}

fn concurrent_writers_with_one_idempotency_key_write_once(subject: &impl Subject) {
    const WRITERS: usize = 4;
    let start = Barrier::new(WRITERS);
    let once = || -> Result<bool, StoreError> {
        let mut store = subject.store();
        let mut transaction = store.begin()?;
        let is_first = transaction.stored_response(shop(1), "key", NOW)?.is_none();
        if is_first {
            transaction.create(shop(1), draft("Lamp", false), NOW)?;
            let response = StoredResponse { fingerprint: vec![], body: vec![] };
            transaction.store_response(shop(1), "key", &response, NOW)?;
        }
        transaction.commit()?;
        Ok(is_first)
    };
    let firsts: usize = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    usize::from(once().unwrap())
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    assert_eq!(firsts, 1);
    assert_eq!(subject.readers().counts(shop(1)).unwrap().products, 1);
}
