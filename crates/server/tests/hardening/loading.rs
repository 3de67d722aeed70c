//! Shops that are not in memory: loading one delays no other shop, and an import leaves its shop
//! ready to be searched.

use std::thread;

use serde_json::{Value, json};
use testkit::{
    BULK, Client, Node, Role, SEARCH, TestServer, postgres, product, product_named, token, until,
};

use crate::meanwhile::answers_during;

/// More requests than there are threads to search on, whatever the machine.
const SEARCHES: usize = 64;

/// A text that takes long to index, of words that are all different.
fn long_text(number: usize) -> String {
    (0..2_000).map(|word| format!("w{number}x{word} ")).collect()
}

fn import(editor: &Client, products: &[Value]) {
    for some in products.chunks(100) {
        editor.post(BULK, json!({"products": some})).expect(201);
    }
}

#[test]
fn a_shop_that_loads_does_not_delay_reads_of_others() {
    let server = TestServer::start(&[]);
    let large = server.shop().as_role(Role::Editor);
    let other = server.shop().as_role(Role::Editor);
    let products: Vec<_> = (0..150)
        .map(|n| json!({"title": "Lamp", "price": "$5", "description": long_text(n)}))
        .collect();
    import(&large, &products);
    let lamp = other.create(product_named("Reading lamp"));
    let (large, other) = (large.token.unwrap(), other.token.unwrap());
    // A new process has no shop in memory.
    let server = server.restart(&["--model-kind", "off"]);
    let (large, other) = (server.client(&large), server.client(&other));
    let load = || {
        thread::scope(|scope| {
            for _ in 0..SEARCHES {
                let query = json!({"query": "lamp"});
                scope.spawn(|| assert_eq!(large.post(SEARCH, query).expect(200).ids().len(), 10));
            }
        });
    };
    let reads = answers_during(load, || drop(other.get(&product(lamp)).expect(200)));
    assert!(reads >= 5, "another shop was answered {reads} reads meanwhile");
}

/// What the server says it has in its indexes.
fn indexed_products(client: &Client) -> usize {
    let metrics = client.get("/metrics").text;
    let line = metrics.lines().find(|line| line.starts_with("shopkeeper_index_products "));
    line.map_or(0, |line| line.split(' ').nth(1).unwrap().parse::<f64>().unwrap() as usize)
}

#[test]
fn an_import_leaves_its_shop_ready_to_be_searched() {
    const PRODUCTS: usize = 3_000;
    let server = TestServer::start(&[]);
    let shop = server.shop();
    let editor = shop.as_role(Role::Editor);
    let products: Vec<_> =
        (0..PRODUCTS).map(|n| product_named(&format!("Lamp number {n}"))).collect();
    import(&editor, &products);
    // Without a single search.
    until("the import in the index", || indexed_products(&editor) == PRODUCTS);
    let answer = editor.post(SEARCH, json!({"query": "lamp"})).expect(200);
    assert_eq!(answer.body["total"], PRODUCTS);
}

/// Searches that keep their connections to the database leave some to reads of single products.
#[test]
fn searches_in_the_database_leave_connections_to_reads() {
    let url = postgres().database();
    let name = url.rsplit_once('/').unwrap().1.to_owned();
    let token = token(&url, Role::Editor);
    // Every shop is searched in the database, on few connections.
    let flags = ["--database-connections", "2", "--database-search-above", "0"];
    let node = Node::start_with(&url, &token, &flags);
    let (id, _) = node.create("lamp");
    assert_eq!(node.find("lamp"), [id]);
    thread::scope(|scope| {
        let lock = "BEGIN; LOCK TABLE search_rows; SELECT pg_sleep(8)";
        scope.spawn(|| postgres().psql(&name, lock));
        let held = "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted
                    AND relation = 'search_rows'::regclass";
        until("the lock", || postgres().psql(&name, held) == "1");
        let searching: Vec<_> =
            (0..8).map(|_| scope.spawn(|| node.search("lamp").send().unwrap().status())).collect();
        let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted
                       AND relation = 'search_rows'::regclass";
        until("a search that waits", || postgres().psql(&name, waiting) != "0");
        assert_eq!(node.get(id)["title"], "lamp");
        assert_eq!(postgres().psql(&name, held), "1", "the read was answered before the searches");
        for search in searching {
            let status = search.join().unwrap();
            assert!(status == 200 || status == 503, "{status}");
        }
    });
    assert_eq!(node.find("lamp"), [id]);
}
