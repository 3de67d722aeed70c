//! Single products: create, read, update, delete, and what is kept of what was written.

use serde_json::{Value, json};
use testkit::{
    BULK, Client, PRODUCTS, RequestExt, Role, SEARCH, Shop, editor, product, product_named,
};

use crate::snapshot::snapshot;

fn sofa() -> Value {
    json!({
        "title": "Linen sofa",
        "description": "Three seats, washable covers.",
        "price": "$899.00",
        "media": [{"url": "https://example.com/sofa.jpg", "type": "image"}],
    })
}

/// A shop whose editor tries out what a field may say.
struct Trial {
    _shop: Shop,
    editor: Client,
}

impl Trial {
    fn new() -> Self {
        let (shop, editor) = editor();
        Self { _shop: shop, editor }
    }

    /// A product with this field must be exactly as written wherever it is read.
    #[track_caller]
    fn keeps(&self, field: &str, value: impl Into<Value>) {
        let (editor, value) = (&self.editor, value.into());
        let mut body = product_named("Keepsake");
        body[field] = value.clone();
        let created = editor.post(PRODUCTS, body.clone()).expect(201);
        let path = product(created.id());
        assert_eq!(created.body[field], value);
        assert_eq!(editor.get(&path).expect(200).body[field], value);
        let listed = editor.get(&format!("{PRODUCTS}?ids={}", created.id())).expect(200);
        assert_eq!(listed.body[0][field], value);
        let updated = editor.put(&path, json!({field: value.clone()})).expect(200);
        assert_eq!(updated.body[field], value);
        let bulk = editor.post(BULK, json!({"products": [body]})).expect(201);
        let path = product(bulk.body["created_ids"][0].as_u64().unwrap());
        assert_eq!(editor.get(&path).expect(200).body[field], value);
    }

    /// A create with this field must be refused with this fault, and so must an update.
    #[track_caller]
    fn refuses(&self, field: &str, value: impl Into<Value>, fault: &str) {
        let (editor, value) = (&self.editor, value.into());
        let path = product(editor.create(product_named("Keepsake")));
        let all = || (editor.get(PRODUCTS).total_count(), editor.get(&path).expect(200).body);
        let before = all();
        let mut body = product_named("Keepsake");
        body[field] = value.clone();
        editor.post(PRODUCTS, body).faults(&[fault]);
        editor.put(&path, json!({field: value})).faults(&[fault]);
        assert_eq!(all(), before);
    }
}

#[test]
fn a_product_is_created_with_its_address() {
    let (shop, editor) = editor();
    let created = editor.post(PRODUCTS, sofa()).expect(201);
    snapshot("create", &created);
    assert_eq!(created.body["shop_id"], shop.number);
    assert_eq!(created.header("location"), Some(product(created.id()).as_str()));
    assert_eq!(created.body["created_at"], created.body["updated_at"]);
}

#[test]
fn only_title_and_price_are_needed() {
    let (_shop, editor) = editor();
    let created = editor.post(PRODUCTS, product_named("Stool")).expect(201).body;
    assert_eq!(created["description"], "");
    assert_eq!(created["hidden"], false);
    assert_eq!(created["media"], json!([]));
}

#[test]
fn a_product_is_read_with_its_version() {
    let (_shop, editor) = editor();
    let created = editor.post(PRODUCTS, sofa()).expect(201);
    let got = editor.get(&product(created.id())).expect(200);
    snapshot("get", &got);
    assert_eq!(got.body, created.body);
}

#[test]
fn an_update_changes_only_what_it_names() {
    let (_shop, editor) = editor();
    let created = editor.post(PRODUCTS, sofa()).expect(201);
    let path = product(created.id());
    let updated = editor.put(&path, json!({"price": "$799.00"})).expect(200);
    snapshot("update", &updated);
    let mut expected = created.body.clone();
    expected["price"] = "$799.00".into();
    expected["updated_at"] = updated.body["updated_at"].clone();
    assert_eq!(updated.body, expected);
    assert!(text(&updated.body["updated_at"]) > text(&created.body["updated_at"]));
    assert_eq!(editor.get(&path).expect(200).body, expected);
}

#[test]
fn an_update_that_changes_nothing_succeeds() {
    let (_shop, editor) = editor();
    let created = editor.post(PRODUCTS, sofa()).expect(201);
    let updated = editor.put(&product(created.id()), json!({"hidden": false})).expect(200);
    assert_eq!(updated.body["title"], created.body["title"]);
}

