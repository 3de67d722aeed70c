//! Score explanations, over HTTP and in the terminal.

use serde_json::{Value, json};
use testkit::{Role, SEARCH, TestServer, printed, product_named, run};

const QUERY: &str = "velvet sofa under $900 without leather";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// What the parts of a score add up to: the contributions of the second stage, or words and meaning
/// where it did not consider the product.
fn sum(parts: &serde_json::Map<String, Value>) -> f64 {
    if let Some(rerank) = parts.get("rerank") {
        let contributions = rerank["contributions"].as_object().unwrap();
        return contributions.values().map(number).sum();
    }
    let meaning = match &parts["meaning"] {
        Value::Null => 0.0,
        meaning => number(&meaning["score"]) * number(&meaning["weight"]),
    };
    number(&parts["words"]["score"]) * number(&parts["words"]["weight"]) + meaning
}

#[test]
fn score_components_are_returned_on_request() {
    let server = TestServer::start(&[]);
    let editor = server.shop().as_role(Role::Editor);
    editor.create(json!({"title": "Velvet sofa", "description": "A sofa", "price": "$5"}));
    editor.create(product_named("Sofa cover"));
    let search = |body| editor.post(SEARCH, body).expect(200).body;
    let quiet = search(json!({"query": QUERY}));
    let told = search(json!({"query": QUERY, "explain": true}));
    assert_eq!(quiet["total"], told["total"]);
    let (quiet, told) = (&quiet["products"], &told["products"]);
    assert!(told.as_array().is_some_and(|products| !products.is_empty()));
    let mut last = 1.0;
    for (plain, explained) in quiet.as_array().unwrap().iter().zip(told.as_array().unwrap()) {
        assert_eq!(plain.get("explanation"), None);
        assert_eq!(plain["id"], explained["id"]);
        let Value::Object(parts) = &explained["explanation"] else { panic!("{explained}") };
        let (score, words) = (number(&parts["score"]), &parts["words"]);
        assert!((sum(parts) - score).abs() < 1e-4, "{explained}");
        let terms = words["terms"].as_array().unwrap().iter();
        let bonuses = words["bonuses"].as_array().unwrap().iter();
        let sum: f64 = terms.chain(bonuses).map(|part| number(&part["score"])).sum();
        assert!((sum - number(&words["matched"])).abs() < 1e-4, "{explained}");
        assert!(score <= last, "best first");
        last = score;
    }
    let best = &told[0]["explanation"]["words"]["terms"];
    assert_eq!(best[0]["term"], "velvet", "{best}");
    assert_eq!((&best[1]["title"], &best[1]["description"]), (&json!(1), &json!(1)), "{best}");

    // Where nothing was scored there is nothing to tell.
    let listed = search(json!({"query": "under $900", "explain": true}));
    assert_eq!(listed["products"][0].get("explanation"), None);
    editor.post(SEARCH, json!({"query": "x", "explain": "yes"})).faults(&["explain wrong_type"]);
}

#[test]
fn attributes_and_keys_that_match_are_explained() {
    let server = TestServer::start(&[]);
    let editor = server.shop().as_role(Role::Editor);
    editor.create(json!({"title": "Velvet sofa", "description": "By Hygge", "price": "$5"}));
    let id = editor.create(json!({"title": "Sofa", "price": "$5", "key": "SO-1",
        "attributes": {"brand": "Hygge", "seats": 3}}));
    let best = |query: &str| {
        let found = editor.post(SEARCH, json!({"query": query, "explain": true})).expect(200);
        let product = found.body["products"][0].clone();
        assert_eq!(product["id"], id, "{query}");
        product["explanation"].clone()
    };
    let brand = best("hygge sofa");
    let terms = brand["words"]["terms"].as_array().unwrap();
    let term = |word: &str| terms.iter().find(|term| term["term"] == word).unwrap();
    assert_eq!(term("hygge")["attribute"], true, "{brand}");
    assert_eq!(term("sofa").get("attribute"), None, "{brand}");
    assert_eq!(brand.get("key"), None);
    assert_eq!(best(" SO-1 ")["key"], true);
}

#[test]
fn the_command_line_filters_counts_and_sorts() {
    let server = TestServer::start(&[]);
    let shop = server.shop();
    let editor = shop.as_role(Role::Editor);
    for (title, price, color) in
        [("Small sofa", "$10", "green"), ("Large sofa", "$30", "Green"), ("Red sofa", "$20", "red")]
    {
        editor.create(json!({"title": title, "price": price, "attributes": {"color": color}}));
    }
    let number = shop.number.to_string();
    let asked = ["search", "--shop", &number, "--filter", r#"{"color": ["green"]}"#];
    let more = ["--facets", "color,price", "--sort", "-price"];
    let page = printed(server.command(&[&asked[..], &more].concat()));
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} in {page}"));
    assert!(at("Large sofa") < at("Small sofa"), "{page}");
    assert!(!page.contains("Red sofa"), "{page}");
    at("Green 2, red 1");
    at("10 to 30 USD");
    let refused = server.command(&["search", "--shop", &number, "--filter", r#"{"color": 5}"#]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("filter.color"), "{refused:?}");
}

#[test]
fn the_command_line_shows_the_same_with_and_without_a_server() {
    let server = TestServer::start(&[]);
    let shop = server.shop();
    let editor = shop.as_role(Role::Editor);
    editor.create(product_named("Velvet sofa"));
    editor.create(json!({"title": "Hidden velvet sofa", "price": "$7", "hidden": true}));
    let number = shop.number.to_string();
    let (address, token) = (format!("http://{}", server.address()), shop.token(Role::Viewer));
    // The time it took is the only difference, and the vectors that came meanwhile.
    let without_time = |page: String| {
        let lines = page.lines().filter(|line| !line.contains(" found in ")).map(str::to_owned);
        lines.collect::<Vec<_>>()
    };
    for more in [&["--include-hidden"][..], &[]] {
        let looked = server.command(&[&["search", QUERY, "--shop", &number], more].concat());
        let asked = [&["search", QUERY, "--server", &address], more].concat();
        let pages = [printed(looked), printed(run(&asked, &[("TOKEN", &token)]))];
        assert!(pages[0].contains("Velvet sofa"), "{}", pages[0]);
        assert!(pages[0].contains("below 900 USD"), "{}", pages[0]);
        assert_eq!(pages[0].contains("Hidden velvet"), !more.is_empty(), "{}", pages[0]);
        assert!(!pages[0].contains('\u{1b}'), "no colours outside a terminal");
        assert_eq!(without_time(pages[0].clone()), without_time(pages[1].clone()));
    }
    let told = printed(server.command(&["search", QUERY, "--shop", &number, "--explain"]));
    assert!(told.contains("words ") && told.contains("velvet"), "{told}");

    let refused = run(&["search", QUERY, "--server", &address], &[("TOKEN", "sk_x")]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("401"), "{refused:?}");
    let nowhere = run(&["search", QUERY, "--shop", "1", "--data", "/nowhere/at/all"], &[]);
    assert!(!nowhere.status.success());
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("/nowhere/at/all"), "{nowhere:?}");
}
