//! The language of a query.

use super::super::{Language, parse};

fn language(query: &str) -> &'static str {
    parse(query).language.map_or("none", Language::code)
}

#[track_caller]
fn check(expected: &str, queries: &[&str]) {
    for query in queries {
        assert_eq!(language(query), expected, "{query:?}");
    }
}

#[test]
fn words_conditions_and_letters_tell_the_language() {
    check("en", &["red shoes without leather", "cheap books for kids"]);
    check(
        "de",
        &["schuhe unter 50 euro", "weniger als 50 euro", "bequemes Sofa unter 900 Dollar", "größe"],
    );
    check("fr", &["moins de 50 euros", "une chaussure", "pas plus de 900 dollars"]);
    check("es", &["por debajo de 50", "niño"]);
    check("pt", &["até 50 reais", "não"]);
    check("pl", &["poniżej 100 zł", "łóżko"]);
    check("cs", &["dražší než 100 Kč", "křeslo"]);
    check("tr", &["500 TL'den ucuz", "kırmızı"]);
    check("fi", &["enintään 50 euroa"]);
    check("ru", &["кроссовки"]);
}

#[test]
fn scripts_tell_the_language() {
    check("ja", &["ソファ", "安い靴", "黒", "1万円"]);
    check("zh", &["沙发", "红色鞋子", "褲子"]);
    check("ko", &["소파", "5만원 이하"]);
}

#[test]
fn what_several_languages_share_tells_none() {
    check("none", &["", "50", "iphone 15", "max 50", "under 500 kr", "nike", "sofa", "tv 55"]);
    check(
        "none",
        &["革", "以下", "café", "sko under 500 kr", "minimum 20 €", "sofa under 900 dollar"],
    );
}

#[test]
fn words_that_are_common_elsewhere_tell_none() {
    check("none", &["do", "til", "bez", "od", "tot", "inte"]);
}

#[test]
fn nothing_is_told_where_nothing_is_parsed() {
    let nothing = super::super::ParseOptions::NOTHING;
    assert_eq!(nothing.parse("schuhe unter 50 euro", &|_| false).language, None);
}