#[test]
fn an_update_that_names_no_field_is_refused() {
    let (_shop, editor) = editor();
    let path = product(editor.create(sofa()));
    editor.put(&path, json!({})).faults(&["- no_change"]);
    editor.put(&path, json!({"id": 5, "shop_id": 6})).faults(&["- no_change"]);
}

#[test]
fn a_deleted_product_is_gone_and_its_id_is_not_used_again() {
    let (_shop, editor) = editor();
    let first = editor.create(sofa());
    let answer = editor.delete(&product(first)).expect(204);
    assert_eq!(answer.text, "");
    editor.get(&product(first)).refused(404, "not_found");
    editor.put(&product(first), json!({"hidden": true})).refused(404, "not_found");
    editor.delete(&product(first)).refused(404, "not_found");
    assert!(editor.create(sofa()) > first);
}

#[test]
fn both_prefixes_serve_the_same_routes() {
    let (_shop, editor) = editor();
    let created = editor.post("/v1/products", product_named("Lamp")).expect(201);
    let id = created.id();
    assert_eq!(created.header("location"), Some(product(id).as_str()));
    let short = format!("/v1/products/{id}");
    assert_eq!(editor.get(&short).expect(200).body, editor.get(&product(id)).expect(200).body);
    editor.put(&short, json!({"title": "Brass lamp"})).expect(200);
    assert_eq!(editor.get("/v1/products").expect(200).ids(), [id]);
    assert_eq!(editor.post("/v1/search", json!({"query": "brass"})).expect(200).ids(), [id]);
    let bulk = json!({"products": [product_named("Chair"), product_named("Table")]});
    let more = editor.post("/v1/products/bulk", bulk).expect(201);
    let ids = more.body["created_ids"].clone();
    let edits = json!({"products": [{"id": ids[0], "hidden": true}]});
    let updated = editor.put("/v1/products/bulk", edits).expect(200);
    assert_eq!(updated.body["updated_ids"], json!([ids[0]]));
    let gone = editor.request("DELETE", "/v1/products/bulk").json(&json!({"product_ids": ids}));
    assert_eq!(gone.answer().expect(200).body, json!({"deleted_count": 2}));
    editor.delete(&short).expect(204);
    assert_eq!(editor.get(PRODUCTS).expect(200).total_count(), 0);
}

#[test]
fn bulk_is_never_an_id() {
    let (_shop, editor) = editor();
    let answer = editor.get(BULK).refused(405, "method_not_allowed");
    let mut allowed: Vec<_> = answer.header("allow").unwrap().split(',').map(str::trim).collect();
    allowed.sort_unstable();
    assert_eq!(allowed, ["DELETE", "POST", "PUT"]);
    editor
        .put(BULK, json!({"title": "Bulk"}))
        .faults(&["products required", "title unknown_field"]);
    editor.delete(BULK).refused(415, "unsupported_media_type");
}

#[test]
fn head_answers_like_get_without_a_body() {
    let (_shop, editor) = editor();
    let path = product(editor.create(sofa()));
    for (path, header) in [(PRODUCTS, "x-total-count"), (path.as_str(), "etag")] {
        let (got, head) = (editor.get(path), editor.request("HEAD", path).answer().expect(200));
        assert_eq!(head.text, "");
        assert!(head.header(header).is_some());
        for header in [header, "content-type", "content-length"] {
            assert_eq!(head.header(header), got.header(header), "{path} {header}");
        }
    }
    editor.request("HEAD", &product(u64::MAX)).answer().expect(404);
}

#[test]
fn an_id_that_no_product_has_is_not_found() {
    let (_shop, editor) = editor();
    for id in ["0", "-1", "999999999999", "9223372036854775808", "99999999999999999999999"] {
        let path = format!("{PRODUCTS}/{id}");
        editor.get(&path).refused(404, "not_found");
        editor.put(&path, json!({"hidden": true})).refused(404, "not_found");
        editor.delete(&path).refused(404, "not_found");
    }
}

