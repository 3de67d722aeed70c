//! Nothing unbounded is sent, stored or kept in memory.

use serde_json::{Value, json};
use testkit::{
    Answer, BULK, Client, PRODUCTS, RequestExt, Role, SEARCH, Socket, TestServer, editor,
    product_named, until,
};

/// More than any error needs to say what was wrong.
const SMALL: usize = 64 << 10;

fn is_long() -> bool {
    std::env::var("HARDENING").is_ok_and(|form| form == "long")
}

/// An object with this many fields that no schema has, as JSON text.
fn unknown_fields(count: usize) -> String {
    let fields: Vec<_> = (0..count).map(|n| format!("\"f{n}\":1")).collect();
    format!("{{{}}}", fields.join(","))
}

fn send(client: &Client, path: &str, body: String) -> Answer {
    client.request("POST", path).header("content-type", "application/json").body(body).answer()
}

#[test]
fn an_object_with_more_fields_than_any_schema_gets_a_short_refusal() {
    let (shop, editor) = editor();
    let shopper = shop.as_role(Role::Shopper);
    let body = unknown_fields(300_000);
    for (client, path) in [(&shopper, SEARCH), (&editor, PRODUCTS), (&editor, BULK)] {
        let answer = send(client, path, body.clone()).refused(422, "validation_failed");
        assert!(answer.text.len() < SMALL, "{path}: {} bytes", answer.text.len());
    }
    let in_an_element = format!("{{\"products\":[{{\"title\":\"Sofa\",\"media\":[{body}]}}]}}");
    let answer = send(&editor, BULK, in_an_element).refused(422, "validation_failed");
    assert!(answer.text.len() < SMALL, "{} bytes", answer.text.len());
    let arguments = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\
         \"params\":{{\"name\":\"search_products\",\"arguments\":{body}}}}}"
    );
    let answer = send(&shopper, "/mcp", arguments);
    assert!(answer.text.len() < SMALL, "/mcp: {} bytes", answer.text.len());
}

/// Many small objects or values take many times their length as a tree.
#[test]
fn a_body_of_countless_values_is_refused_while_it_is_read() {
    let (_shop, editor) = editor();
    for value in ["{\"\":0}", "[]", "0", "\"\""] {
        let values = vec![value; (3 << 20) / (value.len() + 1)].join(",");
        let body = format!("{{\"title\":\"Sofa\",\"price\":\"$5\",\"id\":[{values}]}}");
        let answer = send(&editor, PRODUCTS, body).refused(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["code"], "too_many", "{}", answer.text);
    }
}

#[test]
fn at_most_100_faults_are_listed_and_the_others_counted() {
    let (_shop, editor) = editor();
    let media: Vec<Value> =
        (0..20).map(|_| serde_json::from_str(&unknown_fields(10)).unwrap()).collect();
    let answer = editor.post(PRODUCTS, json!({"price": "$5", "media": media}));
    let answer = answer.refused(422, "validation_failed");
    // Of each picture ten unknown fields and two that are missing, and the title.
    assert_eq!(answer.body["errors"].as_array().unwrap().len(), 100);
    assert_eq!(answer.body["errors_omitted"], 20 * 12 + 1 - 100);
    assert_eq!(answer.body["detail"], "241 things are wrong with the request");

    let few = editor.post(PRODUCTS, json!({"price": 5})).refused(422, "validation_failed");
    assert_eq!(few.body["errors"].as_array().unwrap().len(), 2);
    assert_eq!(few.body.get("errors_omitted"), None);

    let query: Vec<_> = (0..2000).map(|n| n.to_string()).collect();
    let answer = editor.get(&format!("{PRODUCTS}?{}", query[..1500].join("&")));
    let answer = answer.refused(422, "validation_failed");
    assert!(answer.text.len() < SMALL, "{} bytes", answer.text.len());
}

