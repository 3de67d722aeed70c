//! Search in shops written in other languages than English: words find their other forms, whatever
//! else is found by meaning.

use serde_json::{Value, json};
use testkit::{Client, SEARCH, Shop, editor, product_named};

fn shop_of(titles: &[&str]) -> (Shop, Client) {
    let (shop, editor) = editor();
    for title in titles {
        editor.create(product_named(title));
    }
    (shop, editor)
}

fn search(client: &Client, query: &str) -> (Vec<String>, Value) {
    let body = client.post(SEARCH, json!({"query": query})).expect(200).body.clone();
    let title = |product: &Value| product["title"].as_str().unwrap_or_default().to_owned();
    let titles = body["products"].as_array().unwrap().iter().map(title).collect();
    (titles, body["understood"].clone())
}

/// Exactly these titles are the first results, in any order, and the others are none of the results.
#[track_caller]
fn check(client: &Client, query: &str, found: &[&str], not_found: &[&str]) {
    let (titles, understood) = search(client, query);
    let mut first: Vec<&str> = titles.iter().take(found.len()).map(String::as_str).collect();
    let mut expected = found.to_vec();
    first.sort_unstable();
    expected.sort_unstable();
    assert_eq!(first, expected, "{query}: {titles:?}");
    assert!(!titles.iter().any(|title| not_found.contains(&&**title)), "{query}: {titles:?}");
    assert_eq!(understood["corrections"], json!([]), "{query}");
}

#[test]
fn a_german_shop() {
    let dress = "Rotes Kleid mit Gürtel und Taschen für die Feier";
    let desk = "Arbeitstisch aus Stahl, eine gute Arbeit";
    let table = "Tisch aus Holz";
    let wooden = "Holztische und Bänke von der Werkstatt";
    let novel = "Ein sehr romantischer Roman";
    let chair = "Bürostühle ohne Armlehnen";
    let sofa = "Sofa aus Leder";
    let (_shop, client) = shop_of(&[dress, desk, table, wooden, novel, chair, sofa]);
    check(&client, "rote Kleider", &[dress], &[]);
    check(&client, "Tisch", &[table, desk, wooden], &[novel]);
    check(&client, "Stuehle", &[chair], &[]);
    check(&client, "Gartenstuhl", &[chair], &[]);
    check(&client, "Eichentische", &[table], &[novel]);
    check(&client, "Sofas ohne Leder", &[], &[sofa]);
}

#[test]
fn a_french_shop() {
    let oil = "Huile d'olive pour la cuisine, avec bec verseur";
    let dress = "Robes rouges pour l’été, une coupe ample";
    let brand = "Crème L'Oréal dans un pot";
    let horse = "Chevaux de bois pour les enfants";
    let (_shop, client) = shop_of(&[oil, dress, brand, horse]);
    check(&client, "olive", &[oil], &[brand]);
    check(&client, "robe d'ete", &[dress], &[]);
    check(&client, "l'oreal", &[brand], &[]);
    check(&client, "L’Oréal", &[brand], &[]);
    check(&client, "cheval", &[horse], &[]);
    check(&client, "cuisine sans olive", &[], &[oil]);
    check(&client, "cuisine sans huile d'olive", &[], &[oil]);
}

#[test]
fn a_japanese_shop() {
    let table = "無垢材ダイニングテーブル 幅150cm";
    let shoes = "本革靴 メンズ";
    let socks = "靴下 メンズ 3足組";
    let cable = "USBケーブル 2m";
    let sofa = "レザーソファ 2人掛け";
    let (_shop, client) = shop_of(&[table, shoes, socks, cable, sofa]);
    check(&client, "テーブル", &[table], &[cable, sofa]);
    check(&client, "靴下", &[socks], &[shoes]);
    assert_eq!(search(&client, "靴").0[0], shoes);
    check(&client, "usb", &[cable], &[]);
    check(&client, "レザー以外のソファ", &[], &[sofa]);
}

#[test]
fn a_korean_shop() {
    let sofa = "패브릭 소파를 위한 커버";
    let leather = "가죽소파 3인용 가죽";
    let cable = "USB케이블 2m";
    let (_shop, client) = shop_of(&[sofa, leather, cable]);
    check(&client, "소파", &[sofa, leather], &[cable]);
    check(&client, "소파를", &[sofa, leather], &[cable]);
    check(&client, "케이블", &[cable], &[]);
    check(&client, "usb", &[cable], &[]);
}

#[test]
fn a_russian_shop() {
    let dress = "Красное платье с поясом";
    let tree = "Ёлка искусственная";
    let jacket = "Кожаная куртка";
    let (_shop, client) = shop_of(&[dress, tree, jacket]);
    check(&client, "красные платья", &[dress], &[]);
    check(&client, "елки", &[tree], &[]);
    check(&client, "куртки без кожи", &[jacket], &[]);
}

#[test]
fn a_foreign_word_is_not_corrected_to_an_english_one() {
    let (_shop, client) = shop_of(&["Rose bush", "Rose garden", "Lamp shade", "Lamp"]);
    for query in ["rote", "rote Lampen", "Stühle"] {
        assert_eq!(search(&client, query).1["corrections"], json!([]), "{query}");
    }
    assert_eq!(search(&client, "lapm").1["corrections"][0]["to"], "lamp");
}

#[test]
fn a_query_finds_products_in_another_language() {
    let shoes = ["Ballet flats, red", "Running shoes, red"];
    let others = ["Matte lipstick, ruby red", "Red wine glasses, set of 6", "Grey wool sofa"];
    let (_shop, client) = shop_of(&[&shoes[..], &others[..]].concat());
    for query in ["chaussures rouges", "rote Schuhe", "赤い靴", "красные туфли"] {
        check(&client, query, &shoes, &["Grey wool sofa"]);
    }
    // Words of no language find nothing.
    for query in ["asdfgh qwrtz", "ыфвапр"] {
        assert_eq!(search(&client, query).0, Vec::<String>::new(), "{query}");
    }

    let german = ["Laufschuhe für Damen, rot", "Esstisch aus Eiche", "Wollpullover mit Kragen"];
    let (_shop, client) = shop_of(&german);
    for (query, at) in [("running shoes", 0), ("dining table", 1), ("jersey de lana", 2)] {
        assert_eq!(
            search(&client, query).0.first().map(String::as_str),
            Some(german[at]),
            "{query}"
        );
    }
}
