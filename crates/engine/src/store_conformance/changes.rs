//! `ProductReads::changes`: the changes that API clients follow.

use catalog::product::{
    change::ChangeKind::{self, Deleted, Upserted},
    key::Key,
};
use store::ChangesPage;

use super::*;

on_every_store! {
    every_change_of_a_product_is_listed_once,
    removed_changes_have_expired_for_those_who_need_them,
    other_shops_make_no_difference,
}

fn changes(readers: &dyn CatalogReads, of: u64, since: Seq, limit: usize) -> Option<ChangesPage> {
    match readers.changes(shop(of), since, limit).unwrap() {
        Ok(page) => Some(page),
        Err(expired) => {
            assert_eq!(expired.last, readers.last_change(shop(of)).unwrap());
            None
        }
    }
}

fn every_change_of_a_product_is_listed_once(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let nothing = ChangesPage { changes: vec![], next: Seq(0), is_complete: true };
    assert_eq!(changes(&*readers, 1, Seq(0), 10), Some(nothing));
    let key = |text: &str| Some(Key::parse(text).unwrap());
    let mut seqs = Vec::new();
    let (rug, lamp) = write(&mut *store, |transaction| {
        let lamp = Draft { key: key("old"), ..draft("Lamp", false) };
        let lamp = transaction.create(shop(1), lamp, NOW)?;
        let rug = transaction.create(shop(1), draft("Rug", true), NOW)?;
        transaction.create(shop(2), draft("Sofa", false), NOW)?;
        seqs.extend([lamp.version, rug.version]);
        Ok((rug, lamp))
    })
    .0;
    // A vector changes search results, but no product.
    assert!(put(&mut *store, &vector_of(&rug, "m", 1)));
    let deleted = write(&mut *store, |transaction| {
        let patch = Patch { key: Some(key("new")), ..Patch::default() };
        let rug = transaction.update(rug.clone(), patch, NOW)?;
        seqs.push(rug.version);
        transaction.delete(&lamp)
    })
    .1;
    seqs.push(deleted[1].seq());
    assert!(put(&mut *store, &vector_of(&rug, "m", 2)));
    let expected: [(Seq, ProductId, Option<Key>, ChangeKind); 4] = [
        (seqs[0], lamp.id, None, Upserted),
        (seqs[1], rug.id, key("new"), Upserted),
        (seqs[2], rug.id, key("new"), Upserted),
        (seqs[3], lamp.id, key("old"), Deleted),
    ];
    let all = changes(&*readers, 1, Seq(0), 10).unwrap();
    let listed: Vec<_> = all
        .changes
        .iter()
        .map(|entry| (entry.seq, entry.product, entry.key.clone(), entry.kind))
        .collect();
    assert_eq!((listed, all.next, all.is_complete), (expected.to_vec(), seqs[3], true));
    let first = changes(&*readers, 1, Seq(0), 3).unwrap();
    assert_eq!((&first.changes[..], first.is_complete), (&all.changes[..3], false));
    let rest = changes(&*readers, 1, first.next, 3).unwrap();
    assert_eq!((&rest.changes[..], rest.is_complete), (&all.changes[3..], true));
    // The last change is of a vector.
    let last = readers.last_change(shop(1)).unwrap();
    assert!(last > rest.next);
    for since in [rest.next, last] {
        let nothing = ChangesPage { changes: vec![], next: since, is_complete: true };
        assert_eq!(changes(&*readers, 1, since, 3), Some(nothing));
    }
    // Who has read changes that the store does not have must start over.
    for since in [Seq(last.0 + 1), Seq(u64::MAX)] {
        assert_eq!(changes(&*readers, 1, since, 3), None);
        assert_eq!(changes(&*readers, 9, since, 3), None);
    }
}

/// The changes of a shop are numbered and kept whatever happens in others.
fn other_shops_make_no_difference(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let made: Vec<_> = ["a", "b", "c"].map(|title| create(&mut *store, 1, title, false)).into();
    assert_eq!(made.iter().map(|product| product.version.0).collect::<Vec<_>>(), [1, 2, 3]);
    write(&mut *store, |transaction| {
        (0..20).try_for_each(|_| transaction.create(shop(2), draft("d", false), NOW).map(drop))
    });
    assert_eq!(readers.last_change(shop(1)).unwrap(), Seq(3));
    clean(&mut *subject.cleanup(), NOW, 4);
    assert_eq!(changes(&*readers, 1, Seq(0), 10).unwrap().changes.len(), 3);
    assert_eq!(changes(&*readers, 2, Seq(15), 10), None);
    assert_eq!(changes(&*readers, 2, Seq(16), 10).unwrap().changes.len(), 4);
    let followed = readers.changes_since(shop(1), None, Position::default()).unwrap();
    assert!(matches!(followed, FeedResult::Changes(changes, _) if changes.len() == 3));
    let next = create(&mut *store, 1, "e", false);
    assert_eq!(next.version, Seq(4));
    clean(&mut *subject.cleanup(), NOW, 1);
    assert_eq!(changes(&*readers, 1, Seq(2), 10), None);
    assert_eq!(changes(&*readers, 1, Seq(3), 10).unwrap().changes.len(), 1);
}

fn removed_changes_have_expired_for_those_who_need_them(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let made: Vec<_> = ["a", "b", "c"].map(|title| create(&mut *store, 1, title, false)).into();
    let embed = |store: &mut dyn CatalogStore, seed| {
        made.iter().for_each(|product| assert!(put(store, &vector_of(product, "m", seed))));
    };
    embed(&mut *store, 1);
    clean(&mut *subject.cleanup(), NOW, 4);
    let page = changes(&*readers, 1, made[1].version, 10).unwrap();
    assert_eq!(page.changes.len(), 1);
    assert_eq!(changes(&*readers, 1, made[0].version, 10), None);
    assert_eq!(changes(&*readers, 1, Seq(0), 10), None);
    // Removed records of vectors are no reason to start over.
    let next = page.next;
    for seed in 2..4 {
        embed(&mut *store, seed);
        clean(&mut *subject.cleanup(), NOW, 2);
        let nothing = ChangesPage { changes: vec![], next, is_complete: true };
        assert_eq!(changes(&*readers, 1, next, 10), Some(nothing));
    }
    assert_eq!(changes(&*readers, 1, made[1].version, 10), None);
    // The store is old, the shop is not.
    create(&mut *store, 2, "d", false);
    assert_eq!(changes(&*readers, 2, Seq(0), 10).unwrap().changes.len(), 1);
}
