//! For a SHOPPER, hidden products do not exist: no part of any answer depends on them.

use serde_json::{Value, json};
use testkit::{
    Answer, Client, Node, PRODUCTS, Role, SEARCH, Shop, TestServer, bearer, product, token,
};

/// Queries whose answers would change if the words, the number or the lengths of hidden products
/// counted: corrections, prices that may be names, exclusions, cut-offs and scores.
const QUERIES: [&str; 12] = [
    "zyph",
    "zyphronixx",
    "lamp",
    "desk lamp",
    "deskl amp",
    "lmap",
    "storge tower",
    "towre",
    "lamp under armour",
    "lamp under 40 without lether",
    "cheapest lamp",
    "something warm",
];

const VISIBLE: [(&str, &str); 6] = [
    ("Desk lamp", "Warm light for every desk"),
    ("Floor lamp", "Cotton shade, no leather"),
    ("Storage tower", "Five shelves for every room"),
    ("Leather towel holder", "With a lamp"),
    ("Red blanket", "Warm and soft, cotton free"),
    ("Clamp", "For a lamp or a tower"),
];

const HIDDEN: [(&str, &str); 6] = [
    ("Zyphronix", "Not announced yet"),
    ("Towre lamp", "Storge for a desklamp; lether"),
    ("Armour lamp", "Lamp of lamps, under armour"),
    ("Lmap", "Warm"),
    ("Zyph desk lamp", "Warm light for every desk and every other desk of every other room"),
    ("Storage lamp", "Five lamps"),
];

/// What a search says, without the number of the change and the time.
fn told(shopper: &Client, query: &str) -> Value {
    shopper.post(SEARCH, json!({"query": query, "explain": true, "limit": 50})).expect(200).body
}

/// What products like this one there are.
fn similar(client: &Client, id: u64) -> Answer {
    client.get(&format!("{}/similar", product(id)))
}

fn create(editor: &Client, products: &[(&str, &str)], hidden: bool) -> Vec<u64> {
    let create = |(title, description): &(&str, &str)| {
        editor.create(json!({
            "title": title, "description": description, "price": "$30", "hidden": hidden,
        }))
    };
    products.iter().map(create).collect()
}

/// Everything that a shopper can ask of these products.
fn everything(shopper: &Client, ids: &[u64]) -> Vec<(String, Value)> {
    let searches = QUERIES.iter().map(|query| ((*query).to_owned(), told(shopper, query)));
    let likes = ids.iter().map(|id| (format!("like {id}"), similar(shopper, *id).expect(200).body));
    let listed = shopper.get(PRODUCTS).expect(200);
    let count = listed.total_count();
    let list = ("list".to_owned(), json!([count, listed.body]));
    searches.chain(likes).chain([list]).collect()
}

fn check_shop(shop: &Shop) {
    let (editor, shopper) = (shop.as_role(Role::Editor), shop.as_role(Role::Shopper));
    let visible = create(&editor, &VISIBLE, false);
    let without = everything(&shopper, &visible);
    let hidden = create(&editor, &HIDDEN, true);
    let with = everything(&shopper, &visible);
    for (with, without) in with.iter().zip(&without) {
        assert_eq!(with, without);
    }
    let viewer = shop.as_role(Role::Viewer);
    for id in &hidden {
        let missing = similar(&shopper, hidden[hidden.len() - 1] + 1000).refused(404, "not_found");
        let refused = similar(&shopper, *id).refused(404, "not_found");
        assert_eq!(refused.body["detail"], missing.body["detail"]);
        shopper.get(&product(*id)).refused(404, "not_found");
        similar(&viewer, *id).expect(200);
    }
    // Those who get to see hidden products find them by their words.
    let all = json!({"query": "zyphronixx", "include_hidden": true});
    let answer = viewer.post(SEARCH, all).expect(200);
    assert_eq!(answer.body["understood"]["corrections"][0]["to"], "zyphronix");
    assert_eq!(answer.ids().first(), Some(&hidden[0]));
    // A product that is hidden later is gone like one that was never there.
    let later = create(&editor, &[("Zyphronicle", "Lamp book")], false);
    assert_eq!(told(&shopper, "zyphronicl")["understood"]["corrections"][0]["to"], "zyphronicle");
    editor.put(&product(later[0]), json!({"hidden": true})).expect(200);
    for (with, without) in everything(&shopper, &visible).iter().zip(&without) {
        assert_eq!(with, without);
    }
}

#[test]
fn what_a_shopper_is_told_does_not_depend_on_hidden_products() {
    check_shop(&TestServer::start(&[]).shop());
}

#[test]
fn nor_does_it_where_a_model_reads_the_query() {
    // Vectors that the deep encoder makes in the background would change answers meanwhile.
    let model = ["--model-kind", "built-in", "--model-background", "false"];
    let flags = [&model[..], &["--model-query-budget", "1000000"]].concat();
    check_shop(&TestServer::start(&flags).shop());
}

#[test]
fn nor_does_it_where_the_database_searches() {
    let url = testkit::postgres().database();
    let editor = token(&url, Role::Editor);
    let flags = ["--database-search-above", "0"];
    let node = Node::start_with(&url, &editor, &flags);
    let shopper = token(&url, Role::Shopper);
    let search = |query: &str| -> Value {
        let body = json!({"query": query, "explain": true, "limit": 50});
        let answer = node.request("POST", "/search").headers(bearer(&shopper)).json(&body).send();
        answer.unwrap().error_for_status().unwrap().json().unwrap()
    };
    let create = |(title, description): (&str, &str), hidden: bool| {
        let body =
            json!({"title": title, "description": description, "price": "$30", "hidden": hidden});
        let made = node.request("POST", "/products").json(&body).send().unwrap();
        made.error_for_status().unwrap();
    };
    VISIBLE.iter().for_each(|product| create(*product, false));
    let without: Vec<Value> = QUERIES.iter().map(|query| search(query)).collect();
    HIDDEN.iter().for_each(|product| create(*product, true));
    for (query, without) in QUERIES.iter().zip(&without) {
        assert_eq!(search(query), *without, "{query}");
    }
}
