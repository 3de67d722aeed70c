//! Heads of requests and of answers: `Host`, and what every answer has.

use testkit::{PRODUCTS, RequestExt, Role, Shop, Socket, TestServer};

/// A request for the liveness with these headers.
fn live(version: &str, target: &str, headers: &[&str]) -> String {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    format!("GET {target} HTTP/{version}\r\n{headers}\r\n")
}

#[test]
fn a_request_names_one_host() {
    let server = TestServer::start(&["--admin-listen", "127.0.0.1:0"]);
    let path = "/health/live";
    let absolute = "http://shop.example/health/live";
    for connect in [Socket::connect, Socket::connect_to_admin] {
        for (version, target, headers) in [
            ("1.1", path, &["Host: shop"][..]),
            ("1.1", path, &["Host: shop.example:7700"]),
            ("1.1", path, &["Host: [::1]:7700"]),
            ("1.1", path, &["Host:"]),
            // The host of the target counts, and the header is sent nevertheless.
            ("1.1", absolute, &["Host: shop.example"]),
            ("1.1", absolute, &["Host: other.example"]),
            ("1.0", path, &[]),
            ("1.0", path, &["Host: shop"]),
        ] {
            let answer = connect(&server).send(live(version, target, headers)).answer();
            assert_eq!(answer.status, 200, "{version} {target} {headers:?}");
        }
        for (version, target, headers) in [
            ("1.1", path, &[][..]),
            ("1.1", absolute, &[]),
            ("1.1", path, &["Host: shop", "Host: shop"]),
            ("1.1", path, &["Host: shop", "Host: other"]),
            ("1.0", path, &["Host: shop", "Host: other"]),
            ("1.1", path, &["Host: shop, other"]),
            ("1.1", path, &["Host: user@shop"]),
            ("1.1", path, &["Host: a/b"]),
        ] {
            let request = live(version, target, headers);
            connect(&server).send(request).answer().refused(400, "invalid_host");
        }
    }
}

#[test]
fn a_request_without_host_reaches_nothing() {
    let shop = Shop::open();
    let token = shop.token(Role::Viewer);
    for path in [PRODUCTS, "/metrics", "/docs", "/nowhere"] {
        let request = format!("GET {path} HTTP/1.1\r\nAuthorization: Bearer {token}\r\n\r\n");
        let answer = Socket::connect(&shop.server).send(request).answer();
        answer.refused(400, "invalid_host");
    }
}

/// [`testkit::Answer`] checks the header of every answer; here are kinds that other tests lack.
#[test]
fn no_answer_is_sniffed() {
    let origin = "https://shop.example.com";
    let flags = ["--cors-origins", origin, "--admin-listen", "127.0.0.1:0"];
    let server = TestServer::start(&flags);
    let (stranger, admin) = (server.stranger(), server.admin());
    for path in ["/", "/docs", "/openapi.json", "/metrics", "/health/live", "/nowhere", PRODUCTS] {
        let request = |method| stranger.request(method, path).answer();
        request("GET");
        request("HEAD");
        request("BREW");
        let preflight = stranger.request("OPTIONS", path).header("origin", origin);
        preflight.header("access-control-request-method", "GET").answer().expect(200);
        admin.get(path);
    }
    let page = stranger.get("/docs").expect(200);
    let copy = stranger.request("GET", "/docs").header("if-none-match", page.etag());
    copy.answer().expect(304);
}
