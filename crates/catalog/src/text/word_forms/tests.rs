use proptest::prelude::*;

use super::{shop_languages::MIN_TELLING_WORDS, *};
use crate::{
    query::parser::ParseOptions,
    text::{spelling::tests::Shop, word_forms::tables::TABLES},
};

/// The terms of a query in a shop of these titles, with their alternatives.
fn terms(titles: &[&str], query: &str) -> String {
    let titles: Vec<(&str, usize)> = titles.iter().map(|title| (*title, 1)).collect();
    Shop::of(&titles).with(|vocabulary| {
        let knows = |word: &str| (vocabulary.doc_freq)(word) > 0;
        let mut parsed = ParseOptions::default().parse(query, &knows);
        parsed.relate(vocabulary);
        parsed.correct(query, vocabulary);
        let terms = parsed.terms();
        let shown = terms.terms().iter().map(|term| {
            let known = term.alternatives.iter().filter(|way| way.words.iter().all(|w| knows(w)));
            let words = known.map(|way| way.words.join("+"));
            words.collect::<Vec<_>>().join("|")
        });
        shown.collect::<Vec<_>>().join(" ")
    })
}

#[track_caller]
fn check(titles: &[&str], query: &str, expected: &str) {
    assert_eq!(terms(titles, query), expected, "{query}");
}

const GERMAN: &[&str] = &[
    "Rotes Kleid mit Gürtel und Taschen für die Hochzeit",
    "Esstisch aus Eiche",
    "Holztisch und Bank",
    "Arbeitstische aus Holz, eine Arbeit der Werkstatt",
    "Romantischer Roman, sehr romantisch",
    "Stühle mit Lehne aus Leder",
];

#[test]
fn inflected_forms_find_each_other() {
    check(GERMAN, "rote Kleider", "rote kleid");
    for (title, query, expected) in [
        ("Robes rouges avec poches pour les dames dans une boîte", "robe rouge", "robe rouge"),
        ("Chevaux en bois avec selle pour les enfants dans une boîte", "cheval", "chevaux"),
        ("Camisas rojas con bolsillos para las niñas, una talla", "camisa rojo", "camisa roja"),
        ("Lápices blancos con goma para los niños, una caja", "lápiz blanco", "lapice blanco"),
        (
            "Scarpe bianche con tacco per una donna, il modello che piace",
            "scarpa bianca",
            "scarpe bianche",
        ),
        (
            "Calções vermelhos com bolso para uma menina, dos dias",
            "calção vermelho",
            "calco vermelho",
        ),
        ("Rode jurken met zakken voor een meisje van Anna", "jurk rood", "jurken rode"),
        (
            "Czerwone sukienki dla dzieci na lato oraz do pracy, jest nowa",
            "czerwona sukienka",
            "czerwone sukienki",
        ),
        ("Красные платья", "красное платье", "красные платья"),
        ("Кожаная куртка", "кожаные куртки", "кожаная куртка"),
        ("Κόκκινες καρέκλες", "κόκκινη καρέκλα", "κοκκινεσ καρεκλεσ"),
        ("빨간 소파를", "소파", "소파를"),
        ("빨간 소파", "소파를", "소파"),
    ] {
        check(&[title], query, expected);
    }
}

#[test]
fn a_word_finds_the_compounds_that_end_with_it() {
    check(GERMAN, "Tisch", "arbeitstische|esstisch|holztisch");
    check(GERMAN, "Tische", "arbeitstische|esstisch|holztisch");
    check(&["Tuinslang met kraan voor een tuin van Jan"], "slang", "tuinslang");
    check(&["가죽 가죽소파"], "소파", "가죽소파");
    check(&["소파테이블 테이블"], "소파", "소파테이블");
    check(&["レザーソファ", "ソファカバー"], "ソファ", "レザーソファ|ソファカバー");
    check(&["フェイスタオル", "ライス"], "イス", "");
}

#[test]
fn a_compound_that_the_shop_lacks_is_found_by_its_parts() {
    check(&["Tisch aus Holz mit Lack und Fuß"], "Holztisch", "holz+tisch|tisch");
    check(&["テーブル ダイニング"], "ダイニングテーブル", "ダイニング+テーブル|テーブル");
}

#[test]
fn spellings_of_umlauts_agree() {
    check(GERMAN, "Stuehle", "stuhle");
    check(&["Stuehle mit Lehne aus Leder und Holz"], "Stühle", "stuehle");
}

#[test]
fn function_words_and_bigrams_across_words_are_ignored() {
    check(GERMAN, "Holz für das Kleid", "holz kleid");
    check(&["真皮沙发 红色"], "红色沙发", "红色 沙发");
}

#[test]
fn english_words_have_no_other_forms() {
    let shop = ["Red rose and lamps", "Roses for the table with lamp", "Plate, plated"];
    check(&shop, "rose plate lamp", "rose plate lamp");
    check(&[GERMAN[0], "Lamps for the table"], "lamps for the kleid", "lamp kleid");
}

#[test]
fn a_name_is_searched_for_whatever_language_has_it_as_a_function_word() {
    let italian = "Scarpe bianche con tacco per una donna, il modello che piace";
    check(&["La Mer cream", "La Roche serum", italian], "la mer", "la mer");
    check(&[italian, "La crema"], "la crema", "crema");
}

#[test]
fn a_valid_word_of_another_language_is_not_corrected() {
    for (shop, query) in [
        (&["Rose", "Roses", "Rose"][..], "rote"),
        (&["Style", "Style guide"], "Stühle"),
        (&["Lamps", "Lamp"], "rote Lampen"),
        (GERMAN, "Kleides"),
    ] {
        let titles: Vec<(&str, usize)> = shop.iter().map(|title| (*title, 20)).collect();
        let corrections = Shop::of(&titles).with(|vocabulary| {
            let mut parsed = ParseOptions::default().parse(query, &|_| false);
            parsed.relate(vocabulary);
            parsed.correct(query, vocabulary);
            parsed.corrections
        });
        assert_eq!(corrections, [], "{query}");
    }
}

#[test]
fn tables_are_complete() {
    for table in &*TABLES {
        let is_latin = table.is_for(None);
        let words = table.telling_words.len();
        assert!(!is_latin || words > MIN_TELLING_WORDS, "{}: {words} telling words", table.code);
        assert!(!is_latin || !table.inflected("abcde").is_empty(), "{}", table.code);
        assert!(Language::ALL.iter().any(|one| one.code() == table.code) || table.code == "el");
    }
}

proptest! {
    #[test]
    fn every_form_is_known_and_of_a_word(
        query in "(\\PC|[a-zäöü' ]|Tisch|tische|sofa|소파|를|テーブル|の|靴|стол|ы){0,12}",
    ) {
        let titles = ["Holztisch und Tische", "Sofa, eine Couch", "靴 テーブル", "소파를 стол"];
        let titles = titles.iter().chain(GERMAN).map(|title| (*title, 1)).collect::<Vec<_>>();
        Shop::of(&titles).with(|vocabulary| {
            let forms = WordForms::of(&query, Some(Language::German), vocabulary);
            for (of, form) in &forms.related {
                let mut words = form.words.iter();
                assert!(words.all(|word| (vocabulary.doc_freq)(word) > 0), "{of}: {form:?}");
                assert!(form.weight > 0.0 && form.weight <= 1.0, "{of}: {form:?}");
            }
        });
    }
}
