//! What the service infers: the category and attributes of products, and what queries ask for.

use serde_json::{Value, json};
use testkit::{Answer, Client, PRODUCTS, SEARCH, editor, product};

const FURNITURE: &str = "Furniture";

/// A product of a category that the merchant states.
fn placed(client: &Client, title: &str, category: &str) -> u64 {
    client.create(json!({"title": title, "price": "$5",
        "attributes": {"google_product_category": category}}))
}

fn search(client: &Client, body: Value) -> Answer {
    client.post(SEARCH, body).expect(200)
}

fn found(client: &Client, filter: &Value) -> Vec<u64> {
    let answer = search(client, json!({"filter": filter}));
    assert_eq!(answer.body["total"], answer.ids().len(), "{filter}");
    answer.ids()
}

fn inferred(client: &Client, id: u64) -> Value {
    client.get(&product(id)).expect(200).body["inferred_attributes"].clone()
}

#[test]
fn products_are_returned_with_what_is_inferred() {
    let (_shop, editor) = editor();
    let body = json!({"title": "Navy velvet armchair", "price": "$300"});
    let created = editor.post(PRODUCTS, body).expect(201).body;
    let id = created["id"].as_u64().unwrap();
    assert_eq!(created["inferred_attributes"], json!({"color": ["blue"], "material": ["velvet"]}));
    let category = &created["category"];
    assert_eq!(category["path"][0], FURNITURE, "{category}");
    assert!(category["id"].as_str().unwrap().starts_with("fr-"), "{category}");
    let confidence = category["confidence"].as_f64().unwrap();
    assert!(confidence > 0.5 && confidence <= 1.0, "{category}");
    assert_eq!((confidence * 100.0).round() / 100.0, confidence, "two decimals");

    let read = editor.get(&product(id)).expect(200).body;
    let listed = editor.get(PRODUCTS).expect(200).body[0].clone();
    let sorted = editor.get(&format!("{PRODUCTS}?sort=price")).expect(200).body[0].clone();
    let searched = search(&editor, json!({"query": "armchair"})).body["products"][0].clone();
    for (what, body) in
        [("read", read), ("listed", listed), ("sorted", sorted), ("searched", searched)]
    {
        assert_eq!(body["category"], created["category"], "{what}");
        assert_eq!(body["inferred_attributes"], created["inferred_attributes"], "{what}");
    }
}

#[test]
fn nothing_is_guessed() {
    let (_shop, editor) = editor();
    let body = editor.post(PRODUCTS, json!({"title": "xqzv", "price": "$5"})).expect(201).body;
    assert_eq!((body.get("category"), body.get("inferred_attributes")), (None, None));
}

#[test]
fn what_the_merchant_states_takes_precedence() {
    let (_shop, editor) = editor();
    let body = json!({"title": "Navy velvet armchair", "price": "$5",
        "attributes": {"color": "Midnight", "product_type": "Furniture > Benches"}});
    let created = editor.post(PRODUCTS, body).expect(201).body;
    assert_eq!(created["attributes"]["color"], "Midnight");
    assert_eq!(created["inferred_attributes"], json!({"material": ["velvet"]}));
    assert_eq!(
        created["category"],
        json!({"id": "fr-3", "path": [FURNITURE, "Benches"], "confidence": 1.0})
    );
}

#[test]
fn inference_follows_the_texts() {
    let (_shop, editor) = editor();
    let id = editor.create(json!({"title": "Red wool scarf", "price": "$5"}));
    for (change, expected) in [
        (json!({"title": "Green wool scarf"}), json!({"color": ["green"], "material": ["wool"]})),
        (json!({"price": "$6"}), json!({"color": ["green"], "material": ["wool"]})),
        (json!({"attributes": {"material": "Merino"}}), json!({"color": ["green"]})),
        (json!({"attributes": {}}), json!({"color": ["green"], "material": ["wool"]})),
    ] {
        let updated = editor.put(&product(id), change.clone()).expect(200).body;
        assert_eq!(updated["inferred_attributes"], expected, "{change}");
        assert_eq!(inferred(&editor, id), expected, "{change}");
        let green = found(&editor, &json!({"color": ["green"]}));
        assert_eq!(green, [id], "{change}");
    }
    // What is read can be sent back.
    let mut read = editor.get(&product(id)).expect(200).body;
    read["title"] = "Blue wool scarf".into();
    let updated = editor.put(&product(id), read).expect(200).body;
    assert_eq!(updated["inferred_attributes"]["color"], json!(["blue"]));
    // Upserts and bulk requests infer too.
    let body = json!({"products": [{"key": "S-1", "title": "Pink silk scarf", "price": "$5"}]});
    editor.post(testkit::UPSERT, body).expect(200);
    let pink = found(&editor, &json!({"color": ["pink"]}));
    assert_eq!(pink.len(), 1);
    let body = json!({"products": [{"id": pink[0], "title": "Grey silk scarf"}]});
    editor.put(testkit::BULK, body).expect(200);
    assert_eq!(found(&editor, &json!({"color": ["grey"]})), pink);
}

