//! Keys, URLs and attributes: every read returns them, and a key belongs to one product of a shop.

use catalog::{
    attributes::{AttributeName, AttributeValue, Attributes, Number},
    http_url::ProductUrl,
    key::Key,
};

use super::*;
use crate::writes::{Create, Created, Edit, Precondition, Refusal, TxContext, Update, Write};

on_every_store! {
    merchant_data_round_trips,
    a_key_belongs_to_one_product_of_a_shop,
    keys_can_change_hands_within_a_transaction,
    new_terms_keep_the_vector,
    one_of_concurrent_writers_gets_a_key,
}

fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

fn attributes(brand: &str) -> Attributes {
    let name = |text| AttributeName::parse(text).unwrap();
    Attributes::new(vec![
        (name("brand"), AttributeValue::Text(brand.into())),
        (name("color"), AttributeValue::Texts(["red".into(), "\"blue\" {,}".into()].into())),
        (name("width"), AttributeValue::Number(Number::new(0.1 + 0.2).unwrap())),
        (name("stock"), AttributeValue::Number(Number::new(7.0).unwrap())),
        (name("new"), AttributeValue::Boolean(false)),
    ])
}

fn keyed(text: &str) -> Draft {
    Draft { key: Some(key(text)), ..draft("Lamp", false) }
}

fn context() -> TxContext {
    TxContext { now: NOW, responses_since: NOW }
}

fn pass(of: u64) -> catalog::access::WritePass {
    Caller::new(shop(of), Role::Editor).may_write().unwrap()
}

fn create_all(
    store: &mut dyn CatalogStore,
    of: u64,
    drafts: Vec<Draft>,
) -> Vec<Result<Product, Refusal>> {
    let drafts = drafts.into_iter().map(|draft| (draft, None)).collect();
    let create = Create { pass: pass(of), drafts, idempotency: None };
    match write(store, |transaction| create.run(transaction, context())).0 {
        Created::New(outcomes) => outcomes,
        other => panic!("{other:?}"),
    }
}

fn update_all(
    store: &mut dyn CatalogStore,
    edits: Vec<(ProductId, Option<&str>)>,
) -> Vec<Result<Product, Refusal>> {
    let edits = edits.into_iter().map(|(id, text)| Edit {
        id,
        patch: Patch { key: Some(text.map(key)), ..Patch::default() },
        precondition: Precondition::Exists,
    });
    let update = Update { pass: pass(1), edits: edits.collect() };
    write(store, |transaction| update.run(transaction, context())).0
}

fn merchant_data_round_trips(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let draft = Draft {
        url: Some(ProductUrl::parse("https://a.example/ü?q=\"1\"").unwrap()),
        attributes: attributes("Acmé"),
        ..keyed("SKU 1/é\\")
    };
    let made = write(&mut *store, |transaction| transaction.create(shop(1), draft, NOW)).0;
    let bare = create(&mut *store, 1, "Rug", false);
    let viewer = sees(1, Role::Viewer);
    assert_eq!(readers.product(&viewer, made.id).unwrap().as_ref(), Some(&made));
    assert_eq!(readers.page(&viewer, 9, 0).unwrap().products, [made.clone(), bare.clone()]);
    let mut seen = Vec::new();
    let visit = &mut |product| {
        seen.push(product);
        ControlFlow::Continue(())
    };
    readers.for_each_product(&viewer, visit).unwrap();
    assert_eq!(seen, [made.clone(), bare.clone()]);
    let mut scanned = Vec::new();
    let visit = &mut |row: crate::store::ScannedProduct<'_>| {
        scanned.push((row.key.map(str::to_owned), row.attributes.clone()));
    };
    readers.scan(shop(1), None, visit).unwrap();
    let expected = (Some("SKU 1/é\\".to_owned()), made.attributes.clone());
    assert_eq!(scanned, [expected, (None, Attributes::default())]);
    let says_acme = |_: &str, _: &str, attributes: &str| !attributes.contains("Acmé");
    let refused = readers.rejected_by_text(shop(1), &[made.id, bare.id], &says_acme).unwrap();
    assert_eq!(refused, [made.id]);
    let patch = Patch {
        key: Some(None),
        url: Some(None),
        attributes: Some(Attributes::default()),
        ..Patch::default()
    };
    let after = write(&mut *store, |transaction| transaction.update(made.clone(), patch, NOW)).0;
    assert_eq!((&after.key, &after.url, after.attributes.is_empty()), (&None, &None, true));
    assert_eq!(readers.product(&viewer, made.id).unwrap().as_ref(), Some(&after));
    let since = readers.changes_since(shop(1), None, Position::default()).unwrap();
    let FeedResult::Changes(changes, _) = since else { panic!("{since:?}") };
    assert_eq!(changes.len(), 2);
}

