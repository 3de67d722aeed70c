//! What operators and browsers see: health, figures, and which pages may call.

use reqwest::blocking::RequestBuilder;
use serde_json::Value;
use testkit::{
    Answer, Client, PRODUCTS, RequestExt, Role, Shop, Socket, TestServer, printed, product,
    product_named, run, until,
};

use crate::snapshot::snapshot;

const ORIGIN: &str = "https://shop.example.com";

#[test]
fn health_needs_no_token() {
    let server = TestServer::start(&[]);
    let stranger = server.stranger();
    snapshot("health_live", &stranger.get("/health/live").expect(200));
    until("readiness", || stranger.get("/health/ready").status == 200);
    snapshot("health_ready", &stranger.get("/health/ready"));
}

#[test]
fn the_command_line_prints_the_openapi_document_of_the_server() {
    let served = TestServer::start(&[]).stranger().get("/openapi.json").expect(200).body;
    let printed: Value = serde_json::from_str(&printed(run(&["openapi"], &[]))).unwrap();
    assert_eq!(printed, served);
}

/// The value of the figure that this text begins the line of, or nothing.
fn figure(metrics: &Answer, start: &str) -> Option<f64> {
    let line = metrics.text.lines().find(|line| line.starts_with(start))?;
    line.rsplit_once(' ')?.1.parse().ok()
}

#[test]
fn metrics_count_requests_by_route_and_status() {
    let server = TestServer::start(&[]);
    let editor = server.shop().as_role(Role::Editor);
    let id = editor.create(product_named("Sofa"));
    editor.get(&product(id)).expect(200);
    editor.get(&product(id)).expect(200);
    editor.get(&product(999_999)).expect(404);
    assert_eq!(editor.find("sofa"), [id]);
    editor.get("/nowhere/in/particular").expect(404);
    let metrics = server.stranger().get("/metrics").expect(200);
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4"));
    let requests = |method: &str, route: &str, status: &str| {
        let labels = [("route", route), ("method", method), ("status", status)];
        let counts = |line: &&str| {
            line.starts_with("shopkeeper_http_requests_total{")
                && labels.iter().all(|(name, value)| line.contains(&format!("{name}=\"{value}\"")))
        };
        let line = metrics.text.lines().find(counts)?;
        line.rsplit_once(' ')?.1.parse::<u64>().ok()
    };
    assert_eq!(requests("POST", PRODUCTS, "201"), Some(1));
    assert_eq!(requests("GET", "/api/v1/products/{product_id}", "200"), Some(2));
    assert_eq!(requests("GET", "/api/v1/products/{product_id}", "404"), Some(1));
    assert_eq!(requests("GET", "none", "404"), Some(1));
    assert!(!metrics.text.contains("particular"), "paths of others are no labels");
    assert!(!metrics.text.contains("/9"), "nor are ids");
    assert_eq!(figure(&metrics, "shopkeeper_index_products "), Some(1.0));
    // The product, and its vector if that was quick.
    assert!(figure(&metrics, "shopkeeper_write_group_size_count").unwrap() >= 1.0);
    assert!(figure(&metrics, "process_resident_memory_bytes ").unwrap() > 1e6);
    assert!(figure(&metrics, "shopkeeper_index_bytes ").unwrap() > 0.0);
    for name in ["shopkeeper_http_request_seconds_bucket", "shopkeeper_commit_seconds_bucket"] {
        assert!(figure(&metrics, name).is_some(), "{name}");
    }
}

#[test]
fn metrics_can_require_a_token() {
    let server = TestServer::start(&["--metrics-public", "false"]);
    let shop = server.shop();
    server.stranger().get("/metrics").refused(401, "missing_token");
    server.client("garbage").get("/metrics").refused(401, "invalid_token");
    shop.as_role(Role::Editor).get("/metrics").refused(403, "insufficient_role");
    let answer = shop.as_role(Role::Admin).get("/metrics").expect(200);
    assert!(answer.text.contains("shopkeeper_http_requests_total"));
    server.stranger().get("/health/live").expect(200);
}

#[test]
fn metrics_are_public_on_loopback_and_admin_addresses_alone() {
    let [public, private] = ["127.0.0.1:0", "0.0.0.0:0"];
    for (listen, setting, open, admin_open) in [
        (public, "auto", true, true),
        (private, "auto", false, true),
        (private, "true", true, true),
        (public, "false", false, false),
    ] {
        let flags =
            ["--listen", listen, "--admin-listen", "0.0.0.0:0", "--metrics-public", setting];
        let server = TestServer::start(&flags);
        let status = |open: bool| if open { 200 } else { 401 };
        server.stranger().get("/metrics").expect(status(open));
        server.admin().get("/metrics").expect(status(admin_open));
        let shop = server.shop();
        shop.as_role(Role::Admin).get("/metrics").expect(200);
        // The same figures, for people.
        let process =
            &shop.as_role(Role::Editor).get("/api/v1/figures").expect(200).body["process"];
        assert_eq!(process.is_object(), open, "{listen} {setting}: {process}");
        server.stranger().get("/health/ready");
        server.stranger().get("/health/live").expect(200);
    }
}

