//! What the protocol asks for: greetings, versions, messages that are none, and who is let in.

use serde_json::{Value, json};
use testkit::{Answer, Client, RequestExt, Role, SEARCH, Shop, TOKENS, TestServer};

use super::{MCP, MODERN, VERSION, ask, done, message, post, result};
use crate::snapshot::snapshot;

const ORIGIN: &str = "https://assistant.example.com";

fn greeting(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}})
}

fn say_hello(client: &Client) -> Answer {
    client.request("POST", MCP).json(&message("initialize", greeting(VERSION))).answer()
}

#[test]
fn initialize_is_answered_without_a_session() {
    let shop = Shop::open();
    let mut answer = say_hello(&shop.as_role(Role::Shopper)).expect(200);
    assert_eq!(answer.header("mcp-session-id"), None, "any node can answer the next message");
    let instructions = answer.body["result"]["instructions"].as_str().unwrap();
    assert!(instructions.contains("SHOPPER"), "{instructions}");
    assert!(instructions.contains(&format!("shop {}", shop.number)), "{instructions}");
    answer.body["result"]["instructions"] = json!("[instructions]");
    answer.body["result"]["serverInfo"]["version"] = json!("[version]");
    snapshot("mcp_initialize", &answer);

    let hello = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let answer = post(&shop.as_role(Role::Shopper), &hello).answer().expect(202);
    assert_eq!(answer.text, "");
}

#[test]
fn a_client_of_an_unknown_version_is_offered_a_supported_one() {
    let shop = Shop::open();
    let viewer = shop.as_role(Role::Viewer);
    for (asked, offered) in [("2024-11-05", "2024-11-05"), (VERSION, VERSION)] {
        let request = viewer.request("POST", MCP).json(&message("initialize", greeting(asked)));
        let answer = request.answer().expect(200);
        assert_eq!(answer.body["result"]["protocolVersion"], offered);
    }
    let request = viewer.request("POST", MCP).json(&message("initialize", greeting("1999-01-01")));
    let offered = request.answer().expect(200).body["result"]["protocolVersion"].take();
    assert!(offered.as_str().unwrap() >= VERSION, "{offered}");

    let request = viewer.request("POST", MCP).header("mcp-protocol-version", "1999-01-01");
    let answer = request.json(&message("tools/list", json!({}))).answer();
    snapshot("mcp_version", &answer.refused(400, "unsupported_protocol_version"));
}

/// The newest version has no greeting: a message carries what there is to know.
#[test]
fn messages_of_the_newest_version_need_no_initialize() {
    let shop = Shop::open();
    let shopper = shop.as_role(Role::Shopper);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {}});
    let modern = |method: &str, params: Value| {
        let request = shopper.request("POST", MCP).header("mcp-protocol-version", MODERN);
        let request = match params["name"].as_str() {
            Some(name) => request.header("mcp-name", name),
            None => request,
        };
        let mut params = params;
        params["_meta"] = meta.clone();
        let request = request.header("mcp-method", method).json(&message(method, params));
        request.answer().expect(200).body["result"].take()
    };
    let versions = modern("server/discover", json!({}))["supportedVersions"].take();
    assert!(versions.as_array().unwrap().contains(&json!(MODERN)), "{versions}");
    let tools = modern("tools/list", json!({}));
    assert_eq!(tools["tools"].as_array().unwrap().len(), 3);
    assert_eq!(tools["cacheScope"], "private", "another token has other tools");
    let search = json!({"name": "search_products", "arguments": {"query": "sofa"}});
    assert_eq!(modern("tools/call", search)["structuredContent"]["total"], 0);
}

#[test]
fn without_a_good_token_nothing_is_answered() {
    let shop = Shop::open();
    let answer = say_hello(&shop.server.stranger()).refused(401, "missing_token");
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    snapshot("mcp_missing_token", &answer);
    say_hello(&shop.server.client("shk_nonsense")).refused(401, "invalid_token");

    let admin = shop.as_role(Role::Admin);
    let token = admin.post(TOKENS, json!({"role": "VIEWER"})).expect(201);
    let viewer = shop.server.client(token.body["token"].as_str().unwrap());
    result(&viewer, "tools/list", json!({}));
    admin.delete(&format!("{TOKENS}/{}", token.id())).expect(204);
    say_hello(&viewer).refused(401, "invalid_token");
}

#[test]
fn there_are_no_streams_and_no_sessions() {
    let shop = Shop::open();
    let viewer = shop.as_role(Role::Viewer);
    for method in ["GET", "DELETE", "PUT"] {
        let answer = viewer.request(method, MCP).answer().refused(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), Some("POST"), "{method}");
    }
}