#[test]
fn an_id_that_is_no_number_is_refused() {
    let (_shop, editor) = editor();
    for id in ["sofa", "1.0", "1e3", "%31%20", "%F0%9F%9B%8B", "%ff"] {
        let path = format!("{PRODUCTS}/{id}");
        editor.get(&path).faults(&["product_id wrong_type"]);
        editor.put(&path, json!({"hidden": true})).faults(&["product_id wrong_type"]);
        editor.delete(&path).faults(&["product_id wrong_type"]);
    }
}

#[test]
fn text_is_kept_byte_for_byte() {
    let trial = Trial::new();
    for text in [
        "🛋️ sofa 👩‍👩‍👧",
        "cafe\u{301} café",
        "first\r\nsecond\n\tthird",
        "  padded\u{a0}\u{3000} ",
        "\"quoted\" \\ </script> \u{202e}",
        "\u{fffd}\u{e000}\u{10ffff}",
        "ﬁne Ⅷ ½",
    ] {
        trial.keeps("title", text);
        trial.keeps("description", text);
    }
}

#[test]
fn a_price_is_kept_as_written() {
    let trial = Trial::new();
    for price in [
        "$19.99",
        "19,99 €",
        "EUR 1.299,00",
        "£1,299",
        "¥1500",
        "1\u{a0}299 ₽",
        "1\u{202f}299,50 €",
        "$0",
        "007 USD",
        "$5.00",
    ] {
        trial.keeps("price", price);
    }
}

#[test]
fn media_are_kept_and_replaced_as_a_whole() {
    let trial = Trial::new();
    let image = |url: &str| json!({"url": url, "type": "image"});
    let twenty: Vec<_> = (0..20).map(|n| image(&format!("http://example.com/{n}.png"))).collect();
    trial.keeps("media", json!(twenty));
    trial.keeps("media", json!([image("HTTPS://Example.COM/a%20b.jpg?w=1&h=2#top")]));
    trial.keeps("media", json!([image("https://例え.jp/絵.png"), image("https://例え.jp/絵.png")]));

    let (_shop, editor) = editor();
    let path = product(editor.create(sofa()));
    let new = json!([image("https://example.com/b.jpg"), image("https://example.com/a.jpg")]);
    assert_eq!(editor.put(&path, json!({"media": new})).expect(200).body["media"], new);
    assert_eq!(editor.put(&path, json!({"title": "Bed"})).expect(200).body["media"], new);
    assert_eq!(editor.post(SEARCH, json!({"query": "bed"})).body["products"][0]["media"], new);
    assert_eq!(editor.put(&path, json!({"media": []})).expect(200).body["media"], json!([]));
}

#[test]
fn media_are_addresses_of_images() {
    let trial = Trial::new();
    let image = |url: &str| json!({"url": url, "type": "image"});
    let too_many: Vec<_> = (0..21).map(|_| image("https://example.com/a.jpg")).collect();
    trial.refuses("media", json!(too_many), "media too_many");
    trial.refuses("media", json!({"url": "https://example.com"}), "media wrong_type");
    trial.refuses("media", json!(["https://example.com"]), "media[0] wrong_type");
    for url in ["", "ftp://example.com/a", "javascript:alert(1)", "/a.jpg", "https://"] {
        trial.refuses("media", json!([image(url)]), "media[0].url invalid_url");
    }
    let video = json!([image("https://example.com/a"), {"url": "https://e.com", "type": "video"}]);
    trial.refuses("media", video, "media[1].type unknown_type");
    trial.refuses("media", json!([{"url": "https://e.com"}]), "media[0].type required");
    let alt = json!([{"url": "https://e.com", "type": "image", "alt": "x"}]);
    trial.refuses("media", alt, "media[0].alt unknown_field");
}

#[test]
fn text_has_limits_counted_in_characters() {
    let trial = Trial::new();
    trial.keeps("title", "é".repeat(500));
    trial.keeps("title", format!("  {}\n", "é".repeat(500)));
    trial.refuses("title", "é".repeat(501), "title too_long");
    trial.refuses("title", " \u{3000}\n\t", "title blank");
    trial.refuses("title", "", "title blank");
    trial.keeps("description", "🛋".repeat(20_000));
    trial.refuses("description", "🛋".repeat(20_001), "description too_long");
    trial.keeps("description", "");
}

#[test]
fn control_characters_are_refused() {
    let trial = Trial::new();
    for c in ['\0', '\u{7}', '\u{1b}', '\u{7f}', '\u{85}'] {
        trial.refuses("title", format!("a{c}b"), "title control_character");
        trial.refuses("description", format!("a{c}b"), "description control_character");
    }
}

