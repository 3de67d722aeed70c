//! `EmbeddingQueue`, and the writes of vectors.

use super::*;

on_every_store! {
    a_vector_belongs_to_one_version_of_the_text,
    leases_return_products_without_a_vector,
    the_newest_texts_are_leased_first_whatever_their_shop,
}

fn a_vector_belongs_to_one_version_of_the_text(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let lamp = create(&mut *store, 1, "Lamp", false);
    let rug = create(&mut *store, 1, "Rug", false);
    let other = create(&mut *store, 2, "Sofa", false);
    assert!(vectors(&*readers, 1).is_empty());
    let rows: Vec<_> =
        (0..3).zip([&lamp, &rug, &other]).map(|(n, of)| vector_of(of, "m", n)).collect();
    for row in &rows {
        assert!(put(&mut *store, row));
    }
    // Bit-identical, so that all stores rank alike.
    assert_eq!(vectors(&*readers, 1), rows[..2]);
    assert_eq!(vectors(&*readers, 2), rows[2..]);
    let scanned = |model: Option<&str>| {
        let mut found = Vec::new();
        let model = model.map(ModelId::new);
        readers.scan(shop(1), model.as_ref(), &mut |row| found.push(row.vectors.clone())).unwrap();
        found
    };
    assert_eq!(scanned(Some("m")), [&rows[0], &rows[1]].map(|row| Some(row.vectors.clone())));
    assert_eq!(scanned(Some("other")), [None, None]);
    assert_eq!(scanned(None), [None, None]);
    // A new price leaves the text as it is; a new title does not.
    let cheaper = Patch { price: Some(Price::parse("$2").unwrap()), ..Patch::default() };
    let lamp = write(&mut *store, |transaction| transaction.update(lamp, cheaper, NOW)).0;
    assert_eq!(vectors(&*readers, 1), rows[..2]);
    let renamed = Patch { title: Some(Title::parse("Light").unwrap()), ..Patch::default() };
    let lamp = write(&mut *store, |transaction| transaction.update(lamp, renamed, NOW)).0;
    assert_eq!(vectors(&*readers, 1), rows[1..2]);
    assert!(!put(&mut *store, &rows[0]), "it is of the old text");
    let of_new_text = vector_of(&lamp, "m", 9);
    assert!(put(&mut *store, &of_new_text));
    assert_eq!(vectors(&*readers, 1), [of_new_text, rows[1].clone()]);
    // Deleting a product deletes its vector.
    write(&mut *store, |transaction| transaction.delete(&lamp));
    assert_eq!(vectors(&*readers, 1), rows[1..2]);
    assert!(!put(&mut *store, &vector_of(&lamp, "m", 9)));
    // In one transaction with the product.
    let (made, row) = write(&mut *store, |transaction| {
        let made = transaction.create(shop(2), draft("Bed", false), NOW)?;
        let row = vector_of(&made, "m", 11);
        assert!(transaction.put_vectors(&row)?);
        Ok((made, row))
    })
    .0;
    assert_eq!(vectors(&*readers, 2), [rows[2].clone(), row]);
    // The zero vector is valid.
    let nowhere = Vector::normalized(vec![0.0; 64]).unwrap().stored();
    let nowhere = StoredVectors { vector: nowhere.clone(), deep: Some(nowhere) };
    let row = VectorRow { vectors: nowhere, ..vector_of(&made, "m", 0) };
    assert!(put(&mut *store, &row));
    assert_eq!(vectors(&*readers, 2)[1], row);
}

fn leases_return_products_without_a_vector(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let made: Vec<_> = ["a", "b", "c"].map(|title| create(&mut *store, 1, title, false)).into();
    let waiting = |model: &str, limit| -> Vec<u64> {
        let found = readers.lease_unembedded(model, Encoder::Deep, limit).unwrap();
        found.iter().for_each(|row| assert_eq!(row.shop, shop(1)));
        found.iter().map(|row| row.id.get()).collect()
    };
    let count = |model| readers.unembedded_count(model, Encoder::Deep).unwrap();
    let newest_first: Vec<u64> = made.iter().rev().map(|product| product.id.get()).collect();
    assert_eq!(waiting("m", 10), newest_first);
    assert_eq!(waiting("m", 2), newest_first[..2]);
    let text = &readers.lease_unembedded("m", Encoder::Deep, 1).unwrap()[0];
    assert_eq!((text.title.as_str(), text.version), ("c", made[2].version));
    for product in &made[1..] {
        assert!(put(&mut *store, &vector_of(product, "m", 1)));
    }
    assert_eq!((waiting("m", 10), count("m")), (vec![made[0].id.get()], 1));
    // Vectors of another model and instant ones are queued, after products without any.
    assert!(put(&mut *store, &vector_of(&made[1], "old", 1)));
    let hurried = VectorRow { encoder: Encoder::Instant, ..vector_of(&made[2], "m", 1) };
    assert!(put(&mut *store, &hurried));
    assert_eq!(count("m"), 3);
    let mut all = waiting("m", 10);
    all.sort_unstable();
    assert_eq!(all, ids(&made));
    assert_eq!((waiting("m", 3).len(), count("other")), (3, 3));
    // Deep vectors satisfy a request for instant ones.
    let hasty = readers.lease_unembedded("m", Encoder::Instant, 10).unwrap();
    let hasty: BTreeSet<_> = hasty.iter().map(|row| row.id).collect();
    assert_eq!(hasty, BTreeSet::from([made[0].id, made[1].id]));
}

/// The numbers of shops do not compare: a shop with many changes does not come before others.
fn the_newest_texts_are_leased_first_whatever_their_shop(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let made: Vec<_> = (0..12).map(|_| create(&mut *store, 1, "Lamp", false)).collect();
    let others = [2, 3].map(|of| create(&mut *store, of, "Lamp", false));
    assert!(others.iter().all(|other| other.version < made[11].version));
    let leased = |limit| -> Vec<_> {
        let leased = readers.lease_unembedded("m", Encoder::Deep, limit).unwrap();
        leased.iter().map(|row| row.id).collect()
    };
    assert_eq!(leased(3), [others[1].id, others[0].id, made[11].id]);
    let renamed = Patch { title: Some(Title::parse("Rug").unwrap()), ..Patch::default() };
    let [second, third] = others;
    let second = write(&mut *store, |transaction| transaction.update(second, renamed, NOW)).0;
    // Now the list is there already.
    assert_eq!(leased(3), [second.id, third.id, made[11].id]);
}