#[test]
fn a_filter_of_inferred_values_knows_shades() {
    let (_shop, editor) = editor();
    let emerald = editor.create(json!({"title": "Emerald green dress", "price": "$5"}));
    let stated = editor.create(json!({"title": "Green dress", "price": "$5",
        "attributes": {"color": "Cosmic"}}));
    let green = editor.create(json!({"title": "Dress", "price": "$5",
        "attributes": {"color": "green"}}));
    let other = editor.create(json!({"title": "Striped dress for women", "price": "$5"}));
    for (filter, expected) in [
        (json!({"color": ["green"]}), vec![green, emerald]),
        (json!({"color": ["Emerald"]}), vec![emerald]),
        (json!({"color": ["cosmic"]}), vec![stated]),
        (json!({"pattern": ["striped"]}), vec![other]),
        (json!({"audience": ["women"], "pattern": ["striped"]}), vec![other]),
        (json!({"not": {"color": ["green"]}}), vec![other, stated]),
        (json!({"color": true}), vec![]),
    ] {
        assert_eq!(found(&editor, &filter), expected, "{filter}");
    }
    let facets = search(&editor, json!({"filter": {}, "facets": ["color", "pattern"]})).body;
    assert_eq!(
        facets["facets"]["color"],
        json!({"values": [{"value": "green", "count": 2}, {"value": "Cosmic", "count": 1}],
            "missing": 1})
    );
    assert_eq!(
        facets["facets"]["pattern"],
        json!({"values": [{"value": "striped", "count": 1}], "missing": 3})
    );
}

#[test]
fn a_category_is_filtered_by_with_everything_below() {
    let (_shop, editor) = editor();
    let chair = placed(&editor, "One", "Furniture > Chairs");
    let sofa = placed(&editor, "Two", "Furniture > Sofas");
    let dress = placed(&editor, "Three", "Apparel & Accessories > Clothing > Dresses");
    let none = editor.create(json!({"title": "xqzv", "price": "$5"}));
    for (filter, expected) in [
        (json!({"category": ["fr"]}), vec![sofa, chair]),
        (json!({"category": ["fr-7"]}), vec![chair]),
        (json!({"category": ["Furniture > Chairs"]}), vec![chair]),
        (json!({"category": ["furniture > sofas", "aa-1"]}), vec![dress, sofa]),
        (json!({"category": ["aa"], "not": {"category": ["aa-1-4"]}}), vec![]),
        (json!({"not": {"category": ["fr"]}}), vec![none, dress]),
    ] {
        assert_eq!(found(&editor, &filter), expected, "{filter}");
    }
    for (filter, fault) in [
        (json!({"category": ["fr-7", "zz-9"]}), "filter.category[1] unknown_category"),
        (json!({"category": ["Chairs"]}), "filter.category[0] unknown_category"),
        (json!({"category": []}), "filter.category empty"),
        (json!({"category": "fr"}), "filter.category wrong_type"),
        (json!({"not": {"category": [7]}}), "filter.not.category[0] wrong_type"),
    ] {
        editor.post(SEARCH, json!({"filter": filter})).faults(&[fault]);
    }
}

