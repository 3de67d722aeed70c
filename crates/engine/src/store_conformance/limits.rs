//! Limits of a shop: products, bytes and attribute names are counted in the transaction of each
//! write, exactly.

use std::collections::{BTreeMap, BTreeSet};

use catalog::product::{
    attributes::{AttributeName, AttributeValue, Attributes, MAX_ATTRIBUTES, MAX_SHOP_NAMES},
    http_url::ProductUrl,
    key::Key,
};
use store::{LimitExceeded, Quotas, ShopUsage};

use super::*;
use crate::writes::{
    Create, Created, Edit, Precondition, Refusal, TxContext, Update, Upsert, UpsertElement,
    UpsertOutcome, Upserted, Write,
};

on_every_store! {
    usage_follows_every_write,
    attribute_names_are_limited,
    names_that_no_product_has_make_room,
    elements_are_refused_one_by_one,
    quotas_limit_what_grows,
    concurrent_writers_share_the_last_places,
}

const NO_QUOTAS: Quotas = Quotas { products: None, bytes: None };
const NAMES: Result<(), LimitExceeded> = Err(LimitExceeded::AttributeNames);

fn context() -> TxContext {
    TxContext { now: NOW, responses_since: NOW }
}

fn pass(of: u64) -> catalog::product::access::WritePass {
    Caller::new(shop(of), Role::Editor).may_write().unwrap()
}

/// Attributes with these names.
fn named<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Attributes {
    let value = AttributeValue::Boolean(true);
    let name = |name: N| (AttributeName::parse(name.as_ref()).unwrap(), value.clone());
    Attributes::new(names.into_iter().map(name).collect())
}

fn with_names<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Draft {
    Draft { attributes: named(names), ..draft("Lamp", false) }
}

fn patch_of_names<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Patch {
    Patch { attributes: Some(named(names)), ..Patch::default() }
}

