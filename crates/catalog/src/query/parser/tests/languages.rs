//! Price phrases and exclusions in other languages.

use expect_test::expect;

use super::check;
use crate::query::parser::{Exclusion, parse};

#[test]
fn german() {
    check("schuhe unter 50 euro", expect!["schuhe | price < 50 EUR"]);
    check("schuhe unter 50", expect!["schuhe | price < 50"]);
    check("schuhe bis 50 €", expect!["schuhe | price <= 50 EUR"]);
    check("schuhe bis zu 50 Euro", expect!["schuhe | price <= 50 EUR"]);
    check("schuhe höchstens 50 €", expect!["schuhe | price <= 50 EUR"]);
    check("schuhe maximal 50 euro", expect!["schuhe | price <= 50 EUR"]);
    check("schuhe über 100 €", expect!["schuhe | price > 100 EUR"]);
    check("schuhe ab 100 €", expect!["schuhe | price >= 100 EUR"]);
    check("schuhe mindestens 100 Euro", expect!["schuhe | price >= 100 EUR"]);
    check("schuhe zwischen 50 und 100 Euro", expect!["schuhe | 50 <= price <= 100 EUR"]);
    check("schuhe zwischen 50 und 100", expect!["schuhe | 50 <= price <= 100"]);
    check("schuhe von 50 bis 100 €", expect!["schuhe | 50 <= price <= 100 EUR"]);
    check("schuhe etwa 80 €", expect!["schuhe | 64 <= price <= 96 EUR"]);
    check("schuhe günstiger als 80", expect!["schuhe | price < 80"]);
    check("schuhe nicht mehr als 80 Euro", expect!["schuhe | price <= 80 EUR"]);
    check("schuhe für unter 80 €", expect!["schuhe | price < 80 EUR"]);
    check("schuhe für 80 €", expect!["schuhe | 64 <= price <= 96 EUR"]);
    check("schuhe weniger als fünfzig euro", expect!["schuhe | price < 50 EUR"]);
    check("schuhe ohne leder", expect!["schuhe | not leder"]);
    check("schuhe ohne leder oder wildleder", expect!["schuhe | not leder; not wildleder"]);
    check("günstigste schuhe", expect!["schuhe | cheapest first"]);
    check("laptop unter 1.299,99 €", expect!["laptop | price < 1299.99 EUR"]);
}

#[test]
fn french() {
    check("chaussures à moins de 50 euros", expect!["chaussures | price < 50 EUR"]);
    check("chaussures moins de 50 €", expect!["chaussures | price < 50 EUR"]);
    check("chaussures moins cher que 50", expect!["chaussures | price < 50"]);
    check("chaussures jusqu'à 50 euros", expect!["chaussures | price <= 50 EUR"]);
    check("chaussures pas plus de 50 €", expect!["chaussures | price <= 50 EUR"]);
    check("chaussures plus de 100 euros", expect!["chaussures | price > 100 EUR"]);
    check("chaussures à partir de 100 €", expect!["chaussures | price >= 100 EUR"]);
    check("chaussures au moins 100 €", expect!["chaussures | price >= 100 EUR"]);
    check("chaussures entre 50 et 100 euros", expect!["chaussures | 50 <= price <= 100 EUR"]);
    check("chaussures de 50 à 100 €", expect!["chaussures | 50 <= price <= 100 EUR"]);
    check("chaussures environ 80 euros", expect!["chaussures | 64 <= price <= 96 EUR"]);
    check("chaussures sous 80 €", expect!["chaussures | price < 80 EUR"]);
    check("chaussures pour 80 €", expect!["chaussures | 64 <= price <= 96 EUR"]);
    check("chaussures sans cuir", expect!["chaussures | not cuir"]);
    check("chaussures les moins chères", expect!["chaussures | cheapest first"]);
}

#[test]
fn spanish() {
    check("zapatos por menos de 50 euros", expect!["zapatos | price < 50 EUR"]);
    check("zapatos menos de 50", expect!["zapatos | price < 50"]);
    check("zapatos hasta 50 €", expect!["zapatos | price <= 50 EUR"]);
    check("zapatos más baratos que 50", expect!["zapatos | price < 50"]);
    check("zapatos como máximo 50 euros", expect!["zapatos | price <= 50 EUR"]);
    check("zapatos más de 100 €", expect!["zapatos | price > 100 EUR"]);
    check("zapatos desde 100 euros", expect!["zapatos | price >= 100 EUR"]);
    check("zapatos al menos 100 €", expect!["zapatos | price >= 100 EUR"]);
    check("zapatos entre 50 y 100 euros", expect!["zapatos | 50 <= price <= 100 EUR"]);
    check("zapatos de 50 a 100 euros", expect!["zapatos | 50 <= price <= 100 EUR"]);
    check("zapatos alrededor de 80 €", expect!["zapatos | 64 <= price <= 96 EUR"]);
    check("zapatos unos 80 euros", expect!["zapatos | 64 <= price <= 96 EUR"]);
    check("zapatos sin cuero", expect!["zapatos | not cuero"]);
    check("zapatos por debajo de cincuenta euros", expect!["zapatos | price < 50 EUR"]);
}

