//! Do all stores keep what the seam promises? The same tests on each, each on a store of its own.

use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    sync::{Arc, Barrier},
    thread,
    time::Duration,
};

use catalog::{
    access::{Caller, ReadPass, Role},
    change::Seq,
    media::{Media, MediaKind},
    price::Price,
    product::{Description, Draft, Patch, Product, ProductId, ShopId, Title},
};
use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;

use super::{
    CatalogReads, CatalogStore, Cleanup, Meaning, News, Position, Postgres, PostgresSettings,
    Remembered, ShopCounts, SqliteReaders, SqliteStore, Stamp, StoreError, TOKEN_LEASE, Touched,
    Trouble, VectorRow, WriteTransaction,
};
use crate::embed::{Encoder, ModelId, Vector};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// A new store and all ways into it.
trait Subject: Sync {
    fn new() -> Self;
    fn store(&self) -> Box<dyn CatalogStore>;
    fn readers(&self) -> Arc<dyn CatalogReads>;
    fn cleanup(&self) -> Box<dyn Cleanup>;

    /// Waits as long as whoever revokes a token does before it is called revoked.
    fn wait_for_revocation(&self) {}
}

struct OnSqlite(TempDir);

impl Subject for OnSqlite {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn store(&self) -> Box<dyn CatalogStore> {
        Box::new(SqliteStore::open(self.0.path()).unwrap())
    }

    fn readers(&self) -> Arc<dyn CatalogReads> {
        self.store();
        Arc::new(SqliteReaders::new(self.0.path().to_owned()))
    }

    fn cleanup(&self) -> Box<dyn Cleanup> {
        SqliteStore::cleanup(self.0.path().to_owned())
    }
}

struct OnPostgres(Postgres);

impl Subject for OnPostgres {
    fn new() -> Self {
        let postgres = Postgres::new(&settings(&testkit::postgres().database())).unwrap();
        postgres.migrate().unwrap();
        Self(postgres)
    }

    fn store(&self) -> Box<dyn CatalogStore> {
        Box::new(self.0.store())
    }

    fn readers(&self) -> Arc<dyn CatalogReads> {
        Arc::new(self.0.readers())
    }

    fn cleanup(&self) -> Box<dyn Cleanup> {
        self.0.cleanup()
    }
}

/// Readers that keep a copy are held to the same promises.
struct OnPostgresSteadily {
    postgres: Postgres,
    scratch: TempDir,
}

impl Subject for OnPostgresSteadily {
    fn new() -> Self {
        Self { postgres: OnPostgres::new().0, scratch: tempfile::tempdir().unwrap() }
    }

    fn store(&self) -> Box<dyn CatalogStore> {
        Box::new(self.postgres.store())
    }

    fn readers(&self) -> Arc<dyn CatalogReads> {
        Arc::new(self.postgres.steady_readers(self.scratch.path()))
    }

    fn cleanup(&self) -> Box<dyn Cleanup> {
        self.postgres.cleanup()
    }

    fn wait_for_revocation(&self) {
        thread::sleep(TOKEN_LEASE);
    }
}

/// How tests reach a database.
pub(crate) fn settings(url: &str) -> PostgresSettings {
    PostgresSettings {
        address: url.parse().unwrap(),
        connections: 4,
        connect_time: Duration::from_secs(5),
        statement_time: Duration::from_secs(20),
        lock_time: Duration::from_secs(10),
        scratch: std::env::temp_dir(),
        search_above: usize::MAX,
    }
}

macro_rules! on_every_store {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $test() {
                super::$test(&<super::OnSqlite as super::Subject>::new());
            })+
        }

        mod postgres {
            $(#[test]
            fn $test() {
                super::$test(&<super::OnPostgres as super::Subject>::new());
            })+
        }

        mod postgres_steadily {
            $(#[test]
            fn $test() {
                super::$test(&<super::OnPostgresSteadily as super::Subject>::new());
            })+
        }
    };
}

