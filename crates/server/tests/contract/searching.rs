//! Search: what was written is found at once, exactly counted, best first.

use serde_json::{Value, json};
use testkit::{
    BULK, NO_IDS, PRODUCTS, Role, SEARCH, Shop, TestServer, editor, product, product_named,
};

use crate::snapshot::snapshot;

#[test]
fn a_search_answers_with_products_query_and_total() {
    let (_shop, editor) = editor();
    editor.create(json!({
        "title": "Linen sofa",
        "description": "Three seats, washable covers.",
        "price": "$899.00",
        "media": [{"url": "https://example.com/sofa.jpg", "type": "image"}],
    }));
    editor.create(product_named("Oak table"));
    let answer = editor.post(SEARCH, json!({"query": "  Linen SOFA "})).expect(200);
    snapshot("search", &answer);
    assert_eq!(answer.body["query"], "  Linen SOFA ");
}

#[test]
fn an_irrelevant_query_finds_nothing() {
    let (_shop, editor) = editor();
    editor.create(product_named("Oak table"));
    let answer = editor.post(SEARCH, json!({"query": "xylophone"})).expect(200);
    assert_eq!(answer.body["products"], json!([]));
    assert_eq!(answer.body["total"], 0);
}

#[test]
fn every_write_is_visible_to_the_very_next_search() {
    let shop = Shop::open();
    let (editor, shopper) = (shop.as_role(Role::Editor), shop.as_role(Role::Shopper));
    for round in 0..40 {
        let (before, after) = ("ceramic teapot", "leather football");
        let id = editor.create(product_named(before));
        assert_eq!(shopper.find(before), [id]);
        editor.put(&product(id), json!({"title": after})).expect(200);
        assert_eq!(shopper.find(before), NO_IDS);
        assert_eq!(shopper.find(after), [id]);
        editor.put(&product(id), json!({"hidden": true})).expect(200);
        assert_eq!(shopper.find(after), NO_IDS);
        editor.put(&product(id), json!({"hidden": false})).expect(200);
        assert_eq!(shopper.find(after), [id]);
        match round % 2 {
            0 => drop(editor.delete(&product(id)).expect(204)),
            _ => drop(editor.bulk_delete(json!({"product_ids": [id]})).expect(200)),
        }
        assert_eq!(shopper.find(after), NO_IDS);
    }
}

#[test]
fn bulk_writes_are_visible_at_once_too() {
    let (_shop, editor) = editor();
    let ids = editor.create_all((0..100).map(|n| format!("teapot {n}")));
    let total = |query: &str| {
        let answer = editor.post(SEARCH, json!({"query": query, "limit": 1})).expect(200);
        answer.body["total"].as_u64().unwrap()
    };
    assert_eq!(total("teapot"), 100);
    let edits: Vec<_> = ids.iter().map(|id| json!({"id": id, "title": "football"})).collect();
    editor.put(BULK, json!({"products": edits})).expect(200);
    assert_eq!((total("teapot"), total("football")), (0, 100));
    editor.bulk_delete(json!({"product_ids": ids[..99]})).expect(200);
    assert_eq!(total("football"), 1);
}

#[test]
fn the_total_is_exact_whatever_the_page() {
    let (_shop, editor) = editor();
    editor.create_all((0..73).map(|n| format!("Lamp {n}")));
    editor.create_all((0..9).map(|n| format!("Rug {n}")));
    for (limit, found) in [(1, 1), (10, 10), (50, 50)] {
        let answer = editor.post(SEARCH, json!({"query": "lamp", "limit": limit})).expect(200);
        assert_eq!(answer.body["total"], 73);
        assert_eq!(answer.ids().len(), found);
    }
    assert_eq!(editor.find("lamp").len(), 10, "ten if nothing is said");
}

