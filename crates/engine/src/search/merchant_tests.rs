//! Keys, attributes, filters, facets and orders through the whole pipeline, in memory.

use catalog::{
    attributes::{AttributeName, AttributeValue, Attributes, Number},
    facets::{Facet, FacetField, FacetValue},
    filter::{AttributeTest, Condition, FoldedText, ProductFilter},
    key::Key,
    price::Price,
    product::{Draft, Title},
    sort::{Direction, Sort},
};

use super::{
    SearchRequest, SearchResults,
    conformance::shop::{TestShop, request, shopper, viewer},
};

fn name(raw: &str) -> AttributeName {
    AttributeName::parse(raw).unwrap()
}

fn text(raw: &str) -> AttributeValue {
    AttributeValue::Text(raw.into())
}

fn draft(title: &str, price: &str, attributes: &[(&str, AttributeValue)]) -> Draft {
    let attributes = attributes.iter().map(|(field, value)| (name(field), value.clone()));
    Draft {
        attributes: Attributes::new(attributes.collect()),
        ..Draft::new(Title::parse(title).unwrap(), Price::parse(price).unwrap())
    }
}

fn with_key(key: &str, draft: Draft) -> Draft {
    Draft { key: Some(Key::parse(key).unwrap()), ..draft }
}

fn shop(drafts: Vec<Draft>) -> TestShop {
    let mut shop = TestShop::memory();
    shop.create(drafts);
    shop
}

fn search(shop: &TestShop, request: &SearchRequest) -> SearchResults {
    shop.search(&shopper(), request).unwrap()
}

fn ids(results: &SearchResults) -> Vec<u64> {
    results.products.iter().map(|product| product.id.get()).collect()
}

fn any_of(field: &str, values: &[&str]) -> Condition {
    let values = values.iter().map(|value| FoldedText::of(value)).collect();
    Condition::Attribute(name(field), AttributeTest::AnyOf(values))
}

fn all_of(all: Vec<Condition>) -> ProductFilter {
    ProductFilter { all, none: Vec::new() }
}

#[test]
fn a_query_that_equals_a_key_returns_that_product_first() {
    let hidden = Draft { hidden: true, ..with_key("HIDDEN-1", draft("Vase", "$5", &[])) };
    let shop = shop(vec![
        draft("Red sofa", "$5", &[]),
        with_key("Red sofa", draft("Desk", "$5", &[])),
        with_key("sofa without wool under $9", draft("Wool rug", "$90", &[])),
        with_key("★★", draft("Lamp", "$5", &[])),
        hidden,
    ]);
    // Before the product whose title is the query.
    let found = search(&shop, &request("  Red sofa ", 10));
    assert_eq!(ids(&found)[..2], [2, 1]);
    assert!(found.explanations[&found.products[0].id].key);
    assert!(!found.explanations[&found.products[1].id].key);
    assert_eq!(ids(&search(&shop, &request("red sofa", 10)))[0], 1, "byte for byte");
    // A key is not read as conditions.
    let found = search(&shop, &request("sofa without wool under $9", 10));
    assert_eq!(ids(&found)[0], 3);
    assert!(!found.parsed.has_conditions());
    // Without any word.
    let found = search(&shop, &request("★★", 10));
    assert_eq!((ids(&found), found.total), (vec![4], 1));
    // Only for those who may see it.
    let key = request("HIDDEN-1", 10);
    assert!(!ids(&search(&shop, &key)).contains(&5));
    assert_eq!(ids(&shop.search(&viewer(true), &key).unwrap())[0], 5);
    // A filter applies to it, too.
    let filter = all_of(vec![any_of("color", &["red"])]);
    let filtered = SearchRequest { filter, ..request("Red sofa", 10) };
    assert_eq!(search(&shop, &filtered).total, 0);
}

#[test]
fn attributes_and_keys_are_words_and_explained() {
    let shop = shop(vec![
        draft("Running shoes", "$5", &[("brand", text("Zyphronix"))]),
        with_key("QX-4711", draft("Zyphronix running shoes", "$5", &[])),
        draft("Running shoes", "$5", &[]),
    ]);
    let found = search(&shop, &request("zyphronix shoes", 10));
    assert_eq!(ids(&found)[0], 1, "an attribute weighs more than a title");
    let terms = &found.explanations[&found.products[0].id].lexical.terms;
    let brand = terms.iter().find(|term| term.term == "zyphronix").unwrap();
    assert!(brand.attribute && brand.title == 0 && brand.score > 0.0);
    let shoes = terms.iter().find(|term| term.found_as == "shoe").unwrap();
    assert!(!shoes.attribute);
    assert_eq!(ids(&search(&shop, &request("qx4711 shoes", 10)))[0], 2);
}

