//! Tokens: issued, listed and revoked over HTTP and at the command line.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use testkit::{Client, PRODUCTS, Role, Shop, TOKENS, TestServer, printed, product_named, until};

use crate::snapshot::snapshot;

fn issue(admin: &Client, body: Value) -> Value {
    admin.post(TOKENS, body).expect(201).body
}

fn bearer(shop: &Shop, issued: &Value) -> Client {
    shop.server.client(issued["token"].as_str().unwrap())
}

fn path(issued: &Value) -> String {
    format!("{TOKENS}/{}", issued["id"])
}

#[test]
fn an_admin_issues_tokens_that_work() {
    let shop = Shop::open();
    let admin = shop.as_role(Role::Admin);
    let answer = admin.post(TOKENS, json!({"role": "EDITOR", "name": "import job"})).expect(201);
    snapshot("token_issue", &answer);
    assert_eq!(answer.body["shop_id"], shop.number);
    assert!(answer.body["token"].as_str().unwrap().starts_with("shk_"));
    let product = bearer(&shop, &answer.body).post(PRODUCTS, product_named("Sofa")).expect(201);
    assert_eq!(product.body["shop_id"], shop.number);
    bearer(&shop, &answer.body).get(TOKENS).refused(403, "insufficient_role");
}

#[test]
fn every_role_can_be_issued() {
    let shop = Shop::open();
    let admin = shop.as_role(Role::Admin);
    for role in Role::ALL {
        let issued = issue(&admin, json!({"role": role.name()}));
        assert_eq!((&issued["role"], &issued["name"]), (&json!(role.name()), &json!("")));
        assert_eq!(issued["expires_at"], Value::Null);
        bearer(&shop, &issued).get(PRODUCTS).expect(200);
    }
}

#[test]
fn tokens_are_listed_without_their_secrets() {
    let shop = Shop::open();
    let admin = shop.as_role(Role::Admin);
    let issued = issue(&admin, json!({"role": "SHOPPER", "name": "web shop 🛒"}));
    let revoked = issue(&admin, json!({"role": "VIEWER"}));
    admin.delete(&path(&revoked)).expect(204);
    let answer = admin.get(TOKENS).expect(200);
    let listed = answer.body.as_array().unwrap();
    let ids: Vec<_> = listed.iter().map(|token| &token["id"]).collect();
    assert_eq!(ids[1..], [&issued["id"], &revoked["id"]]);
    assert_eq!(listed[1]["revoked_at"], Value::Null);
    assert!(listed[2]["revoked_at"].is_string());
    assert_eq!(listed[1]["name"], "web shop 🛒");
    for secret in [&issued["token"], &revoked["token"], &json!(admin.token)] {
        // After the prefix and the number; a secret may hold underscores of its own.
        let secret = secret.as_str().unwrap().splitn(3, '_').nth(2).unwrap();
        assert!(!answer.text.contains(secret));
    }
    assert!(listed.iter().all(|token| token.get("token").is_none()));
    let mut first = answer;
    first.body = first.body[1].clone();
    snapshot("token_listed", &first);
}

