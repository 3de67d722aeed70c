//! Authorisation: every route with every role, and no route without an expectation.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use testkit::{
    Answer, BULK, Client, PRODUCTS, RequestExt, Role, SEARCH, Shop, TOKENS, TestServer, product,
    product_named, until,
};

/// A method and the path it is for, as the route is written.
type Route = (&'static str, &'static str);

/// Every route of the service, and the weakest role that each is documented to need. The
/// service cannot have others: its router is made from the same registrations.
fn documented(server: &TestServer) -> BTreeMap<(String, String), String> {
    let document = server.stranger().get("/openapi.json").expect(200).body;
    let paths = document["paths"].as_object().unwrap();
    paths
        .iter()
        .flat_map(|(path, operations)| {
            operations.as_object().unwrap().iter().map(move |(method, operation)| {
                let role = operation["x-required-role"].as_str().unwrap_or("undocumented");
                ((method.to_uppercase(), path.clone()), role.to_owned())
            })
        })
        .collect()
}

/// What each route answers to a good request without a token, then by role, weakest first.
#[rustfmt::skip]
const EXPECTED: [(Route, [u16; 5]); 25] = [
    (("GET",    "/api/v1/products"),              [401, 200, 200, 200, 200]),
    (("POST",   "/api/v1/products"),              [401, 403, 403, 201, 201]),
    (("POST",   "/api/v1/products/bulk"),         [401, 403, 403, 201, 201]),
    (("PUT",    "/api/v1/products/bulk"),         [401, 403, 403, 200, 200]),
    (("DELETE", "/api/v1/products/bulk"),         [401, 403, 403, 200, 200]),
    (("POST",   "/api/v1/products/upsert"),       [401, 403, 403, 200, 200]),
    (("GET",    "/api/v1/changes"),               [401, 403, 200, 200, 200]),
    (("GET",    "/api/v1/products/{product_id}"), [401, 200, 200, 200, 200]),
    (("GET",    "/api/v1/products/{product_id}/similar"), [401, 200, 200, 200, 200]),
    (("PUT",    "/api/v1/products/{product_id}"), [401, 403, 403, 200, 200]),
    (("DELETE", "/api/v1/products/{product_id}"), [401, 403, 403, 204, 204]),
    (("POST",   "/api/v1/search"),                [401, 200, 200, 200, 200]),
    (("GET",    "/api/v1/tokens"),                [401, 403, 403, 403, 200]),
    (("POST",   "/api/v1/tokens"),                [401, 403, 403, 403, 201]),
    (("DELETE", "/api/v1/tokens/{token_id}"),     [401, 403, 403, 403, 204]),
    (("GET",    "/api/v1/figures"),               [401, 403, 403, 200, 200]),
    (("GET",    "/health/live"),                  [200, 200, 200, 200, 200]),
    (("GET",    "/health/ready"),                 [200, 200, 200, 200, 200]),
    (("GET",    "/metrics"),                      [200, 200, 200, 200, 200]),
    (("GET",    "/openapi.json"),                 [200, 200, 200, 200, 200]),
    (("GET",    "/docs"),                         [200, 200, 200, 200, 200]),
    (("GET",    "/"),                             [200, 200, 200, 200, 200]),
    (("GET",    "/admin"),                        [200, 200, 200, 200, 200]),
    (("GET",    "/preview"),                      [200, 200, 200, 200, 200]),
    (("GET",    "/assets/{version}/{file}"),      [200, 200, 200, 200, 200]),
];

/// The address of a page's script.
fn script_of(page: &Answer) -> String {
    let (_, address) = page.text.split_once("<script type=\"module\" src=\"").unwrap();
    address.split_once('"').unwrap().0.to_owned()
}

/// A good request for a route, on things that were made for it.
fn ask(client: &Client, admin: &Client, (method, path): Route) -> Answer {
    let id = admin.create(product_named("Sofa"));
    let body = match (method, path) {
        ("POST", PRODUCTS) => Some(product_named("Stool")),
        ("POST", BULK) => Some(json!({"products": [product_named("Stool")]})),
        ("PUT", BULK) => Some(json!({"products": [{"id": id, "hidden": false}]})),
        ("DELETE", BULK) => Some(json!({"product_ids": [id]})),
        ("POST", "/api/v1/products/upsert") => Some(json!({"products": [
            {"key": format!("sofa-{id}"), "title": "Stool", "price": "$5"}
        ]})),
        ("PUT", _) => Some(json!({"title": "Couch"})),
        ("POST", SEARCH) => Some(json!({"query": "sofa"})),
        ("POST", TOKENS) => Some(json!({"role": "VIEWER"})),
        _ => None::<Value>,
    };
    let path = match path {
        "/api/v1/tokens/{token_id}" => {
            let token = admin.post(TOKENS, json!({"role": "VIEWER"})).expect(201);
            format!("{TOKENS}/{}", token.id())
        }
        "/api/v1/products/{product_id}" => product(id),
        "/api/v1/products/{product_id}/similar" => format!("{}/similar", product(id)),
        "/assets/{version}/{file}" => script_of(&admin.get("/preview").expect(200)),
        fixed => {
            assert!(!fixed.contains('{'), "say what {fixed} is to be asked for");
            fixed.to_owned()
        }
    };
    let request = client.request(method, &path);
    match body {
        Some(body) => request.json(&body).answer(),
        None => request.answer(),
    }
}