fn preflight(client: &Client, origin: &str, method: &str) -> RequestBuilder {
    client
        .request("OPTIONS", PRODUCTS)
        .header("origin", origin)
        .header("access-control-request-method", method)
        .header("access-control-request-headers", "authorization,content-type,idempotency-key")
}

/// The elements of all arrays with this name in the document.
fn values<'a>(document: &'a Value, name: &str) -> Box<dyn Iterator<Item = &'a Value> + 'a> {
    let name = name.to_owned();
    match document {
        Value::Object(fields) => {
            Box::new(fields.iter().flat_map(move |(field, value)| match value {
                Value::Array(values) if *field == name => Box::new(values.iter()),
                other => values(other, &name),
            }))
        }
        Value::Array(items) => Box::new(items.iter().flat_map(move |item| values(item, &name))),
        _ => Box::new(std::iter::empty()),
    }
}

fn allowed_origin(answer: &Answer) -> Option<&str> {
    answer.header("access-control-allow-origin")
}

#[test]
fn pages_of_a_configured_origin_may_call() {
    let server = TestServer::start(&["--cors-origins", ORIGIN]);
    let shop = server.shop();
    let answer = preflight(&server.stranger(), ORIGIN, "PUT").answer().expect(200);
    assert_eq!(allowed_origin(&answer), Some(ORIGIN));
    let list = |name: &str| {
        let list = answer.header(name).unwrap().to_ascii_lowercase();
        list.split(',').map(|item| item.trim().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(list("access-control-allow-methods"), ["get", "post", "put", "delete"]);
    let headers = list("access-control-allow-headers");
    let document = server.stranger().get("/openapi.json").expect(200).body;
    let described: Vec<_> =
        values(&document, "parameters").filter(|one| one["in"] == "header").collect();
    assert!(!described.is_empty());
    let described = described.iter().map(|one| one["name"].as_str().unwrap().to_ascii_lowercase());
    let others = ["authorization", "content-type", "x-min-catalog-seq", "x-request-id"];
    let traces = ["traceparent", "tracestate"];
    for header in described.chain(others.iter().chain(&traces).map(|name| (*name).to_owned())) {
        assert!(headers.contains(&header), "{header}");
    }
    assert_eq!(answer.header("access-control-allow-credentials"), None);

    let viewer = shop.as_role(Role::Viewer);
    let answer = viewer.request("GET", PRODUCTS).header("origin", ORIGIN).answer().expect(200);
    assert_eq!(allowed_origin(&answer), Some(ORIGIN));
    let exposed = answer.header("access-control-expose-headers").unwrap().to_ascii_lowercase();
    let described = document["components"]["headers"].as_object().unwrap().keys();
    // Browsers show this one always.
    for header in
        described.map(|name| name.to_ascii_lowercase()).filter(|name| name != "cache-control")
    {
        assert!(exposed.split(',').any(|name| name == header), "{header} in {exposed}");
    }
    // A page must be able to read what went wrong, too.
    let refused = server.stranger().request("GET", PRODUCTS).header("origin", ORIGIN).answer();
    assert_eq!(allowed_origin(&refused.refused(401, "missing_token")), Some(ORIGIN));
}

#[test]
fn pages_of_other_origins_may_not_call() {
    let server = TestServer::start(&["--cors-origins", ORIGIN]);
    let viewer = server.shop().as_role(Role::Viewer);
    for origin in ["https://evil.example.com", "http://shop.example.com", "null"] {
        let answer = preflight(&server.stranger(), origin, "GET").answer();
        assert_eq!(allowed_origin(&answer), None, "{origin}");
        let answer = viewer.request("GET", PRODUCTS).header("origin", origin).answer();
        assert_eq!(allowed_origin(&answer), None, "{origin}");
    }
}

#[test]
fn every_page_may_call_where_that_is_configured() {
    let server = TestServer::start(&["--cors-origins", "*"]);
    let answer = preflight(&server.stranger(), ORIGIN, "POST").answer().expect(200);
    assert_eq!(allowed_origin(&answer), Some("*"));
}

#[test]
fn no_page_may_call_by_default() {
    let shop = Shop::open();
    let viewer = shop.as_role(Role::Viewer);
    let answer = preflight(&viewer, ORIGIN, "GET").answer().refused(405, "method_not_allowed");
    assert_eq!(allowed_origin(&answer), None);
    let answer = viewer.request("GET", PRODUCTS).header("origin", ORIGIN).answer().expect(200);
    assert_eq!(allowed_origin(&answer), None);
}

#[test]
fn a_connection_serves_many_requests() {
    let shop = Shop::open();
    let token = shop.token(Role::Viewer);
    let mut socket = Socket::connect(&shop.server);
    for _ in 0..5 {
        assert_eq!(socket.head(&format!("GET {PRODUCTS}"), &token, &[]).answer().status, 200);
        assert_eq!(socket.head("GET /api/v1/products/x", &token, &[]).answer().status, 422);
    }
}
