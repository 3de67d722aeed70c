//! Does a copy show what its shop shows, and nothing after it is let go?

use catalog::{
    access::{Caller, Role},
    change::Seq,
    price::Price,
    product::{Description, Draft, Title},
};
use jiff::Timestamp;
use tempfile::TempDir;

use super::{super::super::VectorChange, *};

fn shop(number: u64) -> ShopId {
    ShopId::new(number).unwrap()
}

fn product(shop: ShopId, id: u64, title: &str, hidden: bool) -> Product {
    let draft = Draft {
        title: Title::parse(title).unwrap(),
        description: Description::parse("of wood").unwrap(),
        price: Price::parse("$5").unwrap(),
        hidden,
        media: Vec::new(),
    };
    Product::create(ProductId::new(id).unwrap(), shop, draft, Timestamp::UNIX_EPOCH, Seq(id))
}

fn reader(shop: ShopId, role: Role) -> ReadPass {
    Caller::new(shop, role).may_read()
}

fn filled(folder: &TempDir, products: &[Product]) -> Arc<Nearby> {
    let nearby = Arc::new(Nearby::new(folder.path(), 2).unwrap());
    let mut filling = nearby.fill(shop(1));
    products.iter().for_each(|product| filling.add(RawRow::of(product)));
    filling.finish();
    nearby
}

fn titles(page: Option<Page>) -> Vec<String> {
    page.unwrap().products.iter().map(|product| product.title.as_str().to_owned()).collect()
}

fn upserted(product: Product) -> AppliedChange {
    AppliedChange::Upserted { product, vector: VectorChange::Unchanged }
}

#[test]
fn the_file_has_no_name_and_shows_what_was_put_into_it() {
    let folder = tempfile::tempdir().unwrap();
    let products: Vec<_> =
        (1..=1200).map(|id| product(shop(1), id, &format!("Lamp {id}"), id % 2 == 0)).collect();
    let nearby = filled(&folder, &products);
    assert_eq!(fs_entries(&folder), 0);
    let everything = reader(shop(1), Role::Viewer);
    let ids = [3, 9999, 2, 3].map(|id| ProductId::new(id).unwrap());
    let found = nearby.products(&everything, &ids).unwrap().unwrap();
    assert_eq!(found, [&products[2], &products[1], &products[2]].map(Clone::clone));
    let page = nearby.page(&everything, 2, 1198).unwrap().unwrap();
    assert_eq!((page.products, page.total), (products[1198..].to_vec(), 1200));
    let shopper = reader(shop(1), Role::Shopper);
    assert_eq!(titles(nearby.page(&shopper, 2, 0).unwrap()), ["Lamp 1", "Lamp 3"]);
    let counts = nearby.counts(shop(1)).unwrap().unwrap();
    assert_eq!((counts.products, counts.visible), (1200, 600));
    let says_lamp_2 = |title: &str, _: &str| title != "Lamp 2";
    assert_eq!(nearby.refused(shop(1), &ids, &says_lamp_2).unwrap().unwrap(), [ids[2]]);
}

fn fs_entries(folder: &TempDir) -> usize {
    std::fs::read_dir(folder.path()).unwrap().count()
}

#[test]
fn a_copy_follows_changes_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let nearby = filled(&folder, &[product(shop(1), 1, "Lamp", false)]);
    let changes = [
        upserted(product(shop(1), 2, "Sofa", false)),
        upserted(product(shop(1), 1, "Rug", false)),
        AppliedChange::Deleted { shop: shop(1), id: ProductId::new(2).unwrap(), seq: Seq(9) },
    ];
    nearby.keep_up(shop(1), &changes.iter().collect::<Vec<_>>());
    let pass = reader(shop(1), Role::Viewer);
    assert_eq!(titles(nearby.page(&pass, 10, 0).unwrap()), ["Rug"]);
    // Nobody asked for the other shop.
    nearby.keep_up(shop(2), &[&upserted(product(shop(2), 5, "Bed", false))]);
    assert!(nearby.page(&reader(shop(2), Role::Viewer), 10, 0).unwrap().is_none());
}

#[test]
fn what_is_let_go_is_not_shown_and_swept_out_later() {
    let folder = tempfile::tempdir().unwrap();
    let old: Vec<_> = (1..=1500).map(|id| product(shop(1), id, "Old", false)).collect();
    let nearby = filled(&folder, &old);
    let pass = reader(shop(1), Role::Viewer);
    nearby.let_go(shop(1));
    assert!(nearby.page(&pass, 10, 0).unwrap().is_none() && !nearby.holds_any());
    let new: Vec<_> = (1..=1500).map(|id| product(shop(1), id, "New", false)).collect();
    let mut filling = nearby.fill(shop(1));
    new.iter().for_each(|product| filling.add(RawRow::of(product)));
    filling.finish();
    assert_eq!(titles(nearby.page(&pass, 1, 700).unwrap()), ["New"]);
    let rows = nearby.writer.lock().query_row("SELECT count(*) FROM rows", [], |row| row.get(0));
    assert_eq!(rows, Ok(1500));
    // A copy that was never finished counts for nothing.
    let mut unfinished = nearby.fill(shop(2));
    new.iter().for_each(|product| unfinished.add(RawRow::of(product)));
    drop(unfinished);
    assert!(nearby.counts(shop(2)).unwrap().is_none());
}

#[test]
fn a_copy_that_cannot_follow_is_let_go() {
    let folder = tempfile::tempdir().unwrap();
    let nearby = filled(&folder, &[product(shop(1), 1, "Lamp", false)]);
    nearby.writer.lock().pragma_update(None, "query_only", true).unwrap();
    nearby.keep_up(shop(1), &[&upserted(product(shop(1), 2, "Sofa", false))]);
    assert!(nearby.counts(shop(1)).unwrap().is_none());
    let mut filling = nearby.fill(shop(1));
    filling.add(RawRow::of(&product(shop(1), 1, "Lamp", false)));
    filling.finish();
    assert!(nearby.counts(shop(1)).unwrap().is_none(), "it could not be written");
}