#[test]
fn pages_follow_each_other_without_gap_or_repeat() {
    // Without a model: its better vectors arrive between two pages, as a write might.
    let server = TestServer::start(&[]);
    let editor = server.shop().as_role(Role::Editor);
    // Longer titles match a little less well, so that scores differ within and across pages.
    let ids = editor.create_all((0..47).map(|n| format!("Lamp{}", " of brass".repeat(n % 4))));
    let page = |limit: usize, offset: usize| {
        let body = json!({"query": "lamp", "limit": limit, "offset": offset});
        editor.post(SEARCH, body).expect(200)
    };
    let whole = page(50, 0).ids();
    let mut sorted = whole.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ids);
    for limit in [1, 5, 50] {
        let mut paged = Vec::new();
        for offset in (0..47).step_by(limit) {
            let page = page(limit, offset);
            assert_eq!(page.body["total"], 47);
            paged.extend(page.ids());
        }
        assert_eq!(paged, whole, "limit {limit}");
    }
    assert_eq!(page(10, 1000).ids(), NO_IDS);
    assert_eq!(page(10, 1000).body["total"], 47);
}

#[test]
fn hidden_products_are_found_only_if_asked_for() {
    let shop = Shop::open();
    let editor = shop.as_role(Role::Editor);
    let shown = editor.create(product_named("Red kettle"));
    let hidden = editor.create(json!({"title": "Blue kettle", "price": "$5", "hidden": true}));
    let search = |role: Role, include_hidden: Value| {
        let body = json!({"query": "kettle", "include_hidden": include_hidden});
        shop.as_role(role).post(SEARCH, body)
    };
    for role in Role::ALL {
        assert_eq!(search(role, json!(false)).expect(200).ids(), [shown], "{role:?}");
    }
    for role in [Role::Viewer, Role::Editor, Role::Admin] {
        let found = search(role, json!(true)).expect(200);
        assert_eq!(found.body["total"], 2);
        let mut ids = found.ids();
        ids.sort_unstable();
        assert_eq!(ids, [shown, hidden]);
    }
    search(Role::Shopper, json!(true)).refused(403, "insufficient_role");
}

#[test]
fn the_best_match_comes_first() {
    // By words alone: what is near in meaning would stand between.
    let shop = TestServer::start(&[]).shop();
    let editor = shop.as_role(Role::Editor);
    let create = |title: &str, description: &str| {
        editor.create(json!({"title": title, "description": description, "price": "$5"}))
    };
    let both = create("Red wool scarf", "Warm.");
    let part = create("Green scarf", "A scarf for the summer, not of wool.");
    let aside = create("Winter coat", "Comes with a matching scarf.");
    let other = create("Teapot", "Of clay.");
    let found = editor.find("red wool scarf");
    assert_eq!(found[0], both);
    assert!(!found.contains(&other));
    assert_eq!(editor.find("scarf").last(), Some(&aside), "a title says more than a description");
    assert_eq!(editor.find("green scarf")[0], part);
    assert_eq!(editor.find("TEAPOTS"), [other]);
}

#[test]
fn a_shop_finds_its_own_products_alone() {
    let (_mine, mine) = editor();
    let (_theirs, theirs) = editor();
    let id = mine.create(product_named("Tambourine"));
    assert_eq!(mine.find("tambourine"), [id]);
    assert_eq!(theirs.find("tambourine"), NO_IDS);
}

#[test]
fn a_query_has_up_to_a_thousand_characters() {
    let (_shop, editor) = editor();
    let search = |query: String| editor.post(SEARCH, json!({"query": query}));
    let longest = "é ".repeat(500);
    assert_eq!(search(longest.clone()).expect(200).body["query"], longest);
    search("🛋".repeat(1000)).expect(200);
    search("🛋".repeat(1001)).faults(&["query too_long"]);
    search(format!("{longest}x")).faults(&["query too_long"]);
}