fn a_key_belongs_to_one_product_of_a_shop(subject: &impl Subject) {
    let mut store = subject.store();
    let one = create_all(&mut *store, 1, vec![keyed("a")]).remove(0).unwrap();
    assert_eq!(create_all(&mut *store, 1, vec![keyed("a")]), [Err(Refusal::KeyTaken(one.id))]);
    // Byte for byte, and in one shop only.
    assert!(create_all(&mut *store, 1, vec![keyed("A"), keyed("a ")]).iter().all(Result::is_ok));
    assert!(create_all(&mut *store, 2, vec![keyed("a")])[0].is_ok());
    // Twice in one bulk.
    let twice = create_all(&mut *store, 1, vec![keyed("b"), keyed("b"), draft("Rug", false)]);
    let two = twice[0].as_ref().unwrap().id;
    assert_eq!(twice[1], Err(Refusal::KeyTaken(two)));
    assert!(twice[2].is_ok());
    let outcomes = update_all(&mut *store, vec![(two, Some("a")), (two, Some("b"))]);
    assert_eq!(outcomes[0], Err(Refusal::KeyTaken(one.id)));
    assert!(outcomes[1].is_ok(), "its own key");
    // A removed key and the key of a deleted product are free.
    assert!(update_all(&mut *store, vec![(one.id, None)])[0].is_ok());
    assert!(create_all(&mut *store, 1, vec![keyed("a")])[0].is_ok());
    write(&mut *store, |transaction| {
        let gone = transaction.product(shop(1), two)?.unwrap();
        transaction.delete(&gone)
    });
    assert!(create_all(&mut *store, 1, vec![keyed("b")])[0].is_ok());
}

fn keys_can_change_hands_within_a_transaction(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let made = create_all(&mut *store, 1, vec![keyed("a"), keyed("b"), keyed("c")]);
    let [a, b, c] = [0, 1, 2].map(|at: usize| made[at].as_ref().unwrap().id);
    // The key goes to a product with a smaller and to one with a greater id.
    let outcomes = update_all(
        &mut *store,
        vec![(b, None), (a, Some("b")), (c, Some("a")), (b, Some("c")), (b, Some("b"))],
    );
    assert_eq!(outcomes[..4].iter().filter(|outcome| outcome.is_ok()).count(), 4);
    assert_eq!(outcomes[4], Err(Refusal::KeyTaken(a)));
    let keys = |readers: &dyn CatalogReads| {
        let found = readers.products(&sees(1, Role::Viewer), &[a, b, c]).unwrap();
        found.iter().map(|row| row.key.as_ref().unwrap().as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(keys(&*readers), ["b", "c", "a"]);
    // A deletion frees the key within the transaction, too.
    let (first, second) = write(&mut *store, |transaction| {
        let gone = transaction.product(shop(1), c)?.unwrap();
        transaction.delete(&gone)?;
        assert_eq!(transaction.key_holder(shop(1), &key("a"))?, None);
        let first = transaction.create(shop(1), keyed("a"), NOW)?;
        assert_eq!(transaction.key_holder(shop(1), &key("a"))?, Some(first.id));
        transaction.delete(&first)?;
        let second = transaction.create(shop(1), keyed("a"), NOW)?;
        assert_eq!(transaction.key_holder(shop(1), &key("a"))?, Some(second.id));
        Ok((first, second))
    })
    .0;
    let pass = sees(1, Role::Viewer);
    assert_eq!(readers.products(&pass, &[first.id, second.id]).unwrap(), [second]);
}

fn new_terms_keep_the_vector(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let made = create_all(&mut *store, 1, vec![keyed("a")]).remove(0).unwrap();
    let row = vector_of(&made, "m", 1);
    assert!(put(&mut *store, &row));
    let new = || Patch { attributes: Some(attributes("Acme")), ..Patch::default() };
    let url = ProductUrl::parse("https://a.example/").unwrap();
    for (patch, is_kept) in [
        (new(), true),
        (new(), false),
        (Patch { key: Some(Some(key("b"))), ..Patch::default() }, true),
        (Patch { url: Some(Some(url)), ..Patch::default() }, false),
    ] {
        let changes = write(&mut *store, |transaction| {
            let before = transaction.product(shop(1), made.id)?.unwrap();
            transaction.update(before, patch, NOW)
        })
        .1;
        let vector = match &changes[..] {
            [AppliedChange::Upserted { vector, .. }] => vector,
            other => panic!("{other:?}"),
        };
        match is_kept {
            true => assert!(matches!(vector, VectorChange::Kept), "{vector:?}"),
            false => assert!(matches!(vector, VectorChange::Unchanged), "{vector:?}"),
        }
    }
    assert_eq!(vectors(&*readers, 1), [row]);
}

/// Independent writers, like processes or nodes.
fn one_of_concurrent_writers_gets_a_key(subject: &impl Subject) {
    const WRITERS: usize = 4;
    const KEYS: usize = 10;
    let start = Barrier::new(WRITERS);
    let create = |store: &mut dyn CatalogStore, n: usize| -> Result<bool, StoreError> {
        let drafts = vec![(keyed(&n.to_string()), None)];
        let create = Create { pass: pass(1), drafts, idempotency: None };
        let mut transaction = store.begin()?;
        let Created::New(made) = create.run(&mut transaction, context())? else { panic!() };
        transaction.commit()?;
        Ok(made[0].is_ok())
    };
    let made: usize = thread::scope(|scope| {
        let writers = (0..WRITERS).map(|_| {
            scope.spawn(|| {
                let mut store = subject.store();
                start.wait();
                let mut made = 0;
                for n in 0..KEYS {
                    made += loop {
                        match create(&mut *store, n) {
                            Ok(is_made) => break usize::from(is_made),
                            Err(error) => {
                                let again = [StoreErrorKind::Conflict, StoreErrorKind::Busy];
                                assert!(again.contains(&error.kind()), "{error:?}");
                            }
                        }
                    };
                }
                made
            })
        });
        let writers: Vec<_> = writers.collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    assert_eq!(made, KEYS);
    assert_eq!(subject.readers().counts(shop(1)).unwrap().products, KEYS);
}