/// Runs `work` in a transaction of its own under these quotas.
fn write_within<T>(
    store: &mut dyn CatalogStore,
    quotas: Quotas,
    work: impl FnOnce(&mut WriteTransaction<'_>) -> Result<T, StoreError>,
) -> T {
    let mut transaction = store.begin().unwrap().limited_to(quotas);
    let done = work(&mut transaction).unwrap();
    transaction.commit().unwrap();
    done
}

fn try_create(
    store: &mut dyn CatalogStore,
    quotas: Quotas,
    draft: Draft,
) -> Result<Product, LimitExceeded> {
    write_within(store, quotas, |transaction| {
        transaction.create_derived(shop(1), draft, Derived::default(), NOW)
    })
}

fn try_update(
    store: &mut dyn CatalogStore,
    quotas: Quotas,
    id: ProductId,
    patch: Patch,
) -> Result<(), LimitExceeded> {
    write_within(store, quotas, |transaction| {
        let before = transaction.product(shop(1), id)?.unwrap();
        let updated = transaction.update_derived(before, patch, Derived::default(), NOW)?;
        Ok(updated.map(drop))
    })
}

fn delete(store: &mut dyn CatalogStore, id: ProductId) {
    write(store, |transaction| {
        let gone = transaction.product(shop(1), id)?.unwrap();
        transaction.delete(&gone)
    });
}

fn usage(store: &mut dyn CatalogStore, of: u64) -> ShopUsage {
    write(store, |transaction| transaction.usage(shop(of))).0
}

/// Products with `n0`, `n1`, … until the shop has this many names.
fn fill_names(store: &mut dyn CatalogStore, count: u64) -> Vec<ProductId> {
    let names: Vec<_> = (0..count).map(|n| format!("n{n}")).collect();
    let products = names.chunks(MAX_ATTRIBUTES);
    let drafts: Vec<_> = products.map(with_names).collect();
    write(store, |transaction| {
        drafts.into_iter().map(|draft| Ok(transaction.create(shop(1), draft, NOW)?.id)).collect()
    })
    .0
}

/// What a shop takes, counted product by product.
fn counted(readers: &dyn CatalogReads, of: u64) -> ShopUsage {
    let mut usage = ShopUsage::default();
    let mut names = BTreeSet::new();
    let visit = &mut |product: Product| {
        usage.products += 1;
        let media: usize = store::media_column(&product.media).len();
        let attributes = store::attributes_column(&product.attributes);
        let bytes = product.title.as_str().len()
            + product.description.as_str().len()
            + product.price.text().len()
            + media
            + product.key.as_ref().map_or(0, |key| key.as_str().len())
            + product.url.as_ref().map_or(0, |url| url.as_str().len())
            + attributes.map_or(0, |attributes| attributes.len());
        usage.bytes += bytes as u64;
        names.extend(product.attributes.names().cloned());
        ControlFlow::Continue(())
    };
    readers.for_each_product(&sees(of, Role::Viewer), visit).unwrap();
    ShopUsage { attribute_names: names.len() as u64, ..usage }
}

fn random_attributes(random: &mut fastrand::Rng) -> Attributes {
    named(
        (0..random.usize(..4)).map(|_| format!("name{}", random.u8(..12))).collect::<BTreeSet<_>>(),
    )
}

fn random_draft(random: &mut fastrand::Rng) -> Draft {
    let text = "é".repeat(random.usize(..30));
    Draft {
        description: Description::parse(&text).unwrap(),
        url: random.bool().then(|| ProductUrl::parse("https://a.example/1").unwrap()),
        attributes: random_attributes(random),
        ..draft("Lampe é", random.bool())
    }
}

fn random_patch(random: &mut fastrand::Rng) -> Patch {
    Patch {
        attributes: random.bool().then(|| random_attributes(random)),
        description: random.bool().then(|| random_draft(random).description),
        key: random.bool().then(|| {
            random.bool().then(|| Key::parse(&format!("key {}", random.u64(..))).unwrap())
        }),
        url: random.bool().then_some(None),
        hidden: Some(random.bool()),
        media: random.bool().then(|| {
            let media = Media::new("https://a.example/1.jpg", MediaKind::Image).unwrap();
            vec![media; random.usize(..3)]
        }),
        ..Patch::default()
    }
}

/// Counts kept write by write, over commits and roll-backs, equal counts made at once.
fn usage_follows_every_write(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let mut random = fastrand::Rng::with_seed(83);
    let mut products: BTreeMap<u64, Vec<ProductId>> = BTreeMap::new();
    for _ in 0..30 {
        let is_committed = random.u8(..4) > 0;
        let mut ids = products.clone();
        let mut transaction = store.begin().unwrap();
        for _ in 0..random.usize(1..6) {
            let of = random.u64(1..3);
            let known = ids.entry(of).or_default();
            let place = random.usize(..known.len().max(1));
            let before = known.get(place).copied();
            let before = before.map(|id| transaction.product(shop(of), id).unwrap().unwrap());
            match (before, random.u8(..4)) {
                (Some(gone), 0) => {
                    transaction.delete(&gone).unwrap();
                    known.remove(place);
                }
                (Some(before), 1 | 2) => {
                    transaction.update(before, random_patch(&mut random), NOW).unwrap();
                }
                _ => {
                    let draft = random_draft(&mut random);
                    known.push(transaction.create(shop(of), draft, NOW).unwrap().id);
                }
            }
        }
        if is_committed {
            transaction.commit().unwrap();
            products = ids;
        } else {
            drop(transaction);
        }
        for of in [1, 2] {
            assert_eq!(usage(&mut *store, of), counted(&*readers, of));
        }
    }
    let all: Vec<_> = products.remove(&1).unwrap();
    all.into_iter().for_each(|id| delete(&mut *store, id));
    assert_eq!(usage(&mut *store, 1), ShopUsage::default());
}

fn attribute_names_are_limited(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let filled = fill_names(&mut *store, MAX_SHOP_NAMES);
    assert_eq!(usage(&mut *store, 1).attribute_names, MAX_SHOP_NAMES);
    let store = &mut *store;
    let create =
        |store: &mut dyn CatalogStore, draft| try_create(store, NO_QUOTAS, draft).map(drop);
    let before = (usage(store, 1), readers.page(&sees(1, Role::Viewer), 9, 0).unwrap().total);
    assert_eq!(create(store, with_names(["another"])), NAMES);
    assert_eq!(create(store, with_names(["n0", "another"])), NAMES);
    let own: Vec<_> = (1..MAX_ATTRIBUTES).map(|n| format!("n{n}")).collect();
    let patch = patch_of_names(own.iter().map(String::as_str).chain(["n77"]));
    assert_eq!(try_update(store, NO_QUOTAS, filled[0], patch), Ok(()), "n0 is free");
    let patch = patch_of_names(own.iter().map(String::as_str).chain(["n0"]));
    assert_eq!(try_update(store, NO_QUOTAS, filled[0], patch), Ok(()), "and is used again");
    let after = (usage(store, 1), readers.page(&sees(1, Role::Viewer), 9, 0).unwrap().total);
    assert_eq!(after, before, "a refused write changes nothing");
    // Names that there are, no names, and names of another shop.
    assert_eq!(create(store, with_names(["n0", "n4999"])), Ok(()));
    assert_eq!(create(store, draft("Lamp", false)), Ok(()));
    let patch = patch_of_names(["n0", "another"]);
    assert_eq!(try_update(store, NO_QUOTAS, filled[2], patch), Ok(()), "it frees names of its own");
    write(store, |transaction| transaction.create(shop(2), with_names(["another"]), NOW));
    assert_eq!(usage(store, 2).attribute_names, 1);
}

fn names_that_no_product_has_make_room(subject: &impl Subject) {
    let mut store = subject.store();
    let store = &mut *store;
    let filled = fill_names(store, MAX_SHOP_NAMES);
    let shared = try_create(store, NO_QUOTAS, with_names(["n0"])).unwrap().id;
    // All but the name that another product has.
    delete(store, filled[0]);
    let names = MAX_SHOP_NAMES - MAX_ATTRIBUTES as u64 + 1;
    assert_eq!(usage(store, 1).attribute_names, names);
    delete(store, shared);
    let fresh: Vec<_> = (0..MAX_ATTRIBUTES).map(|n| format!("m{n}")).collect();
    let one_more = fresh[1..].iter().map(String::as_str).chain(["m_a", "m_b"]);
    let too_many: Vec<_> = one_more.collect();
    let (too_many, last) = too_many.split_at(MAX_ATTRIBUTES);
    let id = try_create(store, NO_QUOTAS, with_names(too_many)).unwrap().id;
    assert_eq!(try_create(store, NO_QUOTAS, with_names(last)).map(drop), NAMES);
    // Within one transaction, too.
    write_within(store, NO_QUOTAS, |transaction| {
        let gone = transaction.product(shop(1), id)?.unwrap();
        transaction.delete(&gone)?;
        let made =
            transaction.create_derived(shop(1), with_names(&fresh), Derived::default(), NOW)?;
        assert!(made.is_ok());
        let more =
            transaction.create_derived(shop(1), with_names(last), Derived::default(), NOW)?;
        assert_eq!(more, Err(LimitExceeded::AttributeNames));
        // Names of the transaction itself are names of the shop.
        let same =
            transaction.create_derived(shop(1), with_names(&fresh), Derived::default(), NOW)?;
        assert!(same.is_ok());
        Ok(())
    });
    assert_eq!(usage(store, 1).attribute_names, MAX_SHOP_NAMES);
}

fn elements_are_refused_one_by_one(subject: &impl Subject) {
    let mut store = subject.store();
    let filled = fill_names(&mut *store, MAX_SHOP_NAMES - 1);
    let refused = Refusal::LimitExceeded(LimitExceeded::AttributeNames);
    let drafts = [["n0", "n1"], ["n0", "new"], ["n0", "newer"], ["new", "n7"]].map(with_names);
    let drafts = drafts.into_iter().map(|draft| (draft, Derived::default())).collect();
    let create = Create { pass: pass(1), drafts, idempotency: None };
    let outcomes = match write(&mut *store, |transaction| create.run(transaction, context())).0 {
        Created::New(outcomes) => outcomes,
        other => panic!("{other:?}"),
    };
    let is_refused: Vec<_> =
        outcomes.iter().map(|outcome| outcome.as_ref().err() == Some(&refused)).collect();
    assert_eq!(is_refused, [false, false, true, false]);

    let edit = |id, names: [&str; 2]| Edit {
        id,
        patch: patch_of_names(names),
        precondition: Precondition::Exists,
    };
    let made = outcomes[0].as_ref().unwrap().id;
    let edits =
        vec![edit(made, ["n0", "newer"]), edit(made, ["n0", "new"]), edit(filled[0], ["a", "b"])];
    let update = Update { pass: pass(1), edits };
    let outcomes = write(&mut *store, |transaction| update.run(transaction, context())).0;
    assert_eq!(outcomes[0], Err(refused));
    assert!(outcomes[1..].iter().all(Result::is_ok), "the last one frees its own names");

    fill_names(&mut *store, MAX_ATTRIBUTES as u64 - 4);
    let element = |key: &str, names: [&str; 2]| {
        let Draft { title, price, attributes, .. } = with_names(names);
        let patch = Patch {
            title: Some(title),
            price: Some(price),
            attributes: Some(attributes),
            ..Patch::default()
        };
        (UpsertElement { key: Key::parse(key).unwrap(), patch }, Derived::default())
    };
    let names = usage(&mut *store, 1).attribute_names;
    assert_eq!(names, MAX_SHOP_NAMES - 2, "a and b in place of n36 to n39");
    let elements = vec![
        element("a", ["u1", "u2"]),
        element("b", ["n0", "u3"]),
        element("a", ["u1", "u3"]),
        element("a", ["n0", "u4"]),
    ];
    let upsert = Upsert { pass: pass(1), elements, idempotency: None };
    let outcome = write(&mut *store, |transaction| upsert.run(transaction, context())).0;
    let UpsertOutcome::Applied(outcomes) = outcome else { panic!("{outcome:?}") };
    let [Upserted::Created(_), second, Upserted::Updated(_), Upserted::Updated(_)] = &outcomes[..]
    else {
        panic!("{outcomes:?}")
    };
    assert_eq!(*second, Upserted::LimitExceeded(LimitExceeded::AttributeNames));
}

fn quotas_limit_what_grows(subject: &impl Subject) {
    let mut store = subject.store();
    let store = &mut *store;
    let two = Quotas { products: Some(2), ..NO_QUOTAS };
    let first = try_create(store, two, draft("Lamp", false)).unwrap().id;
    try_create(store, two, draft("Lamp", true)).unwrap();
    let refused = Err(LimitExceeded::Products { limit: 2 });
    assert_eq!(try_create(store, two, draft("Lamp", false)).map(drop), refused);
    let longer = |text: &str| Patch {
        description: Some(Description::parse(text).unwrap()),
        ..Patch::default()
    };
    assert_eq!(try_update(store, two, first, longer("Long, and longer")), Ok(()));
    // Other shops have quotas of their own.
    let other = write_within(store, two, |transaction| {
        transaction.create_derived(shop(2), draft("Lamp", false), Derived::default(), NOW)
    });
    assert!(other.is_ok());
    // A quota that is lowered refuses what grows, and nothing else.
    let one = Quotas { products: Some(1), ..NO_QUOTAS };
    assert_eq!(try_update(store, one, first, longer("L")), Ok(()));
    delete(store, first);
    let refused = Err(LimitExceeded::Products { limit: 1 });
    assert_eq!(try_create(store, one, draft("Lamp", false)).map(drop), refused);
    let id = try_create(store, two, draft("Lamp", false)).unwrap().id;

    let bytes = usage(store, 1).bytes;
    let within = Quotas { bytes: Some(bytes + 3), ..NO_QUOTAS };
    let refused = Err(LimitExceeded::Bytes { limit: bytes + 3 });
    assert_eq!(try_create(store, within, draft("Lamp", false)).map(drop), refused);
    assert_eq!(try_update(store, within, id, longer("four")), refused);
    assert_eq!(try_update(store, within, id, longer("é1")), Ok(()), "three bytes");
    let below = Quotas { bytes: Some(1), ..NO_QUOTAS };
    assert_eq!(try_update(store, below, id, longer("abc")), Ok(()), "not larger");
    assert_eq!(try_update(store, below, id, longer("a")), Ok(()), "smaller");
    let hidden = Patch { hidden: Some(true), ..Patch::default() };
    assert_eq!(try_update(store, below, id, hidden), Ok(()));
    assert_eq!(try_update(store, below, id, longer("ab")), Err(LimitExceeded::Bytes { limit: 1 }));
    assert_eq!(usage(store, 1), ShopUsage { bytes: bytes + 1, products: 2, attribute_names: 0 });
}

/// Creates products at the same time through two stores, and returns how many were not refused.
fn create_concurrently(
    subject: &impl Subject,
    quotas: Quotas,
    draft: impl Fn(usize, usize) -> Draft + Sync,
) -> usize {
    const EACH: usize = 8;
    let start = Barrier::new(2);
    let create_each = |writer: usize| {
        let mut store = subject.store();
        start.wait();
        let made = (0..EACH).filter(|n| try_create(&mut *store, quotas, draft(writer, *n)).is_ok());
        made.count()
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| create_each(1));
        create_each(0) + other.join().unwrap()
    })
}