#[test]
fn exclusions_consider_attributes() {
    let shop = shop(vec![
        draft("Lamp", "$5", &[("material", text("Leather"))]),
        draft("Lamp", "$5", &[("material", text("no leather"))]),
        draft("Lamp", "$5", &[("cover", text("soft genuine leather"))]),
        draft("Lamp", "$5", &[("cover", text("genuine")), ("base", text("leather"))]),
    ]);
    let sorted = |query: &str| {
        let mut found = ids(&search(&shop, &request(query, 10)));
        found.sort_unstable();
        found
    };
    assert_eq!(sorted("lamp not leather"), [2]);
    // Two words: each string is a sentence of its own, and only the texts tell.
    assert_eq!(sorted("lamp without genuine leather"), [1, 2, 4]);
}

#[test]
fn without_a_query_all_products_that_match_are_returned() {
    let number = |value| AttributeValue::Number(Number::new(value).unwrap());
    let shop = shop(vec![
        draft("Lamp", "$30", &[("color", text("Red")), ("watts", number(40.0))]),
        draft("Lamp", "€1", &[("color", text("RED"))]),
        draft("Lamp", "$20", &[("color", text("blue")), ("watts", number(60.0))]),
        draft("Lamp", "$40", &[("color", text("red")), ("watts", number(5.0))]),
    ]);
    let filter = all_of(vec![any_of("color", &["réd"])]);
    let all = SearchRequest { filter, ..SearchRequest::all(Sort::Relevance, 10) };
    let found = search(&shop, &all);
    assert_eq!((ids(&found), found.total), (vec![4, 2, 1], 3));
    let unsorted = SearchRequest { sort: None, ..all.clone() };
    assert_eq!(ids(&search(&shop, &unsorted)), [4, 2, 1]);
    let order = |sort| ids(&search(&shop, &SearchRequest { sort: Some(sort), ..all.clone() }));
    assert_eq!(order(Sort::Oldest), [1, 2, 4]);
    // By currency, the most frequent first.
    assert_eq!(order(Sort::Price(Direction::Ascending)), [1, 4, 2]);
    assert_eq!(order(Sort::Price(Direction::Descending)), [4, 1, 2]);
    // Without a value last, in either direction.
    assert_eq!(order(Sort::Attribute(name("watts"), Direction::Ascending)), [4, 1, 2]);
    assert_eq!(order(Sort::Attribute(name("watts"), Direction::Descending)), [1, 4, 2]);
    // An order that the request states wins over the text.
    let cheapest = request("cheapest lamp", 10);
    assert_eq!(ids(&search(&shop, &cheapest)), [3, 1, 4, 2]);
    let oldest = SearchRequest { sort: Some(Sort::Oldest), ..cheapest };
    assert_eq!(ids(&search(&shop, &oldest)), [1, 2, 3, 4]);
}

#[test]
fn a_facet_is_not_restricted_by_its_own_conditions() {
    let shop = shop(vec![
        draft("Lamp", "$5", &[("color", text("red")), ("brand", text("A"))]),
        draft("Lamp", "$5", &[("color", text("red")), ("brand", text("B"))]),
        draft("Lamp", "$5", &[("color", text("blue")), ("brand", text("A"))]),
        draft("Lamp", "$5", &[("brand", text("A"))]),
    ]);
    let counts = |facet: &Facet| match facet {
        Facet::Attribute(facet) => {
            let value = |value: &FacetValue| match value {
                FacetValue::Text(text) => text.to_string(),
                FacetValue::Boolean(value) => value.to_string(),
            };
            let counts =
                facet.values.iter().map(|one| format!("{} {}", value(&one.value), one.count));
            format!("{}; {} without", counts.collect::<Vec<_>>().join(", "), facet.missing)
        }
        Facet::Price(facets) => format!("{} currencies", facets.len()),
    };
    let facets = ["color", "brand"].map(|raw| FacetField::Attribute(name(raw)));
    let filter = all_of(vec![any_of("color", &["red"]), any_of("brand", &["a", "b"])]);
    let request = SearchRequest { filter, facets: facets.to_vec(), ..request("lamp", 10) };
    let found = search(&shop, &request);
    let counts: Vec<_> = found.facets.0.iter().map(|(_, facet)| counts(facet)).collect();
    assert_eq!(found.total, 2);
    assert_eq!(counts, ["red 2, blue 1; 1 without", "A 1, B 1; 0 without"]);
}
