//! Signed tokens (JWT): only good ones of the configured issuer, whatever they claim.

use std::{fs, sync::Arc};

use jsonwebtoken::{
    Algorithm, Header,
    jwk::{KeyAlgorithm, PublicKeyUse},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{PRODUCTS, Role, TOKENS, TestServer, product_named, until};

use crate::provider::{
    AUDIENCE, HOUR, ISSUER, Provider, ProviderKey, SigningKey, claims, now, sign, start,
};

const SECRET: &str = "a secret of at least thirty-two bytes";

/// The claims of a good token with one of them changed, or taken out where it is `null`.
fn claims_but(claim: &str, value: Value) -> Value {
    let mut claims = claims();
    match value {
        Value::Null => drop(claims.as_object_mut().unwrap().remove(claim)),
        value => claims[claim] = value,
    }
    claims
}

fn sign_with_secret(claims: &Value) -> String {
    sign(&Header::default(), claims, &SigningKey::from_secret(SECRET.as_bytes()))
}

fn start_with_secret(flags: &[&str]) -> Arc<TestServer> {
    start("HS256", &[&["--jwt-secret", SECRET], flags].concat())
}

#[track_caller]
fn check(server: &TestServer, token: &str, status: u16) {
    assert_eq!(server.client(token).get(PRODUCTS).status, status, "{token}");
}

#[test]
fn a_signed_token_speaks_for_its_shop_and_role() {
    let server = start_with_secret(&[]);
    let editor = server.client(&sign_with_secret(&claims()));
    assert_eq!(editor.post(PRODUCTS, product_named("Sofa")).expect(201).body["shop_id"], 7);
    editor.get(TOKENS).refused(403, "insufficient_role");
    let other = server.client(&sign_with_secret(&claims_but("shop", json!(8))));
    assert_eq!(other.get(PRODUCTS).expect(200).total_count(), 0);
    for role in Role::ALL {
        let token = sign_with_secret(&claims_but("role", json!(role.name())));
        let created = server.client(&token).post(PRODUCTS, product_named("Stool"));
        let may_write = matches!(role, Role::Editor | Role::Admin);
        created.expect(if may_write { 201 } else { 403 });
    }
}

#[test]
fn the_services_own_tokens_work_beside_signed_ones() {
    let server = start_with_secret(&[]);
    server.shop().as_role(Role::Editor).post(PRODUCTS, product_named("Sofa")).expect(201);
    server.client("shk_1_x").get(PRODUCTS).refused(401, "invalid_token");
    server.client("not.a.token").get(PRODUCTS).refused(401, "invalid_token");
}

#[test]
fn without_configuration_signed_tokens_are_refused() {
    let server = TestServer::start(&[]);
    server.client(&sign_with_secret(&claims())).get(PRODUCTS).refused(401, "invalid_token");
}

#[test]
fn claims_are_checked() {
    let server = start_with_secret(&[]);
    for (claim, value, status) in [
        ("shop", json!(7), 200),
        ("shop", json!("7"), 200),
        ("shop", json!("seven"), 401),
        ("shop", json!(0), 401),
        ("shop", json!(-7), 401),
        ("shop", json!([7]), 401),
        ("shop", json!(["7"]), 401),
        ("shop", json!(7.5), 401),
        ("shop", json!({"id": 7}), 401),
        ("shop", Value::Null, 401),
        ("role", json!("editor"), 200),
        ("role", json!(["offline_access", "VIEWER", "EDITOR"]), 200),
        ("role", json!("OWNER"), 401),
        ("role", json!(["OWNER"]), 401),
        ("role", json!([]), 401),
        ("role", json!(3), 401),
        ("role", json!([["EDITOR"]]), 401),
        ("role", json!({"name": "EDITOR"}), 401),
        ("role", Value::Null, 401),
        ("iss", json!("https://id.example.com"), 401),
        ("iss", json!("https://evil.example.com/"), 401),
        ("iss", json!([ISSUER]), 401),
        ("iss", json!([ISSUER, "https://evil.example.com/"]), 401),
        ("iss", json!({"0": ISSUER}), 401),
        ("iss", Value::Null, 401),
        ("aud", json!(["other", AUDIENCE]), 200),
        ("aud", json!("other"), 401),
        ("aud", json!([]), 401),
        ("aud", json!([[AUDIENCE]]), 401),
        ("aud", json!({"0": AUDIENCE}), 401),
        ("aud", Value::Null, 401),
        ("nbf", json!(now() - HOUR), 200),
        ("nbf", json!(now() + HOUR), 401),
        ("nbf", json!((now() - HOUR).to_string()), 401),
        ("nbf", json!([now() - HOUR]), 401),
        ("exp", Value::Null, 401),
        ("exp", json!("never"), 401),
        ("exp", json!((now() + HOUR).to_string()), 401),
        ("exp", json!([now() + HOUR]), 401),
        ("exp", json!(true), 401),
        ("exp", json!(-1), 401),
        ("exp", json!(now() - HOUR), 401),
        ("exp", json!((now() + HOUR) as f64 + 0.5), 200),
        ("iat", json!(now()), 200),
        ("sub", json!("someone"), 200),
    ] {
        let token = sign_with_secret(&claims_but(claim, value.clone()));
        let answer = server.client(&token).get(PRODUCTS);
        assert_eq!(answer.status, status, "{claim}: {value}");
    }
    let strongest = sign_with_secret(&claims_but("role", json!(["SHOPPER", "EDITOR", "VIEWER"])));
    server.client(&strongest).post(PRODUCTS, product_named("Sofa")).expect(201);
}

#[test]
fn an_expired_token_is_reported_as_expired() {
    let server = start_with_secret(&["--jwt-leeway", "10s"]);
    let expired = |seconds_ago: i64| {
        let token = sign_with_secret(&claims_but("exp", json!(now() - seconds_ago)));
        server.client(&token).get(PRODUCTS)
    };
    let answer = expired(60).refused(401, "expired_token");
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    expired(2).expect(200);
    // A forged token reveals nothing about its expiry.
    let forger = SigningKey::from_secret(b"another secret of thirty-two bytes or more");
    let forged = sign(&Header::default(), &claims_but("exp", json!(now() - HOUR)), &forger);
    server.client(&forged).get(PRODUCTS).refused(401, "invalid_token");
}

#[test]
fn the_claims_can_have_other_names() {
    let flags = ["--jwt-shop-claim", "https://shop/number", "--jwt-role-claim", "roles"];
    let server = start_with_secret(&flags);
    check(&server, &sign_with_secret(&claims()), 401);
    let mut renamed = claims();
    renamed["https://shop/number"] = json!("9");
    renamed["roles"] = json!(["EDITOR"]);
    let created = server.client(&sign_with_secret(&renamed)).post(PRODUCTS, product_named("Sofa"));
    assert_eq!(created.expect(201).body["shop_id"], 9);
}

#[test]
fn the_secret_can_be_in_a_file() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("secret");
    fs::write(&file, format!("{SECRET}\n")).unwrap();
    let server = start("HS256", &["--jwt-secret-file", file.to_str().unwrap()]);
    check(&server, &sign_with_secret(&claims()), 200);
}