fn concurrent_writers_share_the_last_places(subject: &impl Subject) {
    let mut store = subject.store();
    fill_names(&mut *store, MAX_SHOP_NAMES - 9);
    let before = usage(&mut *store, 1);
    let new_name = |writer, n| with_names([format!("w{writer}_{n}")]);
    assert_eq!(create_concurrently(subject, NO_QUOTAS, new_name), 9);
    assert_eq!(usage(&mut *store, 1).attribute_names, MAX_SHOP_NAMES);
    let quotas = Quotas { products: Some(before.products + 9 + 7), ..NO_QUOTAS };
    assert_eq!(create_concurrently(subject, quotas, |_, _| draft("Lamp", false)), 7);
    let bytes = usage(&mut *store, 1).bytes;
    let each = counted_bytes(&draft("Lamp", false));
    let quotas = Quotas { bytes: Some(bytes + 5 * each + each / 2), ..NO_QUOTAS };
    assert_eq!(create_concurrently(subject, quotas, |_, _| draft("Lamp", false)), 5);
    assert_eq!(usage(&mut *store, 1), counted(&*subject.readers(), 1));
}

/// Bytes of a draft with a title and a price only, which is stored with empty media.
fn counted_bytes(draft: &Draft) -> u64 {
    (draft.title.as_str().len() + draft.price.text().len() + "[]".len()) as u64
}
