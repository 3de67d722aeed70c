//! Filters, facets and orders are read exactly, with every error at its path.

use catalog::query::sort::Direction;

use super::*;
use crate::http::requests::search::SearchRequest;

fn read(body: Value) -> Result<engine::SearchRequest, Vec<String>> {
    SearchRequest::read(&body).map_err(|errors| {
        let code = |error: &crate::http::errors::ValidationError| {
            format!("{} {}", error.field.as_deref().unwrap_or("-"), error.code)
        };
        errors.iter().map(code).collect()
    })
}

fn filter_of(filter: Value) -> Result<ProductFilter, Vec<String>> {
    read(json!({"filter": filter})).map(|request| request.filter)
}

fn name(raw: &str) -> AttributeName {
    AttributeName::parse(raw).unwrap()
}

#[test]
fn a_filter_is_read_into_conditions() {
    let amount = |text: &str| text.parse::<Decimal>().ok();
    let number = |value| catalog::product::attributes::Number::new(value);
    let filter = filter_of(json!({
        "price": {"min": "10", "max": 49.99, "currency": "usd"},
        "color": ["Red", "RED", "blue"],
        "not": {"in_stock": false, "price": {"max": "20.00"}},
        "size": {"min": -1.5},
    }));
    let red_or_blue = vec![FoldedText::of("blue"), FoldedText::of("red")];
    let usd = Some(Currency::USD);
    assert_eq!(
        filter,
        Ok(ProductFilter {
            all: vec![
                Condition::Attribute(name("color"), AttributeTest::AnyOf(red_or_blue)),
                Condition::Price(PriceConstraint::between(amount("10"), amount("49.99"), usd)),
                Condition::Attribute(
                    name("size"),
                    AttributeTest::Between { min: number(-1.5), max: None }
                ),
            ],
            none: vec![
                Condition::Attribute(name("in_stock"), AttributeTest::Is(false)),
                Condition::Price(PriceConstraint::between(None, amount("20.00"), None)),
            ],
        })
    );
    let any_price = Condition::Price(PriceConstraint::between(None, None, None));
    assert_eq!(filter_of(json!({"price": {}})).unwrap().all, [any_price]);
    assert!(filter_of(json!({})).unwrap().is_empty());
    assert!(filter_of(json!({"category": ["aa-1"], "not": {}})).is_ok());
}

#[test]
fn an_invalid_filter_names_the_path_of_each_error() {
    for (filter, expected) in [
        (json!([]), &["filter wrong_type"][..]),
        (json!(null), &["filter wrong_type"]),
        (json!({"color": "red"}), &["filter.color wrong_type"]),
        (json!({"color": []}), &["filter.color empty"]),
        (
            json!({"color": ["red", 5, ""]}),
            &["filter.color[1] wrong_type", "filter.color[2] blank"],
        ),
        (
            json!({"color": null, "size": 42}),
            &["filter.color wrong_type", "filter.size wrong_type"],
        ),
        (json!({"Color": ["red"]}), &["filter.Color invalid_name"]),
        (
            json!({"hidden": true, "id": {"min": 1}}),
            &["filter.hidden invalid_name", "filter.id invalid_name"],
        ),
        (json!({"size": {"min": "1"}}), &["filter.size.min wrong_type"]),
        (json!({"size": {"min": 2, "max": 1}}), &["filter.size.min out_of_range"]),
        (json!({"size": {"from": 2}}), &["filter.size.from unknown_field"]),
        (json!({"price": "10"}), &["filter.price wrong_type"]),
        (json!({"price": {"min": "2", "max": "1.99"}}), &["filter.price.min out_of_range"]),
        (json!({"price": {"min": true}}), &["filter.price.min wrong_type"]),
        (json!({"price": {"min": "$5"}}), &["filter.price.min invalid_amount"]),
        (json!({"price": {"currency": "XYZ"}}), &["filter.price.currency unknown_currency"]),
        (json!({"price": {"currency": ""}}), &["filter.price.currency unknown_currency"]),
        (json!({"category": ["aa-1", "zz"]}), &["filter.category[1] unknown_category"]),
        (json!({"category": [""]}), &["filter.category[0] unknown_category"]),
        (json!({"category": true}), &["filter.category wrong_type"]),
        (json!({"not": {"category": []}}), &["filter.not.category empty"]),
        (json!({"not": {"not": {}}}), &["filter.not.not invalid_name"]),
        (json!({"not": {"size": {"max": []}}}), &["filter.not.size.max wrong_type"]),
        (json!({"not": ["color"]}), &["filter.not wrong_type"]),
    ] {
        assert_eq!(filter_of(filter.clone()).unwrap_err(), expected, "{filter}");
    }
}

