//! Errors: every one is a problem that says what is wrong, for programs and for people.

use serde_json::{Value, json};
use testkit::{
    Answer, BULK, Client, NO_IDS, PRODUCTS, RequestExt, Role, SEARCH, Shop, Socket, TOKENS, editor,
    product, product_named,
};

use crate::snapshot::snapshot;

/// Every endpoint that takes a body.
fn with_body(id: u64) -> [(&'static str, String); 7] {
    [
        ("POST", PRODUCTS.to_owned()),
        ("PUT", product(id)),
        ("POST", BULK.to_owned()),
        ("PUT", BULK.to_owned()),
        ("DELETE", BULK.to_owned()),
        ("POST", SEARCH.to_owned()),
        ("POST", TOKENS.to_owned()),
    ]
}

fn send(client: &Client, method: &str, path: &str, body: impl Into<Vec<u8>>) -> Answer {
    let request = client.request(method, path).header("content-type", "application/json");
    request.body(body.into()).answer()
}

#[test]
fn what_is_not_json_is_malformed() {
    let shop = Shop::open();
    let admin = shop.as_role(Role::Admin);
    let id = admin.create(product_named("Sofa"));
    for (method, path) in with_body(id) {
        for body in [
            &b""[..],
            b"{",
            br#"{"title": "Sofa""#,
            br#"{"title": "Sofa", }"#,
            br#"{"title": "Sofa"} {}"#,
            br#"{'title': 'Sofa'}"#,
            b"{\"title\": \"\xff\"}",
            b"{\"title\": \"a\nb\"}",
            br#"{"title": "\ud800"}"#,
            br#"{"title": NaN}"#,
            b"\xef\xbb\xbf{}",
        ] {
            send(&admin, method, &path, body).refused(400, "malformed_json");
        }
    }
    assert_eq!(admin.get(PRODUCTS).total_count(), 1);
}

#[test]
fn a_field_named_twice_is_malformed_wherever_it_is() {
    let (_shop, editor) = editor();
    let twice = r#"{"title": "Sofa", "price": "$5", "title": "Sofa"}"#;
    let answer = send(&editor, "POST", PRODUCTS, twice).refused(400, "malformed_json");
    snapshot("malformed_json", &answer);
    let inner = r#"{"products": [{"title": "Sofa", "price": "$5", "price": "$6"}]}"#;
    send(&editor, "POST", BULK, inner).refused(400, "malformed_json");
    assert_eq!(editor.get(PRODUCTS).total_count(), 0);
}

#[test]
fn very_deep_json_is_refused() {
    let (_shop, editor) = editor();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    send(&editor, "POST", PRODUCTS, deep).refused(400, "malformed_json");
}

#[test]
fn a_body_needs_its_content_type() {
    let shop = Shop::open();
    let admin = shop.as_role(Role::Admin);
    let id = admin.create(product_named("Sofa"));
    for (method, path) in with_body(id) {
        for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "json"]
        {
            let request = admin.request(method, &path).header("content-type", kind).body("{}");
            request.answer().refused(415, "unsupported_media_type");
        }
        let request = admin.request(method, &path).body("{}");
        request.answer().refused(415, "unsupported_media_type");
    }
    for kind in ["application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"] {
        let request = admin.request("POST", PRODUCTS).header("content-type", kind);
        request.body(product_named("Stool").to_string()).answer().expect(201);
    }
}

#[test]
fn all_faults_are_listed_at_once() {
    let (_shop, editor) = editor();
    let body = json!({
        "title": "",
        "description": "x".repeat(20_001),
        "price": 19.99,
        "hidden": null,
        "media": [{"url": "ftp://example.com", "type": "video"}, 7],
        "colour": "red",
    });
    let answer = editor.post(PRODUCTS, body).faults(&[
        "title blank",
        "description too_long",
        "price invalid_price",
        "hidden wrong_type",
        "media[0].type unknown_type",
        "media[0].url invalid_url",
        "media[1] wrong_type",
        "colour unknown_field",
    ]);
    snapshot("validation_failed", &answer);
}