on_every_store! {
    a_product_is_kept_as_it_is,
    a_product_belongs_to_its_shop_alone,
    products_come_in_the_order_asked_for,
    pages_follow_each_other_and_count_what_is_in_sight,
    counts_follow_every_kind_of_change,
    a_scan_hands_out_the_shops_own_products_by_id_with_the_last_change,
    every_product_in_sight_is_handed_out_until_the_visitor_has_seen_enough,
    what_changed_since_is_told_as_it_is_now,
    numbers_grow_and_are_never_used_again,
    a_transaction_sees_what_it_did,
    a_transaction_that_is_dropped_never_happened,
    what_is_refused_is_decided_by_the_texts,
    an_answer_is_remembered_for_as_long_as_asked,
    tokens_live_and_are_revoked,
    vectors_belong_to_one_text,
    what_waits_for_a_vector_is_found,
    cleaning_removes_what_is_old_and_nothing_else,
    a_position_that_is_not_in_the_history_is_noticed,
    odd_values_of_rows_cost_nothing_else,
    writers_at_once_lose_nothing,
    of_two_writers_with_one_key_the_second_sees_the_first,
}

fn shop(number: u64) -> ShopId {
    ShopId::new(number).unwrap()
}

fn sees(of: u64, role: Role) -> ReadPass {
    Caller::new(shop(of), role).may_read()
}

fn draft(title: &str, hidden: bool) -> Draft {
    Draft {
        title: Title::parse(title).unwrap(),
        description: Description::default(),
        price: Price::parse("$1").unwrap(),
        hidden,
        media: vec![],
    }
}