#[test]
fn tokens_are_listed_in_pages() {
    let shop = Shop::open();
    let admin = shop.as_role(Role::Admin);
    let issued: Vec<_> =
        (0..5).map(|_| issue(&admin, json!({"role": "VIEWER"}))["id"].clone()).collect();
    let page = |query: &str| {
        let answer = admin.get(&format!("{TOKENS}{query}")).expect(200);
        assert_eq!(answer.total_count(), 6);
        let ids = answer.body.as_array().unwrap().iter().map(|token| token["id"].clone());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(page("")[1..], issued);
    assert_eq!(page("?limit=2&offset=1"), issued[..2]);
    assert_eq!(page("?offset=3&limit=1000"), issued[2..]);
    assert_eq!(page("?offset=6"), [] as [Value; 0]);
    assert_eq!(page("?offset=9223372036854775807"), [] as [Value; 0]);
    for (query, fault) in [
        ("limit=0", "limit out_of_range"),
        ("limit=1001", "limit out_of_range"),
        ("limit=x", "limit wrong_type"),
        ("offset=-1", "offset out_of_range"),
        ("page=1", "page unknown_parameter"),
    ] {
        admin.get(&format!("{TOKENS}?{query}")).faults(&[fault]);
    }
}

#[test]
fn a_revoked_token_stops_working_at_once() {
    let shop = Shop::open();
    let admin = shop.as_role(Role::Admin);
    for _ in 0..10 {
        let issued = issue(&admin, json!({"role": "EDITOR"}));
        let client = bearer(&shop, &issued);
        client.get(PRODUCTS).expect(200);
        admin.delete(&path(&issued)).expect(204);
        client.get(PRODUCTS).refused(401, "invalid_token");
        client.post(PRODUCTS, product_named("Sofa")).refused(401, "invalid_token");
        admin.delete(&path(&issued)).refused(404, "not_found");
    }
    admin.get(PRODUCTS).expect(200);
}

#[test]
fn an_admin_can_revoke_its_own_token() {
    let shop = Shop::open();
    let admin = shop.as_role(Role::Admin);
    let own = admin.get(TOKENS).expect(200).body[0].clone();
    admin.delete(&path(&own)).expect(204);
    admin.get(TOKENS).refused(401, "invalid_token");
}

#[test]
fn an_admin_sees_and_revokes_tokens_of_its_own_shop_alone() {
    let (mine, theirs) = (Shop::open(), Shop::open());
    let (admin, other) = (mine.as_role(Role::Admin), theirs.as_role(Role::Admin));
    let issued = issue(&other, json!({"role": "VIEWER"}));
    let listed = admin.get(TOKENS).expect(200).body;
    assert!(listed.as_array().unwrap().iter().all(|token| token["shop_id"] == mine.number));
    admin.delete(&path(&issued)).refused(404, "not_found");
    bearer(&theirs, &issued).get(PRODUCTS).expect(200);
    let asked = json!({"role": "ADMIN", "shop_id": theirs.number});
    admin.post(TOKENS, asked).faults(&["shop_id unknown_field"]);
}

/// A token that was issued after `before` lasts so long.
#[track_caller]
fn check_end(token: &Value, before: Timestamp, lasts: SignedDuration) {
    let end: Timestamp = token["expires_at"].as_str().unwrap().parse().unwrap();
    // The fraction of a second is cut.
    let earliest = before.as_second();
    assert!(
        (earliest..=Timestamp::now().as_second()).contains(&(end - lasts).as_second()),
        "{end}"
    );
}

#[test]
fn a_token_works_until_it_expires() {
    let shop = Shop::open();
    let admin = shop.as_role(Role::Admin);
    let before = Timestamp::now();
    let issued = issue(&admin, json!({"role": "VIEWER", "expires_in_seconds": 1}));
    check_end(&issued, before, SignedDuration::from_secs(1));
    let client = bearer(&shop, &issued);
    until("expiry", || client.get(PRODUCTS).status == 401);
    let answer = client.get(PRODUCTS).refused(401, "expired_token");
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    snapshot("expired_token", &answer);
}

#[test]
fn a_token_request_is_refused_rather_than_guessed() {
    let shop = Shop::open();
    let admin = shop.as_role(Role::Admin);
    let before = admin.get(TOKENS).expect(200).body;
    for (body, faults) in [
        (json!({}), &["role required"][..]),
        (json!({"role": "OWNER"}), &["role unknown_role"]),
        (json!({"role": 1}), &["role wrong_type"]),
        (json!({"role": "EDITOR", "name": null}), &["name wrong_type"]),
        (json!({"role": "EDITOR", "name": "x".repeat(201)}), &["name too_long"]),
        (json!({"role": "EDITOR", "name": "a\u{0}"}), &["name control_character"]),
        (json!({"role": "EDITOR", "expires_in_seconds": 0}), &["expires_in_seconds out_of_range"]),
        (json!({"role": "EDITOR", "expires_in_seconds": -5}), &["expires_in_seconds out_of_range"]),
        (
            json!({"role": "EDITOR", "expires_in_seconds": u64::MAX}),
            &["expires_in_seconds out_of_range"],
        ),
        (json!({"role": "EDITOR", "expires_in_seconds": "1h"}), &["expires_in_seconds wrong_type"]),
        (json!({"role": "x", "scope": "all"}), &["role unknown_role", "scope unknown_field"]),
    ] {
        admin.post(TOKENS, body).faults(faults);
    }
    assert_eq!(admin.get(TOKENS).expect(200).body, before);
}

#[test]
fn a_token_that_is_not_there_cannot_be_revoked() {
    let shop = Shop::open();
    let admin = shop.as_role(Role::Admin);
    for id in ["0", "999999", "18446744073709551615", "99999999999999999999999", "-1"] {
        admin.delete(&format!("{TOKENS}/{id}")).refused(404, "not_found");
    }
    for id in ["x", "%ff"] {
        admin.delete(&format!("{TOKENS}/{id}")).faults(&["token_id wrong_type"]);
    }
}

#[test]
fn the_command_line_prints_a_new_token_alone() {
    let server = TestServer::start(&[]);
    let arguments = ["create", "--shop", "7", "--role", "editor", "--name", "ci"];
    let text = printed(server.token_command(&arguments));
    let token = text.strip_suffix('\n').unwrap();
    assert!(token.starts_with("shk_") && !token.contains(char::is_whitespace), "{text:?}");
    let created = server.client(token).post(PRODUCTS, product_named("Sofa")).expect(201);
    assert_eq!(created.body["shop_id"], 7);
}

#[test]
fn the_command_line_parses_lifetimes() {
    let server = TestServer::start(&[]);
    for (written, minutes) in [("90m", 90), ("12h", 12 * 60), ("30d", 30 * 24 * 60)] {
        let before = Timestamp::now();
        let arguments = ["create", "--shop", "1", "--role", "ADMIN", "--expires-in", written];
        let token = printed(server.token_command(&arguments));
        let listed = server.client(token.trim_end()).get(TOKENS).expect(200).body;
        let newest = listed.as_array().unwrap().last().unwrap();
        check_end(newest, before, SignedDuration::from_mins(minutes));
    }
}

#[test]
fn the_command_line_lists_tokens_without_their_secrets() {
    let server = TestServer::start(&[]);
    let create = |arguments: &str| {
        let arguments = format!("create {arguments}");
        printed(server.token_command(&arguments.split(' ').collect::<Vec<_>>()))
    };
    let secrets = [
        create("--shop 1 --role ADMIN --name boss"),
        create("--shop 2 --role SHOPPER --expires-in 1h"),
        create("--shop 1 --role VIEWER"),
    ];
    printed(server.token_command(&["revoke", "3"]));
    let list = |arguments: &[&str]| {
        let text = printed(server.token_command(&[&["list"], arguments].concat()));
        for secret in &secrets {
            // shk_NUMBER_SECRET; the secret may hold further underscores.
            let secret = secret.trim().splitn(3, '_').nth(2).unwrap();
            assert!(secret.len() > 20 && !text.contains(secret), "{secret} in {text}");
        }
        // Times differ from run to run.
        let is_time = |word: &&str| !word.ends_with('Z');
        let squeeze =
            |line: &str| line.split_whitespace().filter(is_time).collect::<Vec<_>>().join(" ");
        text.lines().map(squeeze).collect::<Vec<_>>()
    };
    let heading = "ID SHOP ROLE STATE NAME";
    let (boss, browser, gone) = ("1 1 ADMIN works boss", "2 2 SHOPPER until", "3 1 VIEWER revoked");
    assert_eq!(list(&[]), [heading, boss, browser, gone]);
    assert_eq!(list(&["--shop", "1"]), [heading, boss, gone]);
    assert_eq!(list(&["--shop", "9"]), [heading]);
}

#[test]
fn the_command_line_revokes_at_once_on_a_running_server() {
    let shop = Shop::open();
    for role in Role::ALL {
        let client = shop.as_role(role);
        client.get(PRODUCTS).expect(200);
        let token = client.token.as_deref().unwrap();
        let id = token.split('_').nth(1).unwrap();
        let said = printed(shop.server.token_command(&["revoke", id]));
        assert_eq!(said, format!("token {id} is revoked\n"));
        client.get(PRODUCTS).refused(401, "invalid_token");
        assert!(!shop.server.token_command(&["revoke", id]).status.success());
    }
}

#[test]
fn the_command_line_refuses_invalid_arguments() {
    let server = TestServer::start(&[]);
    for arguments in [
        "create --shop 1",
        "create --role EDITOR",
        "create --shop 0 --role EDITOR",
        "create --shop -1 --role EDITOR",
        "create --shop 1 --role OWNER",
        "create --shop 1 --role EDITOR --expires-in 0s",
        "create --shop 1 --role EDITOR --expires-in soon",
        "revoke 1",
        "revoke x",
        "burn 1",
    ] {
        let output = server.token_command(&arguments.split(' ').collect::<Vec<_>>());
        assert!(!output.status.success(), "{arguments}");
        assert!(output.stdout.is_empty(), "{arguments}");
        assert!(!output.stderr.is_empty(), "{arguments}");
    }
    assert_eq!(printed(server.token_command(&["list"])).lines().count(), 1);
}

#[test]
fn a_name_that_http_refuses_the_command_line_refuses_too() {
    let server = TestServer::start(&[]);
    for name in ["x".repeat(201), "two\u{1b}[2J".to_owned()] {
        let arguments = ["create", "--shop", "1", "--role", "EDITOR", "--name", &name];
        assert!(!server.token_command(&arguments).status.success(), "{name:?}");
    }
}