#[test]
fn bulk_faults_are_bounded_and_name_every_element() {
    let (_shop, editor) = editor();
    let bad: Value = serde_json::from_str(&unknown_fields(90)).unwrap();
    let mut elements = vec![bad; 99];
    elements.push(product_named("Sofa"));
    let body = json!({"products": elements});
    let create = || {
        let request = editor.request("POST", BULK).header("idempotency-key", "bounded");
        request.json(&body).answer().expect(201)
    };
    let first = create();
    assert_eq!(first.body["created_count"], 1);
    let errors = first.body["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 100);
    let mut indexes: Vec<_> = errors.iter().map(|error| error["index"].as_u64().unwrap()).collect();
    assert!(indexes.is_sorted());
    indexes.dedup();
    assert_eq!(indexes, (0..99).collect::<Vec<_>>());
    // Every element lacks a title and a price besides.
    assert_eq!(first.body["errors_omitted"], 99 * 92 - 100);
    assert!(first.text.len() < SMALL, "{} bytes", first.text.len());
    assert_eq!(create().text, first.text, "what was stored is what was said");

    let elements = body["products"].as_array().unwrap()[..99].to_vec();
    let answer = editor.put(BULK, json!({"products": elements})).expect(200);
    assert_eq!(answer.body["errors"].as_array().unwrap().len(), 100);
    assert!(answer.text.len() < SMALL, "{} bytes", answer.text.len());
}

#[test]
fn what_was_sent_is_not_repeated_at_length() {
    let (_shop, editor) = editor();
    let name = "\u{7f}".repeat(1 << 20);
    let fields = json!({"title": "Sofa", "price": "$5", &name: 1}).to_string();
    let twice = format!("{{{0}:1,{0}:2}}", json!(name));
    for body in [fields.clone(), twice] {
        let answer = send(&editor, PRODUCTS, body);
        assert!([400, 422].contains(&answer.status), "{}", answer.status);
        assert!(answer.text.len() < 4096, "{} bytes", answer.text.len());
    }
    let answer = send(&editor, BULK, format!("{{\"products\":[{fields}]}}")).expect(201);
    assert!(answer.text.len() < 4096, "{} bytes", answer.text.len());

    let call = |tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        editor.post("/mcp", message)
    };
    for answer in [
        call(&name, json!({})),
        call("search_products", json!({"query": "x", &name: 1})),
        editor.post("/mcp", json!({"jsonrpc": "2.0", "id": 1, "method": name, "params": {}})),
    ] {
        assert!(answer.text.len() < 4096, "{} bytes: {:.300}", answer.text.len(), answer.text);
    }
    let ids = "%22%7f".repeat(1000);
    let answer = editor.get(&format!("{PRODUCTS}?ids={ids}")).refused(422, "validation_failed");
    assert!(answer.text.len() < 4096, "{} bytes", answer.text.len());
}

/// Clients that ask for a lot and read nothing: what waits for them is bounded, and other shops
/// do not notice.
#[test]
fn responses_that_are_not_read_hold_bounded_memory() {
    let server = TestServer::start(&["--limits-response-memory", "64MiB"]);
    let (greedy, other) = (server.shop(), server.shop());
    let editor = greedy.as_role(Role::Editor);
    // About 50 kB each: a page of 100 is 5 MB, and six of them fit into the shop's half.
    let description = "\u{1F6CB} ".repeat(9_999);
    for _ in 0..10 {
        let element = json!({"title": "Sofa", "price": "$5", "description": description});
        let answer = editor.post(BULK, json!({"products": vec![element; 10]})).expect(201);
        assert_eq!(answer.body["created_count"], 10);
    }
    let neighbour = other.as_role(Role::Editor);
    let lamp = neighbour.create(product_named("Lamp"));
    let page = format!("GET {PRODUCTS}?limit=100");
    let token = editor.token.clone().unwrap();
    let mut sockets = Vec::new();
    for _ in 0..12 {
        let mut socket = Socket::connect(&server);
        socket.head(&page, &token, &[]);
        sockets.push(socket);
    }
    // Those that find no room are told at once; they are small, so they arrive.
    until("a refusal", || editor.get(&format!("{PRODUCTS}?limit=100")).status == 503);
    let refused = editor.get(&format!("{PRODUCTS}?limit=100")).refused(503, "unavailable");
    assert!(refused.header("retry-after").is_some());
    editor.get(&format!("{PRODUCTS}?limit=1")).expect(200);
    neighbour.get(&format!("{PRODUCTS}/{lamp}")).expect(200);
    neighbour.create(product_named("Chair"));
    let resident = server.resident_bytes();
    assert!(resident < 300 << 20, "{} MiB", resident >> 20);
    drop(sockets);
    until("room again", || editor.get(&format!("{PRODUCTS}?limit=100")).status == 200);
}

