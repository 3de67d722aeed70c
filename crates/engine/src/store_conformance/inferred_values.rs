//! What is inferred about products is written with them, and read as it was written.

use catalog::product::{
    access::WritePass,
    attributes::{AttributeName, AttributeValue, Attributes},
    inferred::Inferred,
    key::Key,
};
use embed::inference::infer;

use super::*;
use crate::writes::{TxContext, Upsert, UpsertElement, UpsertOutcome, Upserted, Write};

on_every_store! {
    what_is_inferred_follows_texts_and_attributes,
    what_is_stored_is_not_inferred_again,
    values_of_another_version_are_inferred_when_read,
    an_upsert_uses_what_was_inferred_from_the_same_texts_only,
}

/// What the texts and attributes of a product state.
fn stated(product: &Product) -> Inferred {
    infer(product.title.as_str(), product.description.as_str(), &product.attributes)
}

/// Attributes with a color.
fn colored(color: &str) -> Attributes {
    let name = AttributeName::parse("color").unwrap();
    Attributes::new(vec![(name, AttributeValue::Text(color.into()))])
}

/// Asserts that every read returns the product.
fn is_read(readers: &dyn CatalogReads, product: &Product) {
    let viewer = sees(1, Role::Viewer);
    assert_eq!(readers.product(&viewer, product.id).unwrap().as_ref(), Some(product));
    assert_eq!(readers.page(&viewer, 9, 0).unwrap().products, std::slice::from_ref(product));
    let keys: Vec<Key> = product.key.iter().cloned().collect();
    assert_eq!(readers.products_by_key(&viewer, &keys).unwrap(), std::slice::from_ref(product));
    assert_eq!(readers.hits(&viewer, &[product.id]).unwrap(), std::slice::from_ref(product));
    let mut seen = Vec::new();
    let visit = &mut |product| {
        seen.push(product);
        ControlFlow::Continue(())
    };
    readers.for_each_product(&viewer, visit).unwrap();
    assert_eq!(seen, std::slice::from_ref(product));
    let mut scanned = Vec::new();
    readers.scan(shop(1), None, &mut |row| scanned.push((row.id, row.inferred))).unwrap();
    assert_eq!(scanned, [(product.id, product.inferred)]);
    let since = readers.changes_since(shop(1), None, Position::default()).unwrap();
    let FeedResult::Changes(changes, _) = since else { panic!("{since:?}") };
    match &changes[..] {
        [AppliedChange::Upserted { product: changed, .. }] => assert_eq!(changed, product),
        other => panic!("{other:?}"),
    }
}

fn what_is_inferred_follows_texts_and_attributes(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let key = Some(Key::parse("dress").unwrap());
    let draft = Draft { key, ..draft("Green linen dress", false) };
    let mut product = write(&mut *store, |transaction| transaction.create(shop(1), draft, NOW)).0;
    assert_ne!(product.inferred, Inferred::default());
    is_read(&*readers, &product);
    let title = |title| Patch { title: Some(Title::parse(title).unwrap()), ..Patch::default() };
    let patches = [
        (title("Red wool rug"), true),
        (Patch { hidden: Some(false), ..Patch::default() }, false),
        (Patch { attributes: Some(colored("blue")), ..Patch::default() }, true),
        (title("Red wool rug"), false),
        (
            Patch {
                description: Some(Description::parse("For dogs. Made of cotton.").unwrap()),
                attributes: Some(Attributes::default()),
                ..Patch::default()
            },
            true,
        ),
    ];
    for (patch, changes) in patches {
        let before = product.inferred;
        // The row that the transaction reads, not the value that an earlier one returned.
        product = write(&mut *store, |transaction| {
            let row = transaction.product(shop(1), product.id)?.unwrap();
            transaction.update(row, patch.clone(), NOW)
        })
        .0;
        assert_eq!(product.inferred, stated(&product), "{patch:?}");
        assert_eq!(product.inferred != before, changes, "{patch:?}");
        is_read(&*readers, &product);
    }
}

/// A value that the texts do not state shows that nothing infers it a second time.
fn what_is_stored_is_not_inferred_again(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let other = infer("Large red leather dog collar", "", Attributes::none());
    let key = Some(Key::parse("dress").unwrap());
    let draft = Draft { key, ..draft("Green linen dress", false) };
    let derived = Derived { embedding: None, inferred: Some(other) };
    let create = |transaction: &mut WriteTransaction<'_>| {
        transaction.create_derived(shop(1), draft, derived, NOW)
    };
    let made = write(&mut *store, create).0.unwrap();
    assert_eq!(made.inferred, other);
    is_read(&*readers, &made);
    let patch = Patch { price: Some(Price::parse("$7").unwrap()), ..Patch::default() };
    let cheaper = write(&mut *store, |transaction| {
        let row = transaction.product(shop(1), made.id)?.unwrap();
        transaction.update(row, patch, NOW)
    });
    assert_eq!(cheaper.0.inferred, other);
    is_read(&*readers, &cheaper.0);
}

fn values_of_another_version_are_inferred_when_read(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let key = Some(Key::parse("dress").unwrap());
    let draft = Draft { key, ..draft("Green linen dress", false) };
    let made = write(&mut *store, |transaction| transaction.create(shop(1), draft, NOW)).0;
    subject.outdate_inferred_values();
    assert_eq!(made.inferred, stated(&made));
    is_read(&*readers, &made);
}

/// It was inferred before it is known whether the product exists and what else it states.
fn an_upsert_uses_what_was_inferred_from_the_same_texts_only(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let mut upsert = |description: Option<&str>, attributes: Option<Attributes>, title: &str| {
        let patch = Patch {
            title: Some(Title::parse(title).unwrap()),
            price: Some(Price::parse("$2").unwrap()),
            description: description.map(|text| Description::parse(text).unwrap()),
            attributes,
            ..Patch::default()
        };
        let element = UpsertElement { key: Key::parse("a").unwrap(), patch };
        let (title, description, attributes) = element.statements().unwrap();
        let inferred = Some(infer(title, description, attributes));
        let elements = vec![(element.clone(), Derived { embedding: None, inferred })];
        let pass: WritePass = Caller::new(shop(1), Role::Editor).may_write().unwrap();
        let upsert = Upsert { pass, elements, idempotency: None };
        let context = TxContext { now: NOW, responses_since: NOW };
        match write(&mut *store, |transaction| upsert.run(transaction, context)).0 {
            UpsertOutcome::Applied(outcomes) => match &outcomes[..] {
                [Upserted::Created(product) | Upserted::Updated(product)] => {
                    assert_eq!(product.inferred, stated(product), "{product:?}");
                    is_read(&*readers, product);
                }
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    };
    upsert(None, None, "Green lamp");
    upsert(Some("Made of wood."), None, "Lamp");
    upsert(None, None, "Red lamp");
    upsert(Some("Made of glass."), Some(colored("blue")), "Red lamp");
    upsert(None, None, "White lamp");
    upsert(Some(""), Some(Attributes::default()), "White lamp");
    upsert(None, None, "Rug");
}
