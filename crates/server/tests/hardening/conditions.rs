//! Negated comparisons, budgets and `X-free` in queries, over HTTP.

use serde_json::{Value, json};
use testkit::{Answer, Client, Role, SEARCH, TestServer, editor};

fn priced(title: &str, price: &str) -> Value {
    json!({"title": title, "price": price})
}

fn described(title: &str, description: &str) -> Value {
    json!({"title": title, "description": description, "price": "$5"})
}

fn search(client: &Client, query: &str) -> Answer {
    client.post(SEARCH, json!({"query": query, "limit": 50, "explain": true})).expect(200)
}

/// The ids that a query finds, best first; the total must be their number.
fn in_order(client: &Client, query: &str) -> Vec<u64> {
    let answer = search(client, query);
    let ids = answer.ids();
    assert_eq!(answer.body["total"], ids.len(), "{query}");
    ids
}

fn found(client: &Client, query: &str) -> Vec<u64> {
    let mut ids = in_order(client, query);
    ids.sort_unstable();
    ids
}

#[test]
fn negated_comparisons_and_budgets_filter_by_the_opposite_bound() {
    let (_shop, editor) = editor();
    let shoe = |price: &str| editor.create(priced("Shoe", price));
    let (cheap, exactly, dear) = (shoe("$20"), shoe("$80.00"), shoe("$80.01"));
    let ceiling = [cheap, exactly];
    for query in [
        "shoe, can't pay more than $80",
        "shoe, can’t pay more than $80",
        "shoe cant pay more than 80",
        "I cannot spend over 80 on a shoe",
        "shoe nothing over 80",
        "shoe not above 80",
        "shoe won't go above 80",
        "I don't want to spend more than 80 dollars on a shoe",
        "shoe never more than $80",
        "shoe, my limit is 80",
        "I have 80 dollars to spend on a shoe",
        "shoe max budget 80",
        "shoe nicht mehr als 80",
        "shoe pas plus de 80",
        "shoe no más de 80",
        "shoe non più di 80",
        "shoe não mais de 80",
        "shoe не дороже 80",
    ] {
        assert_eq!(found(&editor, query), ceiling, "{query}");
        let answer = search(&editor, query);
        let constraint = &answer.body["understood"]["constraints"][0];
        assert_eq!(constraint["operation"], "at_most", "{query}: {constraint}");
        assert_eq!(constraint["value"], "80", "{query}: {constraint}");
    }
    for query in ["shoe not less than 80", "shoe nothing under $80", "shoe no cheaper than 80"] {
        assert_eq!(found(&editor, query), [exactly, dear], "{query}");
        let answer = search(&editor, query);
        assert_eq!(answer.body["understood"]["constraints"][0]["operation"], "at_least", "{query}");
    }
    for query in ["shoe no limit", "shoe money is no object", "shoe not around 80"] {
        assert_eq!(found(&editor, query), [cheap, exactly, dear], "{query}");
        let answer = search(&editor, query);
        assert_eq!(answer.body["understood"]["constraints"], json!([]), "{query}");
    }
    let answer = search(&editor, "not the cheapest shoe");
    assert_eq!(answer.body["understood"]["sort"], Value::Null);
}

#[test]
fn what_claims_to_be_free_of_something_comes_first_and_what_says_it_is_left_out() {
    // Without a model: which products are near enough in meaning is not the question here.
    let shop = TestServer::start(&[]).shop();
    let editor = shop.as_role(Role::Editor);
    let create = |title: &str, text: &str| editor.create(described(title, text));
    let silent = create("Earrings", "Earrings of silver, earrings for every day.");
    let saying = create("Nickel earrings", "Earrings.");
    let both = create("Earrings", "Nickel-free hooks, but a nickel body.");
    let hyphenated = create("Hoops", "Small hoop earrings, nickel-free.");
    let apart = create("Studs", "Stud earrings. Nickel free.");
    let denied = create("Drops", "Drop earrings without nickel.");
    let free_of = create("Cuffs", "Cuff earrings, free of lead and nickel.");
    let contains = create("Pearls", "Pearl earrings. Does not contain nickel.");
    let boilerplate = create("Rings", "Earrings with free shipping.");
    let claiming = [hyphenated, apart, denied, free_of, contains];
    for query in [
        "nickel-free earrings",
        "nickel free earrings",
        "earrings nickel free",
        "earrings free of nickel",
        "earrings free from nickel under $50",
    ] {
        let ids = in_order(&editor, query);
        let mut first = ids[..claiming.len().min(ids.len())].to_vec();
        first.sort_unstable();
        assert_eq!(first, claiming, "{query}: {ids:?}");
        let mut rest = ids[claiming.len()..].to_vec();
        rest.sort_unstable();
        assert_eq!(rest, [silent, boilerplate], "{query}: {ids:?}");
        assert!(!ids.contains(&saying) && !ids.contains(&both), "{query}");

        let answer = search(&editor, query);
        assert_eq!(answer.body["understood"]["exclusions"][0]["words"], "nickel", "{query}");
        for product in answer.body["products"].as_array().unwrap() {
            let claims = product["explanation"].get("claims") == Some(&json!(true));
            let id = product["id"].as_u64().unwrap();
            assert_eq!(claims, claiming.contains(&id), "{query}: {product}");
        }
    }
    // An order that is asked for comes before the claim.
    assert_eq!(in_order(&editor, "newest nickel-free earrings")[0], boilerplate);
    assert_eq!(found(&shop.as_role(Role::Shopper), "nickel-free earrings").len(), 7);
    // Pages follow each other across the border between the two groups.
    let whole = in_order(&editor, "nickel-free earrings");
    let page = |offset: usize| {
        let body = json!({"query": "nickel-free earrings", "limit": 2, "offset": offset});
        editor.post(SEARCH, body).expect(200).ids()
    };
    assert_eq!((0..8).step_by(2).flat_map(page).collect::<Vec<_>>(), whole);
    let off = json!({"query": "nickel-free earrings", "understand": {"exclusions": false}});
    assert!(editor.post(SEARCH, off).expect(200).ids().contains(&saying));
}

#[test]
fn names_with_free_are_searched_for_as_they_are() {
    let (_shop, editor) = editor();
    for (title, query) in [
        ("Duty free bag", "duty free bag"),
        ("Hands free car kit", "hands free car kit"),
        ("Hands-free kit", "hands-free kit"),
        ("Free standing mirror", "free standing mirror"),
        ("Free people dress", "free people dress"),
        ("Wrinkle free shirt", "wrinkle-free shirt"),
    ] {
        let id = editor.create(priced(title, "$5"));
        let answer = search(&editor, query);
        assert_eq!(answer.ids().first(), Some(&id), "{query}");
        assert_eq!(answer.body["understood"]["exclusions"], json!([]), "{query}");
        assert_eq!(answer.body["understood"]["residual"], query);
    }
}