#[test]
fn portuguese() {
    check("sapatos até 50 reais", expect!["sapatos | price <= 50 BRL"]);
    check("sapatos até R$ 50", expect!["sapatos | price <= 50 BRL"]);
    check("sapatos por menos de 50 reais", expect!["sapatos | price < 50 BRL"]);
    check("sapatos abaixo de 50", expect!["sapatos | price < 50"]);
    check("sapatos no máximo 50 reais", expect!["sapatos | price <= 50 BRL"]);
    check("sapatos acima de 100 reais", expect!["sapatos | price > 100 BRL"]);
    check("sapatos a partir de 100 reais", expect!["sapatos | price >= 100 BRL"]);
    check("sapatos entre 50 e 100 reais", expect!["sapatos | 50 <= price <= 100 BRL"]);
    check("sapatos de 50 a 100 reais", expect!["sapatos | 50 <= price <= 100 BRL"]);
    check("sapatos por volta de 80 reais", expect!["sapatos | 64 <= price <= 96 BRL"]);
    check("sapatos mais baratos que 80", expect!["sapatos | price < 80"]);
    check("sapatos sem couro", expect!["sapatos | not couro"]);
}

#[test]
fn italian() {
    check("scarpe sotto i 50 euro", expect!["scarpe | price < 50 EUR"]);
    check("scarpe meno di 50 euro", expect!["scarpe | price < 50 EUR"]);
    check("scarpe fino a 50 €", expect!["scarpe | price <= 50 EUR"]);
    check("scarpe al massimo 50 euro", expect!["scarpe | price <= 50 EUR"]);
    check("scarpe più di 100 euro", expect!["scarpe | price > 100 EUR"]);
    check("scarpe oltre 100 €", expect!["scarpe | price > 100 EUR"]);
    check("scarpe a partire da 100 euro", expect!["scarpe | price >= 100 EUR"]);
    check("scarpe almeno 100 €", expect!["scarpe | price >= 100 EUR"]);
    check("scarpe tra 50 e 100 euro", expect!["scarpe | 50 <= price <= 100 EUR"]);
    check("scarpe da 50 a 100 euro", expect!["scarpe | 50 <= price <= 100 EUR"]);
    check("scarpe circa 80 euro", expect!["scarpe | 64 <= price <= 96 EUR"]);
    check("scarpe intorno ai 80 €", expect!["scarpe | 64 <= price <= 96 EUR"]);
    check("scarpe senza pelle", expect!["scarpe | not pelle"]);
}

#[test]
fn russian() {
    check("кроссовки до 5000 рублей", expect!["кроссовки | price <= 5000 RUB"]);
    check("кроссовки до 5000", expect!["кроссовки | price <= 5000"]);
    check("кроссовки до 5 000 ₽", expect!["кроссовки | price <= 5000 RUB"]);
    check("кроссовки до 5 тысяч рублей", expect!["кроссовки | price <= 5000 RUB"]);
    check("кроссовки до пяти тысяч рублей", expect!["кроссовки | price <= 5000 RUB"]);
    check("кроссовки дешевле 5000", expect!["кроссовки | price < 5000"]);
    check("кроссовки не дороже 5000 руб", expect!["кроссовки | price <= 5000 RUB"]);
    check("кроссовки не более 5000 р.", expect!["кроссовки | price <= 5000 RUB"]);
    check("кроссовки от 3000 рублей", expect!["кроссовки | price >= 3000 RUB"]);
    check("кроссовки от 3000 до 5000 рублей", expect!["кроссовки | 3000 <= price <= 5000 RUB"]);
    check("кроссовки между 3000 и 5000 рублей", expect!["кроссовки | 3000 <= price <= 5000 RUB"]);
    check("кроссовки около 4000 рублей", expect!["кроссовки | 3200 <= price <= 4800 RUB"]);
    check("кроссовки дороже 4000", expect!["кроссовки | price > 4000"]);
    check("кроссовки за 4000 рублей", expect!["кроссовки | 3200 <= price <= 4800 RUB"]);
    check("кроссовки без кожи", expect!["кроссовки | not кожи"]);
    check("самые дешевые кроссовки", expect!["кроссовки | cheapest first"]);
}

#[test]
fn excluded_colors_and_materials_are_excluded_in_english_too() {
    let excluded = |query: &str| {
        let parsed = parse(query);
        let texts: Vec<_> = parsed.excluded().iter().map(Exclusion::text).collect();
        texts.join(", ")
    };
    assert_eq!(excluded("Sofa ohne Leder"), "leder, leather");
    assert_eq!(excluded("canapé sans cuir"), "cuir, leather");
    assert_eq!(excluded("mesa sin madera"), "madera, wood, wooden");
    assert_eq!(excluded("sofa without leather"), "leather");
    // English has this word too.
    assert_eq!(excluded("lumber without rot"), "rot");
    let parsed = parse("Sofa ohne Leder");
    assert_eq!(parsed.exclusions.len(), 1, "only what the query says is reported");
    assert!(!parsed.allows("Haverly Leather Sofa", "", ""));
    assert!(!parsed.allows("Ledersofa", "Echtes Leder.", ""));
    assert!(parsed.allows("Velvet Sofa", "", ""));
}
