//! Lists: the catalog page by page, and products by their ids.

use serde_json::json;
use testkit::{NO_IDS, PRODUCTS, Role, Shop, editor, product, product_named};

use crate::snapshot::snapshot;

fn numbered(count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(|n| format!("Sofa {n}"))
}

fn joined(ids: &[u64]) -> String {
    ids.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

#[test]
fn the_catalog_is_listed_by_ascending_id() {
    let (_shop, editor) = editor();
    let ids = editor.create_all(numbered(3));
    editor.put(&product(ids[0]), json!({"hidden": true})).expect(200);
    let answer = editor.get(PRODUCTS).expect(200);
    snapshot("list", &answer);
    assert_eq!(answer.ids(), ids);
    assert!(ids.is_sorted());
}

#[test]
fn an_empty_catalog_is_an_empty_list() {
    let (_shop, editor) = editor();
    let answer = editor.get(PRODUCTS).expect(200);
    assert_eq!(answer.body, json!([]));
    assert_eq!(answer.total_count(), 0);
}

#[test]
fn all_pages_together_hold_each_product_once() {
    let (_shop, editor) = editor();
    let ids = editor.create_all(numbered(123));
    for limit in [1, 7, 50, 100] {
        let mut seen = Vec::new();
        loop {
            let page = editor.get(&format!("{PRODUCTS}?limit={limit}&offset={}", seen.len()));
            assert_eq!(page.total_count(), 123);
            let page = page.expect(200).ids();
            if page.is_empty() {
                break;
            }
            seen.extend(page);
        }
        assert_eq!(seen, ids, "limit {limit}");
    }
}

#[test]
fn a_page_has_fifty_products_by_default() {
    let (_shop, editor) = editor();
    let ids = editor.create_all(numbered(60));
    let page = editor.get(PRODUCTS).expect(200);
    assert_eq!((page.ids(), page.total_count()), (ids[..50].to_vec(), 60));
    assert_eq!(editor.get(&format!("{PRODUCTS}?offset=50")).ids(), ids[50..]);
}

#[test]
fn a_page_past_the_end_is_empty_and_has_the_total() {
    let (_shop, editor) = editor();
    editor.create_all(numbered(2));
    for offset in ["2", "1000000", "9223372036854775807"] {
        let page = editor.get(&format!("{PRODUCTS}?offset={offset}")).expect(200);
        assert_eq!((page.ids(), page.total_count()), (vec![], 2), "{offset}");
    }
}

#[test]
fn ids_are_listed_as_asked_each_once_without_unknown_ones() {
    let (_shop, editor) = editor();
    let ids = editor.create_all(numbered(4));
    let asked = [ids[3], 999_999_999, ids[0], ids[3], ids[2], ids[0]];
    let answer = editor.get(&format!("{PRODUCTS}?ids={}", joined(&asked))).expect(200);
    assert_eq!(answer.ids(), [ids[3], ids[0], ids[2]]);
    assert_eq!(answer.total_count(), 3);
    let spaced = format!("{PRODUCTS}?ids={},%20{},0,99999999999999999999", ids[1], ids[0]);
    assert_eq!(editor.get(&spaced).expect(200).ids(), [ids[1], ids[0]]);
}

#[test]
fn no_ids_are_no_products_rather_than_all() {
    let (_shop, editor) = editor();
    editor.create(product_named("Sofa"));
    assert_eq!(editor.get(&format!("{PRODUCTS}?ids=")).expect(200).body, json!([]));
}

#[test]
fn limit_and_offset_cut_the_list_of_ids() {
    let (_shop, editor) = editor();
    let mut ids = editor.create_all(numbered(6));
    ids.reverse();
    let cut = |parameters: &str| {
        let answer = editor.get(&format!("{PRODUCTS}?ids={}&{parameters}", joined(&ids)));
        assert_eq!(answer.total_count(), 6, "{parameters}");
        answer.expect(200).ids()
    };
    assert_eq!(cut("limit=2"), ids[..2]);
    assert_eq!(cut("offset=4"), ids[4..]);
    assert_eq!(cut("limit=2&offset=3"), ids[3..5]);
    assert_eq!(cut("offset=6"), NO_IDS);
}

#[test]
fn a_hundred_ids_are_listed_whole_and_one_more_is_refused() {
    let (_shop, editor) = editor();
    let ids = editor.create_all(numbered(101));
    let hundred = editor.get(&format!("{PRODUCTS}?ids={}", joined(&ids[..100]))).expect(200);
    assert_eq!(hundred.ids(), ids[..100]);
    editor.get(&format!("{PRODUCTS}?ids={}", joined(&ids))).faults(&["ids too_many"]);
}

#[test]
fn parameters_are_refused_rather_than_guessed() {
    let (_shop, editor) = editor();
    for (parameters, faults) in [
        ("limit=0", &["limit out_of_range"][..]),
        ("limit=101", &["limit out_of_range"]),
        ("limit=-1", &["limit out_of_range"]),
        ("limit=99999999999999999999", &["limit out_of_range"]),
        ("limit=ten", &["limit wrong_type"]),
        ("limit=1.5", &["limit wrong_type"]),
        ("limit=", &["limit wrong_type"]),
        ("offset=-1", &["offset out_of_range"]),
        ("offset=9223372036854775808", &["offset out_of_range"]),
        ("offset=x", &["offset wrong_type"]),
        ("ids=1,x", &["ids wrong_type"]),
        ("ids=1,,2", &["ids wrong_type"]),
        ("ids=1&limit=0", &["limit out_of_range"]),
        ("limit=5&limit=6", &["limit repeated"]),
        ("page=2", &["page unknown_parameter"]),
        (
            "limit=0&offset=x&order=price",
            &["limit out_of_range", "offset wrong_type", "order unknown_parameter"],
        ),
    ] {
        editor.get(&format!("{PRODUCTS}?{parameters}")).faults(faults);
    }
    for parameters in ["limit=1", "limit=100", "offset=0"] {
        editor.get(&format!("{PRODUCTS}?{parameters}")).expect(200);
    }
}

#[test]
fn a_shopper_sees_visible_products_alone() {
    let shop = Shop::open();
    let (editor, shopper) = (shop.as_role(Role::Editor), shop.as_role(Role::Shopper));
    let ids = editor.create_all(numbered(5));
    for hidden in [ids[1], ids[4]] {
        editor.put(&product(hidden), json!({"hidden": true})).expect(200);
    }
    let visible = [ids[0], ids[2], ids[3]];
    let all = shopper.get(PRODUCTS).expect(200);
    assert_eq!((all.ids(), all.total_count()), (visible.to_vec(), 3));
    let second = shopper.get(&format!("{PRODUCTS}?limit=1&offset=1")).expect(200);
    assert_eq!((second.ids(), second.total_count()), (vec![ids[2]], 3));
    let asked = shopper.get(&format!("{PRODUCTS}?ids={}", joined(&ids))).expect(200);
    assert_eq!((asked.ids(), asked.total_count()), (visible.to_vec(), 3));
    shopper.get(&product(ids[1])).refused(404, "not_found");

    let viewer = shop.as_role(Role::Viewer);
    assert_eq!(viewer.get(PRODUCTS).expect(200).ids(), ids);
    assert_eq!(viewer.get(&format!("{PRODUCTS}?ids={}", ids[1])).expect(200).ids(), [ids[1]]);
    viewer.get(&product(ids[1])).expect(200);
}

#[test]
fn the_total_follows_every_write() {
    let shop = Shop::open();
    let (editor, shopper) = (shop.as_role(Role::Editor), shop.as_role(Role::Shopper));
    let totals = || (editor.get(PRODUCTS).total_count(), shopper.get(PRODUCTS).total_count());
    let ids = editor.create_all(numbered(3));
    assert_eq!(totals(), (3, 3));
    editor.put(&product(ids[0]), json!({"hidden": true})).expect(200);
    editor.put(&product(ids[0]), json!({"hidden": true})).expect(200);
    assert_eq!(totals(), (3, 2));
    editor.delete(&product(ids[0])).expect(204);
    assert_eq!(totals(), (2, 2));
    editor.bulk_delete(json!({"product_ids": ids})).expect(200);
    assert_eq!(totals(), (0, 0));
}
