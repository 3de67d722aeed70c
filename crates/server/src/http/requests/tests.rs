//! Requests are read into the domain's types, with every error listed.

use catalog::{
    product::{Patch, ProductId, key::Key},
    query::parser::ParseOptions,
};
use serde_json::{Value, json};

use super::{
    ObjectDefinition,
    listing::{ListArguments, ListRequest, list_parameters},
    products::{NewProduct, ProductChanges, ProductEdit, ProductUpsert},
    search::SearchRequest,
};
use crate::http::errors::ValidationError;

fn codes(errors: &[ValidationError]) -> Vec<String> {
    errors
        .iter()
        .map(|error| format!("{} {}", error.field.as_deref().unwrap_or("-"), error.code))
        .collect()
}

fn check_new_product(body: Value, expected: &[&str]) {
    let found = NewProduct::read(&body).map_or_else(|errors| codes(&errors), |_| Vec::new());
    assert_eq!(found, expected, "{body}");
}

#[test]
fn a_new_product_needs_a_title_and_a_price() {
    check_new_product(json!({"title": "Sofa", "price": "$5"}), &[]);
    check_new_product(json!({}), &["title required", "price required"]);
    check_new_product(json!([]), &["- wrong_type"]);
}

#[test]
fn every_error_of_a_new_product_is_listed() {
    check_new_product(
        json!({"title": " ", "description": "\u{7}", "price": 5, "hidden": null, "colour": 1}),
        &[
            "title blank",
            "description control_character",
            "price invalid_price",
            "hidden wrong_type",
            "colour unknown_field",
        ],
    );
    check_new_product(
        json!({"title": "Sofa", "price": "$5", "media": [
            {"url": "https://example.com/a.jpg", "type": "image"},
            {"url": "ftp://example.com", "type": "video"}, 7]}),
        &["media[1].type unknown_type", "media[1].url invalid_url", "media[2] wrong_type"],
    );
}

#[test]
fn attributes_are_read_by_the_types_of_their_values() {
    let product =
        |attributes: Value| json!({"title": "Sofa", "price": "$5", "attributes": attributes});
    let names = |count: usize| {
        (0..count).map(|n| (format!("a{n}"), json!(n))).collect::<serde_json::Map<_, _>>()
    };
    let strings = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>();
    for (attributes, expected) in [
        (json!({}), &[][..]),
        (json!({"color": "red", "colors": ["red", "Red"], "size": -4.5e3, "new": false}), &[]),
        (json!(names(40)), &[]),
        (json!(names(41)), &["attributes too_many"]),
        (json!({"a": strings(20), "b": "x".repeat(200)}), &[]),
        (json!({"a": strings(21)}), &["attributes.a too_many"]),
        (json!({"a": "x".repeat(201)}), &["attributes.a too_long"]),
        (json!({"a": []}), &["attributes.a empty"]),
        (json!({"a": ["x", "y", "x"]}), &["attributes.a[2] repeated"]),
        (json!({"a": ["x", 1, ""]}), &["attributes.a[1] wrong_type", "attributes.a[2] blank"]),
        (json!({"a": {}}), &["attributes.a wrong_type"]),
        (json!({"a": null, "b": ""}), &["attributes.a wrong_type", "attributes.b blank"]),
        (json!({"a": "\u{7}"}), &["attributes.a control_character"]),
        (
            json!({"Color": "red", "": 1}),
            &["attributes. invalid_name", "attributes.Color invalid_name"],
        ),
        (
            json!({"price": 5, "not": [7]}),
            &[
                "attributes.not invalid_name",
                "attributes.not[0] wrong_type",
                "attributes.price invalid_name",
            ],
        ),
        (json!([]), &["attributes wrong_type"]),
        (json!("red"), &["attributes wrong_type"]),
        (json!(null), &["attributes wrong_type"]),
    ] {
        check_new_product(product(attributes), expected);
    }
}

