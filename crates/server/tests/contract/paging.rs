//! Whatever page or ids are asked for, the answer is what a slice of the whole would be.

use std::sync::LazyLock;

use proptest::{collection::vec, prelude::*};
use serde_json::json;
use testkit::{Client, PRODUCTS, Role, SEARCH, Shop, TestServer, product};

const PRODUCT_COUNT: usize = 60;
const CASES: u32 = 48;

/// A shop with products, every third of them hidden, and what a role sees of it.
struct Catalog {
    _shop: Shop,
    editor: Client,
    shopper: Client,
    all: Vec<u64>,
    visible: Vec<u64>,
}

impl Catalog {
    fn new() -> Self {
        let shop = TestServer::start(&[]).shop();
        let (editor, shopper) = (shop.as_role(Role::Editor), shop.as_role(Role::Shopper));
        let all = editor.create_all((0..PRODUCT_COUNT).map(|n| format!("Lamp {}", n % 7)));
        let (hidden, visible): (Vec<u64>, Vec<u64>) = all.iter().partition(|id| *id % 3 == 0);
        for id in hidden {
            editor.put(&product(id), json!({"hidden": true})).expect(200);
        }
        Self { _shop: shop, editor, shopper, all, visible }
    }

    fn roles(&self) -> [(&Client, &[u64]); 2] {
        [(&self.editor, &self.all), (&self.shopper, &self.visible)]
    }
}

fn slice(whole: &[u64], limit: usize, offset: usize) -> Vec<u64> {
    whole.iter().copied().skip(offset).take(limit).collect()
}

/// Runs a property on one catalog that all its cases share.
fn check<S: Strategy>(strategy: S, property: impl Fn(&Catalog, S::Value)) {
    let catalog = LazyLock::new(Catalog::new);
    let config = ProptestConfig { cases: CASES, failure_persistence: None, ..<_>::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let outcome = runner.run(&strategy, |case| {
        property(&catalog, case);
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn a_page_is_a_slice_of_the_whole_list() {
    check((1..=100_usize, 0..=PRODUCT_COUNT + 5), |catalog, (limit, offset)| {
        for (client, whole) in catalog.roles() {
            let page = client.get(&format!("{PRODUCTS}?limit={limit}&offset={offset}")).expect(200);
            assert_eq!(page.ids(), slice(whole, limit, offset));
            assert_eq!(page.total_count(), whole.len());
        }
    });
}

#[test]
fn ids_come_back_as_asked_each_once() {
    let asked = vec(1..=PRODUCT_COUNT as u64 + 20, 1..=100);
    check((asked, 1..=100_usize, 0..20_usize), |catalog, (asked, limit, offset)| {
        let text: Vec<_> = asked.iter().map(u64::to_string).collect();
        let path = format!("{PRODUCTS}?ids={}&limit={limit}&offset={offset}", text.join(","));
        for (client, whole) in catalog.roles() {
            let mut expected: Vec<u64> = Vec::new();
            for id in &asked {
                if whole.contains(id) && !expected.contains(id) {
                    expected.push(*id);
                }
            }
            let answer = client.get(&path).expect(200);
            assert_eq!(answer.total_count(), expected.len());
            assert_eq!(answer.ids(), slice(&expected, limit, offset));
        }
    });
}

#[test]
fn a_page_of_a_search_is_a_slice_of_all_it_finds() {
    check((1..=50_usize, 0..=PRODUCT_COUNT + 5), |catalog, (limit, offset)| {
        let search = |limit: usize, offset: usize| {
            let body = json!({"query": "lamp 3", "limit": limit, "offset": offset});
            catalog.shopper.post(SEARCH, body).expect(200)
        };
        let whole = search(50, 0).ids();
        let page = search(limit, offset);
        assert_eq!(page.ids(), slice(&whole, limit, offset));
        assert_eq!(page.body["total"], catalog.visible.len());
    });
}
