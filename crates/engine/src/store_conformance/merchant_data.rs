//! Keys, URLs and attributes: every read returns them, and a key belongs to one product of a shop.

use catalog::product::{
    attributes::{AttributeName, AttributeValue, Attributes, Number},
    http_url::ProductUrl,
    key::Key,
};
use embed::{Embedding, testing::tiny_model};

use super::*;
use crate::writes::{
    Create, Created, Edit, IdempotencyRequest, Precondition, Refusal, TxContext, Update, Upsert,
    UpsertElement, UpsertOutcome, Upserted, Write,
};

on_every_store! {
    merchant_data_round_trips,
    a_key_belongs_to_one_product_of_a_shop,
    keys_can_change_hands_within_a_transaction,
    new_terms_keep_the_vector,
    a_new_category_is_recorded_with_the_vector,
    one_of_concurrent_writers_gets_a_key,
    products_are_found_by_key,
    an_upsert_creates_or_updates_in_order,
    an_upsert_uses_the_vector_of_its_texts_only,
    an_upsert_is_replayed_once_stored,
    concurrent_upserts_create_a_key_once,
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

fn pass(of: u64) -> catalog::product::access::WritePass {
    Caller::new(shop(of), Role::Editor).may_write().unwrap()
}

fn create_all(
    store: &mut dyn CatalogStore,
    of: u64,
    drafts: Vec<Draft>,
) -> Vec<Result<Product, Refusal>> {
    let drafts = drafts.into_iter().map(|draft| (draft, Derived::default())).collect();
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
    let visit = &mut |row: store::ScannedProduct<'_>| {
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
        (Patch { hidden: Some(true), ..Patch::default() }, false),
    ] {
        let changes = write(&mut *store, |transaction| {
            let before = transaction.product(shop(1), made.id)?.unwrap();
            transaction.update(before, patch, NOW)
        })
        .1;
        let vector = match &changes[..] {
            [AppliedChange::Upserted { vectors, .. }] => vectors,
            other => panic!("{other:?}"),
        };
        match is_kept {
            true => assert!(matches!(vector, VectorChange::Kept), "{vector:?}"),
            false => assert!(matches!(vector, VectorChange::Unchanged), "{vector:?}"),
        }
    }
    assert_eq!(vectors(&*readers, 1), [row]);
}

/// The index adds the category to the vector, so it needs the vector again.
fn a_new_category_is_recorded_with_the_vector(subject: &impl Subject) {
    let (mut store, model) = (subject.store(), tiny_model());
    let mut change = |work: &dyn Fn(&mut WriteTransaction<'_>) -> Result<Product, StoreError>| {
        let mut transaction = store.begin().unwrap().embedding_with(Some(&model));
        let product = work(&mut transaction).unwrap();
        let changes = transaction.commit().unwrap().changes;
        let Some(AppliedChange::Upserted { vectors, .. }) = changes.last() else { panic!() };
        (product, vectors.clone())
    };
    let (made, first) = change(&|transaction| transaction.create(shop(1), keyed("a"), NOW));
    let stated = |category: &str| {
        let name = AttributeName::parse("product_type").unwrap();
        let stated = Attributes::new(vec![(name, AttributeValue::Text(category.into()))]);
        Patch { attributes: Some(stated), ..Patch::default() }
    };
    let update = |transaction: &mut WriteTransaction<'_>, category| {
        let before = transaction.product(shop(1), made.id)?.unwrap();
        transaction.update(before, stated(category), NOW)
    };
    let tables = change(&|transaction| update(transaction, "Furniture > Tables")).1;
    let VectorChange::Set(first) = first else { panic!("{first:?}") };
    assert!(matches!(&tables, VectorChange::Set(vector) if *vector == first), "{tables:?}");
    let again = change(&|transaction| {
        update(transaction, "Furniture > Sofas")?;
        let title = Some(Title::parse("Desk lamp").unwrap());
        let before = transaction.product(shop(1), made.id)?.unwrap();
        transaction.update(before, Patch { title, ..Patch::default() }, NOW)?;
        update(transaction, "Furniture > Tables")
    });
    let VectorChange::Set(again) = again.1 else { panic!("{again:?}") };
    assert_ne!(again, first, "the earlier writes of a transaction count");
}