#[test]
fn a_token_signed_or_changed_by_another_is_refused() {
    let server = start_with_secret(&[]);
    let good = sign_with_secret(&claims());
    check(&server, &good, 200);
    let other = SigningKey::from_secret(b"another secret of thirty-two bytes or more");
    check(&server, &sign(&Header::default(), &claims(), &other), 401);
    for algorithm in [Algorithm::HS384, Algorithm::HS512] {
        let key = SigningKey::from_secret(SECRET.as_bytes());
        check(&server, &sign(&Header::new(algorithm), &claims(), &key), 401);
    }
    let admin = sign_with_secret(&claims_but("role", json!("ADMIN")));
    let parts = |token: &str| token.split('.').map(str::to_owned).collect::<Vec<_>>();
    let (good, admin) = (parts(&good), parts(&admin));
    check(&server, &format!("{}.{}.{}", good[0], admin[1], good[2]), 401);
    check(&server, &format!("{}.{}.", good[0], good[1]), 401);
    check(&server, &format!("{}.{}", good[0], good[1]), 401);
}

#[test]
fn a_token_with_unknown_critical_headers_is_refused() {
    let server = start_with_secret(&[]);
    let header = Header { crit: Some(vec!["b64".to_owned()]), ..Header::default() };
    let key = SigningKey::from_secret(SECRET.as_bytes());
    check(&server, &sign(&header, &claims(), &key), 401);
}

/// `{"alg":"none"}` and its kin, in base64.
const UNSIGNED: [&str; 3] =
    ["eyJhbGciOiJub25lIn0", "eyJhbGciOiJOb25lIn0", "eyJ0eXAiOiJKV1QiLCJhbGciOiJub25lIn0"];

