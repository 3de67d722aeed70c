//! `shopkeeper status`, while a server is running.

use serde_json::{Value, json};
use testkit::{Role, TestServer, printed, product_named, run};

#[test]
fn status_describes_the_store() {
    let server = TestServer::start(&["--model-kind", "built-in", "--model-background", "false"]);
    let (large, small) = (server.shop(), server.shop());
    let editor = large.as_role(Role::Editor);
    editor.create_all((0..3).map(|n| format!("Sofa {n}")));
    editor.create(json!({"title": "Secret", "price": "$5", "hidden": true}));
    small.as_role(Role::Editor).create(product_named("Lamp"));

    let told: Value =
        serde_json::from_str(&printed(server.command(&["status", "--json"]))).unwrap();
    let shops = json!([
        {"shop_id": large.number, "visible": 3, "hidden": 1, "bytes": 3 * 10 + 10, "attribute_names": 0},
        {"shop_id": small.number, "visible": 1, "hidden": 0, "bytes": 8, "attribute_names": 0},
    ]);
    assert_eq!(told["shops"], shops);
    let [vectors] = told["vectors"].as_array().unwrap().as_slice() else { panic!("{told}") };
    assert_eq!((&vectors["encoder"], &vectors["products"]), (&json!("instant"), &json!(5)));
    assert_eq!(told["waiting"], 5, "none has the deep encoder's");
    assert!(told["bytes"].as_u64().unwrap() > 4096, "{told}");
    assert!(told["schema"].as_u64().unwrap() >= 1, "{told}");

    let words = printed(server.command(&["status", "--model-kind", "off"]));
    for part in ["version ", " bytes", "instant", vectors["model"].as_str().unwrap()] {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert!(!words.contains("waiting"), "without a model nothing waits: {words}");
    let nowhere = run(&["status", "--data", "/nowhere/at/all"], &[]);
    assert!(!nowhere.status.success());
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("/nowhere/at/all"), "{nowhere:?}");
}
