//! The pages for people, as a browser is handed them. What they do is tested in a browser.

use testkit::{Answer, Client, RequestExt, Shop, TestServer};

const PAGES: [&str; 3] = ["/", "/preview", "/admin"];

/// The addresses that a page loads.
fn parts(page: &Answer) -> Vec<String> {
    let named = page.text.split(['"']).filter(|text| text.starts_with("/assets/"));
    named.map(str::to_owned).collect()
}

fn policy(client: &Client) -> String {
    client.get("/preview").expect(200).header("content-security-policy").unwrap().to_owned()
}

#[test]
fn pages_are_guarded() {
    let shop = Shop::open();
    let stranger = shop.server.stranger();
    for path in PAGES {
        let page = stranger.get(path).expect(200);
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(page.header("cross-origin-opener-policy"), Some("same-origin"));
        let policy = page.header("content-security-policy").unwrap();
        for rule in
            ["default-src 'none'", "script-src 'self'", "img-src 'self'", "frame-ancestors 'none'"]
        {
            assert!(policy.split("; ").any(|part| part == rule), "{path}: {rule} in {policy}");
        }
    }
}

#[test]
fn pages_are_revalidated_and_assets_are_cached() {
    let shop = Shop::open();
    let stranger = shop.server.stranger();
    for path in PAGES {
        let page = stranger.get(path).expect(200);
        assert_eq!(page.header("cache-control"), Some("no-cache"));
        let tag = page.header("etag").unwrap().to_owned();
        stranger.request("GET", path).header("if-none-match", &tag).answer().expect(304);
        for address in parts(&page) {
            let part = stranger.get(&address).expect(200);
            assert!(part.header("cache-control").unwrap().contains("immutable"), "{address}");
            assert_eq!(part.header("x-content-type-options"), Some("nosniff"));
            let kind = match address.rsplit_once('.').unwrap().1 {
                "js" => "text/javascript; charset=utf-8",
                "css" => "text/css; charset=utf-8",
                _ => "image/svg+xml",
            };
            assert_eq!(part.header("content-type"), Some(kind), "{address}");
        }
    }
}

#[test]
fn unknown_assets_are_not_found() {
    let shop = Shop::open();
    let stranger = shop.server.stranger();
    let address = parts(&stranger.get("/preview").expect(200)).remove(0);
    let (folder, _) = address.rsplit_once('/').unwrap();
    for path in
        ["/assets/0000000000000000/shop.js", "/assets/%FF/%FF", &format!("{folder}/..%2Fmod.rs")]
    {
        stranger.get(path).refused(404, "not_found");
    }
}

#[test]
fn pictures_of_a_configured_origin_may_be_shown() {
    let server = TestServer::start(&["--pages-image-origins", "https://cdn.example.com"]);
    assert!(policy(&server.stranger()).contains("img-src 'self' https://cdn.example.com;"));
}