#[test]
fn an_amount_is_what_a_price_may_be() {
    for good in [json!("0"), json!("10"), json!("49.99"), json!("999999999999999.99999999")] {
        assert!(filter_of(json!({"price": {"min": good}})).is_ok(), "{good}");
    }
    for good in [json!(0), json!(10), json!(49.99), json!(1e3)] {
        assert!(filter_of(json!({"price": {"max": good}})).is_ok(), "{good}");
    }
    for bad in [
        json!(""),
        json!("-1"),
        json!("+1"),
        json!("1e3"),
        json!("1,50"),
        json!(".5"),
        json!("5."),
        json!(" 5"),
        json!("1.2.3"),
        json!("NaN"),
        json!("1_000"),
        json!("٣"),
        json!("1000000000000000"),
        json!("0.123456789"),
        json!(-1),
        json!(-0.5),
        json!(1e30),
    ] {
        let found = filter_of(json!({"price": {"min": bad}}));
        assert_eq!(found, Err(vec!["filter.price.min invalid_amount".to_owned()]), "{bad}");
    }
}

#[test]
fn conditions_and_their_values_are_bounded() {
    let conditions =
        |count: usize| (0..count).map(|n| (format!("a{n}"), json!(true))).collect::<Map<_, _>>();
    let values = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>();
    let too_many = Err(vec!["filter too_many".to_owned()]);
    assert!(filter_of(json!(conditions(50))).is_ok());
    assert_eq!(filter_of(json!(conditions(51))), too_many);
    let split = |outside: usize, inside: usize| {
        let mut filter = conditions(outside);
        filter.insert("not".to_owned(), json!(conditions(inside)));
        filter_of(Value::Object(filter))
    };
    assert!(split(25, 25).is_ok());
    assert_eq!(split(25, 26), too_many);
    assert_eq!(split(50, 1), too_many);
    assert_eq!(split(0, 51), Err(vec!["filter.not too_many".to_owned()]));
    assert!(filter_of(json!({"a": values(50)})).is_ok());
    assert_eq!(filter_of(json!({"a": values(51)})), Err(vec!["filter.a too_many".to_owned()]));
    let long = "x".repeat(201);
    assert_eq!(filter_of(json!({"a": [long]})), Err(vec!["filter.a[0] too_long".to_owned()]));
}

#[test]
fn a_query_may_be_missing_or_blank_with_a_filter_only() {
    for body in [json!({"filter": {}}), json!({"filter": {}, "query": " "})] {
        assert_eq!(read(body).unwrap().query, None);
    }
    assert_eq!(read(json!({"facets": ["color"]})).map(|_| ()), Err(vec!["query required".into()]));
    assert_eq!(
        read(json!({"filter": {}, "query": 5})).map(|_| ()),
        Err(vec!["query wrong_type".into()])
    );
    let long = "x".repeat(1001);
    assert_eq!(
        read(json!({"filter": {}, "query": long})).map(|_| ()),
        Err(vec!["query too_long".into()])
    );
}

#[test]
fn facets_are_distinct_names() {
    let facets = |facets: Value| read(json!({"query": "x", "facets": facets}));
    let found = facets(json!(["price", "color", "category"])).unwrap().facets;
    let names: Vec<_> = found.iter().map(FacetField::name).collect();
    assert_eq!(names, ["price", "color", "category"]);
    let many = |count: usize| (0..count).map(|n| format!("a{n}")).collect::<Vec<_>>();
    assert!(facets(json!(many(20))).is_ok());
    for (bad, expected) in [
        (json!([]), "facets empty"),
        (json!(many(21)), "facets too_many"),
        (json!("color"), "facets wrong_type"),
        (json!(["a", "b", "a"]), "facets[2] repeated"),
        (json!(["a", "b", "c", 5]), "facets[3] wrong_type"),
        (json!(["hidden"]), "facets[0] invalid_name"),
        (json!(["not"]), "facets[0] invalid_name"),
        (json!(["Color"]), "facets[0] invalid_name"),
    ] {
        assert_eq!(facets(bad).map(|_| ()), Err(vec![expected.to_owned()]));
    }
    let limit = |limit: Value| {
        read(json!({"query": "x", "facet_limit": limit})).map(|request| request.facet_limit)
    };
    assert_eq!((limit(json!(1)), limit(json!(100))), (Ok(1), Ok(100)));
    for bad in [json!(0), json!(101)] {
        assert_eq!(limit(bad), Err(vec!["facet_limit out_of_range".to_owned()]));
    }
    assert_eq!(read(json!({"query": "x"})).unwrap().facet_limit, 20);
}

#[test]
fn an_order_is_read_or_rejected() {
    let sort = |sort: Value| read(json!({"query": "x", "sort": sort})).map(|request| request.sort);
    assert_eq!(
        sort(json!("-size")),
        Ok(Some(Sort::Attribute(name("size"), Direction::Descending)))
    );
    assert_eq!(read(json!({"query": "x"})).unwrap().sort, None);
    for bad in ["", "id", "category", "-newest"] {
        assert_eq!(sort(json!(bad)), Err(vec!["sort invalid_sort".to_owned()]), "{bad}");
    }
    assert_eq!(sort(json!(1)), Err(vec!["sort wrong_type".to_owned()]));
}
