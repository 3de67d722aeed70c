//! What `shopkeeper demo` adds: a shop that is there at once, its tokens, its pictures.

use serde_json::json;
use testkit::{
    Answer, Client, PRODUCTS, RequestExt, Role, SEARCH, Shop, TOKENS, TestServer, product_named,
};

/// The token that the demo printed for this role.
fn printed_token(printed: &str, role: Role) -> &str {
    let line = printed.lines().find_map(|line| line.trim().strip_prefix(role.name()));
    line.unwrap_or_else(|| panic!("no token for {role:?} in {printed}")).trim()
}

fn bearer(server: &TestServer, printed: &str, role: Role) -> Client {
    server.client(printed_token(printed, role))
}

fn count(client: &Client) -> usize {
    client.get(&format!("{PRODUCTS}?limit=1")).expect(200).total_count()
}

fn picture_of(answer: &Answer) -> String {
    answer.body["media"][0]["url"].as_str().unwrap().to_owned()
}

#[test]
fn the_demo_shop_is_there_at_once_and_its_tokens_have_their_roles() {
    let (server, printed) = TestServer::start_demo(&[]);
    assert!(printed.contains(&format!("http://{}/", server.address())), "{printed}");
    let as_role = |role| bearer(&server, &printed, role);
    assert!(count(&as_role(Role::Viewer)) > count(&as_role(Role::Shopper)), "some are hidden");
    let shopper = as_role(Role::Shopper);
    assert!(shopper.post(SEARCH, json!({"query": "scarf"})).expect(200).body["total"] != 0);
    shopper.post(PRODUCTS, product_named("Mine")).refused(403, "insufficient_role");
    as_role(Role::Viewer).post(PRODUCTS, product_named("Mine")).refused(403, "insufficient_role");
    as_role(Role::Editor).post(PRODUCTS, product_named("Mine")).expect(201);
    as_role(Role::Editor).get(TOKENS).refused(403, "insufficient_role");
    as_role(Role::Admin).get(TOKENS).expect(200);
    let admin = printed_token(&printed, Role::Admin);
    assert!(printed.contains(&format!("export TOKEN={admin}\n")), "{printed}");
}

#[test]
fn a_second_start_adds_nothing_renews_the_tokens_and_moves_the_pictures() {
    let (server, printed) = TestServer::start_demo(&[]);
    let editor = bearer(&server, &printed, Role::Editor);
    let stocked = count(&editor);
    let first = editor.get(&format!("{PRODUCTS}?limit=1")).expect(200).ids()[0];
    let place = format!("http://{}/demo/images/", server.address());
    let first = format!("{PRODUCTS}/{first}");
    let picture = picture_of(&editor.get(&first));
    let path = picture.strip_prefix(&place).unwrap_or_else(|| panic!("{picture}")).to_owned();
    let mine = editor.create(product_named("Mine"));
    let named = server.token_command(&["create", "--shop", "1", "--role", "VIEWER", "--name", "x"]);
    let named = testkit::printed(named).trim().to_owned();

    let (server, again) = server.restart_demo(&["--public-url", "https://demo.example.com/shop/"]);
    let editor = bearer(&server, &again, Role::Editor);
    assert_eq!(count(&editor), stocked + 1, "nothing is loaded again");
    editor.get(&format!("{PRODUCTS}/{mine}")).expect(200);
    for role in Role::ALL {
        let old = server.client(printed_token(&printed, role));
        old.get(PRODUCTS).refused(401, "invalid_token");
    }
    server.client(&named).get(PRODUCTS).expect(200);
    let moved = picture_of(&editor.get(&first));
    assert_eq!(moved, format!("https://demo.example.com/shop/demo/images/{path}"));
    assert!(again.contains("https://demo.example.com/shop/"), "{again}");
}

/// How many products the tables of the demo have.
fn written() -> usize {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../demo/catalog");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| std::fs::read_to_string(path).unwrap().lines().count() - 1).sum()
}

#[test]
fn an_interrupted_start_leaves_no_partial_shop() {
    let (server, printed) = TestServer::start_demo_after_a_crash();
    assert_eq!(count(&bearer(&server, &printed, Role::Viewer)), written());
}

#[test]
fn a_browser_gets_a_shoppers_token() {
    let (server, printed) = TestServer::start_demo(&[]);
    let session = server.stranger().get("/demo/session").expect(200);
    assert_eq!(session.header("cache-control"), Some("no-store"));
    assert_eq!(session.body["token"], printed_token(&printed, Role::Shopper));
    assert_eq!(session.body["role"], "SHOPPER");
    assert_eq!(session.body["shop"], 1);
    let pictures = session.body["pictures"].as_str().unwrap();
    let shopper = bearer(&server, &printed, Role::Shopper);
    let first = shopper.get(&format!("{PRODUCTS}?limit=1")).expect(200);
    assert!(first.body[0]["media"][0]["url"].as_str().unwrap().starts_with(pictures));
}

#[test]
fn pictures_are_served_as_images_that_can_do_nothing_else() {
    let (server, _) = TestServer::start_demo(&[]);
    let stranger = server.stranger();
    let picture = stranger.get("/demo/images/navy/scarf.svg").expect(200);
    assert_eq!(picture.header("content-type"), Some("image/svg+xml"));
    assert_eq!(picture.header("content-security-policy"), Some("default-src 'none'"));
    assert_eq!(picture.header("x-content-type-options"), Some("nosniff"));
    assert_ne!(picture.text, stranger.get("/demo/images/scarf.svg").expect(200).text, "its tint");
    let again = stranger.request("GET", "/demo/images/navy/scarf.svg");
    again.header("if-none-match", picture.etag()).answer().expect(304);
    for path in ["nothing.svg", "scarf", "plaid/scarf.svg", "navy/", "navy/scarf/x.svg"] {
        stranger.get(&format!("/demo/images/{path}")).expect(404);
    }
}

#[test]
fn a_real_shop_has_no_demo() {
    let shop = Shop::open();
    for path in ["/demo/session", "/demo/images/scarf.svg"] {
        shop.server.stranger().get(path).refused(404, "not_found");
    }
}
