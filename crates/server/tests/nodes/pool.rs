//! An exhausted connection pool: requests wait for a bounded time, and the pool recovers.

use std::thread;

use testkit::{Node, Role, bearer, postgres, token, token_of, until};

/// How many ask at the same time.
const CLIENTS: usize = 24;

#[test]
fn an_exhausted_pool_refuses_requests_and_recovers() {
    let url = postgres().database();
    let name = url.rsplit_once('/').unwrap().1.to_owned();
    let token = token(&url, Role::Editor);
    let flags = ["--database-connections", "2", "--database-connect-time", "1s"];
    let node = Node::start_with(&url, &token, &flags);
    let (id, _) = node.create("lamp");
    assert_eq!(node.find("lamp"), [id], "now the shop is in memory");
    let ask = |path: &str| node.request("GET", path).send().unwrap();
    // Many more than connections, all answered.
    let path = format!("/products/{id}");
    thread::scope(|scope| {
        let asking: Vec<_> = (0..CLIENTS)
            .map(|_| scope.spawn(|| (0..10).all(|_| ask(&path).status() == 200)))
            .collect();
        assert!(asking.into_iter().all(|answered| answered.join().unwrap()));
    });
    // The lock blocks all reads of products, so that requests keep their connections. The list of
    // another shop is not in memory.
    let elsewhere = token_of(&url, 2, Role::Viewer);
    let list = || {
        let asked = node.request("GET", "/products").headers(bearer(&elsewhere));
        asked.send().unwrap()
    };
    assert_eq!(list().status(), 200);
    thread::scope(|scope| {
        let lock = postgres().lock_table(&name, "products");
        let asking: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(list)).collect();
        // What is in memory is shown without any connection.
        assert_eq!(node.find("lamp"), [id]);
        // Those that found no connection within a second are answered, the others wait for the lock.
        until("the refused ones", || {
            asking.iter().filter(|answer| answer.is_finished()).count() >= CLIENTS / 2
        });
        drop(lock);
        let mut turned_away = 0;
        for answer in asking {
            let answer = answer.join().unwrap();
            if answer.status() == 503 {
                assert!(answer.headers().contains_key("retry-after"));
                turned_away += 1;
            } else {
                assert_eq!(answer.status(), 200);
            }
        }
        assert!(turned_away >= CLIENTS / 2, "{turned_away} of {CLIENTS}");
    });
    until("an answer", || list().status() == 200);
    until("a write", || node.try_create("sofa").status() == 201);
    thread::scope(|scope| {
        let asking: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(list)).collect();
        assert!(asking.into_iter().all(|answer| answer.join().unwrap().status() == 200));
    });
}
