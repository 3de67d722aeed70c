//! A copy shows the rows of its shop, and nothing after it was dropped.

use catalog::product::{
    Description, Draft, Title,
    access::{Caller, Role},
    attributes::{AttributeName, AttributeValue, Attributes},
    change::Seq,
    http_url::ProductUrl,
    price::Price,
};
use jiff::Timestamp;
use store::VectorChange;
use tempfile::TempDir;

use super::*;

fn shop(number: u64) -> ShopId {
    ShopId::new(number).unwrap()
}

fn product(shop: ShopId, id: u64, title: &str, hidden: bool) -> Product {
    let draft = Draft {
        description: Description::parse("of wood").unwrap(),
        hidden,
        ..Draft::new(Title::parse(title).unwrap(), Price::parse("$5").unwrap())
    };
    let inferred = embed::inference::infer(title, "of wood", &draft.attributes);
    let id = ProductId::new(id).unwrap();
    Product::create(id, shop, draft, inferred, Timestamp::UNIX_EPOCH, Seq(id.get()))
}

fn reader(shop: ShopId, role: Role) -> ReadPass {
    Caller::new(shop, role).may_read()
}

fn filled(folder: &TempDir, products: &[Product]) -> Arc<LocalReplica> {
    let replica = LocalReplica::create(folder.path(), 2).unwrap();
    let mut builder = replica.start_copy(shop(1));
    products.iter().for_each(|product| builder.add(ReplicaRow::from(product)));
    builder.publish();
    replica
}

fn titles(page: Option<Page>) -> Vec<String> {
    page.unwrap().products.iter().map(|product| product.title.as_str().to_owned()).collect()
}

fn upserted(product: Product) -> AppliedChange {
    AppliedChange::Upserted { product, vectors: VectorChange::Unchanged }
}

#[test]
fn the_file_is_unlinked_and_returns_the_copied_rows() {
    let folder = tempfile::tempdir().unwrap();
    let products: Vec<_> =
        (1..=1200).map(|id| product(shop(1), id, &format!("Lamp {id}"), id % 2 == 0)).collect();
    let replica = filled(&folder, &products);
    assert_eq!(fs_entries(&folder), 0);
    let everything = reader(shop(1), Role::Viewer);
    let ids = [3, 9999, 2, 3].map(|id| ProductId::new(id).unwrap());
    let found = replica.products(&everything, &ids).unwrap().unwrap();
    assert_eq!(found, [&products[2], &products[1], &products[2]].map(Clone::clone));
    let page = replica.page(&everything, 2, 1198).unwrap().unwrap();
    assert_eq!((page.products, page.total), (products[1198..].to_vec(), 1200));
    let shopper = reader(shop(1), Role::Shopper);
    assert_eq!(titles(replica.page(&shopper, 2, 0).unwrap()), ["Lamp 1", "Lamp 3"]);
    let counts = replica.counts(shop(1)).unwrap().unwrap();
    assert_eq!((counts.products, counts.visible), (1200, 600));
    let says_lamp_2 = |title: &str, _: &str, _: &str| title != "Lamp 2";
    assert_eq!(replica.rejected_by_text(shop(1), &ids, &says_lamp_2).unwrap().unwrap(), [ids[2]]);
}