#[test]
fn a_title_has_at_most_1000_characters_as_sent() {
    let (_shop, editor) = editor();
    let padded = |total: usize| format!("Sofa{}", " ".repeat(total - 4));
    let (longest, too_long) = (padded(1000), padded(1001));
    let id = editor.create(json!({"title": longest, "price": "$5"}));
    assert_eq!(editor.get(&format!("{PRODUCTS}/{id}")).expect(200).body["title"], longest);
    let check = |answer: Answer| {
        let answer = answer.refused(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["field"], "title");
        assert_eq!(answer.body["errors"][0]["code"], "too_long");
        assert!(answer.text.len() < 4096);
    };
    for title in [too_long, padded(3 << 20), "\u{3000}".repeat(1001) + "x"] {
        let body = json!({"title": title, "price": "$5"});
        check(editor.post(PRODUCTS, body.clone()));
        check(editor.put(&format!("{PRODUCTS}/{id}"), json!({"title": title})));
        let bulk = editor.post(BULK, json!({"products": [body]})).expect(201);
        assert_eq!(
            (&bulk.body["created_count"], &bulk.body["errors"][0]["code"]),
            (&json!(0), &json!("too_long"))
        );
        let edit = json!({"products": [{"id": id, "title": title}]});
        let bulk = editor.put(BULK, edit).expect(200);
        assert_eq!(bulk.body["errors"][0]["code"], "too_long");
        let params =
            json!({"name": "create_product", "arguments": {"title": title, "price": "$5"}});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let told = editor.post("/mcp", message).expect(200);
        assert_eq!(told.body["result"]["isError"], true);
    }
    assert_eq!(editor.get(PRODUCTS).total_count(), 1);
}

/// The same holds for other texts around which white space does not count.
#[test]
fn padding_counts_wherever_a_text_is_trimmed() {
    let (shop, editor) = editor();
    let spaces = " ".repeat(1 << 20);
    let body = json!({"title": "Sofa", "price": format!("$5{spaces}")});
    editor.post(PRODUCTS, body).refused(422, "validation_failed");
    let media = json!([{"url": format!("{spaces}https://example.com/a.jpg"), "type": "image"}]);
    let body = json!({"title": "Sofa", "price": "$5", "media": media});
    editor.post(PRODUCTS, body).refused(422, "validation_failed");
    let body = json!({"query": format!("sofa{spaces}")});
    editor.post(SEARCH, body).refused(422, "validation_failed");
    let admin = shop.as_role(Role::Admin);
    let body = json!({"role": "VIEWER", "name": format!("till{spaces}")});
    admin.post("/api/v1/tokens", body).refused(422, "validation_failed");
}

/// Measurements that no one fetches take no more memory than those that are.
#[test]
fn memory_does_not_grow_with_searches_when_metrics_are_not_scraped() {
    let server = TestServer::start(&[]);
    let editor = server.shop().as_role(Role::Editor);
    editor.create(product_named("Sofa"));
    let token = editor.token.clone().unwrap();
    let searches = if is_long() { 300_000 } else { 3_000 };
    let body = json!({"query": "sofa"}).to_string();
    let request = |socket: &mut Socket| {
        let length = format!("Content-Length: {}", body.len());
        socket.head(&format!("POST {SEARCH}"), &token, &[&length]).send(&body);
        assert_eq!(socket.answer().status, 200);
    };
    let mut socket = Socket::connect(&server);
    for _ in 0..searches / 10 {
        request(&mut socket);
    }
    let before = server.resident_bytes();
    for _ in 0..searches {
        request(&mut socket);
    }
    // Without upkeep, 91 bytes gather with each search: 27 MB in the long form.
    let grown = server.resident_bytes().saturating_sub(before);
    assert!(grown < 8 << 20, "{} kB for {searches} searches", grown >> 10);
}
