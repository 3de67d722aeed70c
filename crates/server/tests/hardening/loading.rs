//! Shops that are not in memory: loading one delays no other shop, and an import leaves its shop
//! ready to be searched.

use std::thread;

use serde_json::{Value, json};
use testkit::{
    BULK, Client, Node, Role, SEARCH, TestServer, bearer, ids, postgres, product_named, token,
    token_of, until,
};

/// More requests than there are threads to search on, whatever the machine.
const SEARCHES: usize = 64;

fn import(editor: &Client, products: &[Value]) {
    for some in products.chunks(100) {
        editor.post(BULK, json!({"products": some})).expect(201);
    }
}

#[test]
fn a_shop_that_loads_does_not_delay_reads_of_others() {
    let url = postgres().database();
    let name = url.rsplit_once('/').unwrap().1;
    let [large, other] = [1, 2].map(|shop| token_of(&url, shop, Role::Editor));
    let [node, writer] = [&other, &large].map(|token| Node::start(&url, token));
    let (lamp, _) = node.create("lamp");
    assert_eq!(node.find("lamp"), [lamp]);
    // The shop has no products when the nodes start, and only the other one loads it.
    let (rug, _) = writer.create("rug");
    drop(writer);
    let search = || {
        let search = node.search("rug").headers(bearer(&large)).send().unwrap();
        ids(search)
    };
    thread::scope(|scope| {
        let lock = postgres().lock_table(name, "products");
        let loading: Vec<_> = (0..SEARCHES).map(|_| scope.spawn(search)).collect();
        until("a shop that loads", || postgres().waiting_for(name, "products") > 0);
        for _ in 0..5 {
            assert_eq!(node.find("lamp"), [lamp], "while the other shop cannot be read");
        }
        assert!(loading.iter().all(|search| !search.is_finished()));
        drop(lock);
        for search in loading {
            assert_eq!(search.join().unwrap(), [rug]);
        }
    });
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
        let lock = postgres().lock_table(&name, "search_rows");
        let searching: Vec<_> =
            (0..8).map(|_| scope.spawn(|| node.search("lamp").send().unwrap().status())).collect();
        until("a search that waits", || postgres().waiting_for(&name, "search_rows") > 0);
        assert_eq!(node.get(id)["title"], "lamp");
        drop(lock);
        for search in searching {
            let status = search.join().unwrap();
            assert!(status == 200 || status == 503, "{status}");
        }
    });
    assert_eq!(node.find("lamp"), [id]);
}