#[test]
fn a_facet_of_categories_counts_what_is_below_the_common_one() {
    let (_shop, editor) = editor();
    for category in ["Furniture > Chairs", "Furniture > Sofas", "Furniture > Sofas"] {
        placed(&editor, "Thing", category);
    }
    editor.create(json!({"title": "xqzv", "price": "$5"}));
    let count = |filter: Value| {
        let body = json!({"filter": filter, "facets": ["category"]});
        search(&editor, body).body["facets"]["category"].clone()
    };
    let value =
        |id: &str, label: &str, count: u64| json!({"id": id, "label": label, "count": count});
    let below = json!({"missing": 1,
        "values": [value("fr-22", "Sofas", 2), value("fr-7", "Chairs", 1)]});
    assert_eq!(count(json!({})), below, "all furniture");
    placed(&editor, "Thing", "Apparel & Accessories > Clothing > Dresses");
    let roots = json!({"missing": 1,
        "values": [value("fr", FURNITURE, 3), value("aa", "Apparel & Accessories", 1)]});
    assert_eq!(count(json!({})), roots, "nothing in common");
    assert_eq!(count(json!({"category": ["fr"]})), below, "its own condition does not restrict it");
    assert_eq!(count(json!({"category": ["fr-7"]}))["values"], json!([]), "a leaf");
}

#[test]
fn the_attributes_of_a_query_are_understood_and_switched_off() {
    let (_shop, editor) = editor();
    for title in ["Navy armchair", "Red armchair", "Armchair"] {
        editor.create(json!({"title": title, "price": "$5"}));
    }
    let query = "a nawy armchair under $50";
    let answer = search(&editor, json!({"query": query})).body;
    assert_eq!(
        answer["understood"]["attributes"],
        json!([{"name": "color", "values": ["blue"], "text": "nawy",
            "span": {"start": 2, "end": 6}, "required": false}])
    );
    let category = &answer["understood"]["category"];
    assert_eq!(category["path"][0], FURNITURE, "{category}");
    assert_eq!(category["id"].as_str().map(|id| &id[..3]), Some("fr-"), "{category}");
    assert_eq!(answer["products"][0]["title"], "Navy armchair");

    let off = json!({"query": query, "understand": {"attributes": false}});
    let plain = search(&editor, off).body["understood"].clone();
    assert_eq!((&plain["attributes"], plain.get("category")), (&json!([]), None));
    assert_eq!(plain["residual"], answer["understood"]["residual"], "the words are searched for");
    let bad = json!({"query": "x", "understand": {"attributes": "no"}});
    editor.post(SEARCH, bad).faults(&["understand.attributes wrong_type"]);
}

#[test]
fn products_of_a_category_below_are_preferred_whatever_they_are_called() {
    let (_shop, editor) = editor();
    let titles = [
        "Beanie hat, acrylic, black",
        "Bucket hat, cotton",
        "Hat box, round, with lid",
        "Wool blanket, grey",
        "Beret, felted wool, bottle green",
    ];
    for title in titles {
        editor.create(json!({"title": title, "price": "$5"}));
    }
    let answer = search(&editor, json!({"query": "woollen hat", "explain": true})).body;
    let first = &answer["products"][0];
    assert_eq!(first["title"], titles[4], "{answer}");
    let preference = &first["explanation"]["rerank"]["contributions"]["preference"];
    assert!(preference.as_f64().is_some_and(|preference| preference > 0.0), "{first}");
}

#[test]
fn where_nothing_agrees_the_kind_comes_first() {
    let (_shop, editor) = editor();
    let armchairs = ["Recliner Armchair, Brown Fabric", "Wingback Armchair, Mustard Velvet"];
    let purple = ["Kneeling Pad, Foam, Purple", "Fingerless Wrist Warmers, Heather Purple"];
    for title in purple.iter().chain(&armchairs) {
        editor.create(json!({"title": title, "price": "$5"}));
    }
    let first = |count: usize| {
        let answer = search(&editor, json!({"query": "purple armchair"})).body;
        let titles = answer["products"].as_array().unwrap().iter().map(|one| &one["title"]);
        let mut titles: Vec<Value> = titles.take(count).cloned().collect();
        titles.sort_by_key(Value::to_string);
        titles
    };
    assert_eq!(first(2), armchairs);
    editor.create(json!({"title": "Club Armchair, Purple", "price": "$5"}));
    assert_eq!(first(1), ["Club Armchair, Purple"]);
}