#[test]
fn an_invalid_message_is_a_problem_document() {
    let shop = Shop::open();
    let viewer = shop.as_role(Role::Viewer);
    let send = |kind: &str, body: &str| {
        let request = viewer.request("POST", MCP).header("content-type", kind);
        request.body(body.to_owned()).answer()
    };
    send("application/json", "{\"jsonrpc\"").refused(400, "malformed_json");
    send("application/json", r#"{"jsonrpc": "2.0", "jsonrpc": "2.0"}"#)
        .refused(400, "malformed_json");
    send("text/plain", "{}").refused(415, "unsupported_media_type");
    for body in ["[]", "17", "{}", r#"{"id": 1, "method": "ping"}"#] {
        send("application/json", body).faults(&["- wrong_type"]);
    }
}

#[test]
fn unknown_methods_are_protocol_errors() {
    let shop = Shop::open();
    let viewer = shop.as_role(Role::Viewer);
    let error = |method: &str, params: Value| ask(&viewer, method, params).body["error"].take();
    let unknown_tool = error("tools/call", json!({"name": "drop_products", "arguments": {}}));
    assert_eq!(unknown_tool["code"], -32602);
    assert_eq!(
        unknown_tool["message"],
        "unknown tool \"drop_products\"; expected one of search_products, get_product, list_products"
    );
    assert_eq!(error("shop/close", json!({}))["code"], -32601);
    assert_eq!(error("resources/read", json!({"uri": "file:///etc/passwd"}))["code"], -32601);
    result(&viewer, "ping", json!({}));
}

#[test]
fn limits_hold_here_too() {
    let server = TestServer::start(&[
        "--limits-body-bytes",
        "1KiB",
        "--rate-limit-requests-per-second",
        "1",
        "--rate-limit-burst",
        "3",
    ]);
    let shop = server.shop();
    let long = json!({"name": "search_products", "arguments": {"query": "x".repeat(1024)}});
    let answer = post(&shop.as_role(Role::Viewer), &message("tools/call", long)).answer();
    answer.refused(413, "body_too_large");

    let eager = shop.as_role(Role::Viewer);
    let refused = (0..100).map(|_| say_hello(&eager)).find(|answer| answer.status != 200).unwrap();
    refused.refused(429, "rate_limited");
}

#[test]
fn requests_of_other_origins_are_refused() {
    let from = |client: &Client, origin: &str| {
        let list = message("tools/list", json!({}));
        post(client, &list).header("origin", origin).answer()
    };
    let shop = Shop::open();
    let viewer = shop.as_role(Role::Viewer);
    // A DNS rebinding attack sends its own name as host and as origin.
    let own = format!("http://{}", shop.server.address());
    for origin in [ORIGIN, "null", &own] {
        let answer = from(&viewer, origin).refused(403, "origin_not_allowed");
        snapshot("mcp_origin", &answer);
    }

    let server = TestServer::start(&["--cors-origins", ORIGIN]);
    let viewer = server.shop().as_role(Role::Viewer);
    let answer = from(&viewer, ORIGIN).expect(200);
    assert_eq!(answer.header("access-control-allow-origin"), Some(ORIGIN));
    from(&viewer, "https://evil.example.com").refused(403, "origin_not_allowed");
    let preflight = server.stranger().request("OPTIONS", MCP);
    let preflight =
        preflight.header("origin", ORIGIN).header("access-control-request-method", "POST");
    let allowed = preflight.answer().expect(200);
    let allowed = allowed.header("access-control-allow-headers").unwrap().to_ascii_lowercase();
    for header in ["mcp-protocol-version", "mcp-method", "mcp-name", "authorization"] {
        assert!(allowed.contains(header), "{header} in {allowed}");
    }
}

/// Messages carry the headers that say how new an answer is, as all answers to a shop do.
#[test]
fn a_search_can_demand_a_sequence_number() {
    let shop = Shop::open();
    let editor = shop.as_role(Role::Editor);
    let arguments =
        json!({"name": "create_product", "arguments": {"title": "Sofa", "price": "$5"}});
    let created = ask(&editor, "tools/call", arguments);
    let seq = created.header("x-catalog-seq").unwrap();
    let request = editor.request("POST", SEARCH).header("x-min-catalog-seq", seq);
    assert_eq!(request.json(&json!({"query": "sofa"})).answer().expect(200).body["total"], 1);
    done(&editor, "get_product", json!({"id": created.body["result"]["structuredContent"]["id"]}));
}
