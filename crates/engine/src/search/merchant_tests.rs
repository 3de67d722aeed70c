//! Keys, attributes, filters, facets and orders through the whole pipeline, in memory.

use catalog::{
    product::{
        Draft, Title,
        attributes::{AttributeName, AttributeValue, Attributes, Number},
        key::Key,
        price::Price,
    },
    query::{
        filter::{AttributeTest, Condition, FoldedText, ProductFilter},
        sort::{Direction, Sort},
    },
    ranking::facets::{Facet, FacetField, FacetValue},
};
use embed::inference::taxonomy;

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
    let filter = all_of(vec![any_of("brand", &["acme"])]);
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

/// A facet on one line.
fn counts(facet: &Facet) -> String {
    match facet {
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
        Facet::Category(facet) => {
            let name = |category| taxonomy().name(category);
            let counts =
                facet.values.iter().map(|one| format!("{} {}", name(one.category), one.count));
            let counts = counts.collect::<Vec<_>>().join(", ");
            format!("{}: {counts}; {} without", facet.parent.map_or("", name), facet.missing)
        }
    }
}

fn facets_of(shop: &TestShop, filter: ProductFilter, facets: &[&str]) -> (usize, Vec<String>) {
    let field = |raw: &&str| match *raw {
        "category" => FacetField::Category,
        raw => FacetField::Attribute(name(raw)),
    };
    let facets = facets.iter().map(field).collect();
    let request = SearchRequest { filter, facets, ..SearchRequest::all(Sort::Newest, 10) };
    let found = search(shop, &request);
    (found.total, found.facets.0.iter().map(|(_, facet)| counts(facet)).collect())
}

#[test]
fn inferred_values_are_filtered_and_counted_where_the_merchant_states_none() {
    let shop = shop(vec![
        draft("Emerald velvet armchair", "$5", &[]),
        draft("Green wool rug", "$5", &[]),
        draft("Green armchair", "$5", &[("color", text("Moss"))]),
        draft("Rug", "$5", &[("color", text("GREEN"))]),
        draft("Black and white wool rug", "$5", &[("colour", text("green"))]),
    ]);
    let color = |values: &[&str]| all_of(vec![any_of("color", values)]);
    let total = |filter| facets_of(&shop, filter, &[]).0;
    assert_eq!(total(color(&["green"])), 4);
    assert_eq!(total(color(&["emerald"])), 3, "a shade is its color where that is inferred");
    assert_eq!(total(color(&["moss"])), 4, "what a merchant calls moss, and green");
    assert_eq!(total(color(&["white"])), 0, "the merchant has another name for it");
    let (total, facets) = facets_of(&shop, color(&["moss"]), &["color", "material", "brand"]);
    assert_eq!(total, 4);
    let expected = ["green 4, Moss 1; 0 without", "wool 2, velvet 1; 1 without", "; 4 without"];
    assert_eq!(facets, expected);
}

#[test]
fn categories_are_filtered_and_counted() {
    let typed = |category: &str| draft("Thing", "$5", &[("product_type", text(category))]);
    let shop = shop(vec![
        typed("Furniture > Chairs > Kitchen & Dining Room Chairs"),
        typed("Furniture > Chairs"),
        typed("Furniture > Benches"),
        typed("Home & Garden > Lighting"),
        draft("xqzv", "$5", &[]),
    ]);
    let within = |paths: &[&str]| {
        let parse = |path: &&str| taxonomy().parse(path).unwrap();
        Condition::within(taxonomy(), &paths.iter().map(parse).collect::<Vec<_>>())
    };
    let found = |filter| {
        let (total, facets) = facets_of(&shop, filter, &["category"]);
        format!("{total}: {}", facets[0])
    };
    let all = ProductFilter::default();
    assert_eq!(found(all), "5: : Furniture 3, Home & Garden 1; 1 without");
    let furniture = all_of(vec![within(&["fr"])]);
    assert_eq!(found(furniture), "3: Furniture: Chairs 2, Benches 1; 1 without");
    let chairs = all_of(vec![within(&["Furniture > Chairs"])]);
    let below = "Kitchen & Dining Room Chairs";
    assert_eq!(found(chairs), format!("2: Chairs: {below} 1; 1 without"));
    // What one condition of several leaves out can be chosen in addition.
    let benches = all_of(vec![within(&["Furniture > Benches", "Furniture > Beds & Accessories"])]);
    assert_eq!(found(benches), "1: Furniture: Chairs 2, Benches 1; 1 without");
    let not = ProductFilter { all: vec![], none: vec![within(&["fr"])] };
    assert_eq!(found(not), "2: : Furniture 3, Home & Garden 1; 1 without");
}

#[test]
fn a_facet_is_not_restricted_by_its_own_conditions() {
    let shop = shop(vec![
        draft("Lamp", "$5", &[("color", text("red")), ("brand", text("A"))]),
        draft("Lamp", "$5", &[("color", text("red")), ("brand", text("B"))]),
        draft("Lamp", "$5", &[("color", text("blue")), ("brand", text("A"))]),
        draft("Lamp", "$5", &[("brand", text("A"))]),
    ]);
    let facets = ["color", "brand"].map(|raw| FacetField::Attribute(name(raw)));
    let filter = all_of(vec![any_of("color", &["red"]), any_of("brand", &["a", "b"])]);
    let request = SearchRequest { filter, facets: facets.to_vec(), ..request("lamp", 10) };
    let found = search(&shop, &request);
    let counts: Vec<_> = found.facets.0.iter().map(|(_, facet)| counts(facet)).collect();
    assert_eq!(found.total, 2);
    assert_eq!(counts, ["red 2, blue 1; 1 without", "A 1, B 1; 0 without"]);
}