#[test]
fn key_and_page_are_removed_by_an_update_with_an_empty_string() {
    let empty = json!({"title": "Sofa", "price": "$5", "key": "", "url": ""});
    check_new_product(empty.clone(), &["key blank", "url invalid_url"]);
    let patch = ProductChanges::read(&empty).unwrap();
    assert_eq!((patch.key, patch.url), (Some(None), Some(None)));
    let patch = ProductChanges::read(&json!({"key": " A ", "attributes": {}})).unwrap();
    assert_eq!(patch.key, Some(Some(Key::parse(" A ").unwrap())));
    assert!(patch.attributes.unwrap().is_empty());
    let bad = json!({"key": "a\tb", "url": "/sofa"});
    assert_eq!(
        codes(&ProductChanges::read(&bad).unwrap_err()),
        ["url invalid_url", "key control_character"]
    );
}

#[test]
fn an_upsert_needs_a_key_and_nothing_else() {
    let read = |element: Value| ProductUpsert::read(&element).map_err(|errors| codes(&errors));
    assert_eq!(read(json!({"key": "a"})), Ok((Key::parse("a").unwrap(), Patch::default())));
    let (_, patch) = read(json!({"id": 5, "key": "a", "hidden": true})).unwrap();
    assert_eq!(patch, Patch { hidden: Some(true), ..Patch::default() });
    assert_eq!(read(json!({"title": "Sofa"})), Err(vec!["key required".into()]));
    assert_eq!(
        read(json!({"key": "", "colour": 1})),
        Err(vec!["key blank".into(), "colour unknown_field".into()])
    );
    assert_eq!(ProductUpsert::key_of(&json!({"key": "a"})), Some("a".to_owned()));
    for element in [json!({}), json!({"key": 5}), json!({"key": ""}), json!(7)] {
        assert_eq!(ProductUpsert::key_of(&element), None);
    }
}

#[test]
fn a_product_that_was_read_can_be_sent_back() {
    check_new_product(
        json!({"id": 1, "shop_id": 2, "created_at": "x", "updated_at": "y",
            "title": "Sofa", "description": "", "price": "$5", "hidden": false, "media": [],
            "key": "a", "url": "https://example.com", "attributes": {"color": "red"}}),
        &[],
    );
}

#[test]
fn an_update_must_change_a_field() {
    assert_eq!(codes(&ProductChanges::read(&json!({"id": 5})).unwrap_err()), ["- no_change"]);
    assert!(ProductChanges::read(&json!({"description": ""})).is_ok());
}

#[test]
fn a_query_is_interpreted_unless_switched_off() {
    let read = |switches: Value| {
        let request = SearchRequest::read(&json!({"query": "x", "understand": switches}));
        request.map(|request| request.parse_options).map_err(|errors| codes(&errors))
    };
    assert_eq!(
        SearchRequest::read(&json!({"query": "x"})).unwrap().parse_options,
        ParseOptions::default()
    );
    assert_eq!(read(json!({})), Ok(ParseOptions::default()));
    let without_price = ParseOptions { price: false, ..ParseOptions::default() };
    assert_eq!(read(json!({"price": false, "sort": true})), Ok(without_price));
    assert_eq!(
        read(json!({"price": 0, "sort": null, "color": false})),
        Err(vec![
            "understand.price wrong_type".into(),
            "understand.sort wrong_type".into(),
            "understand.color unknown_field".into(),
        ])
    );
    assert_eq!(read(json!(false)), Err(vec!["understand wrong_type".into()]));
}

#[test]
fn an_edit_names_its_product_where_it_can() {
    let check = |element: Value, id: Option<u64>, expected: &[&str]| {
        assert_eq!(ProductEdit::id_of(&element), id, "{element}");
        assert_eq!(codes(&ProductEdit::read(&element).unwrap_err()), expected, "{element}");
    };
    check(json!({"id": 5, "title": ""}), Some(5), &["title blank"]);
    check(json!({"id": "5", "hidden": 1}), None, &["id wrong_type", "hidden wrong_type"]);
    check(json!({"title": "x"}), None, &["id required"]);
    check(json!({"id": 5}), Some(5), &["- no_change"]);
    check(json!({"id": 0}), None, &["id out_of_range", "- no_change"]);
    check(json!({}), None, &["id required", "- no_change"]);
    check(json!({"id": 0, "colour": 1}), None, &["id out_of_range", "colour unknown_field"]);
    check(json!(3), None, &["- wrong_type"]);
}