#[test]
fn a_token_that_is_missing_or_no_good_is_401() {
    let shop = Shop::open();
    let good = shop.token(Role::Admin);
    let stranger = shop.server.stranger();
    let check = |header: Option<&str>, code: &str| {
        let mut request = stranger.request("GET", PRODUCTS);
        if let Some(header) = header {
            request = request.header("authorization", header);
        }
        let answer = request.answer().refused(401, code);
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    };
    check(None, "missing_token");
    check(Some(""), "missing_token");
    check(Some("Bearer"), "missing_token");
    check(Some("Bearer "), "missing_token");
    check(Some("Basic dXNlcjpwYXNz"), "missing_token");
    check(Some(&good), "missing_token");
    check(Some("Bearer garbage"), "invalid_token");
    check(Some(&format!("Bearer {good}x")), "invalid_token");
    check(Some(&format!("Bearer {}", &good[..good.len() - 1])), "invalid_token");
    check(Some(&format!("Bearer {good} {good}")), "invalid_token");
    check(Some("Bearer shk_999999_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), "invalid_token");
    check(Some("Bearer shk_1_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), "invalid_token");
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let header = format!("{scheme} {good}");
        stranger.request("GET", PRODUCTS).header("authorization", header).answer().expect(200);
    }
}

#[test]
fn the_401_403_and_404_match_their_snapshots() {
    let shop = Shop::open();
    snapshot("missing_token", &shop.server.stranger().get(PRODUCTS));
    snapshot("invalid_token", &shop.server.client("garbage").get(PRODUCTS));
    snapshot(
        "insufficient_role",
        &shop.as_role(Role::Viewer).post(PRODUCTS, product_named("Sofa")),
    );
    snapshot("not_found", &shop.as_role(Role::Viewer).get(&product(999_999_999)));
    snapshot("method_not_allowed", &shop.as_role(Role::Viewer).request("PATCH", SEARCH).answer());
}

#[test]
fn the_token_is_checked_before_the_role_and_the_role_before_the_body() {
    let shop = Shop::open();
    let id = shop.as_role(Role::Editor).create(product_named("Sofa"));
    let (stranger, viewer) = (shop.server.stranger(), shop.as_role(Role::Viewer));
    let malformed = |client: &Client, method: &str, path: &str| {
        client.request(method, path).header("content-type", "text/plain").body("{").answer()
    };
    for (method, path) in with_body(id) {
        malformed(&stranger, method, &path).refused(401, "missing_token");
        if path == SEARCH {
            malformed(&viewer, method, &path).refused(415, "unsupported_media_type");
        } else {
            malformed(&viewer, method, &path).refused(403, "insufficient_role");
        }
    }
    for path in [format!("{PRODUCTS}/sofa"), format!("{PRODUCTS}/%ff"), product(999_999_999)] {
        stranger.delete(&path).refused(401, "missing_token");
        viewer.delete(&path).refused(403, "insufficient_role");
        viewer.put(&path, json!({})).refused(403, "insufficient_role");
    }
    stranger.request("PATCH", SEARCH).answer().refused(401, "missing_token");
    let shopper = shop.as_role(Role::Shopper);
    let body = json!({"query": "", "include_hidden": true, "limit": 0});
    shopper.post(SEARCH, body).refused(403, "insufficient_role");
}

#[test]
fn a_product_of_another_shop_does_not_exist() {
    let (_mine, mine) = editor();
    let theirs = Shop::open();
    let id = mine.create(product_named("Tambourine"));
    for role in Role::ALL {
        let client = theirs.as_role(role);
        client.get(&product(id)).refused(404, "not_found");
        assert_eq!(client.get(&format!("{PRODUCTS}?ids={id}")).expect(200).body, json!([]));
        assert_eq!(client.get(PRODUCTS).expect(200).total_count(), 0);
        assert_eq!(client.find("tambourine"), NO_IDS);
    }
    let editor = theirs.as_role(Role::Editor);
    editor.put(&product(id), json!({"title": "Drum"})).refused(404, "not_found");
    editor.delete(&product(id)).refused(404, "not_found");
    assert_eq!(mine.get(&product(id)).expect(200).body["title"], "Tambourine");
}

#[test]
fn an_unknown_address_is_not_found() {
    let (_shop, editor) = editor();
    for path in ["/api", "/api/v1", "/api/v2/products", "/v1/", "/products", "/api/v1/product"] {
        editor.get(path).refused(404, "not_found");
    }
    for path in [format!("{PRODUCTS}/"), format!("{PRODUCTS}/1/media"), format!("{TOKENS}/1/2")] {
        editor.get(&path).refused(404, "not_found");
    }
}

#[test]
fn a_known_path_says_which_methods_it_takes() {
    let (_shop, editor) = editor();
    for (method, path, allowed) in [
        ("PUT", PRODUCTS.to_owned(), "GET HEAD POST"),
        ("DELETE", PRODUCTS.to_owned(), "GET HEAD POST"),
        ("POST", product(1), "DELETE GET HEAD PUT"),
        ("PATCH", product(1), "DELETE GET HEAD PUT"),
        ("GET", BULK.to_owned(), "DELETE POST PUT"),
        ("GET", SEARCH.to_owned(), "POST"),
        ("PUT", TOKENS.to_owned(), "GET HEAD POST"),
        ("GET", format!("{TOKENS}/1"), "DELETE"),
        ("POST", "/health/live".to_owned(), "GET HEAD"),
        ("BREW", PRODUCTS.to_owned(), "GET HEAD POST"),
    ] {
        let answer = editor.request(method, &path).answer().refused(405, "method_not_allowed");
        let mut found: Vec<_> = answer.header("allow").unwrap().split(',').map(str::trim).collect();
        found.sort_unstable();
        assert_eq!(found.join(" "), allowed, "{method} {path}");
    }
}

#[test]
fn a_valid_request_id_is_kept_and_an_invalid_one_replaced() {
    let (_shop, editor) = editor();
    let with_id = |id: &str| {
        let answer = editor.request("GET", &product(999_999_999)).header("x-request-id", id);
        answer.answer().refused(404, "not_found").header("x-request-id").unwrap().to_owned()
    };
    for sane in ["abc", "0af7651916cd43dd8448eb211c80319c", "a-b_c.d:e", &"x".repeat(128)] {
        assert_eq!(with_id(sane), sane);
    }
    for insane in ["", "a b", "<script>", "a\"b", "ünïcode", &"x".repeat(129)] {
        assert_ne!(with_id(insane), insane);
    }
    let ids: std::collections::BTreeSet<_> = (0..20).map(|_| with_id("no good")).collect();
    assert_eq!(ids.len(), 20);
}

#[test]
fn a_body_over_the_limit_is_refused_by_its_announcement() {
    let shop = Shop::open();
    let token = shop.token(Role::Editor);
    let mut socket = Socket::connect(&shop.server);
    // Not a byte of the body is sent, so the answer cannot have waited for any.
    let length = format!("Content-Length: {}", 4 * 1024 * 1024 + 1);
    socket.head(&format!("POST {PRODUCTS}"), &token, &[&length]);
    socket.answer().refused(413, "body_too_large");
}

#[test]
fn a_client_that_asks_first_is_not_told_to_send_too_large_a_body() {
    let shop = Shop::open();
    let token = shop.token(Role::Editor);
    let mut socket = Socket::connect(&shop.server);
    let headers = ["Expect: 100-continue", "Content-Length: 99999999"];
    socket.head(&format!("POST {PRODUCTS}"), &token, &headers);
    socket.answer().refused(413, "body_too_large");
}

#[test]
fn a_body_over_the_limit_is_refused_as_it_arrives() {
    let shop = Shop::open();
    let token = shop.token(Role::Editor);
    let mut socket = Socket::connect(&shop.server);
    socket.head(&format!("POST {PRODUCTS}"), &token, &["Transfer-Encoding: chunked"]);
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20));
    for _ in 0..4 {
        socket.send(&chunk);
    }
    // One byte more than allowed, and the end of the body never comes.
    socket.send("1\r\n \r\n");
    socket.answer().refused(413, "body_too_large");
}

#[test]
fn a_body_of_exactly_the_limit_is_read() {
    let (_shop, editor) = editor();
    let mut body = product_named("Sofa").to_string();
    body.extend(std::iter::repeat_n(' ', 4 * 1024 * 1024 - body.len()));
    send(&editor, "POST", PRODUCTS, body).expect(201);
}

#[test]
fn a_client_that_still_sends_a_refused_body_gets_the_answer() {
    let shop = Shop::open();
    let token = shop.token(Role::Editor);
    let body = " ".repeat(16 * 1024 * 1024);
    let length = format!("Content-Length: {}", body.len());
    for (token, status, code) in
        [(token.as_str(), 413, "body_too_large"), ("garbage", 401, "invalid_token")]
    {
        for _ in 0..5 {
            let mut socket = Socket::connect(&shop.server);
            socket.head(&format!("POST {PRODUCTS}"), token, &[&length]).send(&body);
            socket.answer().refused(status, code);
        }
    }
}

#[test]
fn faults_of_one_element_name_no_other_field() {
    let (_shop, editor) = editor();
    let answer = editor.post(PRODUCTS, json!({"title": "Sofa"})).faults(&["price required"]);
    assert_eq!(answer.body["detail"], "price: is required");
    assert_eq!(answer.body["errors"].as_array().map(Vec::len), Some(1));
    let not_found = editor.get(&product(999_999_999));
    assert_eq!(not_found.body.get("errors"), None::<&Value>);
}