#[test]
fn every_route_has_an_expectation_and_every_expectation_a_route() {
    let shop = Shop::open();
    let expected: BTreeMap<_, _> = EXPECTED
        .iter()
        .map(|((method, path), statuses)| {
            let weakest = statuses.iter().position(|status| *status < 400).unwrap();
            let role = match weakest {
                0 => "none",
                n => Role::ALL[n - 1].name(),
            };
            (((*method).to_owned(), (*path).to_owned()), role.to_owned())
        })
        .collect();
    assert_eq!(documented(&shop.server), expected);
}

#[test]
fn every_route_admits_exactly_the_documented_roles() {
    let shop = Shop::open();
    let admin = shop.as_role(Role::Admin);
    let mut callers = vec![("no token", shop.server.stranger())];
    callers.extend(Role::ALL.map(|role| (role.name(), shop.as_role(role))));
    until("readiness", || admin.get("/health/ready").status == 200);
    for (route, statuses) in EXPECTED {
        for ((name, client), status) in callers.iter().zip(statuses) {
            let answer = ask(client, &admin, route);
            assert_eq!(answer.status, status, "{route:?} with {name}: {}", answer.text);
            match status {
                401 => assert_eq!(answer.body["code"], "missing_token"),
                403 => assert_eq!(answer.body["code"], "insufficient_role"),
                _ => {}
            }
        }
    }
}

#[test]
fn a_refused_request_has_no_effect() {
    let shop = Shop::open();
    let admin = shop.as_role(Role::Admin);
    let id = admin.create(product_named("Sofa"));
    let before = admin.get(&product(id)).expect(200).body;
    let tokens = |client: &Client| client.get(TOKENS).expect(200).body.as_array().unwrap().len();
    let viewer = shop.as_role(Role::Viewer);
    let count = tokens(&admin);
    for client in [shop.server.stranger(), viewer] {
        client.post(PRODUCTS, product_named("Stool"));
        client.put(&product(id), json!({"title": "Couch"}));
        client.delete(&product(id));
        client.post(BULK, json!({"products": [product_named("Stool")]}));
        client.put(BULK, json!({"products": [{"id": id, "title": "Couch"}]}));
        client.bulk_delete(json!({"product_ids": [id]}));
        client.post(TOKENS, json!({"role": "ADMIN"}));
        client.delete(&format!("{TOKENS}/1"));
    }
    assert_eq!(admin.get(PRODUCTS).total_count(), 1);
    assert_eq!(admin.get(&product(id)).expect(200).body, before);
    assert_eq!(tokens(&admin), count);
}

/// What a client is told of changes: by what it reads, and by what it is refused.
fn told_of_changes(shopper: &Client, id: u64, last: u64) -> Vec<Value> {
    let seq = |answer: &Answer| answer.header("x-catalog-seq").map(str::to_owned);
    let mut told = Vec::new();
    for path in [PRODUCTS.to_owned(), product(id)] {
        let answer = shopper.get(&path).expect(200);
        told.push(json!([seq(&answer), answer.header("etag"), answer.text]));
    }
    for required in [1, last, last + 1, last + 2, last + 30, last + 1000] {
        let request = shopper.request("GET", PRODUCTS).header("x-min-catalog-seq", required);
        let answer = request.answer();
        told.push(json!([seq(&answer), answer.status, answer.body["detail"]]));
    }
    told
}

#[test]
fn what_a_shopper_is_told_of_changes_does_not_depend_on_other_shops() {
    let server = TestServer::start(&[]);
    let (shop, other) = (server.shop(), server.shop());
    let [editor, shopper] = [Role::Editor, Role::Shopper].map(|role| shop.as_role(role));
    let stranger = other.as_role(Role::Editor);
    stranger.create(product_named("Chair"));
    let id = editor.create(product_named("Sofa"));
    let last = shopper.get(PRODUCTS).expect(200).header("x-catalog-seq").unwrap().parse().unwrap();
    let before = told_of_changes(&shopper, id, last);
    assert_eq!((&before[2][1], &before[4][1]), (&json!(200), &json!(503)));
    let ids = stranger.create_all((0..30).map(|n| format!("Lamp {n}")));
    stranger.put(&product(ids[0]), json!({"price": "$7"})).expect(200);
    stranger.delete(&product(ids[1])).expect(204);
    assert_eq!(told_of_changes(&shopper, id, last), before);
    // After a restart, the numbers are read from the store; the shop's next one is its own too.
    drop((shop, other));
    let server = server.restart(&["--model-kind", "off"]);
    let [editor, shopper] = [editor, shopper].map(|client| server.client(&client.token.unwrap()));
    assert_eq!(told_of_changes(&shopper, id, last), before);
    shopper.find("sofa");
    assert_eq!(told_of_changes(&shopper, id, last), before);
    let next = editor.put(&product(id), json!({"price": "$7"})).expect(200);
    assert_eq!(next.header("x-catalog-seq"), Some(&*(last + 1).to_string()));
}
