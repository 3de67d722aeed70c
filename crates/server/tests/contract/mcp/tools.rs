//! What the tools do: the same as the API, for the same people.

use serde_json::{Value, json};
use testkit::{
    Answer, Client, PRODUCTS, RequestExt, Role, SEARCH, Shop, TestServer, editor, product,
    product_named,
};

use super::{call, done, message, post, refused, result};
use crate::snapshot::snapshot;

/// The names of the tools that a client is offered.
fn offered(client: &Client) -> Vec<String> {
    let tools = result(client, "tools/list", json!({}));
    let tools = tools["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn total(client: &Client) -> usize {
    client.get(PRODUCTS).expect(200).total_count()
}

#[test]
fn each_role_is_offered_what_it_may_use() {
    let shop = Shop::open();
    let reading = ["search_products", "get_product", "list_products"];
    let writing = ["create_product", "update_product", "delete_product"];
    for role in [Role::Shopper, Role::Viewer] {
        assert_eq!(offered(&shop.as_role(role)), reading, "{role:?}");
    }
    for role in [Role::Editor, Role::Admin] {
        assert_eq!(offered(&shop.as_role(role)), [reading, writing].concat(), "{role:?}");
    }
}

#[test]
fn a_tool_that_is_not_offered_refuses_and_does_nothing() {
    let (shop, editor) = editor();
    let id = editor.create(product_named("Sofa"));
    let before = editor.get(&product(id)).expect(200).body;
    for role in [Role::Shopper, Role::Viewer] {
        let client = shop.as_role(role);
        for (tool, arguments) in [
            ("create_product", product_named("Stool")),
            ("update_product", json!({"id": id, "title": "Couch"})),
            ("delete_product", json!({"id": id})),
        ] {
            let problem = refused(&client, tool, arguments, "insufficient_role");
            assert_eq!(problem["status"], 403);
        }
    }
    assert_eq!(total(&editor), 1);
    assert_eq!(editor.get(&product(id)).expect(200).body, before);
}

#[test]
fn a_search_says_what_the_api_says() {
    let (shop, editor) = editor();
    editor.create(json!({"title": "Linen sofa", "price": "$899.00", "description": "Washable."}));
    editor.create(json!({"title": "Leather sofa", "price": "$799.00"}));
    editor.create(json!({"title": "Oak sofa", "price": "$900.00"}));
    let request = json!({"query": "linnen sofa under $900 without leather", "limit": 5});
    let shopper = shop.as_role(Role::Shopper);
    let (found, text) = done(&shopper, "search_products", request.clone());
    assert_eq!(found, shopper.post(SEARCH, request).expect(200).body);
    assert_eq!(found["total"], 1);
    assert_eq!(found["understood"]["constraints"][0]["value"], "900");
    let id = &found["products"][0]["id"];
    assert_eq!(
        text,
        format!(
            "1 of 1 products found.\nUnderstood: kept exactly: under $900; without leather, \
             preferred: linnen, read \"linen\" for \"linnen\".\nproduct {id}: Linen sofa, $899.00"
        )
    );
    let (found, text) = done(&shopper, "search_products", json!({"query": "sofa under $1"}));
    assert_eq!(found["products"], json!([]));
    assert_eq!(text, "No product was found.\nUnderstood: kept exactly: under $1.");
}

#[test]
fn a_product_is_created_read_changed_listed_and_deleted() {
    let (_shop, editor) = editor();
    let (created, text) =
        done(&editor, "create_product", json!({"title": "Sofa", "price": "19,99 €"}));
    let id = created["id"].as_u64().unwrap();
    assert_eq!(created, editor.get(&product(id)).expect(200).body);
    assert_eq!(text, format!("Created: product {id}: Sofa, 19,99 €"));

    let change = json!({"id": id, "hidden": true, "description": "Soft."});
    let (updated, text) = done(&editor, "update_product", change);
    assert_eq!(updated, editor.get(&product(id)).expect(200).body);
    assert_eq!((&updated["hidden"], &updated["title"]), (&json!(true), &json!("Sofa")));
    assert_eq!(text, format!("Updated: product {id}: Sofa, 19,99 € (hidden)"));

    let (read, text) = done(&editor, "get_product", json!({"id": id}));
    assert_eq!(read, updated);
    assert_eq!(text, format!("product {id}: Sofa, 19,99 € (hidden)\nSoft."));

    let other = editor.create(product_named("Stool"));
    let (list, text) = done(&editor, "list_products", json!({"limit": 1, "offset": 1}));
    assert_eq!(list["products"], editor.get(&format!("{PRODUCTS}?offset=1")).expect(200).body);
    assert_eq!(list["total"], 2);
    assert_eq!(text, format!("Products 2 to 2 of 2.\nproduct {other}: Stool, $5"));
    let (list, _) = done(&editor, "list_products", json!({"ids": [other, id, 1_000_000_007]}));
    let by_ids = format!("{PRODUCTS}?ids={other},{id}");
    assert_eq!(list["products"], editor.get(&by_ids).expect(200).body);
    let (list, text) = done(&editor, "list_products", json!({"offset": 2}));
    assert_eq!(list, json!({"products": [], "total": 2}));
    assert_eq!(text, "No product from place 3 on; there are 2.");

    let (gone, text) = done(&editor, "delete_product", json!({"id": id}));
    assert_eq!(gone, json!({"id": id, "deleted": true}));
    assert_eq!(text, format!("Deleted: product {id}."));
    editor.get(&product(id)).refused(404, "not_found");
    for tool in ["get_product", "delete_product"] {
        refused(&editor, tool, json!({"id": id}), "not_found");
    }
    refused(&editor, "update_product", json!({"id": id, "price": "$1"}), "not_found");
}

#[test]
fn hidden_products_do_not_exist_for_shoppers() {
    let (shop, editor) = editor();
    let id = editor.create(json!({"title": "Secret sofa", "price": "$5", "hidden": true}));
    let (shopper, viewer) = (shop.as_role(Role::Shopper), shop.as_role(Role::Viewer));
    let everything = json!({"query": "secret sofa", "include_hidden": true});

    refused(&shopper, "get_product", json!({"id": id}), "not_found");
    for arguments in [json!({}), json!({"ids": [id]})] {
        let (list, _) = done(&shopper, "list_products", arguments);
        assert_eq!(list, json!({"products": [], "total": 0}));
    }
    refused(&shopper, "search_products", everything.clone(), "insufficient_role");

    done(&viewer, "get_product", json!({"id": id}));
    assert_eq!(done(&viewer, "list_products", json!({})).0["total"], 1);
    assert_eq!(done(&viewer, "search_products", everything).0["total"], 1);
    for client in [shopper, viewer] {
        let (found, _) = done(&client, "search_products", json!({"query": "secret sofa"}));
        assert_eq!(found["total"], 0, "hidden products are for those who ask");
    }
}

#[test]
fn shops_are_apart() {
    let server = TestServer::start(&[]);
    let [ours, theirs] = [(); 2].map(|()| server.shop().as_role(Role::Admin));
    let id = ours.create(product_named("Sofa"));
    let before = ours.get(&product(id)).expect(200).body;
    for (tool, arguments) in [
        ("get_product", json!({"id": id})),
        ("update_product", json!({"id": id, "title": "Couch"})),
        ("delete_product", json!({"id": id})),
    ] {
        refused(&theirs, tool, arguments, "not_found");
    }
    assert_eq!(done(&theirs, "list_products", json!({"ids": [id]})).0["total"], 0);
    assert_eq!(done(&theirs, "list_products", json!({})).0["total"], 0);
    assert_eq!(done(&theirs, "search_products", json!({"query": "sofa"})).0["total"], 0);
    assert_eq!(ours.get(&product(id)).expect(200).body, before);
}

#[test]
fn all_errors_of_the_arguments_are_reported() {
    let (_shop, editor) = editor();
    let bad = json!({"title": " ", "price": 5, "colour": "red"});
    let expected = editor.post(PRODUCTS, bad.clone()).refused(422, "validation_failed").body;
    let params = json!({"name": "create_product", "arguments": bad});
    let answer = post(&editor, &message("tools/call", params)).answer().expect(200);
    let problem = &answer.body["result"]["_meta"]["problem"];
    assert_eq!(problem["errors"], expected["errors"]);
    assert_eq!(problem["request_id"].as_str(), answer.header("x-request-id"));
    snapshot("mcp_faults", &Answer { body: answer.body["result"].clone(), ..answer });
    assert_eq!(total(&editor), 0);

    for (tool, arguments, faults) in [
        ("search_products", json!({}), vec!["query required"]),
        (
            "search_products",
            json!({"query": " ", "limit": 51}),
            vec!["query blank", "limit out_of_range"],
        ),
        ("get_product", json!({}), vec!["id required"]),
        (
            "get_product",
            json!({"id": "17", "product": 1}),
            vec!["id wrong_type", "product unknown_field"],
        ),
        ("list_products", json!({"limit": 0}), vec!["limit out_of_range"]),
        ("update_product", json!({"id": 1}), vec!["- no_change"]),
        (
            "create_product",
            json!({"title": "Sofa", "price": "$5", "idempotency_key": 5}),
            vec!["idempotency_key invalid_key"],
        ),
        ("delete_product", json!({"id": 0}), vec!["id out_of_range"]),
    ] {
        let problem = refused(&editor, tool, arguments, "validation_failed");
        let fault = |fault: &Value| {
            let field = fault.get("field").map_or("-", |field| field.as_str().unwrap());
            format!("{field} {}", fault["code"].as_str().unwrap())
        };
        let found: Vec<_> = problem["errors"].as_array().unwrap().iter().map(fault).collect();
        assert_eq!(found, faults, "{tool}");
    }
}

#[test]
fn a_create_with_a_key_happens_once() {
    let (_shop, editor) = editor();
    let body = product_named("Sofa");
    let mut arguments = body.clone();
    arguments["idempotency_key"] = json!("call 17");
    let (first, _) = done(&editor, "create_product", arguments.clone());
    let (again, _) = done(&editor, "create_product", arguments.clone());
    assert_eq!(first, again);
    // The API knows the same keys.
    let request = editor.request("POST", PRODUCTS).header("idempotency-key", "call 17");
    assert_eq!(request.json(&body).answer().expect(201).body, first);
    arguments["title"] = json!("Stool");
    refused(&editor, "create_product", arguments, "conflict");
    assert_eq!(total(&editor), 1);
}

#[test]
fn calls_are_counted_like_requests() {
    let server = TestServer::start(&[]);
    let editor = server.shop().as_role(Role::Editor);
    done(&editor, "create_product", product_named("Sofa"));
    call(&editor, "create_product", json!({"title": "no price"}));
    done(&editor, "search_products", json!({"query": "sofa"}));
    done(&editor, "list_products", json!({}));
    let figures = editor.get("/api/v1/figures").expect(200).body;
    assert_eq!(
        (&figures["searches"]["count"], &figures["writes"]["count"]),
        (&json!(1), &json!(2))
    );
    let metrics = editor.get("/metrics").expect(200).text;
    for line in [
        "shopkeeper_mcp_calls_total{tool=\"create_product\",outcome=\"ok\"} 1",
        "shopkeeper_mcp_calls_total{tool=\"create_product\",outcome=\"validation_failed\"} 1",
        "shopkeeper_http_requests_total{route=\"/mcp\",method=\"POST\",status=\"200\"} 4",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
}
