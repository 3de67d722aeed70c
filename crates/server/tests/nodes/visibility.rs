//! A node shows the writes of another immediately if the request demands it, otherwise soon
//! (`make bench-cluster` measures when).

use serde_json::json;
use testkit::{NO_IDS, Node, Role, ids, postgres, seq, token, until};

#[test]
fn with_the_header_a_client_reads_its_own_writes_through_any_node() {
    let url = postgres().database();
    let token = token(&url, Role::Editor);
    let nodes = [Node::start(&url, &token), Node::start(&url, &token)];
    for round in 0..30 {
        let (writer, reader) = (&nodes[round % 2], &nodes[(round + 1) % 2]);
        let word = format!("lamp{round}");
        let (id, seq_made) = writer.create(&word);
        let asked = reader.search(&word).header("x-min-catalog-seq", seq_made).send().unwrap();
        assert!(seq(&asked) >= seq_made);
        assert_eq!(ids(asked), [id]);
        let renamed = writer.update(id, &json!({"title": format!("rug{round}")}));
        let seq_renamed = seq(&renamed.error_for_status().unwrap());
        assert!(seq_renamed > seq_made);
        let asked = reader.search(&word).header("x-min-catalog-seq", seq_renamed).send().unwrap();
        assert_eq!(ids(asked), NO_IDS);
        let gone = writer.request("DELETE", &format!("/products/{id}")).send().unwrap();
        let seq_gone = seq(&gone.error_for_status().unwrap());
        let asked = reader.search(&format!("rug{round}"));
        assert_eq!(ids(asked.header("x-min-catalog-seq", seq_gone).send().unwrap()), NO_IDS);
    }
}

#[test]
fn without_the_header_another_node_follows_by_itself() {
    let url = postgres().database();
    let token = token(&url, Role::Editor);
    let nodes = [Node::start(&url, &token), Node::start(&url, &token)];
    nodes[1].find("warm");
    for round in 0..40 {
        let word = format!("sofa{round}");
        let (id, _) = nodes[0].create(&word);
        until("the product on the other node", || nodes[1].find(&word) == [id]);
    }
}

#[test]
fn a_change_that_does_not_exist_is_not_waited_for() {
    let url = postgres().database();
    let token = token(&url, Role::Editor);
    let node = Node::start(&url, &token);
    let (_, seq_made) = node.create("lamp");
    let asked = node.search("lamp").header("x-min-catalog-seq", seq_made + 1).send().unwrap();
    assert_eq!(asked.status(), 503);
    assert!(asked.headers().contains_key("retry-after"));
    // After waiting in vain, the answer would say that this node does not have the change yet.
    let asked: serde_json::Value = asked.json().unwrap();
    let detail = asked["detail"].as_str().unwrap();
    assert!(detail.contains(&format!("no change {} ", seq_made + 1)), "{detail}");
    let bad = node.search("lamp").header("x-min-catalog-seq", "soon").send().unwrap();
    assert_eq!(bad.status(), 422);
}

/// Two nodes that change different fields of one product, and two that both want it unchanged.
#[test]
fn two_nodes_that_write_one_product_lose_nothing() {
    let url = postgres().database();
    let token = token(&url, Role::Editor);
    let nodes = [Node::start(&url, &token), Node::start(&url, &token)];
    let (id, _) = nodes[0].create("start");
    for round in 0..15 {
        let bodies = [
            json!({"title": format!("title {round}")}),
            json!({"description": format!("description {round}"), "price": format!("${round}")}),
        ];
        std::thread::scope(|scope| {
            for (node, body) in nodes.iter().zip(&bodies) {
                scope.spawn(|| node.update(id, body).error_for_status().unwrap());
            }
        });
        let now = nodes[round % 2].get(id);
        assert_eq!(now["title"], format!("title {round}"));
        assert_eq!(now["description"], format!("description {round}"));
        assert_eq!(now["price"], format!("${round}"));
    }
    for round in 0..15 {
        let read = nodes[0].request("GET", &format!("/products/{id}")).send().unwrap();
        let etag = read.headers()["etag"].to_str().unwrap().to_owned();
        let statuses = std::thread::scope(|scope| {
            let writers = nodes.each_ref().map(|node| {
                let etag = etag.clone();
                scope.spawn(move || {
                    let path = format!("/products/{id}");
                    let put = node.request("PUT", &path).header("if-match", etag);
                    put.json(&json!({"title": format!("won {round}")})).send().unwrap().status()
                })
            });
            let mut statuses = writers.map(|writer| writer.join().unwrap().as_u16());
            statuses.sort_unstable();
            statuses
        });
        assert_eq!(statuses, [200, 412]);
    }
}
