//! Requests are read into the domain's types, with every error listed.

use catalog::{product::ProductId, query_parser::ParseOptions};
use serde_json::{Value, json};

use super::{
    ObjectDefinition,
    products::{
        ListArguments, ListRequest, NewProduct, ProductChanges, ProductEdit, list_parameters,
    },
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
fn a_product_that_was_read_can_be_sent_back() {
    check_new_product(
        json!({"id": 1, "shop_id": 2, "created_at": "x", "updated_at": "y",
            "title": "Sofa", "description": "", "price": "$5", "hidden": false, "media": []}),
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
    assert_eq!(list("limit=2&offset=4"), Ok(ListRequest { ids: None, limit: Some(2), offset: 4 }));
    assert_eq!(
        list("ids=3,%201,3,0,99999999999999999999"),
        Ok(ListRequest { ids: ids(&[3, 1]), limit: None, offset: 0 })
    );
    assert_eq!(list("ids="), Ok(ListRequest { ids: ids(&[]), limit: None, offset: 0 }));
    assert_eq!(list("ids=1,,2"), Err(vec!["ids wrong_type".into()]));
    assert_eq!(
        list("limit=0&offset=-1&sort=x"),
        Err(vec![
            "limit out_of_range".into(),
            "offset out_of_range".into(),
            "sort unknown_parameter".into(),
        ])
    );
    assert_eq!(list("limit=ten"), Err(vec!["limit wrong_type".into()]));
    assert_eq!(list("limit=1&limit=2"), Err(vec!["limit repeated".into()]));
    let many = format!("ids={}", (1..=101).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    assert_eq!(list(&many), Err(vec!["ids too_many".into()]));
}

#[test]
fn a_list_can_be_requested_by_an_object() {
    let list = |body: Value| ListArguments::read(&body).map_err(|errors| codes(&errors));
    let ids = |numbers: &[u64]| {
        Some(numbers.iter().map(|n| ProductId::new(*n).unwrap()).collect::<Vec<_>>())
    };
    assert_eq!(list(json!({})), Ok(ListRequest { ids: None, limit: None, offset: 0 }));
    assert_eq!(
        list(json!({"ids": [3, 1, 3], "limit": 2, "offset": 4})),
        Ok(ListRequest { ids: ids(&[3, 1]), limit: Some(2), offset: 4 })
    );
    assert_eq!(
        list(json!({"ids": [0, "1"], "limit": 101, "offset": -1, "sort": "x"})),
        Err([
            "ids[0] out_of_range",
            "ids[1] wrong_type",
            "limit out_of_range",
            "offset out_of_range",
            "sort unknown_field",
        ]
        .map(str::to_owned)
        .to_vec())
    );
}