#[test]
fn merchant_data_is_copied_and_found_by_key() {
    let folder = tempfile::tempdir().unwrap();
    let key = |text: &str| Key::parse(text).unwrap();
    let color = AttributeValue::Texts(["red".into(), "blue".into()].into());
    let color = (AttributeName::parse("color").unwrap(), color);
    let with_data = |id: u64, text: &str| Product {
        key: Some(key(text)),
        url: Some(ProductUrl::parse("https://a.example/").unwrap()),
        attributes: Attributes::new(vec![color.clone()]),
        ..product(shop(1), id, "Lamp", id == 2)
    };
    let products = [with_data(1, "a"), with_data(2, "b")];
    let replica = filled(&folder, &products);
    let found = |role, texts: &[&str]| {
        let keys: Vec<_> = texts.iter().map(|text| key(text)).collect();
        replica.products_by_key(&reader(shop(1), role), &keys).unwrap().unwrap()
    };
    let (one, two) = (products[0].clone(), products[1].clone());
    assert_eq!(found(Role::Viewer, &["b", "x", "a", "b"]), [two.clone(), one.clone(), two]);
    assert_eq!(found(Role::Shopper, &["b", "a"]), [one]);
    let other = with_data(1, "c");
    replica.apply(shop(1), &[upserted(other.clone())]);
    assert_eq!(found(Role::Viewer, &["a", "c"]), [other]);
    let id = ProductId::new(1).unwrap();
    let says_blue = |_: &str, _: &str, attributes: &str| attributes != "red\nblue";
    assert_eq!(replica.rejected_by_text(shop(1), &[id], &says_blue).unwrap().unwrap(), [id]);
}

fn fs_entries(folder: &TempDir) -> usize {
    std::fs::read_dir(folder.path()).unwrap().count()
}

#[test]
fn changes_are_applied_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let replica = filled(&folder, &[product(shop(1), 1, "Lamp", false)]);
    let changes = [
        upserted(product(shop(1), 2, "Sofa", false)),
        upserted(product(shop(1), 1, "Rug", false)),
        AppliedChange::Deleted { shop: shop(1), id: ProductId::new(2).unwrap(), seq: Seq(9) },
    ];
    replica.apply(shop(1), &changes);
    let pass = reader(shop(1), Role::Viewer);
    assert_eq!(titles(replica.page(&pass, 10, 0).unwrap()), ["Rug"]);
    // There is no copy of the other shop.
    replica.apply(shop(2), &[upserted(product(shop(2), 5, "Bed", false))]);
    assert!(replica.page(&reader(shop(2), Role::Viewer), 10, 0).unwrap().is_none());
}

#[test]
fn a_dropped_copy_is_not_read_and_purged_later() {
    let folder = tempfile::tempdir().unwrap();
    let old: Vec<_> = (1..=1500).map(|id| product(shop(1), id, "Old", false)).collect();
    let replica = filled(&folder, &old);
    let pass = reader(shop(1), Role::Viewer);
    replica.drop_copy(shop(1));
    assert!(replica.page(&pass, 10, 0).unwrap().is_none() && replica.is_empty());
    let new: Vec<_> = (1..=1500).map(|id| product(shop(1), id, "New", false)).collect();
    let mut builder = replica.start_copy(shop(1));
    new.iter().for_each(|product| builder.add(ReplicaRow::from(product)));
    builder.publish();
    assert_eq!(titles(replica.page(&pass, 1, 700).unwrap()), ["New"]);
    let rows = replica.writer.lock().query_row("SELECT count(*) FROM rows", [], |row| row.get(0));
    assert_eq!(rows, Ok(1500));
    // A copy that was never published is not read.
    let mut unfinished = replica.start_copy(shop(2));
    new.iter().for_each(|product| unfinished.add(ReplicaRow::from(product)));
    drop(unfinished);
    assert!(replica.counts(shop(2)).unwrap().is_none());
}

#[test]
fn a_copy_that_cannot_be_updated_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let replica = filled(&folder, &[product(shop(1), 1, "Lamp", false)]);
    replica.writer.lock().pragma_update(None, "query_only", true).unwrap();
    replica.apply(shop(1), &[upserted(product(shop(1), 2, "Sofa", false))]);
    assert!(replica.counts(shop(1)).unwrap().is_none());
    let mut builder = replica.start_copy(shop(1));
    builder.add(ReplicaRow::from(&product(shop(1), 1, "Lamp", false)));
    builder.publish();
    assert!(replica.counts(shop(1)).unwrap().is_none(), "it could not be written");
}