#[track_caller]
fn check_unsigned_refused(server: &TestServer) {
    let signed = sign_with_secret(&claims());
    let payload = signed.split('.').nth(1).unwrap();
    for header in UNSIGNED {
        for token in [format!("{header}.{payload}."), format!("{header}.{payload}")] {
            server.client(&token).get(PRODUCTS).refused(401, "invalid_token");
        }
    }
}

#[test]
fn an_unsigned_token_is_refused() {
    check_unsigned_refused(&start_with_secret(&[]));
}

#[test]
fn a_key_set_verifies_each_kind_of_key() {
    let provider = Provider::new();
    let server = provider.start("RS256,ES256,EdDSA");
    for key in &provider.keys {
        let editor = server.client(&key.sign(&claims()));
        assert_eq!(editor.post(PRODUCTS, product_named("Sofa")).expect(201).body["shop_id"], 7);
        let expired = key.sign(&claims_but("exp", json!(now() - HOUR)));
        server.client(&expired).get(PRODUCTS).refused(401, "expired_token");
        check(&server, &key.sign(&claims_but("aud", json!("other"))), 401);
        let nameless = sign(&Header::new(key.algorithm), &claims(), &key.private);
        check(&server, &nameless, 200);
    }
}

#[test]
fn an_algorithm_that_was_not_configured_is_refused() {
    let provider = Provider::new();
    for (position, algorithms) in ["RS256", "ES256", "EdDSA"].into_iter().enumerate() {
        let server = provider.start(algorithms);
        for (index, key) in provider.keys.iter().enumerate() {
            let status = if index == position { 200 } else { 401 };
            check(&server, &key.sign(&claims()), status);
        }
    }
}

#[test]
fn a_public_key_is_never_accepted_as_a_secret() {
    let provider = Provider::new();
    let server = provider.start("RS256,ES256,EdDSA");
    check_unsigned_refused(&server);
    for key in &provider.keys {
        let written = serde_json::to_string(&key.public).unwrap().into_bytes();
        for secret in key.public_bytes.iter().chain([&written]) {
            let mut header = Header::new(Algorithm::HS256);
            header.kid = Some(key.name.to_owned());
            let forged = sign(&header, &claims(), &SigningKey::from_secret(secret));
            server.client(&forged).get(PRODUCTS).refused(401, "invalid_token");
        }
    }
}

#[test]
fn a_key_that_is_not_in_the_set_is_refused() {
    let provider = Provider::new();
    let server = provider.start("RS256,ES256,EdDSA");
    for stranger in [ProviderKey::ec("e"), ProviderKey::ec("unknown"), ProviderKey::ed("d")] {
        check(&server, &stranger.sign(&claims()), 401);
    }
    // The name of a key of another kind does not help.
    let mut header = Header::new(Algorithm::ES256);
    header.kid = Some("r".to_owned());
    check(&server, &sign(&header, &claims(), &provider.keys[1].private), 401);
}

#[test]
fn a_key_added_to_the_set_is_used_without_a_restart() {
    let provider = Provider::new();
    let server = provider.start("RS256,ES256,EdDSA");
    let newcomer = ProviderKey::ec("newcomer");
    let token = newcomer.sign(&claims());
    check(&server, &token, 401);
    provider.publish(&[&newcomer, &provider.keys[2]]);
    until("the new key", || server.client(&token).get(PRODUCTS).status == 200);
    check(&server, &provider.keys[2].sign(&claims()), 200);
    // A key that left the set has left with it.
    check(&server, &provider.keys[0].sign(&claims()), 401);
}

#[test]
fn a_key_for_another_purpose_or_algorithm_verifies_nothing() {
    let provider = Provider::new();
    let mut wrapping = ProviderKey::ec("w");
    wrapping.public.common.public_key_use = Some(PublicKeyUse::Encryption);
    let mut stronger = ProviderKey::rsa("s");
    stronger.public.common.key_algorithm = Some(KeyAlgorithm::RS512);
    provider.publish(&[&wrapping, &stronger, &provider.keys[2]]);
    let server = provider.start("RS256,ES256,EdDSA");
    check(&server, &provider.keys[2].sign(&claims()), 200);
    check(&server, &wrapping.sign(&claims()), 401);
    check(&server, &stronger.sign(&claims()), 401);
}