#[test]
fn a_search_is_refused_rather_than_guessed() {
    let (_shop, editor) = editor();
    for (body, faults) in [
        (json!({}), &["query required"][..]),
        (json!([]), &["- wrong_type"]),
        (json!({"query": ""}), &["query blank"]),
        (json!({"query": " \n\u{3000}"}), &["query blank"]),
        (json!({"query": null}), &["query wrong_type"]),
        (json!({"query": 5}), &["query wrong_type"]),
        (json!({"query": "x", "limit": 0}), &["limit out_of_range"]),
        (json!({"query": "x", "limit": 51}), &["limit out_of_range"]),
        (json!({"query": "x", "limit": -1}), &["limit out_of_range"]),
        (json!({"query": "x", "limit": "5"}), &["limit wrong_type"]),
        (json!({"query": "x", "limit": 1.5}), &["limit wrong_type"]),
        (json!({"query": "x", "limit": null}), &["limit wrong_type"]),
        (json!({"query": "x", "offset": 1001}), &["offset out_of_range"]),
        (json!({"query": "x", "offset": -1}), &["offset out_of_range"]),
        (json!({"query": "x", "include_hidden": "yes"}), &["include_hidden wrong_type"]),
        (json!({"query": "x", "include_hidden": null}), &["include_hidden wrong_type"]),
        (json!({"query": "x", "filters": {}}), &["filters unknown_field"]),
        (json!({"query": "x", "understand": true}), &["understand wrong_type"]),
        (json!({"query": "x", "understand": null}), &["understand wrong_type"]),
        (
            json!({"query": "x", "understand": {"price": "no", "colour": true}}),
            &["understand.price wrong_type", "understand.colour unknown_field"],
        ),
        (
            json!({"query": " ", "limit": 99, "page": 2}),
            &["query blank", "limit out_of_range", "page unknown_field"],
        ),
    ] {
        editor.post(SEARCH, body).faults(faults);
    }
    for body in [json!({"query": "x", "limit": 1}), json!({"query": "x", "limit": 50})] {
        editor.post(SEARCH, body).expect(200);
    }
}

#[test]
fn odd_queries_find_nothing_and_do_no_harm() {
    let (_shop, editor) = editor();
    editor.create(product_named("Oak table"));
    for query in ["\u{0}", "\"", "' OR 1=1 --", "* AND (", "🛋️", "\u{202e}\u{feff}x", "\\", "%_"]
    {
        let answer = editor.post(SEARCH, json!({"query": query})).expect(200);
        assert_eq!(answer.body["query"], query);
        assert_eq!(answer.ids(), NO_IDS, "{query:?}");
    }
    assert_eq!(editor.get(PRODUCTS).total_count(), 1);
}

#[test]
fn many_writers_each_find_what_they_wrote() {
    let (_shop, editor) = editor();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let editor = editor.clone();
            scope.spawn(move || {
                for round in 0..15 {
                    let word = format!("writer{writer}round{round}");
                    let id = editor.create(product_named(&word));
                    assert_eq!(editor.find(&word).first(), Some(&id));
                    assert_eq!(editor.get(&product(id)).expect(200).body["title"], word);
                }
            });
        }
    });
    assert_eq!(editor.get(PRODUCTS).total_count(), 8 * 15);
}

#[test]
fn products_are_found_by_what_they_mean() {
    let (_shop, editor) = editor();
    let sofa = editor.create(product_named("Grey velvet sofa"));
    editor.create(product_named("Cordless drill"));
    let answer = editor.post(SEARCH, json!({"query": "couch"})).expect(200);
    assert_eq!(answer.ids(), [sofa], "no word of it is in the title");
    assert_eq!((&answer.body["total"], &answer.body["encoder"]), (&json!(1), &json!("deep")));
    let only_a_condition = editor.post(SEARCH, json!({"query": "under $20"})).expect(200);
    assert_eq!(only_a_condition.body["encoder"], Value::Null);
}

#[test]
fn a_busy_server_uses_the_instant_encoder_and_one_without_a_model_none() {
    for (flags, encoder, found) in [
        (["--model-query-budget", "0"], json!("instant"), 1),
        (["--model-kind", "off"], Value::Null, 0),
    ] {
        let server = TestServer::start(&flags);
        let editor = server.shop().as_role(Role::Editor);
        editor.create(product_named("Grey velvet sofa"));
        let answer = editor.post(SEARCH, json!({"query": "couch"})).expect(200);
        assert_eq!((&answer.body["encoder"], answer.ids().len()), (&encoder, found), "{flags:?}");
        assert_eq!(editor.find("sofa").len(), 1, "by its words in any case");
    }
}