#[test]
fn a_price_without_currency_amount_or_sense_is_refused() {
    let trial = Trial::new();
    for price in
        ["", " ", "free", "$", "19.99", "-$5", "$-5", "$5-", "$1 2", "$5 €", "five dollars"]
    {
        trial.refuses("price", price, "price invalid_price");
    }
}

#[test]
fn a_number_as_price_is_refused_with_the_right_form() {
    let (_shop, editor) = editor();
    let message = |price: Value| {
        let body = json!({"title": "Sofa", "price": price});
        let answer = editor.post(PRODUCTS, body).faults(&["price invalid_price"]);
        text(&answer.body["errors"][0]["message"]).to_owned()
    };
    assert_eq!(message(json!(19.99)), r#"must be a string with a currency, such as "$19.99""#);
    assert_eq!(message(json!(1299)), r#"must be a string with a currency, such as "$1299""#);
    // What is shown must itself be accepted.
    for price in [json!(-5), json!(1e30), json!(1e-30), json!(0.1)] {
        let message = message(price);
        let shown = message.split('"').nth(1).unwrap();
        editor.create(json!({"title": "Sofa", "price": shown}));
    }
}

#[test]
fn null_is_refused_for_every_field() {
    let trial = Trial::new();
    for field in ["title", "description", "price", "hidden", "media"] {
        trial.refuses(field, Value::Null, &format!("{field} wrong_type"));
    }
}

#[test]
fn other_types_are_refused() {
    let trial = Trial::new();
    trial.refuses("title", json!(5), "title wrong_type");
    trial.refuses("description", json!(["x"]), "description wrong_type");
    trial.refuses("price", json!({"amount": 5}), "price wrong_type");
    trial.refuses("hidden", json!("true"), "hidden wrong_type");
    trial.refuses("hidden", json!(1), "hidden wrong_type");
}

#[test]
fn an_unknown_field_is_refused_by_name() {
    let trial = Trial::new();
    for field in ["tittle", "Title", "colour", "__proto__", ""] {
        trial.refuses(field, json!("x"), &format!("{field} unknown_field"));
    }
}

#[test]
fn what_was_read_can_be_edited_and_sent_back() {
    let (_shop, editor) = editor();
    let id = editor.create(sofa());
    let mut read = editor.get(&product(id)).expect(200).body;
    read["title"] = "Velvet sofa".into();
    let updated = editor.put(&product(id), read.clone()).expect(200);
    assert_eq!(updated.body["title"], "Velvet sofa");
    let copy = editor.post(PRODUCTS, read.clone()).expect(201);
    assert!(copy.id() > id);
    // Whatever the read-only fields say, they are not taken over.
    read["id"] = json!(1);
    read["shop_id"] = json!("another");
    read["created_at"] = Value::Null;
    let kept = editor.put(&product(id), read).expect(200);
    for field in ["id", "shop_id", "created_at"] {
        assert_eq!(kept.body[field], updated.body[field], "{field}");
    }
}

#[test]
fn times_are_in_utc_with_milliseconds_at_least() {
    let (_shop, editor) = editor();
    let created = editor.post(PRODUCTS, sofa()).expect(201);
    for field in ["created_at", "updated_at"] {
        let time = text(&created.body[field]);
        assert!(time.parse::<jiff::Timestamp>().is_ok(), "{time}");
        let (_, fraction) = time.strip_suffix('Z').unwrap().rsplit_once('.').unwrap();
        assert!(fraction.len() >= 3, "{time}");
    }
}

#[test]
fn a_product_can_be_hidden_and_shown_again() {
    let shop = Shop::open();
    let (editor, shopper) = (shop.as_role(Role::Editor), shop.as_role(Role::Shopper));
    let path = product(editor.create(json!({"title": "Bed", "price": "$5", "hidden": true})));
    assert_eq!(editor.get(&path).expect(200).body["hidden"], true);
    shopper.get(&path).refused(404, "not_found");
    editor.put(&path, json!({"hidden": false})).expect(200);
    assert_eq!(shopper.get(&path).expect(200).body["hidden"], false);
    editor.put(&path, json!({"hidden": true})).expect(200);
    shopper.get(&path).refused(404, "not_found");
}

#[track_caller]
fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