#[test]
fn list_parameters_are_read_or_rejected() {
    let list = |query| list_parameters(Some(query)).map_err(|errors| codes(&errors));
    let ids = |numbers: &[u64]| {
        Some(numbers.iter().map(|n| ProductId::new(*n).unwrap()).collect::<Vec<_>>())
    };
    assert_eq!(
        list("limit=2&offset=4"),
        Ok(ListRequest { limit: Some(2), offset: 4, ..ListRequest::default() })
    );
    assert_eq!(
        list("ids=3,%201,3,0,99999999999999999999"),
        Ok(ListRequest { ids: ids(&[3, 1]), ..ListRequest::default() })
    );
    assert_eq!(list("ids="), Ok(ListRequest { ids: ids(&[]), ..ListRequest::default() }));
    assert_eq!(list("ids=1,,2"), Err(vec!["ids wrong_type".into()]));
    assert_eq!(
        list("limit=0&offset=-1&sort=-newest&page=2"),
        Err(vec![
            "limit out_of_range".into(),
            "offset out_of_range".into(),
            "sort invalid_sort".into(),
            "page unknown_parameter".into(),
        ])
    );
    assert_eq!(list("limit=ten"), Err(vec!["limit wrong_type".into()]));
    assert_eq!(list("limit=1&limit=2"), Err(vec!["limit repeated".into()]));
    let many = format!("ids={}", (1..=101).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    assert_eq!(list(&many), Err(vec!["ids too_many".into()]));
}

#[test]
fn products_can_be_listed_by_key() {
    let keys = |query: &str| {
        let read = list_parameters(Some(query)).map_err(|errors| codes(&errors));
        let written = |key: &Key| key.as_str().to_owned();
        read.map(|request| request.keys.unwrap().iter().map(written).collect::<Vec<_>>())
    };
    let found = |keys: &[&str]| Ok(keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>());
    assert_eq!(keys("keys="), found(&[]));
    assert_eq!(keys("keys=b,a,b"), found(&["b", "a"]));
    assert_eq!(keys("keys=b&keys=a,b"), found(&["b", "a"]));
    // A comma, a plus and white space belong to a key if they are encoded.
    assert_eq!(keys("keys=a%2Cb,%2B+%20c"), found(&["a,b", "+  c"]));
    assert_eq!(keys("keys=a,,b"), Err(vec!["keys blank".into()]));
    assert_eq!(keys("keys=%00"), Err(vec!["keys control_character".into()]));
    assert_eq!(keys(&format!("keys={}", "k".repeat(101))), Err(vec!["keys too_long".into()]));
    let many = |count: usize, glue: &str| {
        let keys: Vec<_> = (0..count).map(|n| n.to_string()).collect();
        format!("keys={}", keys.join(glue))
    };
    for glue in [",", "&keys="] {
        assert_eq!(keys(&many(100, glue)).unwrap().len(), 100);
    }
    assert_eq!(keys(&many(101, ",")), Err(vec!["keys too_many".into()]));
    assert_eq!(keys(&many(101, "&keys=")), Err(vec!["keys repeated".into()]));
    for (query, error) in [
        ("ids=1&keys=a", "keys exclusive"),
        ("ids=&sort=price", "sort exclusive"),
        ("keys=a&sort=relevance", "sort exclusive"),
    ] {
        assert_eq!(keys(query), Err(vec![error.to_owned()]));
    }
}

#[test]
fn a_list_can_be_requested_by_an_object() {
    let list = |body: Value| ListArguments::read(&body).map_err(|errors| codes(&errors));
    let ids = |numbers: &[u64]| {
        Some(numbers.iter().map(|n| ProductId::new(*n).unwrap()).collect::<Vec<_>>())
    };
    assert_eq!(list(json!({})), Ok(ListRequest::default()));
    assert_eq!(
        list(json!({"ids": [3, 1, 3], "limit": 2, "offset": 4})),
        Ok(ListRequest { ids: ids(&[3, 1]), limit: Some(2), offset: 4, ..ListRequest::default() })
    );
    assert_eq!(
        list(json!({"ids": [0, "1"], "limit": 101, "offset": -1, "sort": "", "page": 2})),
        Err([
            "ids[0] out_of_range",
            "ids[1] wrong_type",
            "sort invalid_sort",
            "limit out_of_range",
            "offset out_of_range",
            "page unknown_field",
        ]
        .map(str::to_owned)
        .to_vec())
    );
}