/// Runs `work` for each of some keys in several writers at once, like processes or nodes, until no
/// conflict is left, and returns how often it was the first for a key.
fn race(
    subject: &impl Subject,
    keys: usize,
    work: impl Fn(&mut WriteTransaction<'_>, &str) -> Result<bool, StoreError> + Sync,
) -> usize {
    const WRITERS: usize = 4;
    let start = Barrier::new(WRITERS);
    let attempt = |store: &mut dyn CatalogStore, n: usize| -> Result<bool, StoreError> {
        let mut transaction = store.begin()?;
        let is_first = work(&mut transaction, &n.to_string())?;
        transaction.commit()?;
        Ok(is_first)
    };
    let until_done = |store: &mut dyn CatalogStore, n: usize| loop {
        match attempt(store, n) {
            Ok(is_first) => break usize::from(is_first),
            Err(error) => {
                let again = [StoreErrorKind::Conflict, StoreErrorKind::Busy];
                assert!(again.contains(&error.kind()), "{error:?}");
            }
        }
    };
    thread::scope(|scope| {
        let writers = (0..WRITERS).map(|_| {
            scope.spawn(|| {
                let mut store = subject.store();
                start.wait();
                (0..keys).map(|n| until_done(&mut *store, n)).sum::<usize>()
            })
        });
        let writers: Vec<_> = writers.collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    })
}

fn one_of_concurrent_writers_gets_a_key(subject: &impl Subject) {
    let made = race(subject, 10, |transaction, text| {
        let create = Create {
            pass: pass(1),
            drafts: vec![(keyed(text), Derived::default())],
            idempotency: None,
        };
        match create.run(transaction, context())? {
            Created::New(made) => Ok(made[0].is_ok()),
            other => panic!("{other:?}"),
        }
    });
    assert_eq!(made, 10);
    assert_eq!(subject.readers().counts(shop(1)).unwrap().products, 10);
}

fn concurrent_upserts_create_a_key_once(subject: &impl Subject) {
    let made = race(subject, 10, |transaction, text| {
        let elements = vec![(element(text, "Lamp"), Derived::default())];
        let upsert = Upsert { pass: pass(1), elements, idempotency: None };
        match upsert.run(transaction, context())? {
            UpsertOutcome::Applied(made) => Ok(matches!(made[0], Upserted::Created(_))),
            other => panic!("{other:?}"),
        }
    });
    assert_eq!(made, 10);
    assert_eq!(subject.readers().counts(shop(1)).unwrap().products, 10);
}

fn products_are_found_by_key(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let hidden = Draft { hidden: true, ..keyed("b") };
    let made = create_all(&mut *store, 1, vec![keyed("a"), hidden, keyed("c")]);
    let made: Vec<_> = made.into_iter().map(|made| made.unwrap().id.get()).collect();
    create_all(&mut *store, 2, vec![keyed("d")])[0].as_ref().unwrap();
    let requested = ["c", "d", "b", "A", "a", "c"].map(key);
    let found = |role| ids(&readers.products_by_key(&sees(1, role), &requested).unwrap());
    assert_eq!(found(Role::Viewer), [made[2], made[1], made[0], made[2]]);
    assert_eq!(found(Role::Shopper), [made[2], made[0], made[2]]);
    assert!(readers.products_by_key(&sees(1, Role::Viewer), &[]).unwrap().is_empty());
}

/// An element with a title and a price.
fn element(text: &str, title: &str) -> UpsertElement {
    let patch = Patch {
        title: Some(Title::parse(title).unwrap()),
        price: Some(Price::parse("$2").unwrap()),
        ..Patch::default()
    };
    UpsertElement { key: key(text), patch }
}

fn upsert_all(
    store: &mut dyn CatalogStore,
    elements: Vec<(UpsertElement, Derived)>,
) -> (Vec<Upserted>, Vec<AppliedChange>) {
    let upsert = Upsert { pass: pass(1), elements, idempotency: None };
    match write(store, |transaction| upsert.run(transaction, context())) {
        (UpsertOutcome::Applied(outcomes), changes) => (outcomes, changes),
        other => panic!("{other:?}"),
    }
}

fn an_upsert_creates_or_updates_in_order(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let here = Draft { attributes: attributes("Acme"), ..keyed("here") };
    let here = create_all(&mut *store, 1, vec![here]).remove(0).unwrap();
    create_all(&mut *store, 2, vec![keyed("new")])[0].as_ref().unwrap();
    let only = |text: &str, patch: Patch| UpsertElement { key: key(text), patch };
    let hide = Patch { hidden: Some(true), ..Patch::default() };
    let title = Patch { price: None, ..element("x", "Rug").patch };
    let elements = vec![
        only("new", hide.clone()),
        only("new", title),
        element("new", "Sofa"),
        only("new", hide.clone()),
        only("here", hide),
        only("here", Patch::default()),
    ];
    let elements = elements.into_iter().map(|element| (element, Derived::default())).collect();
    let (outcomes, changes) = upsert_all(&mut *store, elements);
    let [first, second, Upserted::Created(sofa), Upserted::Updated(hidden), five, six] =
        &outcomes[..]
    else {
        panic!("{outcomes:?}")
    };
    assert_eq!(*first, Upserted::Incomplete(vec!["title", "price"]));
    assert_eq!(*second, Upserted::Incomplete(vec!["price"]));
    assert_eq!((sofa.key.clone(), sofa.hidden), (Some(key("new")), false));
    assert_eq!(*hidden, Product { hidden: true, version: hidden.version, ..sofa.clone() });
    for (outcome, version) in [(five, changes[2].seq()), (six, changes[3].seq())] {
        let after = Product { hidden: true, version, ..here.clone() };
        assert_eq!(*outcome, Upserted::Updated(after));
    }
    assert_eq!(changes.len(), 4);
    let found = readers.products_by_key(&sees(1, Role::Viewer), &[key("new")]).unwrap();
    assert_eq!(found, std::slice::from_ref(hidden));
    assert_eq!(readers.counts(shop(1)).unwrap().products, 2);
}

/// The vector was made from title and description of the element, before it is known whether the
/// product exists and has another description.
fn an_upsert_uses_the_vector_of_its_texts_only(subject: &impl Subject) {
    let mut store = subject.store();
    let soft = || Some(Description::parse("soft").unwrap());
    let embedding = || {
        let vector = Vector::normalized(vec![1.0; 64]).unwrap();
        let (model, encoder) = (ModelId::new("m"), Encoder::Instant);
        let embedding = Embedding { model, encoder, vector, deep: None };
        Derived { embedding: Some(embedding), inferred: None }
    };
    let mut given = |title: &str, description: Option<Description>| {
        let mut element = element("a", title);
        element.patch.description = description;
        let changes = upsert_all(&mut *store, vec![(element, embedding())]).1;
        match &changes[..] {
            [AppliedChange::Upserted { vectors, .. }] => vectors.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(given("Sofa", None), VectorChange::Set(_)), "created");
    assert!(matches!(given("Rug", None), VectorChange::Set(_)), "there is no description");
    assert!(matches!(given("Rug", None), VectorChange::Unchanged));
    assert!(matches!(given("Rug", soft()), VectorChange::Set(_)));
    assert!(matches!(given("Lamp", None), VectorChange::Pending), "of another description");
}

fn an_upsert_is_replayed_once_stored(subject: &impl Subject) {
    let mut store = subject.store();
    let mut send = |fingerprint: u8, title: &str| {
        let idempotency = Some(IdempotencyRequest {
            key: "request".to_owned(),
            fingerprint: vec![fingerprint],
            response: Arc::new(|outcomes: &[Upserted]| format!("{outcomes:?}").into_bytes()),
        });
        let elements = vec![(element("a", title), Derived::default())];
        let upsert = Upsert { pass: pass(1), elements, idempotency };
        write(&mut *store, |transaction| upsert.run(transaction, context())).0
    };
    let UpsertOutcome::Applied(first) = send(1, "Sofa") else { panic!() };
    match send(1, "Sofa") {
        UpsertOutcome::Replayed(body) => assert_eq!(body, format!("{first:?}").into_bytes()),
        other => panic!("{other:?}"),
    }
    assert!(matches!(send(2, "Rug"), UpsertOutcome::KeyReused));
    let readers = subject.readers();
    let found = readers.products_by_key(&sees(1, Role::Viewer), &[key("a")]).unwrap();
    assert_eq!([Upserted::Created(found[0].clone())], first[..]);
}
