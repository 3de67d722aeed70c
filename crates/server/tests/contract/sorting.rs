//! The order of results and of lists that a request asks for.

use serde_json::{Value, json};
use testkit::{Client, PRODUCTS, Role, SEARCH, Shop, editor};

/// Creates lamps, oldest first, and returns their names by id.
fn lamps(editor: &Client) -> impl Fn(&[u64]) -> Vec<&'static str> {
    let lamp = |name: &'static str, price: &str, attributes: Value| {
        let body =
            json!({"title": format!("Lamp {name}"), "price": price, "attributes": attributes});
        (editor.create(body), name)
    };
    let named = [
        lamp("a", "$20", json!({"watt": 10})),
        lamp("b", "5 EUR", json!({"watt": 2.5})),
        lamp("c", "$10", json!({"watt": "much"})),
        lamp("d", "$30", json!({"watt": 40})),
    ];
    move |ids| {
        let name = |id: &u64| named.iter().find(|(known, _)| known == id).unwrap().1;
        ids.iter().map(name).collect()
    }
}

/// Every order with the lamps in it.
const ORDERS: [(&str, [&str; 4]); 6] = [
    // Dollars first: most lamps have a price in dollars.
    ("price", ["c", "a", "d", "b"]),
    ("-price", ["d", "a", "c", "b"]),
    ("newest", ["d", "c", "b", "a"]),
    ("oldest", ["a", "b", "c", "d"]),
    ("watt", ["b", "a", "d", "c"]),
    ("-watt", ["d", "a", "b", "c"]),
];

#[test]
fn results_are_returned_in_the_requested_order() {
    let (_shop, editor) = editor();
    let names = lamps(&editor);
    for (sort, expected) in ORDERS {
        for body in [json!({"query": "lamp", "sort": sort}), json!({"filter": {}, "sort": sort})] {
            assert_eq!(
                names(&editor.post(SEARCH, body.clone()).expect(200).ids()),
                expected,
                "{body}"
            );
        }
        let page = json!({"query": "lamp", "sort": sort, "limit": 2, "offset": 1});
        assert_eq!(names(&editor.post(SEARCH, page).expect(200).ids()), expected[1..3], "{sort}");
    }
    // An order in the request wins over one in the text.
    let body = json!({"query": "cheapest lamp", "sort": "-price"});
    assert_eq!(names(&editor.post(SEARCH, body).expect(200).ids())[0], "d");
    let best = json!({"query": "lamp b", "sort": "relevance"});
    assert_eq!(names(&editor.post(SEARCH, best).expect(200).ids())[0], "b");
}

#[test]
fn the_catalog_is_listed_in_the_requested_order() {
    let (shop, editor) = editor();
    let names = lamps(&editor);
    let list = |query: &str| editor.get(&format!("{PRODUCTS}?{query}")).expect(200);
    for (sort, expected) in ORDERS.into_iter().chain([("relevance", ["a", "b", "c", "d"])]) {
        assert_eq!(names(&list(&format!("sort={sort}")).ids()), expected, "{sort}");
        let page = list(&format!("sort={sort}&limit=2&offset=1"));
        assert_eq!(
            (names(&page.ids()), page.total_count()),
            (expected[1..3].to_vec(), 4),
            "{sort}"
        );
        let beyond = list(&format!("sort={sort}&offset=9223372036854775807"));
        assert_eq!((beyond.ids(), beyond.total_count()), (vec![], 4), "{sort}");
    }
    editor.create(json!({"title": "Lamp e", "price": "$1", "hidden": true}));
    let shopper = shop.as_role(Role::Shopper).get(&format!("{PRODUCTS}?sort=price")).expect(200);
    assert_eq!((shopper.ids().len(), shopper.total_count()), (4, 4));
    let first = list("sort=price&limit=1");
    assert_eq!((&first.body[0]["title"], first.total_count()), (&json!("Lamp e"), 5));
    let theirs = Shop::open().as_role(Role::Viewer).get(&format!("{PRODUCTS}?sort=price"));
    assert_eq!(theirs.total_count(), 0);
}

#[test]
fn invalid_orders_are_refused() {
    let (_shop, editor) = editor();
    for sort in ["", "-", "-newest", "Price", "id", "--price", "a b"] {
        editor.post(SEARCH, json!({"query": "x", "sort": sort})).faults(&["sort invalid_sort"]);
        editor
            .get(&format!("{PRODUCTS}?sort={}", sort.replace(' ', "+")))
            .faults(&["sort invalid_sort"]);
    }
    editor.post(SEARCH, json!({"query": "x", "sort": 1})).faults(&["sort wrong_type"]);
    editor.get(&format!("{PRODUCTS}?ids=1&sort=price")).faults(&["sort exclusive"]);
}