#[test]
fn queries_in_other_languages_ask_for_things_with_attributes() {
    let (_shop, editor) = editor();
    let products = [
        "Matte Lipstick, Brick Red",
        "Decanter for Red Wine",
        "Fabric Sofa, 3 Seats, Grey",
        "Leather Sofa, 2 Seats, Brown",
        "Sofa in Velvet, Blue",
    ];
    for title in products {
        editor.create(json!({"title": title, "price": "$5"}));
    }
    let answer = |query: &str| search(&editor, json!({"query": query})).body;
    for query in ["divano rosso", "canapé rouge"] {
        let found = answer(query);
        assert_eq!(found["understood"]["category"]["path"], json!(["Furniture", "Sofas"]));
        assert_eq!(found["understood"]["attributes"][0]["values"], json!(["red"]));
        let title = found["products"][0]["title"].as_str().unwrap();
        assert!(title.contains("Sofa"), "{query}: {found}");
    }
    let for_dogs = answer("Sofa für Hunde")["understood"].clone();
    assert_ne!(for_dogs["category"]["path"][0], "Furniture", "{for_dogs}");
    assert_eq!(answer("blaues Sofa")["products"][0]["title"], "Sofa in Velvet, Blue");
    let without_leather = answer("Sofa ohne Leder");
    assert_eq!(without_leather["understood"]["exclusions"].as_array().unwrap().len(), 1);
    let shown = without_leather["products"].as_array().unwrap();
    assert!(!shown.is_empty());
    assert!(shown.iter().all(|one| one["title"] != "Leather Sofa, 2 Seats, Brown"), "{shown:?}");
}

#[test]
fn a_thing_is_known_by_its_name() {
    let (_shop, editor) = editor();
    let body = json!({"title": "Guernsey, worsted, navy, gents", "price": "$90"});
    let created = editor.post(PRODUCTS, body).expect(201).body;
    assert_eq!(created["category"]["path"][3], "Sweaters", "{created}");
    for (query, name) in [
        ("grey blanket", "Blankets"),
        ("navy jumper", "Sweaters"),
        ("sweater for a dog", "Pet Sweaters"),
    ] {
        let understood = search(&editor, json!({"query": query})).body["understood"].clone();
        let path = understood["category"]["path"].as_array().unwrap();
        assert_eq!(path.last().unwrap(), name, "{understood}");
    }
}

#[test]
fn what_must_be_is_a_condition() {
    let (_shop, editor) = editor();
    let black = editor.create(json!({"title": "Black dress", "price": "$5"}));
    let white = editor.create(json!({"title": "White dress", "price": "$5"}));
    let stated = editor.create(json!({"title": "Evening dress", "price": "$5",
        "attributes": {"color": "Black"}}));
    editor.create(json!({"title": "Red dress", "price": "$5"}));
    editor.create(json!({"title": "Summer dress", "price": "$5"}));
    let ids = |body: Value| {
        let answer = search(&editor, body);
        let mut ids = answer.ids();
        assert_eq!(answer.body["total"], ids.len());
        ids.sort_unstable();
        ids
    };
    assert_eq!(ids(json!({"query": "only black dress"})), [black, stated]);
    assert_eq!(ids(json!({"query": "dress, must be black"})), [black, stated]);
    assert_eq!(ids(json!({"query": "only black or white dress"})), [black, white, stated]);
    let off = json!({"query": "only black dress", "understand": {"attributes": false}});
    assert!(ids(off).len() > 2, "only words");
    let answer = search(&editor, json!({"query": "only black dress", "facets": ["color"]})).body;
    assert_eq!(answer["understood"]["attributes"][0]["required"], true);
    let color = &answer["facets"]["color"];
    let counts = color["values"].as_array().unwrap().iter().map(|one| &one["count"]);
    assert_eq!(counts.collect::<Vec<_>>(), [2], "it restricts every facet: {color}");
    assert_eq!(color["missing"], 0);
}

#[test]
fn the_second_stage_is_explained() {
    let (_shop, editor) = editor();
    for title in ["Navy armchair", "Red armchair"] {
        editor.create(json!({"title": title, "price": "$5"}));
    }
    let answer = search(&editor, json!({"query": "navy armchair", "explain": true})).body;
    let [navy, red] = [0, 1].map(|at| answer["products"][at]["explanation"]["rerank"].clone());
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value} in {answer}"));
    assert!(number(&navy["contributions"]["attributes"]) > 0.0, "{navy}");
    assert!(number(&red["contributions"]["attributes"]) < 0.0, "{red}");
    assert_eq!(red["evidence"]["attributes"]["color"], -1.0, "{red}");
    assert!(number(&navy["semantic_weight"]) >= 0.0);
}
