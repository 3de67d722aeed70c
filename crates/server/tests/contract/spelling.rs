//! Words that no product says, units in any spelling, and codes.

use serde_json::{Value, json};
use testkit::{Client, Role, SEARCH, TestServer, editor, product};

fn create(client: &Client, title: &str) -> u64 {
    client.create(json!({"title": title, "price": "$10"}))
}

fn best(client: &Client, query: &str) -> Option<u64> {
    client.post(SEARCH, json!({"query": query})).expect(200).ids().first().copied()
}

#[test]
fn a_typo_is_corrected_from_the_vocabulary_of_the_shop_and_reported() {
    let (_shop, editor) = editor();
    let shoes = create(&editor, "Running shoes");
    create(&editor, "Leather running shoes");
    let query = "runing shoes under $50 without lether";
    let answer = editor.post(SEARCH, json!({"query": query})).expect(200);
    assert_eq!(answer.ids(), [shoes]);
    let understood = &answer.body["understood"];
    assert_eq!(understood["residual"], "running shoes");
    assert_eq!(
        understood["corrections"],
        json!([
            {"from": "runing", "to": "running", "span": {"start": 0, "end": 6}},
            {"from": "lether", "to": "leather", "span": {"start": 31, "end": 37}},
        ])
    );
    assert_eq!(understood["exclusions"][0]["words"], "leather");
    let off = json!({"query": "runing", "understand": {"corrections": false}});
    let answer = editor.post(SEARCH, off).expect(200);
    assert_eq!(answer.body["understood"]["corrections"], json!([]));
}

#[test]
fn an_uncorrected_typo_matches_no_terms() {
    let shop = TestServer::start(&[]).shop();
    let editor = shop.as_role(Role::Editor);
    create(&editor, "Running shoes");
    let off = json!({"query": "runing", "understand": {"corrections": false}});
    assert_eq!(editor.post(SEARCH, off).expect(200).body["total"], 0);
}

#[test]
fn a_word_is_known_from_the_first_product_to_the_last() {
    let (_shop, editor) = editor();
    let corrections = |query: &str| -> Value {
        let answer = editor.post(SEARCH, json!({"query": query})).expect(200);
        answer.body["understood"]["corrections"].clone()
    };
    let tower = create(&editor, "Storage tower");
    assert_eq!(corrections("towre")[0]["to"], "tower");
    let namesake = create(&editor, "Towre bath mat");
    assert_eq!(corrections("towre"), json!([]));
    editor.delete(&product(namesake)).expect(204);
    assert_eq!(corrections("towre")[0]["to"], "tower");
    assert_eq!(best(&editor, "towre"), Some(tower));
}

#[test]
fn units_sizes_and_codes_meet_however_they_are_written() {
    let (_shop, editor) = editor();
    let ladder = create(&editor, "5 ft. ladder");
    let tile = create(&editor, "18 in. x 18 in. floor tile");
    let spray = create(&editor, "WD-40 spray");
    create(&editor, "Mat, 40 in.");
    create(&editor, "Mat, 18 mm");
    for query in ["5'", "5-foot", "5ft", "5 feet"] {
        assert_eq!(best(&editor, query), Some(ladder), "{query}");
    }
    for query in ["18x18", "18\" x 18\"", "18 x 18"] {
        assert_eq!(best(&editor, query), Some(tile), "{query}");
    }
    for query in ["wd-40", "wd40"] {
        let answer = editor.post(SEARCH, json!({"query": query})).expect(200);
        assert_eq!(answer.ids(), [spray], "{query}");
    }
    assert_eq!(best(&editor, "wd 40"), Some(spray));
}

#[test]
fn a_word_of_the_language_is_not_corrected_away() {
    let (_shop, editor) = editor();
    create(&editor, "Setter dog collar");
    let sofa = create(&editor, "Three-seat sofa");
    let answer = editor.post(SEARCH, json!({"query": "settee"})).expect(200);
    assert_eq!(answer.body["understood"]["corrections"], json!([]));
    assert_eq!(answer.ids().first(), Some(&sofa));
}

#[test]
fn a_title_word_by_word_comes_first() {
    let (_shop, editor) = editor();
    create(&editor, "The best sofa for you and me, a sofa among sofas");
    let exact = create(&editor, "Sofa for Me");
    create(&editor, "Sofa");
    assert_eq!(best(&editor, "sofa for me"), Some(exact));
}