/// Does something in a transaction of its own.
fn write<T>(
    store: &mut dyn CatalogStore,
    work: impl FnOnce(&mut WriteTransaction<'_>) -> Result<T, StoreError>,
) -> (T, Vec<Touched>) {
    let mut transaction = store.begin().unwrap();
    let done = work(&mut transaction).unwrap();
    (done, transaction.commit().unwrap().touched)
}

/// Where a shop is now.
fn position(readers: &dyn CatalogReads, of: u64) -> Position {
    readers.positions(&[shop(of)]).unwrap()[0].1
}

/// Removes everything there is to remove, a few rows at a time.
fn clean(cleanup: &mut dyn Cleanup, expired_before: Timestamp, keep_changes: u64) {
    while !cleanup.remove_some(expired_before, keep_changes, 2).unwrap() {}
}

fn create(store: &mut dyn CatalogStore, of: u64, title: &str, hidden: bool) -> Product {
    write(store, |transaction| transaction.create(shop(of), draft(title, hidden), NOW)).0
}

fn ids(products: &[Product]) -> Vec<u64> {
    products.iter().map(|product| product.id.get()).collect()
}

fn a_product_is_kept_as_it_is(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let at = Timestamp::from_microsecond(1_700_000_000_123_456).unwrap();
    let draft = Draft {
        title: Title::parse("Crème \"brûlée\" 'bowl' 绿茶 \\ 🍵").unwrap(),
        description: Description::parse("line\n\ttab {1,2} NULL").unwrap(),
        price: Price::parse("1 299,50 ₽").unwrap(),
        hidden: true,
        media: vec![Media::new("https://a.example/ü?q=\"1\"", MediaKind::Image).unwrap()],
    };
    let made = write(&mut *store, |transaction| transaction.create(shop(3), draft, at)).0;
    let pass = sees(3, Role::Viewer);
    assert_eq!(readers.product(&pass, made.id).unwrap().as_ref(), Some(&made));
    let later = at + SignedDuration::from_micros(1);
    let patch = Patch { hidden: Some(false), ..Patch::default() };
    let after = write(&mut *store, |transaction| transaction.update(made.clone(), patch, later)).0;
    let expected = Product { hidden: false, updated_at: later, version: after.version, ..made };
    assert_eq!(readers.product(&pass, after.id).unwrap(), Some(expected));
    assert!(after.version > made.version);
}

fn a_product_belongs_to_its_shop_alone(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let made = create(&mut *store, 1, "Lamp", false);
    assert_eq!(readers.product(&sees(2, Role::Admin), made.id).unwrap(), None);
    let seen = write(&mut *store, |transaction| transaction.product(shop(2), made.id)).0;
    assert_eq!(seen, None);
    assert!(readers.refused(shop(2), &[made.id], &|_, _| false).unwrap().is_empty());
    assert_eq!(readers.page(&sees(2, Role::Admin), 10, 0).unwrap().total, 0);
}

fn products_come_in_the_order_asked_for(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let made: Vec<_> =
        [false, true, false].map(|hidden| create(&mut *store, 1, "Lamp", hidden).id).into();
    let unknown = ProductId::new(999_999).unwrap();
    let asked = [made[2], unknown, made[1], made[0]];
    let found = |role| ids(&readers.products(&sees(1, role), &asked).unwrap());
    assert_eq!(found(Role::Viewer), [made[2].get(), made[1].get(), made[0].get()]);
    assert_eq!(found(Role::Shopper), [made[2].get(), made[0].get()]);
    assert!(readers.products(&sees(1, Role::Viewer), &[]).unwrap().is_empty());
}

fn pages_follow_each_other_and_count_what_is_in_sight(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let hidden = [false, true, false, false, true];
    let made: Vec<_> =
        hidden.iter().map(|hidden| create(&mut *store, 1, "Lamp", *hidden).id.get()).collect();
    create(&mut *store, 2, "Rug", false);
    let page = |role, limit, offset| {
        let page = readers.page(&sees(1, role), limit, offset).unwrap();
        (ids(&page.products), page.total)
    };
    assert_eq!(page(Role::Viewer, 2, 0), (made[..2].to_vec(), 5));
    assert_eq!(page(Role::Viewer, 2, 4), (made[4..].to_vec(), 5));
    assert_eq!(page(Role::Viewer, 2, 5), (vec![], 5));
    assert_eq!(page(Role::Shopper, 2, 1), (made[2..4].to_vec(), 3));
    assert_eq!(page(Role::Shopper, 2, usize::MAX), (vec![], 3));
}

fn counts_follow_every_kind_of_change(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let counts = |of| {
        let ShopCounts { products, visible, .. } = readers.counts(shop(of)).unwrap();
        assert_eq!(readers.page(&sees(of, Role::Viewer), 10, 0).unwrap().total, products);
        assert_eq!(readers.page(&sees(of, Role::Shopper), 10, 0).unwrap().total, visible);
        (products, visible)
    };
    assert_eq!(counts(1), (0, 0));
    let seen = create(&mut *store, 1, "Lamp", false);
    let unseen = create(&mut *store, 1, "Lamp", true);
    create(&mut *store, 2, "Lamp", false);
    assert_eq!((counts(1), counts(2)), ((2, 1), (1, 1)));
    let hide = |hidden| Patch { hidden: Some(hidden), ..Patch::default() };
    let (seen, unseen) = write(&mut *store, |transaction| {
        Ok((
            transaction.update(seen, hide(true), NOW)?,
            transaction.update(unseen, hide(true), NOW)?,
        ))
    })
    .0;
    assert_eq!(counts(1), (2, 0));
    write(&mut *store, |transaction| {
        transaction.delete(&seen)?;
        transaction.update(unseen, hide(false), NOW)
    });
    assert_eq!((counts(1), counts(2)), ((1, 1), (1, 1)));
    create(&mut *store, 2, "Lamp", false);
    let sizes: Vec<_> =
        readers.shops().unwrap().iter().map(|of| (of.shop.get(), of.products)).collect();
    assert_eq!(sizes, [(2, 2), (1, 1)]);
}

fn a_scan_hands_out_the_shops_own_products_by_id_with_the_last_change(subject: &impl Subject) {
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

fn every_product_in_sight_is_handed_out_until_the_visitor_has_seen_enough(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let made = [(1, false), (2, false), (1, true), (1, false)]
        .map(|(of, hidden)| create(&mut *store, of, "Lamp", hidden));
    let seen = |role, at_most: usize| {
        let mut seen = Vec::new();
        readers
            .every_product(&sees(1, role), &mut |product| {
                seen.push(product);
                match seen.len() < at_most {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })
            .unwrap();
        seen
    };
    let [first, _, hidden, last] = made;
    assert_eq!(seen(Role::Viewer, 9), [first.clone(), hidden.clone(), last.clone()]);
    assert_eq!(seen(Role::Viewer, 2), [first.clone(), hidden]);
    assert_eq!(seen(Role::Shopper, 9), [first, last]);
    // The connection of a visitor who left early is not used again half read.
    assert_eq!(readers.counts(shop(1)).unwrap().products, 3);
}

fn what_changed_since_is_told_as_it_is_now(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let (made, at): (Vec<_>, Vec<_>) = ["a", "b", "c"]
        .map(|title| (create(&mut *store, 1, title, false), position(&*readers, 1)))
        .into_iter()
        .unzip();
    let elsewhere = create(&mut *store, 2, "d", false);
    let model = ModelId::new("m");
    let since = |position| {
        let found = readers.changes_since(shop(1), Some(&model), position).unwrap();
        let News::Since(touched, upto) = found else { panic!("{found:?}") };
        let shown = touched.into_iter().map(|touched| match touched {
            Touched::Upserted { product, meaning } => match meaning {
                Meaning::Known(vector) => (product.id, Some((product, Some(vector)))),
                _ => (product.id, Some((product, None))),
            },
            Touched::Deleted { id, .. } => (id, None),
            other => panic!("{other:?}"),
        });
        (shown.collect::<Vec<_>>(), upto)
    };
    let last = position(&*readers, 1);
    assert_eq!(last.seq, readers.last_change(shop(1)).unwrap());
    let all: Vec<_> =
        made.iter().map(|product| (product.id, Some((product.clone(), None)))).collect();
    assert_eq!(since(Position::default()), (all.clone(), last));
    assert_eq!(since(at[1]), (all[2..].to_vec(), last));
    assert_eq!(since(last), (vec![], last));
    // However often a product changed, it is told once, as it is, after those that changed before.
    let hide = Patch { hidden: Some(true), ..Patch::default() };
    let hidden = write(&mut *store, |transaction| {
        let hidden = transaction.update(made[0].clone(), hide.clone(), NOW)?;
        transaction.delete(&made[1])?;
        transaction.update(hidden, hide.clone(), NOW)
    })
    .0;
    let row = vector_of(&made[2], "m", 1);
    assert!(put(&mut *store, &row));
    let last = position(&*readers, 1);
    let with_vector = Some((made[2].clone(), Some(row.vector)));
    let expected =
        vec![(made[1].id, None), (hidden.id, Some((hidden, None))), (made[2].id, with_vector)];
    assert_eq!(since(at[2]), (expected, last));
    assert!(position(&*readers, 2).seq >= elsewhere.version);
    // What was removed cannot be told.
    clean(&mut *subject.cleanup(), NOW, 1);
    let too_old = readers.changes_since(shop(1), None, Position::default()).unwrap();
    assert!(matches!(too_old, News::TooOld), "{too_old:?}");
    assert_eq!(since(last), (vec![], last));
}

fn numbers_grow_and_are_never_used_again(subject: &impl Subject) {
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
    // More than any store sets aside at once.
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

fn a_transaction_sees_what_it_did(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let kept = create(&mut *store, 1, "Rug", false);
    let renamed = Patch { title: Some(Title::parse("Sofa").unwrap()), ..Patch::default() };
    let (made, touched) = write(&mut *store, |transaction| {
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
    let shown: Vec<_> = touched.iter().map(|change| (change.shop(), change.seq())).collect();
    assert_eq!(shown.len(), 3);
    assert!(shown.is_sorted_by(|a, b| a.1 < b.1));
    assert_eq!(readers.last_change(shop(1)).unwrap(), shown[2].1);
    // Made and gone again in one transaction.
    write(&mut *store, |transaction| {
        let made = transaction.create(shop(1), draft("Lamp", false), NOW)?;
        transaction.delete(&made)
    });
    assert_eq!(readers.page(&pass, 10, 0).unwrap().products, [made]);
}

fn a_transaction_that_is_dropped_never_happened(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let kept = create(&mut *store, 1, "Rug", false);
    let before = readers.last_change(shop(1)).unwrap();
    let mut transaction = store.begin().unwrap();
    transaction.create(shop(1), draft("Lamp", false), NOW).unwrap();
    transaction.delete(&kept).unwrap();
    transaction.insert_token(shop(1), Role::Admin, "", &[1], NOW, None).unwrap();
    drop(transaction);
    assert_eq!(readers.counts(shop(1)).unwrap().products, 1);
    assert_eq!(readers.last_change(shop(1)).unwrap(), before);
    assert!(readers.tokens(None).unwrap().is_empty());
    create(&mut *store, 1, "Lamp", false);
    assert_eq!(readers.counts(shop(1)).unwrap().products, 2);
}

fn what_is_refused_is_decided_by_the_texts(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let made: Vec<_> =
        ["Lamp", "Rug", "Sofa"].map(|title| create(&mut *store, 1, title, false).id).into();
    let mut refused = readers.refused(shop(1), &made, &|title, _| title != "Rug").unwrap();
    assert_eq!(refused.pop(), Some(made[1]));
    assert!(refused.is_empty());
}

fn an_answer_is_remembered_for_as_long_as_asked(subject: &impl Subject) {
    let mut store = subject.store();
    let at = |second| Timestamp::from_second(second).unwrap();
    let first = Remembered { fingerprint: vec![1, 0, 255], answer: b"made \0 7".to_vec() };
    write(&mut *store, |transaction| transaction.remember(shop(1), "key", &first, at(10)));
    let mut recall = |of, key: &str, since| {
        let found = write(&mut *store, |transaction| transaction.recall(shop(of), key, at(since)));
        found.0.map(|found| (found.fingerprint, found.answer))
    };
    assert_eq!(recall(1, "key", 10), Some((first.fingerprint.clone(), first.answer.clone())));
    assert_eq!(recall(1, "key", 11), None);
    assert_eq!(recall(2, "key", 10), None);
    assert_eq!(recall(1, "other", 10), None);
    let second = Remembered { fingerprint: vec![2], answer: vec![] };
    write(&mut *subject.store(), |transaction| {
        transaction.remember(shop(1), "key", &second, at(20))
    });
    assert_eq!(recall(1, "key", 20), Some((vec![2], vec![])));
}

fn tokens_live_and_are_revoked(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let at = |second| Timestamp::from_second(second).unwrap();
    let mut issue = |of, role, expires_at| {
        write(&mut *store, |transaction| {
            transaction.insert_token(shop(of), role, "über", &[9; 32], at(1), expires_at)
        })
        .0
    };
    let first = issue(1, Role::Editor, Some(at(100)));
    let second = issue(2, Role::Admin, None);
    assert!(second > first);
    let row = readers.token(first).unwrap().unwrap();
    assert_eq!((row.id, row.shop, row.role), (first, shop(1), Role::Editor));
    assert_eq!((row.name.as_str(), row.secret_hash.as_slice()), ("über", &[9; 32][..]));
    assert_eq!((row.created_at, row.expires_at), (at(1), Some(at(100))));
    assert_eq!(row.revoked_at, None);
    assert!(readers.token(u64::MAX).unwrap().is_none());
    assert!(readers.token(second + 1000).unwrap().is_none());
    let listed = |of: Option<u64>| -> Vec<u64> {
        readers.tokens(of.map(shop)).unwrap().iter().map(|row| row.id).collect()
    };
    assert_eq!((listed(None), listed(Some(2))), (vec![first, second], vec![second]));
    let mut revoke =
        |of, id| write(&mut *store, |transaction| transaction.revoke_token(shop(of), id, at(5))).0;
    assert!(!revoke(2, first));
    assert!(revoke(1, first));
    assert!(!revoke(1, first));
    assert!(!revoke(1, u64::MAX));
    subject.wait_for_revocation();
    assert_eq!(readers.token(first).unwrap().unwrap().revoked_at, Some(at(5)));
}

/// A vector of a product as it is now, pointing somewhere that depends on the seed.
fn vector_of(product: &Product, model: &str, seed: u64) -> VectorRow {
    let mut random = fastrand::Rng::with_seed(seed);
    let numbers = (0..64).map(|_| random.f32() - 0.5).collect();
    VectorRow {
        shop: product.shop,
        product: product.id,
        version: product.version,
        model: ModelId::new(model),
        encoder: Encoder::Deep,
        vector: Vector::towards(numbers).unwrap().stored(),
    }
}

fn put(store: &mut dyn CatalogStore, row: &VectorRow) -> bool {
    write(store, |transaction| transaction.put_vector(row)).0
}

fn vectors(readers: &dyn CatalogReads, of: u64) -> Vec<VectorRow> {
    let mut found = Vec::new();
    readers.scan_vectors(shop(of), &mut |row| found.push(row)).unwrap();
    found
}

fn vectors_belong_to_one_text(subject: &impl Subject) {
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
    // Exactly as it was put, to the last bit: all stores rank alike.
    assert_eq!(vectors(&*readers, 1), rows[..2]);
    assert_eq!(vectors(&*readers, 2), rows[2..]);
    let scanned = |model: Option<&str>| {
        let mut found = Vec::new();
        let model = model.map(ModelId::new);
        readers.scan(shop(1), model.as_ref(), &mut |row| found.push(row.vector.clone())).unwrap();
        found
    };
    assert_eq!(scanned(Some("m")), [&rows[0], &rows[1]].map(|row| Some(row.vector.clone())));
    assert_eq!(scanned(Some("other")), [None, None]);
    assert_eq!(scanned(None), [None, None]);
    // Another price is the same text; another title is not.
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
    // With the product its vector goes.
    write(&mut *store, |transaction| transaction.delete(&lamp));
    assert_eq!(vectors(&*readers, 1), rows[1..2]);
    assert!(!put(&mut *store, &vector_of(&lamp, "m", 9)));
    // In one transaction with the product.
    let (made, row) = write(&mut *store, |transaction| {
        let made = transaction.create(shop(2), draft("Bed", false), NOW)?;
        let row = vector_of(&made, "m", 11);
        assert!(transaction.put_vector(&row)?);
        Ok((made, row))
    })
    .0;
    assert_eq!(vectors(&*readers, 2), [rows[2].clone(), row]);
    // The zero vector is a vector.
    let nowhere = Vector::towards(vec![0.0; 64]).unwrap().stored();
    let row = VectorRow { vector: nowhere, ..vector_of(&made, "m", 0) };
    assert!(put(&mut *store, &row));
    assert_eq!(vectors(&*readers, 2)[1], row);
}

fn what_waits_for_a_vector_is_found(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let made: Vec<_> = ["a", "b", "c"].map(|title| create(&mut *store, 1, title, false)).into();
    let waiting = |model: &str, limit| -> Vec<u64> {
        let found = readers.unembedded(model, Encoder::Deep, limit).unwrap();
        found.iter().for_each(|row| assert_eq!(row.shop, shop(1)));
        found.iter().map(|row| row.id.get()).collect()
    };
    let count = |model| readers.unembedded_count(model, Encoder::Deep).unwrap();
    let newest_first: Vec<u64> = made.iter().rev().map(|product| product.id.get()).collect();
    assert_eq!(waiting("m", 10), newest_first);
    assert_eq!(waiting("m", 2), newest_first[..2]);
    let text = &readers.unembedded("m", Encoder::Deep, 1).unwrap()[0];
    assert_eq!((text.title.as_str(), text.version), ("c", made[2].version));
    for product in &made[1..] {
        assert!(put(&mut *store, &vector_of(product, "m", 1)));
    }
    assert_eq!((waiting("m", 10), count("m")), (vec![made[0].id.get()], 1));
    // Of another model, or made in a hurry: still to do, after what has none.
    assert!(put(&mut *store, &vector_of(&made[1], "old", 1)));
    let hurried = VectorRow { encoder: Encoder::Instant, ..vector_of(&made[2], "m", 1) };
    assert!(put(&mut *store, &hurried));
    assert_eq!(count("m"), 3);
    let mut all = waiting("m", 10);
    all.sort_unstable();
    assert_eq!(all, ids(&made));
    assert_eq!((waiting("m", 3).len(), count("other")), (3, 3));
    // Whoever asks for those made in a hurry has enough of better ones.
    let hasty = readers.unembedded("m", Encoder::Instant, 10).unwrap();
    let hasty: BTreeSet<_> = hasty.iter().map(|row| row.id).collect();
    assert_eq!(hasty, BTreeSet::from([made[0].id, made[1].id]));
}

fn cleaning_removes_what_is_old_and_nothing_else(subject: &impl Subject) {
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

/// Writers on ways of their own, as processes and nodes are. Whoever comes too late tries again.
fn writers_at_once_lose_nothing(subject: &impl Subject) {
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
                        let again = [Trouble::Contended, Trouble::Busy];
                        assert!(again.contains(&error.trouble()), "{error:?}");
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

/// Reads a number, writes the next, and makes a product beside it.
fn count_up(store: &mut dyn CatalogStore, id: ProductId) -> Result<(), StoreError> {
    let mut transaction = store.begin()?;
    let before = transaction.product(shop(1), id)?.unwrap();
    let next = before.title.as_str().parse::<usize>().unwrap() + 1;
    let title = Some(Title::parse(&next.to_string()).unwrap());
    transaction.update(before, Patch { title, ..Patch::default() }, NOW)?;
    transaction.create(shop(1), draft("counted", false), NOW)?;
    transaction.commit().map(drop)
}

fn of_two_writers_with_one_key_the_second_sees_the_first(subject: &impl Subject) {
    const WRITERS: usize = 4;
    let start = Barrier::new(WRITERS);
    let once = || -> Result<bool, StoreError> {
        let mut store = subject.store();
        let mut transaction = store.begin()?;
        let is_first = transaction.recall(shop(1), "key", NOW)?.is_none();
        if is_first {
            transaction.create(shop(1), draft("Lamp", false), NOW)?;
            let answer = Remembered { fingerprint: vec![], answer: vec![] };
            transaction.remember(shop(1), "key", &answer, NOW)?;
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

/// A change that is ahead of the store was lost. In stores that many write to, so was one that
/// another transaction made.
fn a_position_that_is_not_in_the_history_is_noticed(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    create(&mut *store, 1, "Lamp", false);
    let here = position(&*readers, 1);
    let since = |position| readers.changes_since(shop(1), None, position).unwrap();
    assert!(matches!(since(here), News::Since(touched, at) if touched.is_empty() && at == here));
    let ahead = Position { seq: Seq(here.seq.0 + 1), ..here };
    assert!(matches!(since(ahead), News::Diverged(at) if at == here));
    let elsewhere = Position { stamp: Stamp(Some(-1)), ..here };
    assert_eq!(matches!(since(elsewhere), News::Diverged(_)), readers.is_shared());
    let mut transaction = store.begin().unwrap();
    transaction.create(shop(1), draft("Rug", false), NOW).unwrap();
    let steps = transaction.commit().unwrap().steps;
    let after = position(&*readers, 1);
    match readers.is_shared() {
        true => assert_eq!((steps[0].before, steps[0].after), (here, after)),
        false => assert!(steps.is_empty()),
    }
    assert!(matches!(since(here), News::Since(touched, at) if touched.len() == 1 && at == after));
}

/// Values that no version accepts as input, written as an operator would write them.
fn odd_values_of_rows_cost_nothing_else(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let [sound, odd] = ["Lamp", "Rug"].map(|title| create(&mut *store, 1, title, false));
    let price = Price::from_stored("9 ZZZ".to_owned());
    let title = Title::from_stored(" ".to_owned());
    let media = vec![Media::from_stored("nowhere".to_owned(), "hologram")];
    let patch = Patch {
        title: Some(title),
        price: Some(price),
        media: Some(media),
        hidden: None,
        description: None,
    };
    let odd = write(&mut *store, |transaction| transaction.update(odd, patch, NOW)).0;
    let pass = sees(1, Role::Viewer);
    assert_eq!(readers.product(&pass, odd.id).unwrap().as_ref(), Some(&odd));
    assert_eq!(readers.page(&pass, 10, 0).unwrap().products, [sound.clone(), odd.clone()]);
    let mut scanned = Vec::new();
    readers.scan(shop(1), None, &mut |row| scanned.push((row.id, row.price.is_some()))).unwrap();
    assert_eq!(scanned, [(sound.id, true), (odd.id, false)]);
    let since = readers.changes_since(shop(1), None, Position::default()).unwrap();
    assert!(matches!(since, News::Since(touched, _) if touched.len() == 2));
    let waiting = readers.unembedded("m", Encoder::Deep, 10).unwrap();
    assert_eq!(waiting.len(), 2);
    let mended = write(&mut *store, |transaction| {
        let found = transaction.product(shop(1), odd.id)?.unwrap();
        let price = Some(Price::parse("$5").unwrap());
        transaction.update(found, Patch { price, ..Patch::default() }, NOW)
    })
    .0;
    assert!(mended.price.money().is_some() && mended.media == odd.media);
    write(&mut *store, |transaction| transaction.delete(&mended));
    assert_eq!(readers.counts(shop(1)).unwrap().products, 1);
}
