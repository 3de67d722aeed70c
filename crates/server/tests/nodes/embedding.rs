//! Nodes share the embedding work: each product is embedded by one node, and by another if that
//! one dies.

use serde_json::json;
use testkit::{Node, Role, postgres, token, until};

/// Few enough to be embedded soon by an unoptimised build, and too many for one node alone.
const PRODUCTS: usize = 300;
/// Products that a node works on at once.
const BATCH: usize = 16;

fn stored(node: &Node) -> usize {
    node.metric("shopkeeper_vectors_stored_total").unwrap_or_default() as usize
}

#[test]
fn nodes_share_the_embedding_queue() {
    let url = postgres().database();
    let name = url.rsplit_once('/').unwrap().1;
    let token = token(&url, Role::Editor);
    let with_model = ["--model-kind", "built-in", "--model-threads", "1"];
    let mut nodes = vec![(); 3]
        .into_iter()
        .map(|()| Node::start_with(&url, &token, &with_model))
        .collect::<Vec<_>>();
    for node in &nodes {
        // From now on it leaves instant vectors out.
        until("a look", || node.metric("shopkeeper_vectors_waiting").is_some());
    }
    // This one has no model and so leaves all the work to the others.
    let writer = Node::start(&url, &token);
    for from in (0..PRODUCTS).step_by(100) {
        let products: Vec<_> = (from..from + 100)
            .map(|n| json!({"title": format!("Lamp {n}"), "price": "$5"}))
            .collect();
        let made = writer.request("POST", "/products/bulk").json(&json!({"products": products}));
        assert_eq!(made.send().unwrap().status(), 201);
    }
    until("two nodes at work", || nodes.iter().filter(|node| stored(node) > 0).count() > 1);
    // One of those who are at work dies.
    let victim = nodes.iter().position(|node| stored(node) > 0).unwrap();
    let by_the_dead = stored(&nodes[victim]);
    nodes.remove(victim).kill();
    let count = |encoder: &str| {
        let count = format!("SELECT count(*) FROM vectors WHERE encoder = '{encoder}'");
        postgres().psql(name, &count).parse::<usize>().unwrap()
    };
    until("all vectors", || count("deep") == PRODUCTS);
    let by_each = [stored(&nodes[0]), stored(&nodes[1]), by_the_dead];
    eprintln!("{by_each:?} vectors were stored by the nodes");
    // Hardly any twice: who reads the list of what waits just before another is done may do a few
    // again.
    let most = PRODUCTS + 4 * BATCH;
    assert!(by_each.iter().sum::<usize>() <= most, "{by_each:?}, at most {most}");
}
