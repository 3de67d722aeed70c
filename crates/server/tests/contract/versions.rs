//! `ETag`, `If-Match` and `If-None-Match`: optimistic concurrency control.

use std::thread;

use serde_json::{Value, json};
use testkit::{Answer, Client, RequestExt, editor, product, product_named};

use crate::snapshot::snapshot;

fn put_if(client: &Client, id: u64, tags: &[&str], body: Value) -> Answer {
    let mut request = client.request("PUT", &product(id)).json(&body);
    for tag in tags {
        request = request.header("if-match", *tag);
    }
    request.answer()
}

fn get_unless(client: &Client, id: u64, tags: &[&str]) -> Answer {
    let mut request = client.request("GET", &product(id));
    for tag in tags {
        request = request.header("if-none-match", *tag);
    }
    request.answer()
}

#[test]
fn every_change_gives_a_new_version_and_reading_gives_none() {
    let (_shop, editor) = editor();
    let id = editor.create(product_named("Sofa"));
    let first = editor.get(&product(id)).expect(200).etag().to_owned();
    assert!(first.starts_with('"') && first.ends_with('"'), "{first} is a strong tag");
    assert_eq!(editor.get(&product(id)).etag(), first);
    let updated = editor.put(&product(id), json!({"title": "Couch"})).expect(200);
    assert_ne!(updated.etag(), first);
    assert_eq!(editor.get(&product(id)).etag(), updated.etag());
}

#[test]
fn an_update_of_the_version_that_was_read_succeeds() {
    let (_shop, editor) = editor();
    let id = editor.create(product_named("Sofa"));
    let tag = editor.get(&product(id)).etag().to_owned();
    let updated = put_if(&editor, id, &[&tag], json!({"title": "Couch"})).expect(200);
    put_if(&editor, id, &[updated.etag()], json!({"title": "Settee"})).expect(200);
}

#[test]
fn an_update_of_an_older_version_is_refused() {
    let (_shop, editor) = editor();
    let id = editor.create(product_named("Sofa"));
    let old = editor.get(&product(id)).etag().to_owned();
    editor.put(&product(id), json!({"title": "Couch"})).expect(200);
    let refused = put_if(&editor, id, &[&old], json!({"title": "Settee"}));
    snapshot("precondition_failed", &refused.refused(412, "precondition_failed"));
    assert_eq!(editor.get(&product(id)).body["title"], "Couch");
}

#[test]
fn if_match_takes_lists_stars_and_strong_tags_alone() {
    let (_shop, editor) = editor();
    let id = editor.create(product_named("Sofa"));
    let check = |tags: fn(&str) -> Vec<String>, status: u16| {
        let current = editor.get(&product(id)).etag().to_owned();
        let tags = tags(&current);
        let tags: Vec<_> = tags.iter().map(String::as_str).collect();
        let answer = put_if(&editor, id, &tags, json!({"title": "Couch"}));
        assert_eq!(answer.status, status, "{tags:?}");
    };
    check(|_| vec!["*".into()], 200);
    check(|tag| vec![format!("\"x\", {tag},\"0\"")], 200);
    check(|tag| vec!["\"x\"".into(), tag.into()], 200);
    check(|tag| vec![format!("W/{tag}")], 412);
    check(|_| vec!["\"x\"".into()], 412);
    check(|_| vec!["\"x\", \"y\"".into()], 412);
    check(|tag| vec![tag.trim_matches('"').into()], 412);
    check(|_| vec!["".into()], 412);
}

#[test]
fn a_delete_can_insist_on_a_version_too() {
    let (_shop, editor) = editor();
    let id = editor.create(product_named("Sofa"));
    let old = editor.get(&product(id)).etag().to_owned();
    let current = editor.put(&product(id), json!({"title": "Couch"})).etag().to_owned();
    let delete =
        |tag: &str| editor.request("DELETE", &product(id)).header("if-match", tag).answer();
    delete(&old).refused(412, "precondition_failed");
    editor.get(&product(id)).expect(200);
    delete(&current).expect(204);
    delete(&current).refused(404, "not_found");
    delete("*").refused(404, "not_found");
}

#[test]
fn a_version_that_is_known_is_not_sent_again() {
    let (_shop, editor) = editor();
    let id = editor.create(product_named("Sofa"));
    let tag = editor.get(&product(id)).etag().to_owned();
    for tags in [
        &[tag.as_str()][..],
        &["*"],
        &[&format!("W/{tag}")],
        &[&format!("\"x\", {tag}")],
        &["\"x\"", &tag],
    ] {
        let answer = get_unless(&editor, id, tags).expect(304);
        assert_eq!((answer.etag(), answer.text.as_str()), (tag.as_str(), ""), "{tags:?}");
    }
    for tags in [&["\"x\""][..], &["W/\"x\""], &[]] {
        get_unless(&editor, id, tags).expect(200);
    }
    editor.put(&product(id), json!({"title": "Couch"})).expect(200);
    get_unless(&editor, id, &[&tag]).expect(200);
    get_unless(&editor, 999_999_999, &["*"]).refused(404, "not_found");
}

#[test]
fn of_many_updates_of_one_version_one_wins() {
    let (_shop, editor) = editor();
    let id = editor.create(product_named("Sofa"));
    let tag = editor.get(&product(id)).etag().to_owned();
    let statuses: Vec<_> = thread::scope(|scope| {
        let update =
            |n: usize| put_if(&editor, id, &[&tag], json!({"title": format!("Sofa {n}")})).status;
        let updating: Vec<_> = (0..12).map(|n| scope.spawn(move || update(n))).collect();
        updating.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 412).count(), 11, "{statuses:?}");
}

#[test]
fn concurrent_updates_of_different_fields_lose_none() {
    const ROUNDS: usize = 25;
    /// A field's value in a round.
    type InRound = fn(usize) -> Value;
    let (_shop, editor) = editor();
    let id = editor.create(product_named("Sofa"));
    let fields: [(&str, InRound); 5] = [
        ("title", |n| json!(format!("Title {n}"))),
        ("description", |n| json!(format!("Description {n}"))),
        ("price", |n| json!(format!("${n}"))),
        ("hidden", |n| json!(n % 2 == 0)),
        ("media", |n| json!([{"url": format!("https://example.com/{n}"), "type": "image"}])),
    ];
    thread::scope(|scope| {
        for (field, value) in fields {
            let editor = editor.clone();
            scope.spawn(move || {
                for round in 1..=ROUNDS {
                    // Each answer already has the field as it was just written.
                    let body = json!({field: value(round)});
                    let answer = editor.put(&product(id), body).expect(200);
                    assert_eq!(answer.body[field], value(round));
                }
            });
        }
    });
    let last = editor.get(&product(id)).expect(200).body;
    for (field, value) in fields {
        assert_eq!(last[field], value(ROUNDS), "{field}");
    }
}
